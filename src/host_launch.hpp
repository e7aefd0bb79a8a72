// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host_choice.hpp"
#include "host_kernel.hpp"
#include "launch.hpp"

#include <pssa/impl/check.hpp>

namespace pssa::impl {

/// Channels of a tile of the sweep: by the sizes alone, whatever the number of threads, and narrower where the states
/// between two kept ones would not fit scratch. Throws Error where they never do, or as choose() does.
template <class ExecutionSpace, class S>
int host_sweep_tile(char const* call, Sizes const& sizes, std::int64_t interval, ScanOptions const& options) {
  auto const tiles = host_tiles<S, host_sweep_block>();
  auto const bytes = [&](std::size_t i) {
    return host_sweep_elements(tiles[i].channels, sizes.state, host_span(sizes.length, interval)) *
           std::int64_t(sizeof(S));
  };
  auto chosen = choose(call, {tiles, {}, {}}, sizes, HostTuning<S>::sweep_tiles, RelayRule{}, options).tile;
  while (options.kernel == 0 && chosen + 1 < tiles.size() && bytes(chosen) > waiting_bytes_max<ExecutionSpace>())
    ++chosen;
  check::scratch(call, sizes.state, interval, bytes(chosen), waiting_bytes_max<ExecutionSpace>());
  return tiles[chosen].channels;
}

}  // namespace pssa::impl
