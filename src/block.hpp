// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

#include <cstdint>

/// Blocks of RowCount tokens x Columns channels or states, on their way from memory to a team's scratch and back.
namespace pssa::impl {

/// A block dealt to Threads threads in packs of neighbouring columns, as wide as one access to elements of Size bytes.
template <int RowCount, int Columns, int Threads, int Size>
struct Deal {
  static constexpr int widest = Threads == 1 ? Columns : 16 / Size;
  static constexpr int width = Columns % widest == 0 ? widest : 1;
  static constexpr int packs = RowCount * Columns / width;
  static constexpr int slots = (packs + Threads - 1) / Threads;  ///< packs of one thread

  /// Calls f(slot, row, first column) for the packs of thread rank.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each(int rank, F const& f) {
    PSSA_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      int const pack = rank + slot * Threads;
      if (packs % Threads == 0 || pack < packs) f(slot, pack * width / Columns, pack * width % Columns);
    }
  }
};

/// The tokens of one sequence in memory, from a first channel or state on: what a block is read from or written to.
template <class T>
struct Rows {
  T* data;  ///< at token 0
  std::int64_t row_stride;
  std::int64_t column_stride;
  bool wide;  ///< whether packs may be accessed whole

  /// width: of the packs.
  template <int width>
  KOKKOS_FORCEINLINE_FUNCTION static Rows make(T* data, std::int64_t row_stride, std::int64_t column_stride) {
    using Wide = Pack<std::remove_const_t<T>, width>;
    return {data, row_stride, column_stride,
            column_stride == 1 && Wide::fits(data) && Wide::fits(data + row_stride)};
  }
};

/// A thread's share of a block in registers, loaded ahead of its use. Beyond the live rows and columns it is 0, which
/// every kernel's arithmetic passes through: a decay of 1 and no input.
template <class T, int RowCount, int Columns, int Threads>
struct Fetch {
  using Mine = Deal<RowCount, Columns, Threads, static_cast<int>(sizeof(T))>;
  T value[Mine::slots][Mine::width];

  /// Loads the block at token t, column n.
  KOKKOS_FORCEINLINE_FUNCTION void load(int rank, Rows<T const> const& rows, std::int64_t t, std::int64_t n,
                                        int live_rows, int live_columns) {
    T const* const from = rows.data + t * rows.row_stride + n * rows.column_stride;
    if (rows.wide && live_rows >= RowCount && live_columns >= Columns)
      Mine::each(rank, [&](int slot, int row, int column) {
        load_pack<Mine::width>(from + row * rows.row_stride + column, value[slot]);
      });
    else
      Mine::each(rank, [&](int slot, int row, int column) {
        PSSA_UNROLL
        for (int k = 0; k < Mine::width; ++k)
          value[slot][k] = row < live_rows && column + k < live_columns
                               ? from[row * rows.row_stride + (column + k) * rows.column_stride]
                               : T(0);
      });
  }
};

/// Writes to the block at token t, column n, where rows and columns are live, what f(row, column, values) puts into
/// values.
template <int RowCount, int Columns, int Threads, class T, class F>
KOKKOS_FORCEINLINE_FUNCTION void write_block(int rank, Rows<T> const& rows, std::int64_t t, std::int64_t n,
                                             int live_rows, int live_columns, F const& f) {
  using Mine = Deal<RowCount, Columns, Threads, static_cast<int>(sizeof(T))>;
  T* const to = rows.data + t * rows.row_stride + n * rows.column_stride;
  bool const wide = rows.wide && live_columns >= Columns;
  Mine::each(rank, [&](int, int row, int column) {
    if (row >= live_rows) return;
    T values[Mine::width];
    f(row, column, values);
    if (wide) {
      store_pack<Mine::width>(to + row * rows.row_stride + column, values);
    } else {
      PSSA_UNROLL
      for (int k = 0; k < Mine::width; ++k)
        if (column + k < live_columns) to[row * rows.row_stride + (column + k) * rows.column_stride] = values[k];
    }
  });
}

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
