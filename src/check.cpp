// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/impl/check.hpp>

#include "elements.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

namespace pssa::impl::check {

namespace {

/// One argument of a call, as far as its errors need it.
struct Argument {
  std::string name;
  void const* data = nullptr;
  std::int64_t element = 1;  ///< bytes of one element
  std::vector<std::int64_t> extent;
  std::vector<std::int64_t> stride;

  bool empty() const {
    return std::any_of(extent.begin(), extent.end(), [](std::int64_t n) { return n == 0; });
  }
  bool forgotten() const {
    return data == nullptr && std::all_of(extent.begin(), extent.end(), [](std::int64_t n) { return n == 0; });
  }
};

template <class T, int Rank>
Argument argument(std::string name, Tensor<T, Rank> const& tensor) {
  return {std::move(name), tensor.data, static_cast<std::int64_t>(sizeof(T)),
          std::vector<std::int64_t>(tensor.extent, tensor.extent + Rank),
          std::vector<std::int64_t>(tensor.stride, tensor.stride + Rank)};
}

std::string text(std::vector<std::int64_t> const& numbers) {
  std::string result;
  for (auto const number : numbers) result += (result.empty() ? "" : ", ") + std::to_string(number);
  return "(" + result + ")";
}

[[noreturn]] void fail(std::string const& call, std::string const& what) { throw Error(call + ": " + what); }

void expect_shape(char const* call, Argument const& argument, char const* axes,
                  std::vector<std::int64_t> const& expected) {
  if (argument.extent != expected)
    fail(call, argument.name + " has shape " + text(argument.extent) + ", expected " + axes + " = " + text(expected));
  if (argument.data == nullptr && !argument.empty())
    fail(call, argument.name + " points to no memory, expected " + axes + " = " + text(expected));
}

/// An axis of the memory that an argument covers, strides made positive.
struct Axis {
  std::int64_t stride;
  std::int64_t extent;
};

/// Axes that move, longest stride first.
std::vector<Axis> axes_of(Argument const& argument) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < argument.extent.size(); ++i)
    if (argument.extent[i] > 1) axes.push_back({argument.stride[i], argument.extent[i]});
  std::sort(axes.begin(), axes.end(), [](Axis const& a, Axis const& b) { return a.stride > b.stride; });
  return axes;
}

/// Elements from the first to the last, both counted.
std::int64_t span(std::vector<Axis> const& axes, std::size_t from = 0) {
  std::int64_t elements = 1;
  for (std::size_t i = from; i < axes.size(); ++i) elements += axes[i].stride * (axes[i].extent - 1);
  return elements;
}

/// True when each stride steps over all that the shorter strides reach, so that every element has its own address.
bool is_nested(std::vector<Axis> const& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].stride < span(axes, i + 1)) return false;
  return true;
}

/// Whether offset = sum of k_i * stride_i has a solution with -above_i < k_i < below_i: an element of the argument that
/// begins lower (extents below) and one of the argument that begins offset elements higher (extents above) then meet.
bool meet(std::vector<std::int64_t> const& stride, std::vector<std::int64_t> const& below,
          std::vector<std::int64_t> const& above, std::int64_t offset, std::size_t axis = 0) {
  if (axis == stride.size()) return offset == 0;
  std::int64_t reach = 0;  // of the shorter strides, to either side
  for (std::size_t i = axis + 1; i < stride.size(); ++i)
    reach += stride[i] * (std::max(below[i], above[i]) - 1);
  if (below[axis] == 1 && above[axis] == 1) return meet(stride, below, above, offset, axis + 1);
  if (stride[axis] <= reach) return true;  // not nested: no cheap exact answer
  auto const whole = offset / stride[axis] - (offset % stride[axis] < 0 ? 1 : 0);
  for (auto const k : {whole, whole + 1})
    if (-above[axis] < k && k < below[axis] && meet(stride, below, above, offset - k * stride[axis], axis + 1))
      return true;
  return false;
}

