// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pssa::tools {

/// How finely a floating-point type stores a number.
struct Precision {
  double unit = 0;          ///< largest relative error of rounding a number to the type
  double least_normal = 0;  ///< below it the error is unit * least_normal, whatever the number
};

inline Precision const precision_of_double{std::ldexp(1.0, -53), std::ldexp(1.0, -1022)};
inline Precision const precision_of_float{std::ldexp(1.0, -24), std::ldexp(1.0, -126)};
inline Precision const precision_of_half{std::ldexp(1.0, -11), std::ldexp(1.0, -14)};
inline Precision const precision_of_bfloat16{std::ldexp(1.0, -8), std::ldexp(1.0, -126)};

/// The channels of a tensor in C order.
struct Channels {
  Channels(Tensor const& tensor, Axes axes) : count(static_cast<std::size_t>(tensor.shape[channel_axis(axes)])) {
    for (auto axis = channel_axis(axes) + 1; axis < tensor.shape.size(); ++axis)
      stride *= static_cast<std::size_t>(tensor.shape[axis]);
  }

  /// The channel of the i-th value.
  std::size_t of(std::size_t i) const { return i / stride % count; }

  std::size_t count;
  std::size_t stride = 1;
};

/// The largest error of value, each channel's relative to its own largest reference value; infinite where a value is
/// not finite. A channel counts as no smaller than what stored, the type of value, resolves: its least normal number;
/// and no smaller than one rounding, in the type of the sums, of the tensor's largest value, so that a channel of zeros
/// or of rounding errors has a scale.
inline double largest_error(Tensor const& value, Tensor const& reference, Axes axes, Precision const& stored,
                            Precision const& sums) {
  Channels const channels(reference, axes);
  std::vector<double> error(channels.count), scale(channels.count);
  double largest = 0;
  for (std::size_t i = 0; i < reference.data.size(); ++i) {
    auto const channel = channels.of(i);
    double const difference = std::fabs(value.data[i] - reference.data[i]);
    if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
    error[channel] = std::max(error[channel], difference);
    scale[channel] = std::max(scale[channel], std::fabs(reference.data[i]));
    largest = std::max(largest, scale[channel]);
  }
  double result = 0;
  for (std::size_t channel = 0; channel < channels.count; ++channel)
    result = std::max(result, error[channel] / std::max({scale[channel], sums.unit * largest, stored.least_normal}));
  return result;
}

/// How much rounding the inputs to the element type has changed them: the largest relative change of any channel of any
/// input, of its largest value or of its mean magnitude. The mean counts the many small values below the least normal
/// number that a channel may have beside a large one; twice, since errors uniform in +-u are u / 2 in the mean.
inline double largest_change(Tensors const& rounded, Tensors const& given) {
  double result = 0;
  for (auto const& [name, tensor] : given) {
    auto const axes = axes_of(name);
    auto const& changed = rounded.at(name);
    result = std::max(result, largest_error(changed, tensor, axes, precision_of_double, precision_of_double));
    Channels const channels(tensor, axes);
    std::vector<double> change(channels.count), magnitude(channels.count);
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      change[channels.of(i)] += std::fabs(changed.data[i] - tensor.data[i]);
      magnitude[channels.of(i)] += std::fabs(tensor.data[i]);
    }
    for (std::size_t channel = 0; channel < channels.count; ++channel)
      if (magnitude[channel] > 0) result = std::max(result, 2 * change[channel] / magnitude[channel]);
  }
  return result;
}

/// The least |delta A| of a channel, in the channel where it is largest.
inline double least_decay(Tensors const& inputs) {
  auto const& delta = inputs.at("delta");
  auto const& A = inputs.at("A");
  Channels const of_delta(delta, axes_of("delta")), of_A(A, axes_of("A"));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> step(of_delta.count, infinity), rate(of_A.count, infinity);
  auto const lower = [](double& least, double value) { least = std::min(least, std::fabs(value)); };
  for (std::size_t i = 0; i < delta.data.size(); ++i) lower(step[of_delta.of(i)], delta.data[i]);
  for (std::size_t i = 0; i < A.data.size(); ++i) lower(rate[of_A.of(i)], A.data[i]);
  double result = 0;
  for (std::size_t channel = 0; channel < step.size() && !delta.data.empty(); ++channel)
    result = std::max(result, step[channel] * rate[channel]);
  return result;
}

/// Where the numbers of a comparison were rounded.
struct Roundings {
  Precision element;    ///< the element type: x, delta, b, c, dy, y, dx, ddelta, db, dc
  Precision sums;       ///< its state_type: A, the states, every sum
  double expected = 0;  ///< largest relative error of the expected values, as they were stored
  double inputs = 0;    ///< largest_change of the inputs; 0 where the expected values come from the rounded inputs
  double decay = 0;     ///< least_decay of the inputs
};

/// Bound on largest_error of a tensor, relative to its channel's scale.
///
/// Sums: each step of the recurrence makes about four roundings (delta A; the exponential, good to two units; the
/// product; the sum), each at most u = sums.unit of the state, and uniform in +-u, so of root mean square u / sqrt(3).
/// They are independent: over k steps they add up to sqrt(k (4 + 2) / 3) u = 1.4 sqrt(k) u. The largest of very many
/// results lies five to six such deviations out: 8 sqrt(k) u. k counts the steps of the longest recurrence, which is
/// the sequence, and the terms of the sum that follows it: the state for y, dx and ddelta, the channels for db and dc,
/// every token for dA.
/// Inputs: a rounded input changes its terms by r = inputs at most. A term is a product of up to five inputs and of
/// decays exp(-z), which change by z r. Terms of random sign: the same deviations of sqrt(5 / 3) r, so 8 r, as long as
/// the term without decay is the channel's largest. In dA and dh0 every term has decayed at least once: by z = decay
/// or more, so 8 (1 + z) r.
/// Outputs: one rounding to the element type, and one of the expected value.
inline double error_bound(std::string const& name, Sizes const& sizes, Roundings const& roundings) {
  auto const axes = axes_of(name);
  auto terms = static_cast<double>(sizes.length);
  if (axes == Axes::token_channels) terms += static_cast<double>(sizes.state);
  if (axes == Axes::token_states) terms += static_cast<double>(sizes.channels);
  if (axes == Axes::channel_states) terms += static_cast<double>(sizes.batch * sizes.length);
  auto const decay = name == "dA" || name == "dh0" ? roundings.decay : 0;
  auto const stored = is_of_element_type(axes) ? roundings.element.unit : roundings.sums.unit;
  return 8 * std::sqrt(terms) * roundings.sums.unit + 8 * (1 + decay) * roundings.inputs + stored + roundings.expected;
}

}  // namespace pssa::tools
