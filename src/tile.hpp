// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host.hpp"

#include <pssa/impl/call.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>

/// The tuning of every backend, as data, and the choice among it.
namespace pssa::impl {

/// How one team shares its work: Lanes neighbouring threads share a channel's states; each thread holds Channels
/// channels x States states in registers; blocks of Steps tokens are staged in scratch. Forward, Unroll of them are unrolled;
/// backward, all are, and the sums of Unroll tokens are held in registers.
template <class Machine, int Lanes, int Channels, int States, int Threads, int Steps, int Unroll = Steps,
          int Teams = 1>
struct Tile : Machine {
  using machine = Machine;
  static constexpr int lanes = Lanes;
  static constexpr int thread_channels = Channels;
  static constexpr int thread_states = States;
  static constexpr int threads = Threads;
  static constexpr int steps = Steps;
  static constexpr int unroll = Unroll;
  static constexpr int teams = Teams;                      ///< a processor should hold at once: bounds the registers
  static constexpr int groups = Threads / Lanes;           ///< threads that hold different channels
  static constexpr int channels = groups * Channels;       ///< channels a team owns
  static constexpr int states = Lanes * States;            ///< states a team holds at once: a slab
  static constexpr int warps = Threads / Machine::warp;
  static constexpr int warp_groups = Machine::warp / Lanes;  ///< lanes of a warp that hold different channels
  static_assert(Machine::warp % Lanes == 0 && Threads % Machine::warp == 0 && Steps % Unroll == 0);
};

/// A host thread is a team: vector units run over the channels, and arrays live in the first-level cache.
struct HostMachine {
  static constexpr int warp = 1;                  ///< threads that can exchange registers
  static constexpr int buffers = 1;               ///< blocks in scratch: with two, the next is on its way meanwhile
  static constexpr bool interleaved = false;      ///< a token's numbers stand together in scratch
  static constexpr bool padded = false;           ///< loops run to compile-time bounds, over zeros where data end
  static constexpr bool channel_major = true;     ///< the tape keeps channels contiguous, not states
};

/// CUDA: 32 threads exchange registers by shuffles.
struct CudaMachine {
  static constexpr int warp = 32;
  static constexpr int buffers = 2;
  static constexpr bool interleaved = true;
  static constexpr bool padded = true;
  static constexpr bool channel_major = false;
};

/// Any other device: no exchange of registers is assumed.
struct DeviceMachine : CudaMachine {
  static constexpr int warp = 1;
};

/// The policy of a kernel that runs Tile. Light weight: Kokkos then passes the functor as a kernel argument, where by
/// way of constant memory, its choice above 512 bytes before 5.0, it would wait for the launch before.
template <class ExecutionSpace, class Tile>
using TeamPolicyOf = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Tile::threads, Tile::teams>,
                                        Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;

/// Level 0 of scratch has about 40 KiB before Kokkos 5.2.
inline constexpr std::size_t most_scratch = 40000;

/// What aligning a piece of scratch can cost, in bytes.
inline constexpr std::size_t scratch_alignment = 16;

/// Teams of Tile with scratch of both levels; level 1 is left alone when it is not needed.
template <class Tile, class ExecutionSpace>
TeamPolicyOf<ExecutionSpace, Tile> team_policy(ExecutionSpace const& exec, int league, std::size_t scratch_bytes,
                                               std::int64_t waiting_bytes) {
  TeamPolicyOf<ExecutionSpace, Tile> policy(exec, league, Tile::threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + scratch_alignment));
  if (waiting_bytes != 0)
    policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<std::size_t>(waiting_bytes) + scratch_alignment));
  return policy;
}

/// Level-1 scratch that a team can have, in bytes.
template <class ExecutionSpace>
std::int64_t waiting_bytes_max() {
  return static_cast<std::int64_t>(Kokkos::TeamPolicy<ExecutionSpace>::scratch_size_max(1)) -
         static_cast<std::int64_t>(scratch_alignment);
}

/// Warps warps of a team take consecutive blocks of the same channels, each as WarpTile says: see ForwardRelay.
template <class WarpTile, int Warps, int Teams = 1>
struct Relay : WarpTile {
  using tile = WarpTile;
  static constexpr int warps = Warps;
  static constexpr int threads = Warps * WarpTile::threads;
  static constexpr int teams = Teams;
  static_assert(WarpTile::warps == 1);
};

template <class... Tiles>
struct TileList {};

/// Sequences are cut into chunks of time where a processor would hold fewer warps than few: into as many as give it
/// many. A cut costs a second exponential, so few is well below what the processor can use.
struct SplitRule {
  int few;
  int many;
};

/// A relay runs where teams of the chosen tile would give a processor fewer than few warps, over at most longest tokens:
/// beyond them a cut into chunks, which fills all processors, is faster.
struct RelayRule {
  int few;
  std::int64_t longest;
};