/// Whether two arguments may share an element. Exact for arguments cut from one buffer (same strides), such as two
/// groups of columns; otherwise ranges of memory that intersect count as shared.
bool overlap(Argument const& a, Argument const& b) {
  if (a.empty() || b.empty()) return false;
  auto const begin = [](Argument const& which) { return reinterpret_cast<std::intptr_t>(which.data); };
  auto const end = [&](Argument const& which) { return begin(which) + span(axes_of(which)) * which.element; };
  if (begin(a) > begin(b)) return overlap(b, a);
  if (end(a) <= begin(b)) return false;
  auto const bytes = begin(b) - begin(a);
  if (a.element != b.element || a.stride != b.stride || bytes % a.element != 0) return true;
  std::vector<std::size_t> order(a.stride.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return a.stride[i] > a.stride[j]; });
  std::vector<std::int64_t> stride, below, above;
  for (auto const i : order) {
    stride.push_back(a.stride[i]);
    below.push_back(a.extent[i]);
    above.push_back(b.extent[i]);
  }
  return meet(stride, below, above, bytes / a.element);
}

void expect_own_addresses(char const* call, Argument const& output) {
  if (!output.empty() && !is_nested(axes_of(output)))
    fail(call, output.name + " has strides " + text(output.stride) +
                   ", expected every element to have an address of its own");
}

/// Outputs must share no element with an input or with each other, but for the pairs that may be the very same View.
void expect_no_overlap(char const* call, std::vector<Argument> const& inputs, std::vector<Argument> const& outputs,
                       std::pair<char const*, char const*> in_place) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto const& output = outputs[i];
    expect_own_addresses(call, output);
    for (auto const& input : inputs) {
      bool const may_be_same = output.name == in_place.first && input.name == in_place.second;
      bool const is_same = output.data == input.data && output.extent == input.extent && output.stride == input.stride;
      if ((may_be_same && is_same) || !overlap(output, input)) continue;
      fail(call, output.name + " overlaps " + input.name + " in memory, expected " +
                     (may_be_same ? "no shared element or the very same View" : "no shared element"));
    }
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(output, outputs[j]))
        fail(call, output.name + " overlaps " + outputs[j].name + " in memory, expected no shared element");
  }
}

constexpr char const* token_channels = "(batch, length, channels)";
constexpr char const* token_states = "(batch, length, state)";
constexpr char const* batch_states = "(batch, channels, state)";

/// Checks the inputs' shapes and appends them to list; other is an argument of x's shape, to tell a forgotten x.
template <class T>
Sizes inputs(char const* call, InputTensors<T> const& in, Argument const& other, std::vector<Argument>& list) {
  auto const x = argument("x", in.x);
  auto const delta = argument("delta", in.delta);
  auto const A = argument("A", in.A);
  Sizes const sizes{in.x.extent[0], in.x.extent[1], in.x.extent[2], in.A.extent[1]};
  auto const [batch, length, channels, state] = sizes;
  if (x.forgotten() && !(delta.forgotten() && other.forgotten()))
    fail(call, std::string("x is an empty View, expected ") + token_channels);
  expect_shape(call, x, token_channels, {batch, length, channels});
  expect_shape(call, delta, token_channels, {batch, length, channels});
  if (state < 1)
    fail(call, "A has shape " + text(A.extent) + ", expected (channels, state) = (" + std::to_string(channels) +
                   ", at least 1)");
  expect_shape(call, A, "(channels, state)", {channels, state});
  list.insert(list.end(), {x, delta, A, argument("b", in.b), argument("c", in.c)});
  expect_shape(call, list[list.size() - 2], token_states, {batch, length, state});
  expect_shape(call, list.back(), token_states, {batch, length, state});
  if (in.h0) {
    list.push_back(argument("h0", *in.h0));
    expect_shape(call, list.back(), batch_states, {batch, channels, state});
  }
  return sizes;
}

}  // namespace

template <class T>
Sizes forward(char const* call, InputTensors<T> const& in, OutputTensors<T> const& out) {
  std::vector<Argument> read;
  std::vector<Argument> written{argument("y", out.y)};
  auto const sizes = inputs(call, in, written.front(), read);
  auto const [batch, length, channels, state] = sizes;
  expect_shape(call, written.front(), token_channels, {batch, length, channels});
  if (out.hT) {
    written.push_back(argument("hT", *out.hT));
    expect_shape(call, written.back(), batch_states, {batch, channels, state});
  }
  expect_no_overlap(call, read, written, {"hT", "h0"});
  return sizes;
}

