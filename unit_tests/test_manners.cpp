// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <pssa/pssa.hpp>
#include <string>
#include <vector>

#include "events.hpp"
#include "inputs.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Manners : public EverySetup {};
PSSA_EVERY_SETUP(Manners);

void expect_own_labels(std::vector<std::string> const& labels) {
  for (auto const& label : labels) EXPECT_EQ(label.rfind("pssa::", 0), 0u) << label;
}

/// Kernels of the library alone, on the session's instance alone.
void expect_kernels(Session const& session, Events const& events, std::size_t least, std::size_t most) {
  expect_own_labels(events.kernels);
  EXPECT_GE(events.kernels.size(), least);
  EXPECT_LE(events.kernels.size(), most);
  for (auto const device : events.devices) EXPECT_EQ(device, session.device_id());
}

void expect_silence(Events const& events) {
  EXPECT_TRUE(events.allocations.empty()) << ::testing::PrintToString(events.allocations);
  EXPECT_TRUE(events.fences.empty()) << ::testing::PrintToString(events.fences);
  EXPECT_TRUE(events.copies.empty()) << ::testing::PrintToString(events.copies);
}

TEST_P(Manners, launches_only_its_kernels_on_the_given_instance) {
  for (bool const own_instance : {false, true})
    for (std::int64_t const state : {1, 16, 40, 300}) {
      SCOPED_TRACE("state " + std::to_string(state) + (own_instance ? ", own instance" : ", default instance"));
      Sizes const sizes{2, 37, 40, state};
      auto const given = GetParam().rounded(make_inputs(sizes, 1));
      auto const session = GetParam().make();
      if (own_instance) session->use_own_instance();
      place_forward(*session, given, sizes);
      place_backward(*session, given, sizes);

      Options const whole{.time_chunks = 1};
      // The first calls allocate: the tape, and Kokkos' scratch.
      auto const first = events_of([&] {
        session->forward_with_tape(whole);
        session->backward(whole);
      });
      expect_kernels(*session, first, 2, 3);
      EXPECT_TRUE(first.copies.empty()) << ::testing::PrintToString(first.copies);
      std::size_t own_allocations = 0;
      for (auto const& label : first.allocations) {
        bool const own = label.rfind("pssa::", 0) == 0;
        EXPECT_TRUE(own || label.rfind("Kokkos::", 0) == 0) << label;
        if (own) ++own_allocations;
      }
      EXPECT_EQ(own_allocations, 2u) << ::testing::PrintToString(first.allocations);

      session->forward(whole);
      auto const inference = events_of([&] { session->forward(whole); });
      expect_kernels(*session, inference, 1, 1);
      expect_silence(inference);
      auto const forward = events_of([&] { session->forward_with_tape(whole); });
      expect_kernels(*session, forward, 1, 1);
      expect_silence(forward);
      auto const backward = events_of([&] { session->backward(whole); });
      expect_kernels(*session, backward, 1, 2);
      expect_silence(backward);
      for (auto const* name : {"db", "dc", "dA"}) session->remove(name);
      auto const sweep = events_of([&] { session->backward(whole); });
      expect_kernels(*session, sweep, 1, 1);
      expect_silence(sweep);
      session->fence();
    }
}

/// Where the length is cut, the chunks' ends and the carry over them come before each pass.
TEST_P(Manners, launches_two_kernels_more_for_chunks_of_time) {
  Sizes const sizes{2, 137, 40, 16};
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  Options const cut{.time_chunks = 2};
  session->forward_with_tape(cut);
  session->backward(cut);
  auto const inference = events_of([&] { session->forward(cut); });
  expect_kernels(*session, inference, 3, 3);
  expect_silence(inference);
  auto const forward = events_of([&] { session->forward_with_tape(cut); });
  expect_kernels(*session, forward, 3, 3);
  expect_silence(forward);
  auto const backward = events_of([&] { session->backward(cut); });
  expect_kernels(*session, backward, 4, 4);
  expect_silence(backward);
  session->fence();
}

TEST_P(Manners, launches_nothing_for_nothing) {
  for (Sizes const& sizes : {Sizes{0, 5, 3, 4}, Sizes{2, 5, 0, 4}}) {
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    for (auto const* name : {"db", "dc", "dA"}) session->remove(name);
    auto const events = events_of([&] {
      session->forward();
      session->forward_with_tape();
      session->backward();
    });
    EXPECT_TRUE(events.kernels.empty()) << ::testing::PrintToString(events.kernels);
  }
}

