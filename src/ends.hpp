// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "segments.hpp"

#include <pssa/impl/tensor.hpp>

#include <cstring>

/// What the chunks of a sequence leave for each other. A is constant in time, so a chunk is an affine map of the state
/// that its end state from zero and its sum of delta describe: h_end = exp(A sum delta) h_begin + end.
namespace pssa::impl {

/// Numbers of type S kept in rows of (batch, row, channels): state n in row n of a chunk, the sum of delta in row
/// state. E may be a narrower type: a number's bits then take several rows.
template <class S, class E>
struct Ends {
  static constexpr int rows_a_number = static_cast<int>(sizeof(S) / sizeof(E));

  Tensor<E, 3> rows;
  std::int64_t rows_a_chunk = 0;  ///< 0: a chunk's rows are its own tokens'

  /// Rows that a chunk needs.
  static constexpr std::int64_t rows_for(std::int64_t state) { return (state + 1) * rows_a_number; }

  /// The first row of a chunk.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(std::int64_t chunk, std::int64_t begin) const {
    return rows_a_chunk == 0 ? begin : chunk * rows_a_chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION S load(std::int64_t batch, std::int64_t first, std::int64_t number,
                                     std::int64_t channel) const {
    E parts[rows_a_number];
    for (int k = 0; k < rows_a_number; ++k) parts[k] = rows(batch, first + number * rows_a_number + k, channel);
    S value;
    memcpy(&value, parts, sizeof(S));
    return value;
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t batch, std::int64_t first, std::int64_t number,
                                         std::int64_t channel, S value) const {
    E parts[rows_a_number];
    memcpy(static_cast<void*>(parts), &value, sizeof(S));
    for (int k = 0; k < rows_a_number; ++k) rows(batch, first + number * rows_a_number + k, channel) = parts[k];
  }
};

}  // namespace pssa::impl
