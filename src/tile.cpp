// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "tile.hpp"

#include <pssa/impl/check.hpp>

#include <algorithm>

namespace pssa::impl {

std::int64_t forward_waiting_bytes(TileSize const& tile, std::int64_t state, std::int64_t element) {
  auto const slabs = slabs_of(state, tile.states);
  return slabs == 1 ? 0 : slabs * tile.states * tile.channels * element;
}

std::int64_t backward_waiting_bytes(TileSize const& tile, std::int64_t state, std::int64_t length,
                                    std::int64_t interval, std::int64_t element) {
  auto const tiles =
      waiting_tiles(slabs_of(state, tile.states), span_of(length, interval, tile.steps), tile.steps);
  return tiles * tile.states * tile.channels * element;
}

TileRange fitting(std::vector<TileSize> const& tiles, std::int64_t state) {
  std::size_t first = 0;
  while (tiles[first].states < state && tiles[first].states < tiles.back().states) ++first;
  std::size_t last = first;
  while (last < tiles.size() && tiles[last].states == tiles[first].states) ++last;
  return {first, last};
}

std::size_t choose(char const* call, std::vector<TileSize> const& tiles, Sizes const& sizes, std::int64_t units,
                   ScanOptions const& options) {
  auto range = fitting(tiles, sizes.state);
  if (sizes.length != 1 && tiles[range.first].steps == 1) ++range.first;
  if (options.channel_tile != 0) {
    std::vector<int> compiled;
    for (auto i = range.first; i < range.last; ++i)
      if (std::find(compiled.begin(), compiled.end(), tiles[i].channels) == compiled.end())
        compiled.push_back(tiles[i].channels);
    check::channel_tile(call, options, compiled);
  }
  for (auto i = range.first; i + 1 < range.last; ++i) {
    std::int64_t const width = tiles[i].channels;
    bool const busy = sizes.batch * ((sizes.channels + width - 1) / width) >= units && 2 * sizes.channels > width;
    if (options.channel_tile == 0 ? busy : options.channel_tile == width) return i;
  }
  return range.last - 1;
}

std::optional<std::size_t> choose_relay(std::vector<TileSize> const& relays, TileSize const& tile, Sizes const& sizes,
                                        std::int64_t units, RelayRule const& rule, ScanOptions const& options) {
  if (relays.empty() || relays.back().states < sizes.state) return std::nullopt;
  if (options.channel_tile != 0 || options.time_chunks != 0) return std::nullopt;
  if (sizes.length <= 1 || sizes.length > rule.longest) return std::nullopt;
  auto const teams = [&](TileSize const& each) {
    return sizes.batch * ((sizes.channels + each.channels - 1) / each.channels);
  };
  if (teams(tile) * tile.warps >= rule.few * units) return std::nullopt;
  auto const range = fitting(relays, sizes.state);
  for (auto i = range.first; i + 1 < range.last; ++i)
    if (2 * teams(relays[i]) >= units) return i;
  return range.last - 1;
}

std::int64_t chunks_of(TileSize const& tile, std::int64_t teams, std::int64_t units, SplitRule const& rule,
                       std::int64_t most, ScanOptions const& options) {
  if (options.time_chunks != 0) return std::min(std::int64_t{options.time_chunks}, most);
  std::int64_t const warps = teams * tile.warps;
  if (warps == 0 || warps >= rule.few * units) return 1;
  return std::min((rule.many * units + warps - 1) / warps, most);
}

}  // namespace pssa::impl
