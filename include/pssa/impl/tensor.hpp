// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <optional>

namespace pssa::impl {

/// A View without its memory space and layout: all that checks and kernels need of it, so that the library is compiled
/// once per element type and backend. Extents and strides count elements and are 64-bit.
template <class T, int Rank>
struct Tensor {
  T* data = nullptr;
  std::int64_t extent[Rank]{};
  std::int64_t stride[Rank]{};

  /// The element at (i, j, ...).
  template <class... Index>
  KOKKOS_FORCEINLINE_FUNCTION T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "one index per axis");
    std::int64_t offset = 0;
    int axis = 0;
    ((offset += static_cast<std::int64_t>(index) * stride[axis++]), ...);
    return data[offset];
  }

  /// The same elements, read only.
  Tensor<T const, Rank> as_const() const {
    Tensor<T const, Rank> result;
    result.data = data;
    for (int axis = 0; axis < Rank; ++axis) {
      result.extent[axis] = extent[axis];
      result.stride[axis] = stride[axis];
    }
    return result;
  }

  /// True for a View that is absent from the call.
  KOKKOS_FORCEINLINE_FUNCTION bool absent() const { return data == nullptr; }
};

/// The Tensor of a View.
template <class ViewType>
auto tensor(ViewType const& view) {
  constexpr int rank = static_cast<int>(ViewType::rank());
  Tensor<typename ViewType::value_type, rank> result;
  result.data = view.data();
  for (int axis = 0; axis < rank; ++axis) {
    result.extent[axis] = static_cast<std::int64_t>(view.extent(static_cast<std::size_t>(axis)));
    result.stride[axis] = static_cast<std::int64_t>(view.stride(static_cast<std::size_t>(axis)));
  }
  return result;
}

/// The Tensor of an optional View.
template <class ViewType>
auto tensor(std::optional<ViewType> const& view) {
  using R = decltype(tensor(*view));
  return view ? std::optional<R>(tensor(*view)) : std::nullopt;
}

}  // namespace pssa::impl
