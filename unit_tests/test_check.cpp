// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "events.hpp"
#include "inputs.hpp"
#include "near.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Check : public EverySetup {};
PSSA_EVERY_SETUP(Check);

Sizes const sizes{2, 5, 7, 3};

using Shape = std::vector<std::int64_t>;

std::string text(Shape const& numbers) {
  std::string result;
  for (auto const number : numbers) result += (result.empty() ? "" : ", ") + std::to_string(number);
  return "(" + result + ")";
}

Shape shape(std::string const& name) { return shape_of(tools::axes_of(name), sizes); }

std::string axes(std::string const& name) { return axes_text(tools::axes_of(name)); }

std::string wrong_shape(std::string const& name, Shape const& is, Shape const& expected) {
  return name + " has shape " + text(is) + ", expected " + axes(name) + " = " + text(expected);
}

/// A function of the library, with what it takes.
struct Call {
  std::string name;
  void (*run)(Session&);
  std::vector<std::string> reads;
  std::vector<std::string> writes;
};

std::vector<std::string> operator+(std::vector<std::string> a, std::vector<std::string> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Call> calls(Session const& session) {
  auto const backward_reads = tools::input_names + tools::cotangent_names;
  std::vector<Call> result{
      {"pssa::scan", [](Session& s) { s.forward(); }, tools::input_names, tools::output_names},
      {"pssa::scan", [](Session& s) { s.forward_with_tape(); }, tools::input_names, tools::output_names},
      {"pssa::scan_backward", [](Session& s) { s.backward(); }, backward_reads, tools::gradient_names}};
  if (session.on_host()) {
    result.push_back(
        {"pssa::scan_reference", [](Session& s) { s.reference(); }, tools::input_names, tools::output_names});
    result.push_back({"pssa::scan_reference_backward", [](Session& s) { s.reference_backward(); }, backward_reads,
                      tools::gradient_names});
  }
  return result;
}

/// Right arguments of every call, and a filled tape.
std::unique_ptr<Session> ready(Setup const& setup) {
  auto session = setup.make();
  auto const given = setup.rounded(make_inputs(sizes, 1));
  place_forward(*session, given, sizes);
  session->forward_with_tape();
  session->fence();
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  return session;
}

/// Expects the text of the call's error, that nothing has been launched or allocated, and no output written.
void expect_error(Session& session, Call const& call, std::string const& expected,
                  std::vector<std::string> const& not_looked_at = {}) {
  std::string got = "no error";
  auto const bytes = session.tape_bytes();
  auto const events = events_of([&] {
    try {
      call.run(session);
    } catch (std::invalid_argument const& error) {
      got = error.what();
    }
  });
  EXPECT_EQ(got, call.name + ": " + expected);
  EXPECT_TRUE(events.none()) << ::testing::PrintToString(events.kernels);
  EXPECT_EQ(session.tape_bytes(), bytes);
  for (auto const& name : call.writes)
    if (std::find(not_looked_at.begin(), not_looked_at.end(), name) == not_looked_at.end()) {
      EXPECT_TRUE(session.untouched(name)) << name;
    }
}

void expect_no_error(Session& session, Call const& call) {
  EXPECT_NO_THROW(call.run(session)) << call.name;
  session.fence();
}

TEST_P(Check, right_arguments_pass) {
  auto const session = ready(GetParam());
  for (auto const& call : calls(*session)) expect_no_error(*session, call);
}

TEST_P(Check, each_extent_in_turn) {
  for (auto const& call : calls(*GetParam().make()))
    for (auto const& name : call.reads + call.writes)
      for (std::size_t axis = 0; axis < shape(name).size(); ++axis)
        for (int const by : {-1, 1}) {
          SCOPED_TRACE(call.name + ", " + name + ", axis " + std::to_string(axis));
          auto wrong = shape(name);
          wrong[axis] += by;
          auto const session = ready(GetParam());
          session->input(name, {wrong, std::vector<double>(1000)});
          if (name == "x") {  // gives batch, length and channels
            expect_error(*session, call, wrong_shape("delta", shape("delta"), wrong), {"y"});
          } else if (name == "A" && axis == 1) {  // gives the state
            expect_error(*session, call, wrong_shape("b", shape("b"), {2, 5, wrong[1]}));
          } else {
            expect_error(*session, call, wrong_shape(name, wrong, shape(name)), {name});
          }
        }
}

TEST_P(Check, states_with_channels_last) {
  auto const session = ready(GetParam());
  session->input("h0", {{2, 3, 7}, std::vector<double>(42)});
  expect_error(*session, calls(*session)[0], "h0 has shape (2, 3, 7), expected (batch, channels, state) = (2, 7, 3)");
}

TEST_P(Check, no_state) {
  auto const session = ready(GetParam());
  session->input("A", {{7, 0}, {}});
  for (auto const& call : calls(*session))
    expect_error(*session, call, "A has shape (7, 0), expected (channels, state) = (7, at least 1)");
}

TEST_P(Check, empty_Views) {
  for (auto const& call : calls(*GetParam().make()))
    for (auto const& name : call.reads + call.writes) {
      SCOPED_TRACE(call.name + ", " + name);
      auto const session = ready(GetParam());
      session->null(name);
      Shape const empty(shape(name).size());
      if (name == "x") {
        expect_error(*session, call, "x is an empty View, expected (batch, length, channels)");
      } else if (name == "A") {
        expect_error(*session, call, "A has shape (0, 0), expected (channels, state) = (7, at least 1)");
      } else {
        expect_error(*session, call, wrong_shape(name, empty, shape(name)), {name});
      }
      session->null(name, shape(name));
      expect_error(*session, call, name + " points to no memory, expected " + axes(name) + " = " + text(shape(name)),
                   {name});
    }
}

TEST_P(Check, no_arguments_at_all) {
  auto const session = ready(GetParam());
  session->remove();
  for (auto call : calls(*session)) {
    call.writes.clear();
    expect_error(*session, call, "A has shape (0, 0), expected (channels, state) = (0, at least 1)");
  }
}

/// Every output in the memory of every input, and of every output before it, of its type.
TEST_P(Check, outputs_that_overlap) {
  for (auto const& call : calls(*GetParam().make()))
    for (std::size_t i = 0; i < call.writes.size(); ++i) {
      auto const& output = call.writes[i];
      bool const stored = is_of_element_type(tools::axes_of(output));
      std::vector<std::string> const before(call.writes.begin(), call.writes.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto const& other : call.reads + before) {
        if (is_of_element_type(tools::axes_of(other)) != stored) continue;
        SCOPED_TRACE(call.name + ", " + output + " in " + other);
        bool const may_be_same = (output == "hT" && other == "h0") || (output == "dh0" && other == "dhT");
        auto const expected = output + " overlaps " + other + " in memory, expected no shared element" +
                              (may_be_same ? " or the very same View" : "");
        auto const session = ready(GetParam());
        auto const mine = shape(output);
        Shape const strides = mine.size() == 2 ? Shape{mine[1], 1} : Shape{mine[1] * mine[2], mine[2], 1};
        // From the same element on, when that is an error; in the middle; with the other's last element as its first.
        std::int64_t count = 1;
        for (auto const extent : shape(other)) count *= extent;
        for (std::int64_t const offset : {std::int64_t{may_be_same ? 1 : 0}, count / 2, count - 1}) {
          session->inside(output, other, mine, strides, offset);
          expect_error(*session, call, expected, {output, other});
        }
        session->inside(output, other, mine, strides, count);  // just behind
        expect_no_error(*session, call);
        if (!may_be_same) continue;
        session->same(output, other);
        expect_no_error(*session, call);
        auto const swapped = ready(GetParam());  // batch and channels of the same memory: not the very same View
        swapped->inside(output, other, mine, {3, 6, 1}, 0);
        expect_error(*swapped, call, expected, {output, other});
      }
    }
}

TEST_P(Check, columns_of_one_buffer_do_not_overlap) {
  auto const session = ready(GetParam());
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  auto const expected = reference(given, sizes);
  auto const all = calls(*session);
  // y beside x, ddelta beside dx, dc beside db: each the right half of a buffer with twice the columns.
  session->input("x", given.at("x"), {.gap = 7});
  session->inside("y", "x", shape("y"), {5 * 14, 14, 1}, 7);
  session->output("dx", shape("dx"), {.gap = 7});
  session->inside("ddelta", "dx", shape("dx"), {5 * 14, 14, 1}, 7);
  session->output("db", shape("db"), {.gap = 3});
  session->inside("dc", "db", shape("db"), {5 * 6, 6, 1}, 3);
  // hT beside h0, state by state.
  session->input("h0", given.at("h0"), {.step = 2});
  session->inside("hT", "h0", shape("hT"), {7 * 6, 6, 2}, 1);
  expect_no_error(*session, all[1]);
  expect_no_error(*session, all[2]);
  for (auto const& name : tools::output_names + tools::gradient_names)
    EXPECT_TRUE(near(name, session->get(name), expected.at(name), tolerance(GetParam(), name, sizes, 1)));
  // One column further to the left they do.
  session->inside("y", "x", shape("y"), {5 * 14, 14, 1}, 6);
  session->output("hT", shape("hT"));
  expect_error(*session, all[0], "y overlaps x in memory, expected no shared element", {"y"});
  session->inside("y", "x", shape("y"), {5 * 14, 14, 1}, 8);
  expect_error(*session, all[0], "y overlaps x in memory, expected no shared element", {"y"});
}

TEST_P(Check, outputs_whose_elements_share_an_address) {
  for (auto const& call : calls(*GetParam().make()))
    for (auto const& output : call.writes) {
      auto const extents = shape(output);
      Shape const packed = extents.size() == 2 ? Shape{extents[1], 1} : Shape{extents[1] * extents[2], extents[2], 1};
      for (std::size_t axis = 0; axis < extents.size(); ++axis)
        for (std::int64_t const stride : {std::int64_t{0}, packed[axis] - 1}) {
          SCOPED_TRACE(call.name + ", " + output + ", axis " + std::to_string(axis));
          auto const session = ready(GetParam());
          auto strides = packed;
          strides[axis] = stride;
          session->inside(output, output, extents, strides, 0);
          expect_error(
              *session, call,
              output + " has strides " + text(strides) + ", expected every element to have an address of its own");
        }
    }
}

TEST_P(Check, strides_of_single_elements_do_not_matter) {
  Sizes const one{1, 4, 1, 3};
  auto const given = GetParam().rounded(make_inputs(one, 1));
  auto const session = GetParam().make();
  place_forward(*session, given, one);
  session->inside("y", "y", {1, 4, 1}, {0, 1, 0}, 0);
  expect_no_error(*session, calls(*session)[0]);
  EXPECT_TRUE(near("y", session->get("y"), reference(given, one).at("y"), tolerance(GetParam(), "y", one, 1)));
}

TEST_P(Check, checkpoint_interval) {
  auto const session = ready(GetParam());
  std::string const is = "options.checkpoint_interval is ";
  Call const inference[] = {
      {"pssa::scan", [](Session& s) { s.forward({.checkpoint_interval = -1}); }, {}, tools::output_names},
      {"pssa::scan", [](Session& s) { s.forward({.checkpoint_interval = 4}); }, {}, tools::output_names}};
  expect_error(*session, inference[0], is + "-1, expected 0 (chosen) or more");
  expect_error(*session, inference[1], is + "4, expected 0 in a call without a tape");
  Call const training{
      "pssa::scan", [](Session& s) { s.forward_with_tape({.checkpoint_interval = -3}); }, {}, tools::output_names};
  expect_error(*session, training, is + "-3, expected 0 (chosen) or more");
  session->forward_with_tape({.checkpoint_interval = 2});
  session->fence();
  Call const backward{
      "pssa::scan_backward", [](Session& s) { s.backward({.checkpoint_interval = 3}); }, {}, tools::gradient_names};
  expect_error(*session, backward, is + "3, expected 0 or the tape's 2");
  EXPECT_EQ(session->tape_interval(), 2);
}

TEST_P(Check, time_chunks) {
  auto const session = ready(GetParam());
  session->forward_with_tape();
  session->fence();
  Call const calls[] = {
      {"pssa::scan", [](Session& s) { s.forward({.time_chunks = -1}); }, {}, {}},
      {"pssa::scan", [](Session& s) { s.forward_with_tape({.time_chunks = -1}); }, {}, {}},
      {"pssa::scan_backward", [](Session& s) { s.backward({.time_chunks = -1}); }, {}, tools::gradient_names}};
  for (auto const& call : calls) expect_error(*session, call, "options.time_chunks is -1, expected 0 (chosen) or more");
}

TEST_P(Check, kernel) {
  auto const session = ready(GetParam());
  auto const expected = [&](bool backward, std::string const& is) {
    std::string list;
    for (auto const& kernel : compiled_kernels(GetParam(), sizes, backward))
      list += (list.empty() ? "" : ", ") + std::to_string(kernel.number) + (kernel.relay ? " (relay" : " (tile") +
              " of " + std::to_string(kernel.channels) + " channels)";
    return "options.kernel is " + is + ", expected 0 (chosen) or one of " + list;
  };
  Call const all[] = {
      {"pssa::scan", [](Session& s) { s.forward({.kernel = 99}); }, {}, tools::output_names},
      {"pssa::scan", [](Session& s) { s.forward_with_tape({.kernel = 99}); }, {}, tools::output_names},
      {"pssa::scan_backward", [](Session& s) { s.backward({.kernel = 99}); }, {}, tools::gradient_names}};
  for (auto const& call : all) expect_error(*session, call, expected(call.name == "pssa::scan_backward", "99"));
}

TEST_P(Check, a_tape_of_another_call) {
  auto const session = ready(GetParam());
  auto const call = calls(*session)[2];
  session->new_tape();
  expect_error(*session, call, "tape is empty, expected one that pssa::scan has filled with these inputs");
  for (Sizes const& other : {Sizes{1, 5, 7, 3}, Sizes{2, 6, 7, 3}, Sizes{2, 5, 8, 3}, Sizes{2, 5, 7, 4}}) {
    place_forward(*session, GetParam().rounded(make_inputs(other, 1)), other);
    session->forward_with_tape();
    session->fence();
    place_forward(*session, GetParam().rounded(make_inputs(sizes, 1)), sizes);
    expect_error(*session, call,
                 "tape was filled at (batch, length, channels, state) = " +
                     text({other.batch, other.length, other.channels, other.state}) + ", expected (2, 5, 7, 3)");
  }
}

/// A forward call that throws leaves the tape as it was.
TEST_P(Check, a_bad_call_leaves_the_tape_usable) {
  auto const session = ready(GetParam());
  auto const given = GetParam().rounded(make_inputs(sizes, 1));
  session->null("y");
  EXPECT_THROW(session->forward_with_tape(), std::invalid_argument);
  session->output("y", shape("y"));
  EXPECT_THROW(session->forward_with_tape({.kernel = 99}), std::invalid_argument);
  session->backward();
  auto const expected = reference(given, sizes);
  for (auto const& name : tools::gradient_names)
    EXPECT_TRUE(near(name, session->get(name), expected.at(name), tolerance(GetParam(), name, sizes, 1)));
}

/// An interval whose waiting states no scratch holds; at the longer length their bytes do not fit in 32 bits. One element
/// stands for all tokens of an input: nothing may be read.
TEST(CheckOnce, scratch_that_no_team_can_have) {
  using Space = Kokkos::DefaultHostExecutionSpace;
  using Memory = Space::memory_space;
  constexpr int state = 64;
  auto const available = static_cast<std::int64_t>(Kokkos::TeamPolicy<Space>::scratch_size_max(1)) - 64;
  Kokkos::View<float*, Memory> const one("one", 1);
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> const A("A", 1, state);
  for (std::int64_t const length : {std::int64_t{400000}, std::int64_t{16800000}}) {
    auto const tokens = static_cast<std::size_t>(length);
    View3<float, Memory> const same(one.data(), Kokkos::LayoutStride(1, 0, tokens, 0, 1, 0));
    View3<float, Memory> const states(one.data(), Kokkos::LayoutStride(1, 0, tokens, 0, state, 0));
    Kokkos::View<float***, Kokkos::LayoutRight, Memory> const y(
        Kokkos::view_alloc("y", Kokkos::WithoutInitializing), 1, tokens, 1);
    y(0, 0, 0) = 7;
    Tape<float, Memory> tape;
    // The narrowest tile of a host is 16 channels of float. Their states wait before every block of 16 tokens; A, the
    // cotangents and dA, the tokens, and the states of one block come on top.
    std::int64_t const needed = (16 * (((length + 15) / 16 + 3) * state + 2 + 5 * 16 + 4 * 65) + 2 * 16 * state) * 4;
    std::string message;
    try {
      scan(Space{}, ScanInputs<float, Memory>{same, same, states, states, A, {}}, ScanOutputs<float, Memory>{y, {}},
           tape, {.checkpoint_interval = 2147483647});
    } catch (Error const& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "pssa::scan: checkpoint interval 2147483647 at state 64 needs " + std::to_string(needed) +
                           " bytes of scratch for a team, expected at most " + std::to_string(available));
    EXPECT_EQ(y(0, 0, 0), 7);
    EXPECT_EQ(tape.bytes(), 0u);
  }
}

}  // namespace
}  // namespace pssa::tests
