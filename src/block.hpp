// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

#include <pssa/impl/tensor.hpp>

#include <cstdint>

/// Blocks of RowCount tokens x Columns channels or states, on their way from memory to a team's scratch and back.
namespace pssa::impl {

/// A block dealt to Threads threads in packs of Width neighbouring columns. The packs of a thread stand below each
/// other, or, where there are fewer threads than a row has packs, also side by side.
template <int RowCount, int Columns, int Threads, int Width>
struct Deal {
  static constexpr int width = Width;
  static constexpr int packs = RowCount * Columns / width;
  static constexpr int slots = (packs + Threads - 1) / Threads;  ///< packs of one thread
  static constexpr int across = Threads * width < Columns ? Columns / (Threads * width) : 1;  ///< side by side
  static constexpr int step = across > 1 ? 1 : Threads * width / Columns;                     ///< rows between others
  static_assert(Columns % width == 0);
  static_assert(across > 1 ? Columns % (Threads * width) == 0 : Threads * width % Columns == 0);

  KOKKOS_FORCEINLINE_FUNCTION static constexpr int rows_to(int slot) { return slot / across * step; }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int columns_to(int slot) { return slot % across * Threads * width; }
  // Unsigned, since signed division by a power of two is several instructions.
  KOKKOS_FORCEINLINE_FUNCTION static int row(int rank) { return static_cast<int>(unsigned(rank) * width / Columns); }
  KOKKOS_FORCEINLINE_FUNCTION static int column(int rank) { return static_cast<int>(unsigned(rank) * width % Columns); }

  /// Calls f(slot, row, first column) for the packs of thread rank.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void each(int rank, F const& f) {
    PSSA_UNROLL
    for (int slot = 0; slot < slots; ++slot)
      if (packs % Threads == 0 || rank + slot * Threads < packs)
        f(slot, row(rank) + rows_to(slot), column(rank) + columns_to(slot));
  }
};

/// Whether offsets within a block of so many tokens, in bytes, are numbers of 32 bits, which halves the instructions
/// that compute them.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near(Tensor<T, 3> const& tensor, int tokens) {
  std::int64_t const most = std::int64_t{0x7fffffff} / (tokens * static_cast<int>(sizeof(T)));
  return -most <= tensor.stride[1] && tensor.stride[1] <= most;
}

/// The tokens of one sequence in memory, from a first channel or state on, as one thread sees them: what a block is
/// read from or written to.
template <class T>
struct Rows {
  T* mine;  ///< the first element of the thread's first pack, in the block at token 0
  std::int64_t row_stride;
  std::int64_t column_stride;

  template <class Deal>
  KOKKOS_FORCEINLINE_FUNCTION static Rows make(T* data, std::int64_t row_stride, std::int64_t column_stride, int rank) {
    return {data + Deal::row(rank) * row_stride + Deal::column(rank) * column_stride, row_stride, column_stride};
  }
};

/// A tensor's block on its way into scratch, ahead of its use. Beyond the live rows and columns it is 0, which every
/// kernel's arithmetic passes through: a decay of 1 and no input. Elements of two bytes wait in registers, since they
/// are converted.
template <class T, class S, int RowCount, int Columns, int Threads>
struct Staging {
  static constexpr int width = Threads == 1 ? Columns : 1;
  static constexpr bool converts = sizeof(T) != sizeof(S);
  using Mine = Deal<RowCount, Columns, Threads, width>;
  T held[converts && width == 1 ? Mine::slots : 1];

  /// Starts on a block, the columns from n on, for to[element of the block]. near: as is_near().
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION void start(int rank, Rows<T const> const& rows, bool near, int block, std::int64_t n,
                                         int live_rows, int live_columns, To const& to) {
    // Most blocks have all their rows.
    if (near && live_rows >= RowCount && (width == 1 || live_columns >= Columns)) {
      // In bytes, for then an address is one instruction.
      int const row_bytes = static_cast<int>(rows.row_stride * static_cast<int>(sizeof(T)));
      char const* const from = reinterpret_cast<char const*>(rows.mine + n * rows.column_stride) +
                               std::int64_t(block) * (row_bytes * RowCount);
      Mine::each(rank, [&](int slot, int, int column) {
        auto const* pack = reinterpret_cast<T const*>(from + std::int64_t(row_bytes) * Mine::rows_to(slot));
        if constexpr (Mine::across > 1) pack += Mine::columns_to(slot) * rows.column_stride;
        copy(slot, rank, pack, rows.column_stride, width > 1 || column < live_columns, to);
      });
    } else {
      rank = opaque(rank);
      std::int64_t const row_stride = opaque(rows.row_stride);
      T const* const from = rows.mine + n * rows.column_stride + std::int64_t(block) * RowCount * row_stride;
      Mine::each(rank, [&](int slot, int row, int column) {
        T const* const pack = from + Mine::rows_to(slot) * row_stride + Mine::columns_to(slot) * rows.column_stride;
        if constexpr (width == 1) {
          copy(slot, rank, pack, rows.column_stride, row < live_rows && column < live_columns, to);
        } else {
          for (int k = 0; k < width; ++k)
            to[row * Columns + k] =
                row < live_rows && column + k < live_columns ? static_cast<S>(pack[k * rows.column_stride]) : S(0);
        }
      });
    }
  }

