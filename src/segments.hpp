// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

namespace pssa::impl {

/// What one team works on: tokens [begin, end) of one sequence and one tile of its channels.
struct Segment {
  std::int64_t batch;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t tile;
};

/// Dense batches: sequence i of the batch is tokens 0 to length. Tiles of one sequence are neighbours, so that teams
/// that run together share its b and c.
struct DenseSegments {
  std::int64_t batch;
  std::int64_t length;
  std::int64_t tiles;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return batch * tiles; }
  KOKKOS_FORCEINLINE_FUNCTION Segment operator()(std::int64_t index) const {
    return {index / tiles, 0, length, index % tiles};
  }

  /// Teams to launch: one a segment as far as a league can count; each team then walks in steps of the league.
  int league() const { return static_cast<int>(std::min(count(), std::int64_t{1} << 30)); }
};

}  // namespace pssa::impl