/// The tiles compiled for a backend: by rising states; of the same states, one for single tokens, if any, before the
/// others, and wide ones before narrow ones.
template <class ExecutionSpace, class S>
struct Tuning {
  using Forward = TileList<Tile<DeviceMachine, 1, 1, 8, 64, 8>>;
  using Backward = TileList<Tile<DeviceMachine, 1, 1, 8, 32, 4>>;
  using ForwardRelays = TileList<>;
  using ForwardSteps = TileList<>;
  using BackwardRelays = TileList<>;
  static constexpr bool channel_major = DeviceMachine::channel_major;
  static constexpr SplitRule forward_split{0, 0};
  static constexpr SplitRule backward_split{0, 0};
  static constexpr RelayRule forward_relay{0, 0};
  static constexpr RelayRule backward_relay{0, 0};
  static std::int64_t units(ExecutionSpace const&) { return 1; }
};

/// Host backends. Elements of two bytes, which a Kokkos with a device knows, run through these tiles, of which no sweep
/// has been measured; float and double as host_tiles says.
template <class S>
struct HostTuning {
  using Forward = TileList<Tile<HostMachine, 1, 32, 16, 1, 16, 1>, Tile<HostMachine, 1, 8, 16, 1, 16, 1>>;
  using Backward = TileList<Tile<HostMachine, 1, 16, 16, 1, 8, 1>, Tile<HostMachine, 1, 8, 16, 1, 8, 1>>;
  using ForwardRelays = TileList<>;
  using ForwardSteps = TileList<>;
  using BackwardRelays = TileList<>;
  static constexpr bool channel_major = HostMachine::channel_major;
  static constexpr SplitRule forward_split{0, 0};
  static constexpr SplitRule backward_split{0, 0};
  static constexpr RelayRule forward_relay{0, 0};
  static constexpr RelayRule backward_relay{0, 0};
  /// One, so that the choice and with it the bits do not depend on the number of threads.
  template <class ExecutionSpace>
  static std::int64_t units(ExecutionSpace const&) {
    return 1;
  }

  /// Bytes of the channels that one thread takes along, wide before narrow: multiples of the widest pack. Wide ones
  /// come from fewer pages, and the sweep sums more channels of db and dc before they leave as a part; narrow ones keep
  /// more threads busy, and the sweep's blocks in the first-level cache.
  static constexpr int scan_bytes[] = {1024, 256, 128, 64};
  static constexpr int sweep_bytes[] = {256, 128, 64};
  /// The forward pass takes the widest that makes so many tiles a thread, since its bits do not depend on the tile.
  static constexpr int tiles_a_thread = 3;
  /// The sweep, whose sums over channels do, the widest that makes so many tiles, whatever the number of threads.
  static constexpr int sweep_tiles = 8;
  /// Where tiles are fewer than half of the threads: as many chunks as there are threads for.
  static constexpr SplitRule split{1, 2};
  static constexpr int split_threads = 2;  ///< threads that count as one for it: a cut costs a second exponential
};

/// Whether float or double runs on a host, by packs of channels.
template <class ExecutionSpace, class T>
inline constexpr bool is_packed_v = std::is_base_of_v<HostTuning<T>, Tuning<ExecutionSpace, T>>;

#ifdef KOKKOS_ENABLE_SERIAL
template <class S>
struct Tuning<Kokkos::Serial, S> : HostTuning<S> {};
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <class S>
struct Tuning<Kokkos::OpenMP, S> : HostTuning<S> {};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <class S>
struct Tuning<Kokkos::Threads, S> : HostTuning<S> {};
#endif

#ifdef KOKKOS_ENABLE_CUDA
template <int Lanes, int Channels, int States, int Threads, int Steps, int Unroll = Steps, int Teams = 1>
using CudaTile = Tile<CudaMachine, Lanes, Channels, States, Threads, Steps, Unroll, Teams>;

/// Many threads of few registers, whose loads together keep memory busy.
using CudaSteps =
    TileList<CudaTile<1, 1, 4, 128, 1, 1, 10>, CudaTile<2, 1, 4, 128, 1, 1, 10>, CudaTile<4, 1, 4, 128, 1, 1, 10>,
             CudaTile<8, 1, 4, 128, 1, 1, 10>, CudaTile<16, 1, 4, 128, 1, 1, 10>, CudaTile<32, 1, 4, 128, 1, 1, 10>>;

