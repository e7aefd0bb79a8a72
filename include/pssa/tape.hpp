// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/check.hpp>
#include <pssa/types.hpp>

#include <cstddef>

namespace pssa {

namespace impl {

/// What a Tape holds. entries = length / interval + 1 states a sequence: the state before token q * interval for
/// q = 0, 1, ...; entry 0 is h0, and the entry at the very end is hT when the interval divides the length.
template <class S, class MemorySpace>
struct TapeStorage {
  Kokkos::View<S*, MemorySpace> states;    ///< (batch, entry, channel, state) by the strides below
  Kokkos::View<S*, MemorySpace> partials;  ///< the backward pass's per-tile parts of db and dc, per-batch parts of dA
  Sizes sizes;
  int interval = 0;  ///< 0: no forward pass has filled this tape
  std::int64_t channel_stride = 0;
  std::int64_t state_stride = 0;

  std::int64_t entries() const { return sizes.length / interval + 1; }
  std::int64_t entry_stride() const { return sizes.channels * sizes.state; }

  /// The states as (batch, entry, channels, state).
  Tensor<S, 4> tensor() const {
    return {states.data(),
            {sizes.batch, entries(), sizes.channels, sizes.state},
            {entries() * entry_stride(), entry_stride(), channel_stride, state_stride}};
  }
};

}  // namespace impl

/// What the forward pass leaves for the backward pass, and the scratch memory of both.
///
/// The forward pass stores h0 and the state after every K-th token (ScanOptions::checkpoint_interval), as
/// state_type<T>: batch * channels * state * (length / K + 1) of them. The backward pass adds its partial sums:
/// (channels / tile) * batch * length * 2 * state for db and dc, and batch * channels * state for dA.
/// Where it cuts the length into chunks, dA has a part a chunk, and batch * chunks * channels * (state + 1) numbers more
/// carry the cotangents from chunk to chunk.
/// Memory grows on first use and is reused: calls at sizes that fit allocate nothing and do not fence. One tape serves
/// one scan at a time; a copy shares the memory.
template <class T, class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
class Tape {
 public:
  /// Tokens between two kept states; 0 before the first forward pass.
  int checkpoint_interval() const { return m_storage.interval; }

  /// Device memory held, in bytes.
  std::size_t bytes() const { return (m_storage.states.size() + m_storage.partials.size()) * sizeof(state_type<T>); }

  /// Every state: (batch, length, channels, state), element (i, t, d, n) is h after token t. A View of the tape's own
  /// memory, valid until the next forward pass with this tape; any strides.
  /// Throws Error unless the forward pass ran with checkpoint_interval = 1.
  View4<state_type<T> const, MemorySpace> states() const {
    impl::check::every_state("pssa::Tape::states", m_storage.interval);
    auto const all = m_storage.tensor();
    auto const size = [&](int axis) { return static_cast<std::size_t>(all.extent[axis]); };
    auto const step = [&](int axis) { return static_cast<std::size_t>(all.stride[axis]); };
    // Entry 0 is h0, so the state after token t is entry t + 1.
    return View4<state_type<T> const, MemorySpace>(
        all.data + all.stride[1],
        Kokkos::LayoutStride(size(0), step(0), size(1) - 1, step(1), size(2), step(2), size(3), step(3)));
  }

  /// The memory behind the tape, for the library itself.
  impl::TapeStorage<state_type<T>, MemorySpace>& storage() { return m_storage; }
  /// The same, read only.
  impl::TapeStorage<state_type<T>, MemorySpace> const& storage() const { return m_storage; }

 private:
  impl::TapeStorage<state_type<T>, MemorySpace> m_storage;
};

}  // namespace pssa
