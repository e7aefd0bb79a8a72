// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "events.hpp"
#include "inputs.hpp"
#include "near.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Tape : public EverySetup {};
PSSA_EVERY_SETUP(Tape);

std::string error_of_states(Session& session) {
  try {
    session.tape_states();
  } catch (std::invalid_argument const& error) {
    return error.what();
  }
  return "no error";
}

TEST_P(Tape, states_are_those_after_every_token) {
  for (Sizes const& sizes : {Sizes{2, 9, 5, 3}, Sizes{1, 17, 40, 16}, Sizes{1, 5, 3, 300}}) {
    auto given = GetParam().rounded(make_inputs(sizes, 1));
    for (auto const& name : tools::cotangent_names) given.erase(name);
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    session->forward_with_tape({.checkpoint_interval = 1});
    EXPECT_EQ(session->tape_interval(), 1);
    auto const states = session->tape_states();
    ASSERT_EQ(states.shape, (std::vector<std::int64_t>{sizes.batch, sizes.length, sizes.channels, sizes.state}));
    auto const row = static_cast<std::size_t>(sizes.channels * sizes.state);
    for (std::int64_t t = 0; t < sizes.length; ++t) {
      // The state after token t is the last one of the first t + 1 tokens.
      Sizes const head{sizes.batch, t + 1, sizes.channels, sizes.state};
      auto const expected = reference(tokens(given, 0, t + 1), head).at("hT");
      Tensor got{expected.shape, {}};
      for (std::int64_t i = 0; i < sizes.batch; ++i) {
        auto const first = states.data.begin() + (i * sizes.length + t) * static_cast<std::int64_t>(row);
        got.data.insert(got.data.end(), first, first + static_cast<std::int64_t>(row));
      }
      EXPECT_TRUE(near("hT", got, expected, tolerance(GetParam(), "hT", head, 1))) << "token " << t;
    }
  }
}

TEST_P(Tape, states_of_nothing) {
  Sizes const sizes{2, 0, 3, 4};
  auto const session = GetParam().make();
  place_forward(*session, GetParam().rounded(make_inputs(sizes, 1)), sizes);
  session->forward_with_tape({.checkpoint_interval = 1});
  EXPECT_EQ(session->tape_states().shape, (std::vector<std::int64_t>{2, 0, 3, 4}));
}

TEST_P(Tape, states_need_a_forward_pass_that_keeps_all) {
  Sizes const sizes{2, 9, 5, 3};
  auto const session = GetParam().make();
  EXPECT_EQ(session->tape_interval(), 0);
  EXPECT_EQ(session->tape_bytes(), 0u);
  EXPECT_EQ(error_of_states(*session),
            "pssa::Tape::states: the tape is empty, expected one that pssa::scan has filled");
  place_forward(*session, GetParam().rounded(make_inputs(sizes, 1)), sizes);
  session->forward_with_tape({.checkpoint_interval = 4});
  EXPECT_EQ(session->tape_interval(), 4);
  EXPECT_EQ(error_of_states(*session),
            "pssa::Tape::states: the tape has checkpoint interval 4, expected a forward pass with "
            "options.checkpoint_interval = 1");
  session->forward_with_tape();
  EXPECT_GT(session->tape_interval(), 1);
}

TEST_P(Tape, holds_as_many_bytes_as_documented) {
  for (Sizes const& sizes : {Sizes{2, 37, 70, 16}, Sizes{3, 8, 5, 3}, Sizes{1, 0, 2, 2}, Sizes{1, 16, 20, 300}})
    for (int const given_interval : {0, 1, 5, 8, 1000})
      for (auto const& kernel : compiled_kernels(GetParam(), sizes, true)) {
        if (kernel.relay) continue;  // the interval may ask for a tile instead
        auto const given = GetParam().rounded(make_inputs(sizes, 1));
        auto const session = GetParam().make();
        place_forward(*session, given, sizes);
        session->forward_with_tape({.checkpoint_interval = given_interval});
        auto const K = session->tape_interval();
        if (given_interval != 0) {
          EXPECT_EQ(K, given_interval);
        }
        auto const bytes = [](std::int64_t states) {
          return static_cast<std::size_t>(states) * GetParam().state_bytes;
        };
        auto const kept = bytes(sizes.batch * sizes.channels * sizes.state * (sizes.length / K + 1));
        EXPECT_EQ(session->tape_bytes(), kept);

        for (auto const& name : tools::cotangent_names) session->input(name, given.at(name));
        for (auto const* name : {"dx", "ddelta", "dh0"}) session->output(name, shape_of(tools::axes_of(name), sizes));
        session->backward({.kernel = kernel.number});
        EXPECT_EQ(session->tape_bytes(), kept);  // without db, dc, dA there are no parts to add

        place_backward(*session, given, sizes);
        session->backward({.kernel = kernel.number});
        auto const tiles = (sizes.channels + kernel.channels - 1) / kernel.channels;
        EXPECT_EQ(session->tape_bytes(), kept + bytes(tiles * sizes.batch * sizes.length * 2 * sizes.state +
                                                      sizes.batch * sizes.channels * sizes.state));
      }
}

TEST_P(Tape, calls_at_sizes_that_fit_allocate_nothing_and_do_not_fence) {
  for (std::int64_t const state : {16, 300}) {
    auto const session = GetParam().make();
    Sizes const large{2, 50, 40, state};
    for (Sizes const& sizes : {large, large, Sizes{1, 9, 40, state}, Sizes{2, 17, 33, state}, large}) {
      auto const given = GetParam().rounded(make_inputs(sizes, 1));
      place_forward(*session, given, sizes);
      place_backward(*session, given, sizes);
      bool const first = session->tape_interval() == 0;
      auto const events = events_of([&] {
        session->forward_with_tape();
        session->backward();
      });
      session->fence();
      if (first) {
        EXPECT_FALSE(events.allocations.empty());
        continue;
      }
      EXPECT_TRUE(events.allocations.empty()) << ::testing::PrintToString(events.allocations);
      EXPECT_TRUE(events.fences.empty()) << ::testing::PrintToString(events.fences);
      EXPECT_TRUE(events.copies.empty()) << ::testing::PrintToString(events.copies);
    }
  }
}

}  // namespace
}  // namespace pssa::tests
