// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

namespace pssa::impl {

/// What one team works on: tokens [begin, end) of one sequence, its chunk, and one tile of its channels.
struct Segment {
  std::int64_t batch;
  std::int64_t chunk;
  std::int64_t begin;
  std::int64_t end;
  std::int64_t tile;
};

/// Dense batches, every sequence cut into the same chunks. Tiles of one chunk are neighbours, so that teams that run
/// together share its b and c.
struct DenseSegments {
  std::int64_t batch;
  std::int64_t length;
  std::int64_t tiles = 0;
  std::int64_t chunks = 1;
  std::int64_t unit = 1;  ///< chunks begin at multiples of it, and are as even as that allows
  // Without a cut the only chunk begins at 0 and ends with the sequence.
  std::int64_t units_a_chunk = 0;  ///< at least
  std::int64_t longer_chunks = 0;  ///< that have one more: the first ones

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return batch * chunks * tiles; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t chunk) const {
    return Kokkos::min(length, (chunk * units_a_chunk + Kokkos::min(chunk, longer_chunks)) * unit);
  }
  KOKKOS_FORCEINLINE_FUNCTION Segment operator()(std::int64_t index) const {
    std::int64_t const sequence = index / tiles;
    std::int64_t const chunk = sequence % chunks;
    return {sequence / chunks, chunk, begin(chunk), last(chunk) ? length : begin(chunk + 1), index % tiles};
  }
  KOKKOS_FORCEINLINE_FUNCTION bool last(std::int64_t chunk) const { return chunk + 1 == chunks; }

  /// The most chunks of at least tokens tokens each that may be made; 1 when there is no cut.
  std::int64_t most_chunks(std::int64_t tokens) const {
    // The last of them ends with the sequence, within a unit.
    return std::max(std::int64_t{1}, length / ((tokens + unit - 1) / unit * unit + unit));
  }

  /// Cuts every sequence into so many chunks.
  void cut(std::int64_t into) {
    std::int64_t const units = (length + unit - 1) / unit;
    chunks = into;
    units_a_chunk = units / into;
    longer_chunks = units % into;
  }

  /// Teams to launch: one a segment as far as a league can count; each team then walks in steps of the league.
  int league() const { return static_cast<int>(std::min(count(), std::int64_t{1} << 30)); }
};

}  // namespace pssa::impl
