// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "accuracy.hpp"
#include "case.hpp"

/// The library behind an interface without types, so that a test is written and compiled once for all element types and
/// backends. Tensors are doubles on the host, known by their names: x, delta, ..., dh0.
namespace pssa::tests {

using tools::Axes;
using tools::Sizes;
using tools::Tensor;
using tools::Tensors;

/// ScanOptions.
struct Options {
  int checkpoint_interval = 0;
  int kernel = 0;
  int time_chunks = 0;
};

/// How a tensor lies in its buffer.
struct Placement {
  std::vector<int> order{};  ///< axes from the longest stride to the shortest; empty: as they are
  std::int64_t step = 1;     ///< elements between neighbours along the last of them
  std::int64_t gap = 0;      ///< elements between its rows
  std::int64_t offset = 0;   ///< elements before the first
};

/// One element type on one backend, with the arguments of its calls and a tape. Each argument lies between guard bands;
/// these, the gaps of its placement and every output hold NaN of all bits set until the library writes there.
class Session {
 public:
  virtual ~Session() = default;

  virtual void input(std::string const& name, Tensor const& tensor, Placement const& placement = {}) = 0;
  virtual void output(std::string const& name, std::vector<std::int64_t> const& shape,
                      Placement const& placement = {}) = 0;
  /// A View of the memory of another argument that has been placed, offset elements from its first.
  virtual void inside(std::string const& name, std::string const& other, std::vector<std::int64_t> const& shape,
                      std::vector<std::int64_t> const& strides, std::int64_t offset) = 0;
  /// The very View of another argument.
  virtual void same(std::string const& name, std::string const& other) = 0;
  /// A View of this shape that points to no memory; without a shape, the default-constructed one.
  virtual void null(std::string const& name, std::vector<std::int64_t> const& shape = {}) = 0;
  /// Without arguments, without any: an optional one is absent then.
  virtual void remove(std::string const& name = {}) = 0;

  /// The values of an argument; fails the test when anything beside its elements has been written.
  virtual Tensor get(std::string const& name) = 0;
  /// Its elements as stored, in C order; fails the test as get does.
  virtual std::vector<unsigned char> bits(std::string const& name) = 0;
  /// True when every element still holds its first NaN.
  virtual bool untouched(std::string const& name) = 0;

  /// Runs on an instance of its own from here on.
  virtual void use_own_instance() = 0;
  virtual std::uint32_t device_id() const = 0;
  virtual void fence() = 0;

  virtual void forward(Options const& options = {}) = 0;
  virtual void forward_with_tape(Options const& options = {}) = 0;
  virtual void backward(Options const& options = {}) = 0;
  /// True when the reference can read this session's memory.
  virtual bool on_host() const = 0;
  virtual void reference() = 0;
  virtual void reference_backward() = 0;

  virtual int tape_interval() const = 0;
  virtual std::size_t tape_bytes() const = 0;
  virtual Tensor tape_states() = 0;  ///< (batch, length, channels, state)
  virtual void new_tape() = 0;
};

/// One element type on one backend.
struct Setup {
  std::string name;
  tools::Precision element;
  tools::Precision sums;
  std::size_t state_bytes;  ///< of one state
  double exponential;       ///< units of rounding by which exponentials just below 1 may all err to the same side
  std::unique_ptr<Session> (*make)();
  Tensors (*rounded)(Tensors);  ///< to the values that the setup's types hold

  friend std::ostream& operator<<(std::ostream& out, Setup const& setup) { return out << setup.name; }
};

/// Every element type on every backend that Kokkos has enabled.
std::vector<Setup> const& setups();

/// What the reference in double makes of the inputs, and of the cotangents if there are any: y, hT, dx, ..., dh0.
Tensors reference(Tensors const& given, Sizes const& sizes);

/// A kernel that a pass can run, as its error text for a wrong options.kernel lists them.
struct Kernel {
  int number;
  bool relay;
  int channels;  ///< that a team owns
};

/// The kernels that the forward or the backward pass has for these sizes.
std::vector<Kernel> compiled_kernels(Setup const& setup, Sizes const& sizes, bool backward);

}  // namespace pssa::tests