template <class T>
Sizes backward(char const* call, InputTensors<T> const& in, CotangentTensors<T> const& cotangents,
               GradientTensors<T> const& gradients) {
  std::vector<Argument> read;
  auto const dy = argument("dy", cotangents.dy);
  auto const sizes = inputs(call, in, dy, read);
  auto const [batch, length, channels, state] = sizes;
  expect_shape(call, dy, token_channels, {batch, length, channels});
  read.push_back(dy);
  if (cotangents.dhT) {
    read.push_back(argument("dhT", *cotangents.dhT));
    expect_shape(call, read.back(), batch_states, {batch, channels, state});
  }
  std::vector<Argument> written;
  auto const add = [&](char const* name, auto const& gradient, char const* axes, std::vector<std::int64_t> shape) {
    if (!gradient) return;
    written.push_back(argument(name, *gradient));
    expect_shape(call, written.back(), axes, shape);
  };
  add("dx", gradients.dx, token_channels, {batch, length, channels});
  add("ddelta", gradients.ddelta, token_channels, {batch, length, channels});
  add("db", gradients.db, token_states, {batch, length, state});
  add("dc", gradients.dc, token_states, {batch, length, state});
  add("dA", gradients.dA, "(channels, state)", {channels, state});
  add("dh0", gradients.dh0, batch_states, {batch, channels, state});
  expect_no_overlap(call, read, written, {"dh0", "dhT"});
  return sizes;
}

void checkpoint_interval(char const* call, ScanOptions const& options, bool with_tape) {
  auto const given = "options.checkpoint_interval is " + std::to_string(options.checkpoint_interval);
  if (options.checkpoint_interval < 0) fail(call, given + ", expected 0 (chosen) or more");
  if (options.checkpoint_interval != 0 && !with_tape) fail(call, given + ", expected 0 in a call without a tape");
}

void tape(char const* call, Sizes const& sizes, Sizes const& recorded, int recorded_interval,
          ScanOptions const& options) {
  if (recorded_interval == 0) fail(call, "tape is empty, expected one that pssa::scan has filled with these inputs");
  if (!(sizes == recorded))
    fail(call, "tape was filled at (batch, length, channels, state) = " +
                   text({recorded.batch, recorded.length, recorded.channels, recorded.state}) + ", expected " +
                   text({sizes.batch, sizes.length, sizes.channels, sizes.state}));
  if (options.checkpoint_interval != 0 && options.checkpoint_interval != recorded_interval)
    fail(call, "options.checkpoint_interval is " + std::to_string(options.checkpoint_interval) +
                   ", expected 0 or the tape's " + std::to_string(recorded_interval));
}

void every_state(char const* call, int recorded_interval) {
  if (recorded_interval == 0) fail(call, "the tape is empty, expected one that pssa::scan has filled");
  if (recorded_interval != 1)
    fail(call, "the tape has checkpoint interval " + std::to_string(recorded_interval) +
                   ", expected a forward pass with options.checkpoint_interval = 1");
}

void scratch(char const* call, std::int64_t state, std::int64_t interval, std::int64_t needed,
             std::int64_t available) {
  if (needed <= available) return;
  auto const what = interval == 0 ? std::string() : "checkpoint interval " + std::to_string(interval) + " at ";
  fail(call, what + "state " + std::to_string(state) + " needs " + std::to_string(needed) +
                 " bytes of scratch for a team, expected at most " + std::to_string(available));
}

void time_chunks(char const* call, ScanOptions const& options) {
  if (options.time_chunks < 0)
    fail(call, "options.time_chunks is " + std::to_string(options.time_chunks) + ", expected 0 (chosen) or more");
}

void kernel(char const* call, ScanOptions const& options, std::vector<Kernel> const& able) {
  std::string list;
  for (auto const& each : able) {
    if (each.number == options.kernel) return;
    list += (list.empty() ? "" : ", ") + std::to_string(each.number) + " (" + each.kind + " of " +
            std::to_string(each.channels) + " channels)";
  }
  fail(call, "options.kernel is " + std::to_string(options.kernel) + ", expected 0 (chosen) or one of " + list);
}

#define PSSA_INSTANTIATE(T)                                                                               \
  template PSSA_EXPORT Sizes forward<T>(char const*, InputTensors<T> const&, OutputTensors<T> const&);    \
  template PSSA_EXPORT Sizes backward<T>(char const*, InputTensors<T> const&, CotangentTensors<T> const&, \
                                         GradientTensors<T> const&);
PSSA_FOR_EACH_ELEMENT(PSSA_INSTANTIATE)

}  // namespace pssa::impl::check
