// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inputs.hpp"
#include "near.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Scan : public EverySetup {};
PSSA_EVERY_SETUP(Scan);

std::string text(Sizes const& sizes) {
  return "batch " + std::to_string(sizes.batch) + ", length " + std::to_string(sizes.length) + ", channels " +
         std::to_string(sizes.channels) + ", state " + std::to_string(sizes.state);
}

/// Compares y and hT with the reference.
void expect_outputs(Setup const& setup, Session& session, Tensors const& given, Sizes const& sizes, double decay) {
  auto const expected = reference(given, sizes);
  for (auto const& name : tools::output_names)
    EXPECT_TRUE(near(name, session.get(name), expected.at(name), tolerance(setup, name, sizes, decay)));
}

/// One call at these sizes, at each decay.
void expect_right(Setup const& setup, Sizes const& sizes, Options const& options = {}) {
  for (double const decay : decays) {
    SCOPED_TRACE(text(sizes) + ", decay " + std::to_string(decay));
    auto const session = setup.make();
    auto given = setup.rounded(make_inputs(sizes, decay));
    for (auto const& name : tools::cotangent_names) given.erase(name);
    place_forward(*session, given, sizes);
    session->forward(options);
    expect_outputs(setup, *session, given, sizes, decay);
  }
}

TEST_P(Scan, state_sizes) {
  for (std::int64_t const state : {1, 2, 3, 5, 16, 17, 24, 33, 64, 96, 100, 128, 129, 256, 257, 300, 512})
    expect_right(GetParam(), {2, 19, 9, state});
}

TEST_P(Scan, channels) {
  for (std::int64_t const channels : {1, 3, 15, 16, 17, 63, 65, 100, 257}) {
    expect_right(GetParam(), {2, 18, channels, 3});
    expect_right(GetParam(), {1, 17, channels, 16});
  }
}

TEST_P(Scan, lengths) {
  for (std::int64_t const length : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000, 4097}) {
    expect_right(GetParam(), {1, length, 5, 3});
    expect_right(GetParam(), {2, std::min<std::int64_t>(length, 100), 17, 16});
  }
}

TEST_P(Scan, channels_and_lengths_at_the_edges_of_a_tile) {
  for (std::int64_t const channels : {31, 32, 33, 127, 128, 129})
    for (std::int64_t const length : {7, 8, 16, 33}) expect_right(GetParam(), {1, length, channels, 5});
}

TEST_P(Scan, nothing_to_do) {
  for (Sizes const& sizes : {Sizes{0, 5, 3, 4}, Sizes{2, 5, 0, 4}, Sizes{2, 0, 3, 4}, Sizes{0, 0, 0, 1}})
    expect_right(GetParam(), sizes);
}

TEST_P(Scan, without_h0_and_hT) {
  Sizes const sizes{2, 21, 5, 3};
  auto given = GetParam().rounded(make_inputs(sizes, 1));
  given.erase("h0");
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  session->remove("hT");
  session->forward();
  EXPECT_TRUE(near("y", session->get("y"), reference(given, sizes).at("y"), tolerance(GetParam(), "y", sizes, 1)));
}

TEST_P(Scan, every_kernel) {
  auto const setup = GetParam();
  for (std::int64_t const state : {1, 3, 16, 40, 300})
    for (std::int64_t const length : {1, 19, 300}) {
      Sizes const sizes{2, length, 70, state};
      for (auto const& kernel : compiled_kernels(setup, sizes, false)) {
        SCOPED_TRACE("kernel " + std::to_string(kernel.number));
        expect_right(setup, sizes, {.kernel = kernel.number});
      }
    }
}

TEST_P(Scan, many_teams) {
  expect_right(GetParam(), {1, 2, 70000, 1});
  expect_right(GetParam(), {70000, 1, 1, 2});
}

/// Placements that a View may have.
std::vector<Placement> const placements{
    {.offset = 1},                                          // misaligned
    {.gap = 1},                                             // misaligned rows
    {.gap = 4},                                             // rows apart
    {.gap = 43, .offset = 1},                               // columns 1 to 40 of a buffer with 83
    {.order = {2, 1, 0}},                                   // LayoutLeft
    {.order = {0, 2, 1}},                                   // (batch, channels, length) memory
    {.order = {1, 0, 2}},                                   // (length, batch, channels) memory
    {.step = 2},                                            // every other column
    {.order = {2, 0, 1}, .step = 3, .gap = 5, .offset = 2}  //
};