/// What a profiler shows: a region a call, the kernels inside.
TEST_P(Manners, names_its_calls_and_kernels) {
  Sizes const sizes{2, 9, 5, 4};
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  using Names = std::vector<std::string>;
  auto const events = events_of([&] {
    session->forward();
    session->forward_with_tape();
    session->backward();
  });
  EXPECT_EQ(events.regions, (Names{"pssa::scan", "pssa::scan", "pssa::scan_backward"}));
  Names const paths{"pssa::scan/pssa::scan::forward", "pssa::scan/pssa::scan::forward",
                    "pssa::scan_backward/pssa::scan_backward::sweep",
                    "pssa::scan_backward/pssa::scan_backward::reduce"};
  EXPECT_EQ(events.paths, paths);
  EXPECT_EQ(events.open_regions, 0u);

  session->input("delta", given.at("b"));
  auto const refused = events_of([&] {
    EXPECT_THROW(session->forward(), Error);
    EXPECT_THROW(session->forward_with_tape(), Error);
    EXPECT_THROW(session->backward(), Error);
  });
  EXPECT_TRUE(refused.kernels.empty());
  EXPECT_EQ(refused.open_regions, 0u);
}

TEST_P(Manners, device_ids_tell_instances_apart) {
  auto const one = GetParam().make();
  if (one->on_host()) GTEST_SKIP() << "Kokkos gives all instances of a host backend one id";
  auto const other = GetParam().make();
  EXPECT_EQ(one->device_id(), other->device_id());
  one->use_own_instance();
  other->use_own_instance();
  EXPECT_NE(one->device_id(), other->device_id());
}

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Elements = Kokkos::View<float***, Memory>;
using States = Kokkos::View<float**, Memory>;

bool same_bits(Elements const& a, Elements const& b) {
  auto const left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  return std::memcmp(left.data(), right.data(), left.span() * sizeof(float)) == 0;
}

/// The calls as a user writes them, with Views of the default layout: those without an instance run on the default one.
void calls_without_an_instance() {
  Elements const x("x", 2, 5, 7), delta("delta", 2, 5, 7), b("b", 2, 5, 3), c("c", 2, 5, 3);
  States const A("A", 7, 3);
  Kokkos::deep_copy(x, 1.5f);
  Kokkos::deep_copy(delta, 0.25f);
  Kokkos::deep_copy(b, 2.f);
  Kokkos::deep_copy(c, 0.5f);
  Kokkos::deep_copy(A, -1.f);
  ScanInputs<float> const in{.x = x, .delta = delta, .b = b, .c = c, .A = A};
  Elements y[4], dx[2];
  for (auto& view : y) view = Elements("y", 2, 5, 7);
  for (auto& view : dx) view = Elements("dx", 2, 5, 7);
  Space const exec;
  pssa::Tape<float> tape, other_tape;

  scan(exec, in, ScanOutputs<float>{.y = y[0]});
  scan(in, ScanOutputs<float>{.y = y[1]});
  scan(exec, in, ScanOutputs<float>{.y = y[2]}, tape);
  scan(in, ScanOutputs<float>{.y = y[3]}, other_tape);
  scan_backward(exec, in, ScanCotangents<float>{.dy = x}, tape, ScanGradients<float>{.dx = dx[0]});
  scan_backward(in, ScanCotangents<float>{.dy = x}, other_tape, ScanGradients<float>{.dx = dx[1]});
  Kokkos::fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, y[0]);
  EXPECT_FLOAT_EQ(host(1, 0, 6), 0.25f * 2 * 1.5f * 0.5f * 3);  // delta b x c, three states
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(same_bits(y[i], y[0])) << i;
  EXPECT_TRUE(same_bits(dx[0], dx[1]));
  EXPECT_FALSE(same_bits(dx[0], y[0]));
}

TEST(MannersOnce, calls_without_an_instance) { calls_without_an_instance(); }

TEST(MannersOnce, version) {
  auto const numbers = std::to_string(PSSA_VERSION_MAJOR) + "." + std::to_string(PSSA_VERSION_MINOR) + "." +
                       std::to_string(PSSA_VERSION_PATCH);
  EXPECT_EQ(numbers, PSSA_VERSION_STRING);
}

}  // namespace
}  // namespace pssa::tests
