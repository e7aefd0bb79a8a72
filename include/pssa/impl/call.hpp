// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/tensor.hpp>
#include <pssa/types.hpp>

#include <cstdint>
#include <optional>

namespace pssa::impl {

/// The four sizes of a scan.
struct Sizes {
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t channels = 0;
  std::int64_t state = 0;

  friend bool operator==(Sizes const&, Sizes const&) = default;
};

/// ScanInputs as Tensors.
template <class T>
struct InputTensors {
  Tensor<T const, 3> x, delta, b, c;
  Tensor<state_type<T> const, 2> A;
  std::optional<Tensor<state_type<T> const, 3>> h0;
};

/// ScanOutputs as Tensors.
template <class T>
struct OutputTensors {
  Tensor<T, 3> y;
  std::optional<Tensor<state_type<T>, 3>> hT;
};

/// ScanCotangents as Tensors.
template <class T>
struct CotangentTensors {
  Tensor<T const, 3> dy;
  std::optional<Tensor<state_type<T> const, 3>> dhT;
};

/// ScanGradients as Tensors.
template <class T>
struct GradientTensors {
  std::optional<Tensor<T, 3>> dx, ddelta, db, dc;
  std::optional<Tensor<state_type<T>, 2>> dA;
  std::optional<Tensor<state_type<T>, 3>> dh0;

  /// True when no gradient is asked for.
  bool empty() const { return !dx && !ddelta && !db && !dc && !dA && !dh0; }
};

template <class T, class MemorySpace>
InputTensors<T> tensors(ScanInputs<T, MemorySpace> const& in) {
  return {tensor(in.x), tensor(in.delta), tensor(in.b), tensor(in.c), tensor(in.A), tensor(in.h0)};
}

template <class T, class MemorySpace>
OutputTensors<T> tensors(ScanOutputs<T, MemorySpace> const& out) {
  return {tensor(out.y), tensor(out.hT)};
}

template <class T, class MemorySpace>
CotangentTensors<T> tensors(ScanCotangents<T, MemorySpace> const& cotangents) {
  return {tensor(cotangents.dy), tensor(cotangents.dhT)};
}

template <class T, class MemorySpace>
GradientTensors<T> tensors(ScanGradients<T, MemorySpace> const& gradients) {
  return {tensor(gradients.dx), tensor(gradients.ddelta), tensor(gradients.db),
          tensor(gradients.dc), tensor(gradients.dA),     tensor(gradients.dh0)};
}

}  // namespace pssa::impl
