// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "session.hpp"

namespace pssa::tests {

/// How far a value may lie from the expected one: relative * its channel's scale + absolute. A channel's scale is its
/// largest expected value; in b and c, which the channels share, each state is a channel.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// True when every element is within the tolerance; else tells the worst ones.
inline ::testing::AssertionResult near(std::string const& name, Tensor const& got, Tensor const& expected,
                                       Tolerance const& tolerance) {
  if (got.shape != expected.shape)
    return ::testing::AssertionFailure() << name << " has shape " << ::testing::PrintToString(got.shape)
                                         << ", expected " << ::testing::PrintToString(expected.shape);
  tools::Channels const channels(expected, tools::axes_of(name));
  std::vector<double> scale(channels.count);
  for (std::size_t i = 0; i < expected.data.size(); ++i)
    scale[channels.of(i)] = std::max(scale[channels.of(i)], std::fabs(expected.data[i]));

  struct Wrong {
    std::size_t index;
    double excess;  ///< error in units of what is allowed
  };
  std::vector<Wrong> wrong;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    double const error = std::fabs(got.data[i] - expected.data[i]);
    double const allowed = tolerance.relative * scale[channels.of(i)] + tolerance.absolute;
    if (!(error <= allowed)) wrong.push_back({i, std::isnan(error) ? HUGE_VAL : error / allowed});
  }
  if (wrong.empty()) return ::testing::AssertionSuccess();

  std::stable_sort(wrong.begin(), wrong.end(), [](Wrong const& a, Wrong const& b) { return a.excess > b.excess; });
  auto result = ::testing::AssertionFailure();
  result << name << ": " << wrong.size() << " of " << expected.data.size() << " elements are off by more than "
         << tolerance.relative << " of their channel's scale; the worst:";
  for (std::size_t k = 0; k < std::min<std::size_t>(wrong.size(), 5); ++k) {
    auto const i = wrong[k].index;
    std::string index;
    auto rest = static_cast<std::int64_t>(i);
    for (auto axis = expected.shape.size(); axis-- > 0; rest /= expected.shape[axis])
      index = std::to_string(rest % expected.shape[axis]) + (index.empty() ? "" : ", ") + index;
    char line[200];
    std::snprintf(line, sizeof line, "\n  (%s): %.9g, expected %.9g, %.3g of the scale %.3g", index.c_str(),
                  got.data[i], expected.data[i], std::fabs(got.data[i] - expected.data[i]) / scale[channels.of(i)],
                  scale[channels.of(i)]);
    result << line;
  }
  return result;
}

/// The tolerance of a result of make_inputs. A state is rounded four times at each of the tokens that it remembers
/// (decay, two products, their sum), and so is its adjoint; their errors add up as a random walk, as do those of the
/// sum over the states, the channels or the tokens that makes the result: 4 units of rounding times the square root of
/// the number of all these, with 2 as safety. The argument of the exponential, at most 1.6 * decay, carries 3 roundings
/// more (A in base 2, its product with delta, the result), twice in a gradient. The fast exponential of a device is
/// good to two units in the last place only, and may err to one side over the whole memory. The stored result is
/// rounded once more.
inline Tolerance tolerance(Setup const& setup, std::string const& name, Sizes const& sizes, double decay) {
  auto const length = static_cast<double>(sizes.length);
  double const memory = std::min(length, 1 / decay + 1);
  double summands = static_cast<double>(sizes.state);
  if (name == "db" || name == "dc") summands = static_cast<double>(sizes.channels);
  if (name == "dA") summands = static_cast<double>(sizes.batch) * length;
  double const roundings = 8 * std::sqrt(memory + summands + 1) + 2 * 3 * 1.6 * decay + setup.exponential * memory;
  bool const stored = is_of_element_type(tools::axes_of(name));
  auto const& last = stored ? setup.element : setup.sums;
  return {roundings * setup.sums.unit + last.unit, setup.sums.least_normal + last.unit * last.least_normal};
}

}  // namespace pssa::tests
