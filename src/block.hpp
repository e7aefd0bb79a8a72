// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

#include <cstdint>

/// Blocks of RowCount tokens x Columns channels or states, on their way from memory to a team's scratch and back.
namespace pssa::impl {

/// A block dealt to Threads threads in packs of neighbouring columns, as wide as one access to elements of Size bytes.
/// The packs of a thread stand below each other.
template <int RowCount, int Columns, int Threads, int Size>
struct Deal {
  static constexpr int widest = Threads == 1 ? Columns : 16 / Size;
  static constexpr int width = Columns % widest == 0 ? widest : 1;
  static constexpr int packs = RowCount * Columns / width;
  static constexpr int slots = (packs + Threads - 1) / Threads;  ///< packs of one thread
  static constexpr int step = Threads * width / Columns;         ///< rows between them
  static_assert(Threads * width % Columns == 0);

  KOKKOS_FORCEINLINE_FUNCTION static int row(int rank) { return rank * width / Columns; }
  KOKKOS_FORCEINLINE_FUNCTION static int column(int rank) { return rank * width % Columns; }

  /// Calls f(slot, row, first column) for the packs of thread rank.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each(int rank, F const& f) {
    PSSA_UNROLL
    for (int slot = 0; slot < slots; ++slot)
      if (packs % Threads == 0 || rank + slot * Threads < packs) f(slot, row(rank) + slot * step, column(rank));
  }
};

/// The tokens of one sequence in memory, from a first channel or state on, as one thread sees them: what a block is read
/// from or written to.
template <class T>
struct Rows {
  T* mine;  ///< the first element of the thread's first pack, in the block at token 0
  std::int64_t row_stride;
  std::int64_t column_stride;

  template <class Deal>
  KOKKOS_FORCEINLINE_FUNCTION static Rows make(T* data, std::int64_t row_stride, std::int64_t column_stride, int rank) {
    return {data + Deal::row(rank) * row_stride + Deal::column(rank) * column_stride, row_stride, column_stride};
  }
  /// Whether packs may be accessed whole.
  template <class Deal>
  KOKKOS_FORCEINLINE_FUNCTION bool packs() const {
    using Wide = Pack<std::remove_const_t<T>, Deal::width>;
    return column_stride == 1 && Wide::fits(mine) && Wide::fits(mine + row_stride);
  }
};

/// A thread's share of a block in registers, loaded ahead of its use.
template <class T, int RowCount, int Columns, int Threads>
struct Fetch {
  using Mine = Deal<RowCount, Columns, Threads, static_cast<int>(sizeof(T))>;
  T value[Mine::slots][Mine::width];

  /// Loads the block at token t, column n, of which everything is live, from rows with packs.
  KOKKOS_FORCEINLINE_FUNCTION void load_packs(int rank, Rows<T const> const& rows, std::int64_t t, std::int64_t n) {
    T const* const from = rows.mine + t * rows.row_stride + n;
    Mine::each(rank, [&](int slot, int, int) {
      load_pack<Mine::width>(from + slot * Mine::step * rows.row_stride, value[slot]);
    });
  }
  /// Loads the block at token t, column n. Beyond the live rows and columns it is 0, which every kernel's arithmetic
  /// passes through: a decay of 1 and no input.
  KOKKOS_FORCEINLINE_FUNCTION void load(int rank, Rows<T const> const& rows, std::int64_t t, std::int64_t n,
                                        int live_rows, int live_columns) {
    std::int64_t const row_stride = opaque(rows.row_stride);
    std::int64_t const column_stride = opaque(rows.column_stride);
    T const* const from = rows.mine + t * row_stride + n * column_stride;
    Mine::each(opaque(rank), [&](int slot, int row, int column) {
      PSSA_UNROLL
      for (int k = 0; k < Mine::width; ++k)
        value[slot][k] = row < live_rows && column + k < live_columns
                             ? from[slot * Mine::step * row_stride + k * column_stride]
                             : T(0);
    });
  }
};

/// Writes to the block at token t, column n, where rows and columns are live, what f(row, column, values) puts into
/// values.
template <class Deal, class T, class F>
KOKKOS_FORCEINLINE_FUNCTION void write_block(int rank, Rows<T> const& rows, bool packs, std::int64_t t, std::int64_t n,
                                             int live_rows, int live_columns, F const& f) {
  constexpr int width = Deal::width;
  if (packs) {
    T* const to = rows.mine + t * rows.row_stride + n;
    Deal::each(rank, [&](int slot, int row, int column) {
      if (row >= live_rows || column >= live_columns) return;
      T values[width];
      f(row, column, values);
      store_pack<width>(to + slot * Deal::step * rows.row_stride, values);
    });
  } else {
    std::int64_t const row_stride = opaque(rows.row_stride);
    std::int64_t const column_stride = opaque(rows.column_stride);
    T* const to = rows.mine + t * row_stride + n * column_stride;
    Deal::each(opaque(rank), [&](int slot, int row, int column) {
      if (row >= live_rows) return;
      T values[width];
      f(row, column, values);
      PSSA_UNROLL
      for (int k = 0; k < width; ++k)
        if (column + k < live_columns) to[slot * Deal::step * row_stride + k * column_stride] = values[k];
    });
  }
}

