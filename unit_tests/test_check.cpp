// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/scan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Memory = Space::memory_space;
using V3 = Kokkos::View<float***, Kokkos::LayoutRight, Memory>;
using V2 = Kokkos::View<float**, Kokkos::LayoutRight, Memory>;

constexpr float untouched = 7.f;

/// Arguments that fit together: batch 2, length 5, channels 7, state 3.
struct Arguments {
  V3 x{"x", 2, 5, 7}, delta{"delta", 2, 5, 7}, b{"b", 2, 5, 3}, c{"c", 2, 5, 3}, h0{"h0", 2, 7, 3};
  V3 y{"y", 2, 5, 7}, hT{"hT", 2, 7, 3};
  V2 A{"A", 7, 3};
  pssa::ScanInputs<float, Memory> in{x, delta, b, c, A, h0};
  pssa::ScanOutputs<float, Memory> out{y, hT};
  pssa::ScanOptions options{};

  /// The text of the error of a forward call, "" when there is none; y must then be as it was.
  std::string error() {
    Kokkos::deep_copy(y, untouched);
    try {
      pssa::scan(Space{}, in, out, options);
    } catch (pssa::Error const& error) {
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], untouched);
      return error.what();
    }
    Kokkos::fence();
    return "";
  }
};

TEST(Check, ArgumentsThatFitPass) { EXPECT_EQ(Arguments().error(), ""); }

TEST(Check, ShapesAreNamed) {
  Arguments a;
  a.in.delta = V3("", 2, 5, 8);
  EXPECT_EQ(a.error(), "pssa::scan: delta has shape (2, 5, 8), expected (batch, length, channels) = (2, 5, 7)");
  a = {};
  a.in.b = V3("", 2, 6, 3);
  EXPECT_EQ(a.error(), "pssa::scan: b has shape (2, 6, 3), expected (batch, length, state) = (2, 5, 3)");
  a = {};
  a.in.c = V3("", 2, 5, 4);
  EXPECT_EQ(a.error(), "pssa::scan: c has shape (2, 5, 4), expected (batch, length, state) = (2, 5, 3)");
  a = {};
  a.in.A = V2("", 8, 3);
  EXPECT_EQ(a.error(), "pssa::scan: A has shape (8, 3), expected (channels, state) = (7, 3)");
  a = {};
  a.in.A = V2("", 7, 0);
  EXPECT_EQ(a.error(), "pssa::scan: A has shape (7, 0), expected (channels, state) = (7, at least 1)");
  a = {};
  a.in.h0 = V3("", 2, 3, 7);
  EXPECT_EQ(a.error(), "pssa::scan: h0 has shape (2, 3, 7), expected (batch, channels, state) = (2, 7, 3)");
  a = {};
  a.in.h0 = V3();
  EXPECT_EQ(a.error(), "pssa::scan: h0 has shape (0, 0, 0), expected (batch, channels, state) = (2, 7, 3)");
  a = {};
  a.in.x = V3();
  EXPECT_EQ(a.error(), "pssa::scan: x is an empty View, expected (batch, length, channels)");
  a = {};
  a.out.hT = V3("", 1, 7, 3);
  EXPECT_EQ(a.error(), "pssa::scan: hT has shape (1, 7, 3), expected (batch, channels, state) = (2, 7, 3)");
}

TEST(Check, OutputsMayNotOverlap) {
  Arguments a;
  a.out.y = a.x;
  EXPECT_EQ(a.error(), "pssa::scan: y overlaps x in memory, expected no shared element");
  a = {};
  a.out.hT = a.h0;
  EXPECT_EQ(a.error(), "");  // the state is carried in place
}

TEST(Check, ColumnsOfOneBufferDoNotOverlap) {
  Arguments a;
  V3 buffer("buffer", 2, 5, 14);
  a.in.x = Kokkos::subview(buffer, Kokkos::ALL, Kokkos::ALL, std::make_pair(0, 7));
  a.out.y = Kokkos::subview(buffer, Kokkos::ALL, Kokkos::ALL, std::make_pair(7, 14));
  EXPECT_EQ(a.error(), "");
  a.out.y = Kokkos::subview(buffer, Kokkos::ALL, Kokkos::ALL, std::make_pair(6, 13));
  EXPECT_EQ(a.error(), "pssa::scan: y overlaps x in memory, expected no shared element");
}

TEST(Check, Options) {
  Arguments a;
  a.options.checkpoint_interval = -1;
  EXPECT_EQ(a.error(), "pssa::scan: options.checkpoint_interval is -1, expected 0 (chosen) or more");
  a.options.checkpoint_interval = 4;
  EXPECT_EQ(a.error(), "pssa::scan: options.checkpoint_interval is 4, expected 0 in a call without a tape");
  a.options = {0, 5};
  EXPECT_EQ(a.error(), "pssa::scan: options.channel_tile is 5, expected 0 (chosen) or one of 32, 8");
}

TEST(Check, Tape) {
  Arguments a;
  pssa::Tape<float, Memory> tape;
  pssa::ScanCotangents<float, Memory> const cotangents{a.y, {}};
  auto const error = [&] {
    try {
      pssa::scan_backward(Space{}, a.in, cotangents, tape, pssa::ScanGradients<float, Memory>{});
    } catch (pssa::Error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(), "pssa::scan_backward: tape is empty, expected one that pssa::scan has filled with these inputs");
  pssa::scan(Space{}, a.in, a.out, tape);
  Kokkos::fence();
  EXPECT_EQ(error(), "");
  EXPECT_THROW((void)tape.states(), pssa::Error);
  tape.storage().sizes.length = 4;
  EXPECT_EQ(error(), "pssa::scan_backward: tape was filled at (batch, length, channels, state) = (2, 4, 7, 3), "
                     "expected (2, 5, 7, 3)");
}

}  // namespace
