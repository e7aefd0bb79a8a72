// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "session.hpp"

namespace pssa::tests {

/// The three decays of every test: -delta * A is about 1e-4 (long memory), 1, and 16 (forgets at once).
inline std::vector<double> const decays{1e-4, 1, 16};

inline Tensor filled(std::string const& name, Sizes const& sizes, double value) {
  Tensor tensor{shape_of(tools::axes_of(name), sizes), {}};
  std::size_t count = 1;
  for (auto const extent : tensor.shape) count *= static_cast<std::size_t>(extent);
  tensor.data.assign(count, value);
  return tensor;
}

/// A number in [0, 1) that depends on all of its arguments (the finaliser of SplitMix64).
inline double noise(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = (seed * 64 + stream + 1) * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// Inputs and cotangents of a scan at one decay. Each value lies within 25 % of its tensor's typical one; x and h0 of a
/// channel share a sign, and so do dy and dhT, opposite to it in one channel of four. No sum cancels then to less than
/// about a third of its terms, so that a result's own size is a fair scale for its rounding errors:
/// a channel's y, dx and dA sum terms of one sign; db and dc differ in sign in a quarter of theirs; in ddelta the first
/// token has |A| a |h0| < 0.6 b |x|.
inline Tensors make_inputs(Sizes const& sizes, double decay, std::uint64_t seed = 1) {
  Tensors result;
  auto const add = [&](std::string const& name, double typical) {
    auto tensor = filled(name, sizes, 0);
    tools::Channels const channels(tensor, tools::axes_of(name));
    auto const stream = static_cast<std::uint64_t>(result.size());
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      auto const d = channels.of(i);
      bool const forward = name == "x" || name == "h0";
      bool const backward = name == "dy" || name == "dhT";
      bool const negative = (forward && d % 3 == 1) || (backward && (d % 3 == 1) != (d % 4 == 3));
      tensor.data[i] = typical * (0.75 + 0.5 * noise(seed, stream, i)) * (negative ? -1 : 1);
    }
    result[name] = tensor;
  };
  add("x", 1);
  add("delta", 0.1);
  add("b", 1);
  add("c", 1);
  add("A", -10 * decay);
  add("h0", 0.04);
  add("dy", 1);
  add("dhT", 1);
  return result;
}

/// Tokens [begin, end) of every tensor that has tokens; the others as they are.
inline Tensors tokens(Tensors const& whole, std::int64_t begin, std::int64_t end) {
  Tensors result = whole;
  for (auto& [name, tensor] : result) {
    if (!is_of_element_type(tools::axes_of(name))) continue;
    auto const& from = whole.at(name);
    auto const row = from.shape[2];
    tensor.shape[1] = end - begin;
    tensor.data.clear();
    for (std::int64_t i = 0; i < from.shape[0]; ++i) {
      auto const first = from.data.begin() + (i * from.shape[1] + begin) * row;
      tensor.data.insert(tensor.data.end(), first, first + (end - begin) * row);
    }
  }
  return result;
}

/// Sequence parts joined along the tokens.
inline Tensor joined(std::vector<Tensor> const& parts) {
  Tensor result{parts.front().shape, {}};
  result.shape[1] = 0;
  for (auto const& part : parts) result.shape[1] += part.shape[1];
  for (std::int64_t i = 0; i < result.shape[0]; ++i)
    for (auto const& part : parts) {
      auto const row = part.shape[1] * part.shape[2];
      auto const first = part.data.begin() + i * row;
      result.data.insert(result.data.end(), first, first + row);
    }
  return result;
}

/// Gives a session the inputs (h0 among them if given), and outputs of NaN.
inline void place_forward(Session& session, Tensors const& given, Sizes const& sizes) {
  for (auto const& name : tools::input_names)
    if (given.count(name) != 0) session.input(name, given.at(name));
  for (auto const& name : tools::output_names) session.output(name, shape_of(tools::axes_of(name), sizes));
}

/// The same for the backward pass: cotangents, and gradients of NaN.
inline void place_backward(Session& session, Tensors const& given, Sizes const& sizes) {
  for (auto const& name : tools::cotangent_names)
    if (given.count(name) != 0) session.input(name, given.at(name));
  for (auto const& name : tools::gradient_names) session.output(name, shape_of(tools::axes_of(name), sizes));
}

/// The values of those of the names that the session has.
inline Tensors get(Session& session, std::vector<std::string> const& names) {
  Tensors result;
  for (auto const& name : names) result[name] = session.get(name);
  return result;
}

using Bits = std::vector<std::vector<unsigned char>>;

inline Bits bits(Session& session, std::vector<std::string> const& names) {
  Bits result;
  for (auto const& name : names) result.push_back(session.bits(name));
  return result;
}

/// A test suite that runs for every setup.
class EverySetup : public ::testing::TestWithParam<Setup> {};

#define PSSA_EVERY_SETUP(SUITE)                                                        \
  INSTANTIATE_TEST_SUITE_P(every, SUITE, ::testing::ValuesIn(::pssa::tests::setups()), \
                           [](auto const& with) { return std::string(with.param.name); })

}  // namespace pssa::tests