/// Where a thread writes channels, one token after another.
template <class T>
struct Outputs {
  T* at;  ///< the thread's first channel of the token
  std::int64_t row_stride;
  std::int64_t column_stride;
  int live;  ///< channels from there on

  /// Writes channel j of the token.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void put(int j, S value) const {
    if (j < live) at[j * column_stride] = static_cast<T>(value);
  }
  /// Writes all channels of the token that are live.
  template <class S, int Count>
  KOKKOS_FORCEINLINE_FUNCTION void put(S const (&values)[Count]) const {
    if (column_stride == 1 && live >= Count)
      for (int j = 0; j < Count; ++j) at[j] = static_cast<T>(values[j]);
    else
      for (int j = 0; j < Count; ++j) put(j, values[j]);
  }
  /// The same, tokens later.
  KOKKOS_FORCEINLINE_FUNCTION Outputs later(std::int64_t tokens) const {
    return {at + tokens * row_stride, row_stride, column_stride, live};
  }
  KOKKOS_FORCEINLINE_FUNCTION void next() { at += row_stride; }
  KOKKOS_FORCEINLINE_FUNCTION void previous() { at -= row_stride; }
};

/// RowCount x Columns records of Fields numbers in scratch: interleaved for one wide access by a thread that takes all
/// fields, or field by field for a loop over columns.
template <class S, int RowCount, int Columns, int Fields, bool Interleaved>
struct Records {
  static constexpr int size = RowCount * Columns * Fields;
  S* data;

  KOKKOS_FORCEINLINE_FUNCTION S& at(int row, int column, int field) const {
    return Interleaved ? data[(row * Columns + column) * Fields + field]
                       : data[(field * RowCount + row) * Columns + column];
  }
  template <int Taken>
  KOKKOS_FORCEINLINE_FUNCTION void load(int row, int column, S (&to)[Taken]) const {
    static_assert(Taken <= Fields);
    if constexpr (Interleaved)
      load_pack<Taken>(&at(row, column, 0), to);
    else
      for (int field = 0; field < Taken; ++field) to[field] = at(row, column, field);
  }
  /// Stores Width neighbouring records.
  template <int Width>
  KOKKOS_FORCEINLINE_FUNCTION void store(int row, int column, S const (&from)[Width][Fields]) const {
    if constexpr (Interleaved) {
      S flat[Width * Fields];
      PSSA_UNROLL
      for (int k = 0; k < Width * Fields; ++k) flat[k] = from[k / Fields][k % Fields];
      store_pack<Width * Fields>(&at(row, column, 0), flat);
    } else {
      for (int field = 0; field < Fields; ++field)
        for (int k = 0; k < Width; ++k) at(row, column + k, field) = from[k][field];
    }
  }

  /// Copies Width neighbouring numbers, converted to the type of the array.
  template <class T, int Width>
  KOKKOS_FORCEINLINE_FUNCTION void take(int row, int column, T (&to)[Width]) const {
    static_assert(Fields == 1);
    S values[Width];
    load_pack<Width>(&at(row, column, 0), values);
    PSSA_UNROLL
    for (int k = 0; k < Width; ++k) to[k] = static_cast<T>(values[k]);
  }
};

/// Puts fetched rows of b or c into scratch.
template <class T, int RowCount, int Columns, int Threads, class S, bool Interleaved>
KOKKOS_FORCEINLINE_FUNCTION void stage_vectors(Fetch<T, RowCount, Columns, Threads> const& from,
                                               Records<S, RowCount, Columns, 1, Interleaved> const& to, int rank) {
  using Mine = typename Fetch<T, RowCount, Columns, Threads>::Mine;
  Mine::each(rank, [&](int slot, int row, int column) {
    S values[Mine::width];
    PSSA_UNROLL
    for (int k = 0; k < Mine::width; ++k) values[k] = static_cast<S>(from.value[slot][k]);
    store_pack<Mine::width>(&to.at(row, column, 0), values);
  });
}

}  // namespace pssa::impl
