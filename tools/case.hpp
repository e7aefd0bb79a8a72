// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pssa::tools {

/// A tensor on the host, in C order.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<double> data;
};

/// The tensors of one scan by their names: x, delta, ..., dh0.
using Tensors = std::map<std::string, Tensor>;

/// The four sizes of a scan.
struct Sizes {
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t channels = 0;
  std::int64_t state = 0;
};

/// What the axes of a tensor are.
enum class Axes { token_channels, token_states, batch_states, channel_states };

inline std::vector<std::string> const input_names{"x", "delta", "b", "c", "A", "h0"};
inline std::vector<std::string> const cotangent_names{"dy", "dhT"};
inline std::vector<std::string> const output_names{"y", "hT"};
inline std::vector<std::string> const gradient_names{"dx", "ddelta", "db", "dc", "dA", "dh0"};

/// The axes of the tensor of this name.
inline Axes axes_of(std::string const& name) {
  if (name == "b" || name == "c" || name == "db" || name == "dc") return Axes::token_states;
  if (name == "h0" || name == "hT" || name == "dh0" || name == "dhT") return Axes::batch_states;
  if (name == "A" || name == "dA") return Axes::channel_states;
  return Axes::token_channels;
}

/// True for a tensor of the element type, false for one of its state_type.
inline bool is_of_element_type(Axes axes) { return axes == Axes::token_channels || axes == Axes::token_states; }

inline char const* axes_text(Axes axes) {
  switch (axes) {
    case Axes::token_channels: return "(batch, length, channels)";
    case Axes::token_states: return "(batch, length, state)";
    case Axes::batch_states: return "(batch, channels, state)";
    default: return "(channels, state)";
  }
}

inline std::vector<std::int64_t> shape_of(Axes axes, Sizes const& sizes) {
  switch (axes) {
    case Axes::token_channels: return {sizes.batch, sizes.length, sizes.channels};
    case Axes::token_states: return {sizes.batch, sizes.length, sizes.state};
    case Axes::batch_states: return {sizes.batch, sizes.channels, sizes.state};
    default: return {sizes.channels, sizes.state};
  }
}

/// The axis along which errors are told apart: channels, or the state in b and c, which the channels share.
inline std::size_t channel_axis(Axes axes) {
  return axes == Axes::channel_states ? 0 : axes == Axes::batch_states ? 1 : 2;
}

}  // namespace pssa::tools