template <>
struct Tuning<Kokkos::Cuda, float> {
  using Forward = TileList<CudaTile<1, 1, 1, 128, 8>, CudaTile<1, 1, 4, 128, 8>, CudaTile<1, 1, 8, 128, 8>,
                           CudaTile<2, 1, 8, 128, 16, 16, 3>, CudaTile<2, 1, 8, 32, 16>, CudaTile<4, 1, 8, 128, 16>,
                           CudaTile<8, 4, 8, 128, 16, 8>, CudaTile<16, 4, 8, 128, 8, 8>, CudaTile<32, 4, 8, 128, 8, 4>>;
  using Backward = TileList<CudaTile<1, 1, 1, 128, 8>, CudaTile<1, 1, 4, 128, 8>, CudaTile<2, 2, 4, 128, 8, 2>,
                            CudaTile<4, 2, 4, 128, 1>, CudaTile<4, 2, 4, 128, 8, 2>, CudaTile<4, 2, 4, 32, 8, 2>,
                            CudaTile<8, 2, 4, 128, 8, 2>, CudaTile<16, 4, 4, 128, 4, 1>,
                            CudaTile<32, 4, 4, 128, 4, 1>>;
  using ForwardRelays = TileList<Relay<CudaTile<1, 1, 8, 32, 8>, 8>, Relay<CudaTile<4, 1, 2, 32, 16>, 8>,
                                 Relay<CudaTile<2, 1, 8, 32, 8>, 8>, Relay<CudaTile<8, 1, 2, 32, 16>, 8>,
                                 Relay<CudaTile<16, 1, 1, 32, 16>, 8>, Relay<CudaTile<4, 1, 8, 32, 8>, 8>,
                                 Relay<CudaTile<16, 1, 2, 32, 16>, 8>, Relay<CudaTile<8, 1, 8, 32, 8>, 4, 2>>;
  using BackwardRelays = TileList<Relay<CudaTile<2, 1, 4, 32, 8, 2>, 4, 2>, Relay<CudaTile<4, 2, 4, 32, 8, 2>, 4, 2>,
                                  Relay<CudaTile<4, 1, 4, 32, 8, 2>, 8>, Relay<CudaTile<8, 1, 4, 32, 8, 2>, 4, 2>>;
  using ForwardSteps = CudaSteps;
  static constexpr bool channel_major = CudaMachine::channel_major;
  static constexpr SplitRule forward_split{5, 16};
  static constexpr SplitRule backward_split{5, 8};
  static constexpr RelayRule forward_relay{3, 4096};
  static constexpr RelayRule backward_relay{3, 512};
  static std::int64_t units(Kokkos::Cuda const& exec) { return exec.cuda_device_prop().multiProcessorCount; }
};

template <>
struct Tuning<Kokkos::Cuda, double> {
  using Forward = TileList<CudaTile<1, 1, 1, 128, 4>, CudaTile<1, 1, 4, 128, 4>, CudaTile<2, 1, 4, 128, 8>,
                           CudaTile<4, 1, 4, 128, 8>, CudaTile<4, 1, 4, 32, 8>, CudaTile<8, 1, 4, 128, 8>,
                           CudaTile<16, 2, 4, 128, 8, 4>, CudaTile<32, 2, 4, 128, 8, 4>>;
  using Backward = TileList<CudaTile<1, 1, 1, 128, 4>, CudaTile<1, 1, 4, 128, 4>, CudaTile<2, 2, 4, 128, 4>,
                            CudaTile<4, 2, 4, 128, 4>, CudaTile<4, 2, 4, 32, 4>, CudaTile<8, 2, 4, 128, 4>,
                            CudaTile<16, 2, 4, 128, 4>, CudaTile<32, 2, 4, 64, 4>>;
  using ForwardRelays = TileList<Relay<CudaTile<2, 1, 4, 32, 4>, 8>, Relay<CudaTile<4, 1, 4, 32, 4>, 8>,
                                 Relay<CudaTile<16, 1, 1, 32, 8>, 8>, Relay<CudaTile<8, 1, 4, 32, 4>, 8>>;
  using BackwardRelays = TileList<Relay<CudaTile<2, 1, 4, 32, 4>, 4, 2>, Relay<CudaTile<4, 1, 4, 32, 4>, 4, 2>>;
  using ForwardSteps = CudaSteps;
  static constexpr bool channel_major = CudaMachine::channel_major;
  static constexpr SplitRule forward_split{5, 16};
  static constexpr SplitRule backward_split{5, 8};
  static constexpr RelayRule forward_relay{3, 4096};
  static constexpr RelayRule backward_relay{3, 512};
  static std::int64_t units(Kokkos::Cuda const& exec) { return exec.cuda_device_prop().multiProcessorCount; }
};
#endif

/// What the choice needs to know of a compiled tile.
struct TileSize {
  int states;
  int channels;
  int steps;
  int warps;
};

/// Slabs of a state: the parts that take turns in a team's registers.
KOKKOS_INLINE_FUNCTION std::int64_t slabs_of(std::int64_t state, int tile_states) {
  return (state + tile_states - 1) / tile_states;
}

