// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "tile.hpp"

#include <pssa/impl/check.hpp>

#include <algorithm>
#include <vector>

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

TileRange fitting(TileSizes tiles, std::int64_t state) {
  std::size_t first = 0;
  while (tiles[first].states < state && tiles[first].states < tiles.back().states) ++first;
  std::size_t last = first;
  while (last < tiles.size() && tiles[last].states == tiles[first].states) ++last;
  return {first, last};
}

namespace {

std::int64_t teams_of(TileSize const& tile, Sizes const& sizes) {
  return sizes.batch * ((sizes.channels + tile.channels - 1) / tile.channels);
}

/// The kernels that options.kernel may name: tiles count from 1 in the order of their list, then relays, then steps.
std::vector<check::Kernel> able(Kernels const& kernels, Sizes const& sizes, ScanOptions const& options) {
  std::vector<check::Kernel> result;
  int number = 0;
  auto const list = [&](char const* kind, TileSizes tiles, auto const& runs) {
    for (auto const& tile : tiles) {
      ++number;
      if (runs(tile)) result.push_back({number, kind, tile.channels});
    }
  };
  auto const holds = [&](TileSize const& tile) { return sizes.state <= tile.states; };
  list("tile", kernels.tiles, [&](TileSize const& tile) {
    return (holds(tile) || tile.states == kernels.tiles.back().states) && (tile.steps > 1 || sizes.length == 1);
  });
  list("relay", kernels.relays, [&](TileSize const& tile) { return holds(tile) && options.time_chunks <= 1; });
  list("step", kernels.steps, [&](TileSize const& tile) { return holds(tile) && sizes.length == 1; });
  return result;
}

}  // namespace

std::size_t choose_tile(TileSizes tiles, Sizes const& sizes, std::int64_t units) {
  auto range = fitting(tiles, sizes.state);
  if (sizes.length != 1 && tiles[range.first].steps == 1) ++range.first;
  for (auto i = range.first; i + 1 < range.last; ++i)
    if (teams_of(tiles[i], sizes) >= units && 2 * sizes.channels > tiles[i].channels) return i;
  return range.last - 1;
}

Choice choose(char const* call, Kernels const& kernels, Sizes const& sizes, std::int64_t units, RelayRule const& rule,
              ScanOptions const& options) {
  auto const& [tiles, relays, steps] = kernels;
  auto const chosen = choose_tile(tiles, sizes, units);
  if (options.kernel != 0) {
    check::kernel(call, options, able(kernels, sizes, options));
    auto place = static_cast<std::size_t>(options.kernel) - 1;
    if (place < tiles.size()) return {place};
    place -= tiles.size();
    if (place < relays.size()) return {chosen, place};
    return {chosen, std::nullopt, place - relays.size()};
  }
  auto const held = [&](TileSizes list) { return !list.empty() && sizes.state <= list.back().states; };
  if (sizes.length == 1 && held(steps)) return {chosen, std::nullopt, fitting(steps, sizes.state).first};
  bool const idle = teams_of(tiles[chosen], sizes) * tiles[chosen].warps < rule.few * units;
  bool const short_enough = sizes.length > 1 && sizes.length <= rule.longest;
  if (!idle || !short_enough || !held(relays) || options.time_chunks != 0) return {chosen};
  auto const range = fitting(relays, sizes.state);
  for (auto i = range.first; i + 1 < range.last; ++i)
    if (2 * teams_of(relays[i], sizes) >= units) return {chosen, i};
  return {chosen, range.last - 1};
}

std::int64_t chunks_of(TileSize const& tile, std::int64_t teams, std::int64_t units, SplitRule const& rule,
                       std::int64_t most, ScanOptions const& options) {
  if (options.time_chunks != 0) return std::min(std::int64_t{options.time_chunks}, most);
  std::int64_t const warps = teams * tile.warps;
  if (warps == 0 || warps >= rule.few * units) return 1;
  return std::min((rule.many * units + warps - 1) / warps, most);
}

}  // namespace pssa::impl