  /// Finishes what was started, but for finish_copies().
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION void finish([[maybe_unused]] int rank, [[maybe_unused]] To const& to) const {
    if constexpr (converts && width == 1)
      Mine::each(rank, [&](int slot, int, int) { to[rank + slot * Threads] = static_cast<S>(held[slot]); });
  }

 private:
  /// Copies a pack.
  template <class To>
  KOKKOS_FORCEINLINE_FUNCTION void copy(int slot, int rank, T const* from, [[maybe_unused]] std::int64_t column_stride,
                                        bool live, To const& to) {
    int const first = (rank + slot * Threads) * width;
    if constexpr (width > 1) {
      if (column_stride == 1)
        for (int k = 0; k < width; ++k) to[first + k] = static_cast<S>(from[k]);
      else
        for (int k = 0; k < width; ++k) to[first + k] = static_cast<S>(from[k * column_stride]);
    } else if constexpr (converts) {
      held[slot] = live ? *from : T(0);
    } else {
      start_copy(&to[first], from, live);
    }
  }
};

/// Writes to the block at token t, column n, where rows and columns are live, what f(row, column, values) puts into
/// values. whole: packs may be accessed at once.
template <class Deal, class T, class F>
KOKKOS_FORCEINLINE_FUNCTION void write_block(int rank, Rows<T> const& rows, bool whole, std::int64_t t, std::int64_t n,
                                             int live_rows, int live_columns, F const& f) {
  T* const to = rows.mine + t * rows.row_stride + n * rows.column_stride;
  Deal::each(rank, [&](int slot, int row, int column) {
    if (row >= live_rows || column >= live_columns) return;
    T values[Deal::width];
    f(row, column, values);
    T* const pack = to + Deal::rows_to(slot) * rows.row_stride + Deal::columns_to(slot) * rows.column_stride;
    if (whole) {
      store_pack<Deal::width>(pack, values);
    } else {
      PSSA_UNROLL
      for (int k = 0; k < Deal::width; ++k)
        if (column + k < live_columns) pack[k * rows.column_stride] = values[k];
    }
  });
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
};

/// The same with offsets of 32 bits, for unrolled code: an address is one instruction, which nvcc can predicate.
template <class T>
struct NearOutputs {
  char* at;
  int row_bytes;
  std::int64_t column_stride;
  int live;

  /// owns: whether this thread writes at all.
  KOKKOS_FORCEINLINE_FUNCTION static NearOutputs make(Outputs<T> const& outputs, bool owns) {
    return {reinterpret_cast<char*>(outputs.at),
            static_cast<int>(outputs.row_stride) * static_cast<int>(sizeof(T)), outputs.column_stride,
            owns ? outputs.live : 0};
  }
  /// From a block of so many tokens on.
  KOKKOS_FORCEINLINE_FUNCTION NearOutputs at_block(int block, int tokens) const {
    NearOutputs result = *this;
    result.at += std::int64_t(block) * (row_bytes * tokens);
    return result;
  }
  /// Writes channel j of token t.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void put(int t, int j, S value) const {
    T* const token = reinterpret_cast<T*>(at + std::int64_t(row_bytes) * t);
    if (j < live) token[j * column_stride] = static_cast<T>(value);
  }
  /// Writes the thread's first channel, which is live.
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION void put_first(int t, S value) const {
    *reinterpret_cast<T*>(at + std::int64_t(row_bytes) * t) = static_cast<T>(value);
  }
};

/// RowCount x Columns records of Fields numbers in scratch: interleaved for one wide access by a thread that takes all
/// fields, or field by field for a loop over columns.
template <class S, int RowCount, int Columns, int Fields, bool Interleaved>
struct Records {
  static constexpr int size = RowCount * Columns * Fields;
  static constexpr int fields = Fields;
  S* data;

  KOKKOS_FORCEINLINE_FUNCTION S& at(int row, int column, int field) const {
    return Interleaved ? data[(row * Columns + column) * Fields + field]
                       : data[(field * RowCount + row) * Columns + column];
  }
  /// One field of all records.
  struct Field {
    S* data;
    KOKKOS_FORCEINLINE_FUNCTION S& operator[](int element) const {
      return data[Interleaved ? element * Fields : element];
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Field field(int which) const { return {&at(0, 0, which)}; }
  template <int Taken>
  KOKKOS_FORCEINLINE_FUNCTION void load(int row, int column, S (&to)[Taken]) const {
    static_assert(Taken <= Fields);
    if constexpr (Interleaved)
      load_pack<Taken>(&at(row, column, 0), to);
    else
      for (int field = 0; field < Taken; ++field) to[field] = at(row, column, field);
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

}  // namespace pssa::impl