/// Tokens between two states that the backward sweep takes from the tape: a block of it where the interval divides it,
/// else the interval, which need not be longer than the sequence.
KOKKOS_INLINE_FUNCTION std::int64_t span_of(std::int64_t length, std::int64_t interval, int steps) {
  if (steps % interval == 0) return steps;
  return Kokkos::min(interval, Kokkos::max(length, std::int64_t(1)));
}

/// Register tiles that wait in level-1 scratch during the sweep: the carry and dA of slabs that are not in registers,
/// and the states before each block but the first of a span of several.
KOKKOS_INLINE_FUNCTION std::int64_t waiting_tiles(std::int64_t slabs, std::int64_t span, int steps) {
  return (slabs == 1 ? 0 : 2 * slabs) + slabs * ((span + steps - 1) / steps - 1);
}

/// Level-1 scratch of a forward team, in bytes: all slabs when there are several.
std::int64_t forward_waiting_bytes(TileSize const& tile, std::int64_t state, std::int64_t element);

/// Level-1 scratch of a backward team, in bytes.
std::int64_t backward_waiting_bytes(TileSize const& tile, std::int64_t state, std::int64_t length,
                                    std::int64_t interval, std::int64_t element);

/// Tiles that the channels make.
template <class Tile>
std::int64_t tiles_of(Sizes const& sizes) {
  return (sizes.channels + Tile::channels - 1) / Tile::channels;
}

template <class Tile>
constexpr TileSize size_of() {
  return {Tile::states, Tile::channels, Tile::steps, Tile::warps};
}

/// A list of tiles, as the choice sees it.
using TileSizes = std::span<TileSize const>;

template <class... Tiles>
TileSizes sizes_of(TileList<Tiles...>) {
  static constexpr std::array<TileSize, sizeof...(Tiles)> sizes{size_of<Tiles>()...};
  return sizes;
}

/// The tiles of a host; they take any state.
template <class S, std::size_t Count>
constexpr std::array<TileSize, Count> host_tiles(int const (&bytes)[Count], int steps) {
  std::array<TileSize, Count> tiles{};
  for (std::size_t i = 0; i < Count; ++i)
    tiles[i] = {std::numeric_limits<int>::max(), bytes[i] / static_cast<int>(sizeof(S)), steps, 1};
  return tiles;
}
template <class S>
TileSizes host_scan_tiles() {
  static constexpr auto tiles = host_tiles<S>(HostTuning<S>::scan_bytes, host_scan_block);
  return tiles;
}
template <class S>
TileSizes host_sweep_tiles() {
  static constexpr auto tiles = host_tiles<S>(HostTuning<S>::sweep_bytes, host_sweep_block);
  return tiles;
}

/// True for the tiles with the most states of a list: those that a larger state takes turns in.
template <class Mine, class... Tiles>
constexpr bool is_largest(TileList<Tiles...>) {
  return ((Tiles::states <= Mine::states) && ...);
}

/// The range [first, last) of the tiles with the fewest states that hold a state of the given size, else with the most.
struct TileRange {
  std::size_t first;
  std::size_t last;
};

TileRange fitting(TileSizes tiles, std::int64_t state);

/// What is compiled for a pass.
struct Kernels {
  TileSizes tiles;
  TileSizes relays;
  TileSizes steps;  ///< for single tokens
};

/// Places in a pass's lists of the kernel to run: of a relay or a step, if any, and of the tile that runs otherwise, or
/// where a relay cannot.
struct Choice {
  std::size_t tile;
  std::optional<std::size_t> relay{};
  std::optional<std::size_t> step{};
};

/// The widest tile that leaves no processor idle and is more than half full. Tiles of one step run single tokens only.
std::size_t choose_tile(TileSizes tiles, Sizes const& sizes, std::int64_t units);

/// The kernel of options, which must be able to run the call, else Error; without one, a step for a single token or, by
/// the rule and unless options ask for chunks, the widest relay that leaves at most half of the processors idle.
Choice choose(char const* call, Kernels const& kernels, Sizes const& sizes, std::int64_t units, RelayRule const& rule,
              ScanOptions const& options);

/// The chunks to cut every sequence into, most at most: by the rule, or as options.time_chunks asks.
std::int64_t chunks_of(TileSize const& tile, std::int64_t teams, std::int64_t units, SplitRule const& rule,
                       std::int64_t most, ScanOptions const& options);

/// Calls f with a value of the index-th type of the list.
template <class... Tiles, class F>
void visit(TileList<Tiles...>, std::size_t index, F const& f) {
  std::size_t position = 0;
  ((position++ == index ? f(Tiles{}) : void()), ...);
}

}  // namespace pssa::impl
