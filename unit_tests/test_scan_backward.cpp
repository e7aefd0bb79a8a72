// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inputs.hpp"
#include "near.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class ScanBackward : public EverySetup {};
PSSA_EVERY_SETUP(ScanBackward);

std::string text(Sizes const& sizes, double decay) {
  return "batch " + std::to_string(sizes.batch) + ", length " + std::to_string(sizes.length) + ", channels " +
         std::to_string(sizes.channels) + ", state " + std::to_string(sizes.state) + ", decay " + std::to_string(decay);
}

/// Compares the gradients with the reference.
void expect_gradients(Setup const& setup, Session& session, Tensors const& given, Sizes const& sizes, double decay) {
  auto const expected = reference(given, sizes);
  for (auto const& name : tools::gradient_names)
    EXPECT_TRUE(near(name, session.get(name), expected.at(name), tolerance(setup, name, sizes, decay)));
}

/// True for tensors whose last axis is the channels.
bool is_of_channels(std::string const& name) { return tools::axes_of(name) == tools::Axes::token_channels; }

/// Both passes on what has been placed.
void run(Session& session, Options const& forward = {}, Options const& backward = {}) {
  session.forward_with_tape(forward);
  session.backward(backward);
}

void expect_right_at(Setup const& setup, Sizes const& sizes, double decay, Options const& forward = {},
                     Options const& backward = {}) {
  SCOPED_TRACE(text(sizes, decay));
  auto const session = setup.make();
  auto const given = setup.rounded(make_inputs(sizes, decay));
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  run(*session, forward, backward);
  expect_gradients(setup, *session, given, sizes, decay);
}

void expect_right(Setup const& setup, Sizes const& sizes, Options const& forward = {}, Options const& backward = {}) {
  for (double const decay : decays) expect_right_at(setup, sizes, decay, forward, backward);
}

TEST_P(ScanBackward, state_sizes) {
  for (std::int64_t const state : {1, 2, 3, 5, 16, 17, 24, 33, 64, 96, 100, 128, 129, 256, 257, 300, 512})
    expect_right(GetParam(), {2, 13, 9, state});
}

TEST_P(ScanBackward, channels) {
  for (std::int64_t const channels : {1, 3, 15, 16, 17, 63, 65, 100, 257}) {
    expect_right(GetParam(), {2, 11, channels, 3});
    expect_right(GetParam(), {1, 9, channels, 16});
  }
}

TEST_P(ScanBackward, lengths) {
  for (std::int64_t const length : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000, 4097}) {
    expect_right(GetParam(), {1, length, 3, 3});
    expect_right(GetParam(), {2, std::min<std::int64_t>(length, 100), 17, 16});
  }
}

TEST_P(ScanBackward, channels_at_the_edges_of_a_tile) {
  for (std::int64_t const channels : {7, 8, 9, 31, 32, 33, 127, 128, 129})
    expect_right(GetParam(), {1, 17, channels, 5});
}

TEST_P(ScanBackward, cut_into_chunks_of_time) {
  for (Sizes const& sizes : {Sizes{2, 100, 9, 3}, Sizes{1, 257, 17, 16}, Sizes{3, 96, 70, 16}, Sizes{1, 300, 5, 64},
                             Sizes{1, 300, 3, 128}, Sizes{2, 90, 130, 1}, Sizes{1, 40, 3, 30}})
    for (int const chunks : {2, 7, 1000}) {
      SCOPED_TRACE(std::to_string(chunks) + " chunks");
      expect_right(GetParam(), sizes, {.time_chunks = chunks}, {.time_chunks = chunks});
    }
  // The tape does not tell how the forward pass was cut; its interval is where the backward pass may cut.
  for (int const interval : {1, 3, 8, 50, 1000})
    for (auto const& [forward, backward] : {std::pair{4, 1}, {1, 4}, {3, 5}}) {
      SCOPED_TRACE("interval " + std::to_string(interval));
      expect_right(GetParam(), {2, 203, 9, 16}, {.checkpoint_interval = interval, .time_chunks = forward},
                   {.time_chunks = backward});
    }
}

TEST_P(ScanBackward, chunks_of_time_carry_the_cotangent_in_place) {
  Sizes const sizes{2, 203, 20, 16};
  auto const given = GetParam().rounded(make_inputs(sizes, 0.01));
  auto const session = GetParam().make();
  Bits first;
  for (bool const in_place : {false, true, true}) {
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    if (in_place) session->same("dh0", "dhT");
    run(*session, {.time_chunks = 4}, {.time_chunks = 4});
    auto const now = bits(*session, tools::gradient_names);
    if (!in_place) first = now;
    EXPECT_EQ(now, first);
  }
  expect_gradients(GetParam(), *session, given, sizes, 0.01);
}

