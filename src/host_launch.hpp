// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host_choice.hpp"
#include "host_kernel.hpp"
#include "launch.hpp"

#include <pssa/impl/check.hpp>

namespace pssa::impl {

/// Channels of a tile: of those that make tiles enough for units processors the widest, or a narrower one where its
/// scratch, bytes(channels), is more than a team can have. Throws Error where that holds for all, or as choose() does.
template <class ExecutionSpace, class Bytes>
int host_tile(char const* call, TileSizes tiles, Sizes const& sizes, std::int64_t units, std::int64_t interval,
              ScanOptions const& options, Bytes const& bytes) {
  // Aligned to packs, which can cost more than what is set aside for others.
  auto const most = waiting_bytes_max<ExecutionSpace>() - (host_pack_bytes - std::int64_t(scratch_alignment));
  auto chosen = choose(call, {tiles, {}, {}}, sizes, units, RelayRule{}, options).tile;
  while (options.kernel == 0 && chosen + 1 < tiles.size() && bytes(tiles[chosen].channels) > most) ++chosen;
  check::scratch(call, sizes.state, interval, bytes(tiles[chosen].channels), most);
  return tiles[chosen].channels;
}

/// Of the sweep: by the sizes alone, whatever the number of threads.
template <class ExecutionSpace, class S>
int host_sweep_tile(char const* call, Sizes const& sizes, std::int64_t interval, bool copied,
                    ScanOptions const& options) {
  return host_tile<ExecutionSpace>(
      call, host_sweep_tiles<S>(), sizes, HostTuning<S>::sweep_tiles, interval, options, [&](std::int64_t channels) {
        return host_sweep_elements(channels, sizes.state, host_span(sizes.length, interval), copied) *
               std::int64_t(sizeof(S));
      });
}

}  // namespace pssa::impl
