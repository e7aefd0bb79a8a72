// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <cstdint>

/// What the code compiled for every instruction set of a host is given: plain data, so that no function stands between
/// Kokkos' side and it.
namespace pssa::impl {

/// A matrix in memory: rows are tokens or states, columns channels or states; strides count elements. Data null:
/// absent.
template <class S>
struct HostMatrix {
  S* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// One segment forward, from its first token, its tile's first channel and state 0 on.
template <class S>
struct HostScan {
  std::int64_t tokens;
  std::int64_t state;
  int channels;
  int tile;  ///< the most channels, a multiple of host_channels
  HostMatrix<S const> x, delta, b, c;
  HostMatrix<S const> A;      ///< (state, channels)
  HostMatrix<S const> start;  ///< (state, channels)
  HostMatrix<S> y;
  HostMatrix<S> end;          ///< (state, channels): hT, or what the chunk leaves
  HostMatrix<S> total;        ///< (1, channels): sum of delta
  HostMatrix<S> tape;         ///< (state, channels) of the segment's first entry
  std::int64_t entry_stride;  ///< of the tape
  std::int64_t interval;      ///< of the tape
  bool keeps_end;             ///< the tape has an entry for the state after the last token
  S* scratch;                 ///< host_scan_elements()
};

/// One segment backward.
template <class S>
struct HostSweep {
  std::int64_t tokens;
  std::int64_t state;
  int channels;
  int tile;  ///< the most channels, a multiple of host_channels
  HostMatrix<S const> x, delta, dy, b, c;
  HostMatrix<S const> A;      ///< (state, channels)
  HostMatrix<S const> start;  ///< (state, channels): the cotangent after the last token
  HostMatrix<S> dx, ddelta;
  HostMatrix<S> db, dc;       ///< (tokens, state): the tile's parts
  HostMatrix<S> dA;           ///< (state, channels): the segment's part
  HostMatrix<S> end;          ///< (state, channels): dh0
  HostMatrix<S const> tape;   ///< (state, channels) of the segment's first entry
  std::int64_t entry_stride;  ///< of the tape
  std::int64_t interval;      ///< of the tape
  std::int64_t span;          ///< tokens between two entries that are used: host_span()
  S* scratch;                 ///< host_sweep_elements()
};

/// Bytes of the widest pack: tiles are a multiple of it, and scratch is aligned to it.
inline constexpr int host_pack_bytes = 64;
/// Tokens of a block: of the forward pass at most, and of the sweep, which keeps their states in scratch.
inline constexpr int host_scan_block = 32;
inline constexpr int host_sweep_block = 16;
/// States that are computed together.
inline constexpr int host_states = 4;
/// Packs whose exponentials are computed side by side.
inline constexpr int host_bundle = 4;

/// What one instruction set offers for one element type.
template <class S>
struct HostKernels {
  void (*scan)(HostScan<S> const&);            ///< the forward pass
  void (*end)(HostScan<S> const&);             ///< the end and total of a chunk from zero; without c, y and the tape
  void (*end_in_reverse)(HostScan<S> const&);  ///< of the cotangent: tokens in reverse, dy for x and c for b
  void (*sweep)(HostSweep<S> const&);          ///< the backward pass
};

/// The instruction sets' tables. Those of other processors than this one's family do not exist.
struct HostTable {
  char const* name;
  HostKernels<float> of_float;
  HostKernels<double> of_double;
};
extern HostTable const host_baseline;
extern HostTable const host_avx2;    ///< AVX2 and FMA
extern HostTable const host_avx512;  ///< AVX-512 F, DQ, VL and BW

}  // namespace pssa::impl