TEST_P(Scan, any_placement_gives_the_bits_of_the_packed_one) {
  for (std::int64_t const state : {4, 16, 40}) {
    Sizes const sizes{2, 37, 40, state};
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    session->forward();
    auto const packed = bits(*session, tools::output_names);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      SCOPED_TRACE("placement " + std::to_string(i) + ", state " + std::to_string(state));
      for (auto const& name : tools::input_names) {
        SCOPED_TRACE(name);
        place_forward(*session, given, sizes);
        if (name != "A") session->input(name, given.at(name), placements[i]);
        session->forward();
        EXPECT_EQ(bits(*session, tools::output_names), packed);
      }
      for (auto const& name : tools::input_names)
        if (name != "A") session->input(name, given.at(name), placements[i]);
      for (auto const& name : tools::output_names)
        session->output(name, shape_of(tools::axes_of(name), sizes), placements[i]);
      session->forward();
      EXPECT_EQ(bits(*session, tools::output_names), packed);
    }
    for (Placement const& placement : {Placement{.order = {1, 0}}, Placement{.gap = 3, .offset = 1}}) {
      place_forward(*session, given, sizes);
      session->input("A", given.at("A"), placement);
      session->forward();
      EXPECT_EQ(bits(*session, tools::output_names), packed);
    }
  }
}

TEST_P(Scan, an_input_may_repeat_itself) {
  Sizes const sizes{2, 9, 20, 5};
  auto given = GetParam().rounded(make_inputs(sizes, 1));
  auto const& d = given.at("delta").data;
  auto& repeated = given["delta"];
  for (std::size_t i = 0; i < repeated.data.size(); ++i) repeated.data[i] = d[i / 20 * 20];
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  session->forward();
  auto const packed = bits(*session, tools::output_names);
  place_forward(*session, given, sizes);
  session->inside("delta", "delta", {2, 9, 20}, {9 * 20, 20, 0}, 0);
  session->forward();
  EXPECT_EQ(bits(*session, tools::output_names), packed);
}

/// y of a sequence cut into parts, hT of each part in the memory of its h0; leaves hT in the session.
Tensor in_parts(Session& session, Tensors const& given, Sizes const& sizes, std::vector<std::int64_t> const& lengths) {
  std::vector<Tensor> y;
  std::int64_t begin = 0;
  session.input("h0", given.at("h0"));
  session.same("hT", "h0");
  for (auto const length : lengths) {
    auto const part = tokens(given, begin, begin + length);
    for (auto const* name : {"x", "delta", "b", "c", "A"}) session.input(name, part.at(name));
    session.output("y", {sizes.batch, length, sizes.channels});
    session.forward();
    y.push_back(session.get("y"));
    begin += length;
  }
  EXPECT_EQ(begin, sizes.length);
  return joined(y);
}

void expect_parts_as_whole(Setup const& setup, Sizes const& sizes, std::vector<std::int64_t> const& lengths) {
  for (double const decay : decays) {
    auto given = setup.rounded(make_inputs(sizes, decay));
    for (auto const& name : tools::cotangent_names) given.erase(name);
    auto const expected = reference(given, sizes);
    auto const session = setup.make();
    EXPECT_TRUE(
        near("y", in_parts(*session, given, sizes, lengths), expected.at("y"), tolerance(setup, "y", sizes, decay)));
    EXPECT_TRUE(near("hT", session->get("hT"), expected.at("hT"), tolerance(setup, "hT", sizes, decay)));
  }
}

TEST_P(Scan, parts_that_carry_the_state_in_place_make_the_whole) {
  for (std::int64_t const state : {3, 16, 300}) expect_parts_as_whole(GetParam(), {2, 100, 9, state}, {37, 63});
  Sizes const sizes{2, 257, 7, 16};
  for (std::int64_t const chunk : {1, 7, 64, 193}) {
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(sizes.length / chunk), chunk);
    if (sizes.length % chunk != 0) lengths.push_back(sizes.length % chunk);
    expect_parts_as_whole(GetParam(), sizes, lengths);
  }
  expect_parts_as_whole(GetParam(), {2, 5, 3, 4}, {0, 2, 0, 3, 0});
}

/// Shapes that can be cut: with ragged chunks, states at the edges of a tile, and one that is too short for any cut.
std::vector<Sizes> const cut_sizes{{2, 100, 9, 3}, {1, 257, 17, 16}, {3, 96, 70, 16}, {1, 300, 5, 64},
                                   {1, 611, 3, 128}, {2, 90, 130, 1}, {1, 40, 3, 30}};

TEST_P(Scan, cut_into_chunks_of_time) {
  for (auto const& sizes : cut_sizes)
    for (int const chunks : {2, 3, 7, 1000}) {
      SCOPED_TRACE(std::to_string(chunks) + " chunks");
      expect_right(GetParam(), sizes, {.time_chunks = chunks});
    }
}

TEST_P(Scan, chunks_of_time_carry_the_state_in_place) {
  for (auto const& sizes : cut_sizes) {
    auto given = GetParam().rounded(make_inputs(sizes, 0.01));
    for (auto const& name : tools::cotangent_names) given.erase(name);
    auto const session = GetParam().make();
    Bits first;
    for (bool const in_place : {false, true, true}) {
      place_forward(*session, given, sizes);
      if (in_place) session->same("hT", "h0");
      session->forward({.time_chunks = 5});
      auto const now = bits(*session, tools::output_names);
      if (!in_place) first = now;
      EXPECT_EQ(now, first) << text(sizes);
    }
    expect_outputs(GetParam(), *session, given, sizes, 0.01);
  }
}