/// Offsets between tokens that 32 bits do not hold, on one token so that they need no memory.
TEST_P(ScanBackward, strides_beyond_32_bits) {
  Sizes const sizes{3, 1, 20, 5};
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  auto const session = GetParam().make();
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  run(*session);
  auto const near_bits = bits(*session, tools::gradient_names);
  auto const y = session->bits("y");
  for (auto const* name : {"x", "delta", "b", "c", "dy", "y", "dx", "ddelta", "db", "dc"}) {
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    auto const columns = is_of_channels(name) ? sizes.channels : sizes.state;
    session->inside(name, name, {sizes.batch, 1, columns}, {columns, std::int64_t{1} << 40, 1}, 0);
    run(*session);
    EXPECT_EQ(session->bits("y"), y) << name;
    EXPECT_EQ(bits(*session, tools::gradient_names), near_bits) << name;
  }
}

TEST_P(ScanBackward, many_teams) {
  expect_right(GetParam(), {1, 2, 70000, 1});
  expect_right(GetParam(), {70000, 1, 1, 2});
}

/// With length 0 dh0 = dhT and dA = 0; with nothing in the batch dA = 0; without channels db = dc = 0.
TEST_P(ScanBackward, nothing_to_do) {
  for (Sizes const& sizes : {Sizes{2, 0, 3, 4}, Sizes{0, 5, 3, 4}, Sizes{2, 5, 0, 4}, Sizes{0, 0, 0, 1}})
    for (int const interval : {0, 1}) {
      expect_right(GetParam(), sizes, {.checkpoint_interval = interval});
      auto const session = GetParam().make();
      auto const given = GetParam().rounded(make_inputs(sizes, 1));
      place_forward(*session, given, sizes);
      place_backward(*session, given, sizes);
      run(*session, {.checkpoint_interval = interval});
      auto const expect_zero = [&](std::string const& name) {
        auto const values = session->get(name).data;
        EXPECT_EQ(values, std::vector<double>(values.size())) << name;
      };
      if (sizes.length == 0) {
        EXPECT_EQ(session->get("dh0").data, given.at("dhT").data);
      }
      if (sizes.length == 0 || sizes.batch == 0) expect_zero("dA");
      if (sizes.channels == 0) {
        expect_zero("db");
        expect_zero("dc");
      }
    }
}

TEST_P(ScanBackward, without_h0_and_dhT) {
  Sizes const sizes{2, 21, 5, 3};
  for (auto const& absent : {"h0", "dhT"}) {
    auto given = GetParam().rounded(make_inputs(sizes, 1));
    given.erase(absent);
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    run(*session);
    expect_gradients(GetParam(), *session, given, sizes, 1);
  }
}

TEST_P(ScanBackward, every_kernel) {
  for (std::int64_t const state : {1, 3, 16, 40, 300})
    for (std::int64_t const length : {1, 19, 150}) {
      Sizes const sizes{2, length, 70, state};
      for (auto const& kernel : compiled_kernels(GetParam(), sizes, true)) {
        SCOPED_TRACE("kernel " + std::to_string(kernel.number));
        expect_right(GetParam(), sizes, {}, {.kernel = kernel.number});
      }
    }
}

/// A forward kernel keeps what any backward kernel reads.
TEST_P(ScanBackward, every_forward_kernel_fills_the_tape) {
  for (std::int64_t const state : {1, 16, 40}) {
    Sizes const sizes{2, 150, 20, state};
    for (auto const& kernel : compiled_kernels(GetParam(), sizes, false))
      for (int const interval : {0, 1, 4, 5, 8, 16, 48}) {
        SCOPED_TRACE("kernel " + std::to_string(kernel.number) + ", interval " + std::to_string(interval));
        expect_right(GetParam(), sizes, {.checkpoint_interval = interval, .kernel = kernel.number}, {});
      }
  }
}

TEST_P(ScanBackward, every_checkpoint_interval) {
  for (int const interval : {1, 2, 3, 4, 5, 7, 8, 16, 64, 1000, 2147483647}) {
    SCOPED_TRACE("checkpoint_interval " + std::to_string(interval));
    for (std::int64_t const state : {3, 16, 300}) {
      auto const length = state == 300 ? 21 : 67;
      expect_right(GetParam(), {2, length, 9, state}, {.checkpoint_interval = interval});
    }
    expect_right(GetParam(), {1, 64, 5, 4}, {.checkpoint_interval = interval}, {.checkpoint_interval = interval});
  }
}

/// Decays exp(-8) to exp(-16): a h_{t-1} taken as the difference h_t - delta b x has no digit left there. The bound is
/// the roundings of the decay's argument, 3 * 1.6 * decay for each of a and its adjoint, and some of the sums.
TEST_P(ScanBackward, strong_decays_keep_the_digits_of_dA_and_ddelta) {
  for (double const decay : {8., 10., 12., 14., 16.}) expect_right_at(GetParam(), {2, 40, 7, 5}, decay);
}

TEST_P(ScanBackward, absent_gradients_change_no_bits_of_the_others) {
  for (Sizes const& sizes : {Sizes{2, 19, 40, 16}, Sizes{2, 9, 5, 300}}) {
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    session->forward_with_tape();
    place_backward(*session, given, sizes);
    session->backward();
    auto const all = bits(*session, tools::gradient_names);
    for (unsigned subset = 0; subset < 1u << tools::gradient_names.size(); ++subset) {
      session->new_tape();
      session->forward_with_tape();
      place_backward(*session, given, sizes);
      for (std::size_t i = 0; i < all.size(); ++i)
        if ((subset >> i & 1) == 0) session->remove(tools::gradient_names[i]);
      session->backward();
      for (std::size_t i = 0; i < all.size(); ++i) {
        if ((subset >> i & 1) == 0) continue;
        EXPECT_EQ(session->bits(tools::gradient_names[i]), all[i])
            << tools::gradient_names[i] << " of subset " << subset;
      }
    }
  }
}

/// dL of a step of one input, by central differences of the forward pass, against the gradients, for the loss
/// L = sum of dy y + sum of dhT hT. Steps of r = 1e-5 of the value leave an error of r^2 / 6 of the third
/// derivative, which for the decay's argument (at most z = 1.6 * decay) is z^3 of the result, below 3e-7 at 16; and
/// roundings of 2^-53 sum|terms| / r, below 1e-9 for these sums of at most 100 terms.
TEST_P(ScanBackward, central_differences) {
  if (GetParam().element.unit > 1e-15) GTEST_SKIP() << "differences need double";
  Sizes const sizes{2, 5, 3, 3};
  constexpr double r = 1e-5;
  for (double const decay : decays) {
    SCOPED_TRACE(text(sizes, decay));
    auto const given = make_inputs(sizes, decay);
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    run(*session);
    auto const loss = [&] {
      session->forward();
      double sum = 0;
      for (auto const& [out, weight] : {std::pair{"y", "dy"}, {"hT", "dhT"}}) {
        auto const values = session->get(out);
        for (std::size_t i = 0; i < values.data.size(); ++i) sum += values.data[i] * given.at(weight).data[i];
      }
      return sum;
    };
    for (auto const& name : tools::input_names) {
      auto const gradient = session->get("d" + name);
      auto differences = gradient;
      auto moved = given.at(name);
      for (std::size_t i = 0; i < moved.data.size(); ++i) {
        double const value = moved.data[i];
        double side[2];
        for (int const k : {0, 1}) {
          moved.data[i] = value * (1 + (k == 0 ? -r : r));
          session->input(name, moved);
          side[k] = loss();
        }
        moved.data[i] = value;
        differences.data[i] = (side[1] - side[0]) / (2 * r * value);
      }
      session->input(name, moved);
      // The loss is a sum over all, which a gradient of strongly decayed terms (dA, dh0) is a small part of.
      double const absolute = 0x1p-53 * 100 * 10 / (2 * r * std::fabs(given.at(name).data[0]));
      EXPECT_TRUE(near("d" + name, gradient, differences, {1e-6, absolute}));
    }
  }
}

TEST_P(ScanBackward, parts_that_carry_both_ways_make_the_whole) {
  for (std::int64_t const state : {3, 16, 300}) {
    Sizes const sizes{2, 100, 9, state};
    for (double const decay : decays) {
      SCOPED_TRACE(text(sizes, decay));
      auto const given = GetParam().rounded(make_inputs(sizes, decay));
      auto const expected = reference(given, sizes);
      std::vector<std::unique_ptr<Session>> parts;
      std::int64_t const cut[] = {0, 37, 100};
      Tensor state_between = given.at("h0");
      for (int const k : {0, 1}) {
        parts.push_back(GetParam().make());
        Sizes const mine{sizes.batch, cut[k + 1] - cut[k], sizes.channels, sizes.state};
        auto part = tokens(given, cut[k], cut[k + 1]);
        part["h0"] = state_between;
        place_forward(*parts[k], part, mine);
        parts[k]->same("hT", "h0");
        place_backward(*parts[k], part, mine);
        parts[k]->forward_with_tape();
        state_between = parts[k]->get("hT");
      }
      parts[1]->same("dh0", "dhT");
      parts[1]->backward();
      parts[0]->input("dhT", parts[1]->get("dh0"));
      parts[0]->same("dh0", "dhT");
      parts[0]->backward();
      for (auto const& name : tools::gradient_names) {
        auto got = parts[0]->get(name);
        auto const second = parts[1]->get(name);
        if (is_of_element_type(tools::axes_of(name))) got = joined({got, second});
        if (name == "dA")
          std::transform(got.data.begin(), got.data.end(), second.data.begin(), got.data.begin(), std::plus<>());
        EXPECT_TRUE(near(name, got, expected.at(name), tolerance(GetParam(), name, sizes, decay)));
      }
    }
  }
}