TEST_P(Scan, order_matters) {
  Sizes const sizes{1, 8, 3, 4};
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  auto swapped = given;
  for (auto const* name : {"x", "delta", "b", "c"})
    swapped[name] = joined({tokens(given, 4, 8).at(name), tokens(given, 0, 4).at(name)});
  auto const session = GetParam().make();
  place_forward(*session, swapped, sizes);
  session->forward();
  auto const expected = reference(given, sizes).at("hT");
  auto const got = session->get("hT");
  for (std::size_t i = 0; i < got.data.size(); ++i)
    EXPECT_GT(std::fabs(got.data[i] - expected.data[i]), 1e-3 * std::fabs(expected.data[i]));
  swapped.erase("dy");
  EXPECT_TRUE(near("hT", got, reference(swapped, sizes).at("hT"), tolerance(GetParam(), "hT", sizes, 1)));
}

/// Strong decays: the cumulative decay of a block, and of a step, is 0 in float.
TEST_P(Scan, decay_beyond_the_range_of_the_type) {
  struct Extreme {
    std::int64_t length;
    double A, delta;
  };
  for (auto const& [length, A, delta] : {Extreme{16, -16, 0.5}, Extreme{4096, -16, 100}, Extreme{33, -1e30, 1e3},
                                         Extreme{33, -1e4, 0}, Extreme{64, -1e-30, 0.1}}) {
    Sizes const sizes{1, length, 3, 4};
    auto given = GetParam().rounded(make_inputs(sizes, 1));
    for (auto const& name : tools::cotangent_names) given.erase(name);
    for (std::size_t i = 0; i < given["A"].data.size(); ++i) given["A"].data[i] = A * (1 + 0.1 * noise(1, 60, i));
    // Now and then a step a thousandth as long.
    for (std::size_t i = 0; i < given["delta"].data.size(); ++i)
      given["delta"].data[i] = delta * (noise(1, 61, i) < 0.1 ? 1e-3 : noise(1, 62, i));
    given = GetParam().rounded(given);
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    session->forward();
    SCOPED_TRACE("A " + std::to_string(A) + ", delta " + std::to_string(delta));
    // Where a decay matters its argument is less than about 20, beyond it a decay is less than a rounding.
    expect_outputs(GetParam(), *session, given, sizes, std::min(20., -A * delta));
  }
}

/// exp(-0.001) a token, 2000 tokens: kept in two bytes the state would stop to grow at 1/8 of its final value.
TEST_P(Scan, the_state_is_kept_in_float_at_least) {
  Sizes const sizes{1, 2000, 4, 2};
  Tensors given;
  for (auto const& [name, value] : {std::pair{"x", 1.0}, {"delta", 0.125}, {"b", 0.5}, {"c", 0.25}, {"A", -0.008}})
    given[name] = filled(name, sizes, value);
  // Steps of one length would repeat one rounding of the decay 2000 times.
  auto& delta = given["delta"].data;
  for (std::size_t i = 0; i < delta.size(); ++i) delta[i] *= 0.75 + 0.5 * noise(1, 63, i);
  given = GetParam().rounded(given);
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  session->forward();
  expect_outputs(GetParam(), *session, given, sizes, 1e-3);
}

TEST_P(Scan, the_same_bits_from_run_to_run) {
  for (Sizes const& sizes : {Sizes{3, 65, 100, 16}, Sizes{1, 33, 9, 300}}) {
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    Bits first;
    for (int run = 0; run < 20; ++run) {
      place_forward(*session, given, sizes);
      session->forward();
      auto const now = bits(*session, tools::output_names);
      if (run == 0) first = now;
      ASSERT_EQ(now, first) << "run " << run;
    }
  }
}

TEST_P(Scan, instances_and_sizes_do_not_disturb_each_other) {
  std::vector<Sizes> const order{{4, 300, 60, 16}, {1, 3, 2, 300}, {2, 300, 60, 300}, {1, 3, 2, 1}};
  std::vector<Tensors> given;
  for (auto const& sizes : order) given.push_back(GetParam().rounded(make_inputs(sizes, 1)));
  for (auto& tensors : given)
    for (auto const& name : tools::cotangent_names) tensors.erase(name);
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sessions.push_back(GetParam().make());
    sessions.back()->use_own_instance();
    place_forward(*sessions.back(), given[i], order[i]);
  }
  for (int round = 0; round < 3; ++round)
    for (auto const& session : sessions) session->forward();
  for (std::size_t i = 0; i < order.size(); ++i) expect_outputs(GetParam(), *sessions[i], given[i], order[i], 1);
}

}  // namespace
}  // namespace pssa::tests