TEST_P(ScanBackward, in_place_states_change_no_bits) {
  for (int const interval : {0, 1, 5}) {
    Sizes const sizes{2, 21, 9, 16};
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    run(*session, {.checkpoint_interval = interval});
    auto const apart = bits(*session, tools::gradient_names);
    auto const hT = session->bits("hT");
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    session->same("hT", "h0");
    session->same("dh0", "dhT");
    run(*session, {.checkpoint_interval = interval});
    EXPECT_EQ(bits(*session, tools::gradient_names), apart);
    EXPECT_EQ(session->bits("hT"), hT);
  }
}

TEST_P(ScanBackward, any_placement_gives_the_bits_of_the_packed_one) {
  std::vector<Placement> const placements{
      {.offset = 1},        {.gap = 1},           {.gap = 4},  {.gap = 43, .offset = 1},
      {.order = {2, 1, 0}}, {.order = {0, 2, 1}}, {.step = 2}, {.order = {2, 0, 1}, .step = 3, .gap = 5, .offset = 2}};
  for (std::int64_t const state : {4, 16, 40}) {
    Sizes const sizes{2, 21, 40, state};
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    run(*session);
    auto const packed = bits(*session, tools::gradient_names);
    for (std::size_t i = 0; i < placements.size(); ++i) {
      SCOPED_TRACE("placement " + std::to_string(i) + ", state " + std::to_string(state));
      for (auto const& names : {tools::input_names, tools::cotangent_names})
        for (auto const& name : names)
          if (name != "A") session->input(name, given.at(name), placements[i]);
      for (auto const& name : tools::gradient_names)
        if (name != "dA") session->output(name, shape_of(tools::axes_of(name), sizes), placements[i]);
      Placement const placement = i % 2 == 0 ? Placement{.order = {1, 0}} : Placement{.gap = 3, .offset = 1};
      session->input("A", given.at("A"), placement);
      session->output("dA", shape_of(tools::axes_of("dA"), sizes), placement);
      run(*session);
      EXPECT_EQ(bits(*session, tools::gradient_names), packed);
    }
  }
}

TEST_P(ScanBackward, the_same_bits_from_run_to_run) {
  for (Sizes const& sizes : {Sizes{3, 65, 100, 16}, Sizes{1, 33, 9, 300}}) {
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    auto const session = GetParam().make();
    Bits first;
    for (int k = 0; k < 20; ++k) {
      place_forward(*session, given, sizes);
      place_backward(*session, given, sizes);
      run(*session);
      auto const now = bits(*session, tools::gradient_names);
      if (k == 0) first = now;
      ASSERT_EQ(now, first) << "run " << k;
    }
  }
}

TEST_P(ScanBackward, a_tape_serves_calls_of_any_sizes) {
  auto const session = GetParam().make();
  for (Sizes const& sizes : {Sizes{2, 40, 30, 16}, Sizes{1, 3, 2, 3}, Sizes{2, 40, 30, 16}, Sizes{1, 9, 3, 300},
                             Sizes{3, 50, 40, 17}, Sizes{1, 1, 1, 1}}) {
    SCOPED_TRACE(text(sizes, 1));
    auto const given = GetParam().rounded(make_inputs(sizes, 1));
    session->remove();
    place_forward(*session, given, sizes);
    place_backward(*session, given, sizes);
    run(*session);
    expect_gradients(GetParam(), *session, given, sizes, 1);
    place_backward(*session, given, sizes);
    session->backward();  // once more from the same tape
    expect_gradients(GetParam(), *session, given, sizes, 1);
  }
}

TEST_P(ScanBackward, instances_and_sizes_do_not_disturb_each_other) {
  std::vector<Sizes> const order{{4, 200, 60, 16}, {1, 3, 2, 300}, {2, 100, 30, 300}, {1, 3, 2, 1}};
  std::vector<Tensors> given;
  std::vector<std::unique_ptr<Session>> sessions;
  for (auto const& sizes : order) {
    given.push_back(GetParam().rounded(make_inputs(sizes, 1)));
    sessions.push_back(GetParam().make());
    sessions.back()->use_own_instance();
    place_forward(*sessions.back(), given.back(), sizes);
    place_backward(*sessions.back(), given.back(), sizes);
  }
  for (int round = 0; round < 3; ++round) {
    for (auto const& session : sessions) session->forward_with_tape();
    for (auto const& session : sessions) session->backward();
  }
  for (std::size_t i = 0; i < order.size(); ++i) expect_gradients(GetParam(), *sessions[i], given[i], order[i], 1);
}

}  // namespace
}  // namespace pssa::tests
