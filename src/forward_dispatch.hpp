// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "carry_kernel.hpp"
#include "ends_kernel.hpp"
#include "forward_kernel.hpp"
#include "host_launch.hpp"
#include "launch.hpp"

#include <pssa/impl/check.hpp>

namespace pssa::impl {

/// Gives the tape room for the states that a forward pass keeps, and says how they stand in it.
template <class ExecutionSpace, class S>
void prepare(ExecutionSpace const& exec, TapeStorage<S, typename ExecutionSpace::memory_space>& tape,
             Sizes const& sizes, int interval) {
  tape.interval = 0;  // no pass has filled the tape until its memory is there
  grow(exec, "pssa::Tape::states", tape.states,
       sizes.batch * (sizes.length / interval + 1) * sizes.channels * sizes.state);
  tape.interval = interval;
  tape.sizes = sizes;
  constexpr bool channel_major = Tuning<ExecutionSpace, S>::channel_major;
  tape.channel_stride = channel_major ? 1 : sizes.state;
  tape.state_stride = channel_major ? sizes.channels : 1;
}

/// The forward pass of float or double on a host.
template <class ExecutionSpace, class S>
void forward_on_host(ExecutionSpace const& exec, char const* call, Sizes const& sizes,
                     TapeStorage<S, typename ExecutionSpace::memory_space>* tape, ForwardArguments<S>& arguments,
                     ScanOptions const& options) {
  using Mine = HostTuning<S>;
  auto const& kernels = kernels_of(host_table(call), S{});
  std::int64_t const threads = exec.concurrency();
  bool const copied = host_copies(arguments.b, arguments.c);
  int const tile = host_tile<ExecutionSpace>(
      call, host_scan_tiles<S>(), sizes, Mine::tiles_a_thread * threads, 0, options, [&](std::int64_t channels) {
        return host_scan_elements(channels, sizes.state, copied) * std::int64_t(sizeof(S));
      });
  if (tape != nullptr) {
    int const interval = options.checkpoint_interval != 0 ? options.checkpoint_interval : host_sweep_block;
    // Here already, so that a training step does not fail half way.
    host_sweep_tile<ExecutionSpace, S>(call, sizes, interval, copied, ScanOptions{});
    prepare(exec, *tape, sizes, interval);
    arguments.tape = tape->tensor();
    arguments.interval = interval;
  }
  auto& segments = arguments.segments;
  auto const& ends = arguments.carries;
  segments.tiles = (sizes.channels + tile - 1) / tile;
  segments.unit = tape != nullptr ? tape->interval : host_scan_block;
  segments.cut(chunks_of({0, tile, 0, 1}, segments.count(), threads / Mine::split_threads, Mine::split,
                         segments.most_chunks(ends.rows_for(sizes.state)), options));
  if (segments.chunks > 1) {
    launch(exec, "pssa::scan::ends", segments.count(),
           HostEndsKernel<ExecutionSpace, S, false>{
               {sizes, segments, arguments.x, arguments.delta, arguments.b, arguments.A, ends}, tile, kernels.end});
    CarryKernel<ExecutionSpace, S, S, false> const carry{sizes, segments, arguments.A, arguments.h0, ends};
    launch(exec, "pssa::scan::carry", carry.count(), carry);
  }
  launch(exec, "pssa::scan::forward", segments.count(),
         HostForwardKernel<ExecutionSpace, S>{arguments, tile, kernels.scan});
}

/// The forward pass by teams.
template <class ExecutionSpace, class T>
void forward_by_teams(ExecutionSpace const& exec, char const* call, Sizes const& sizes,
                      TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>* tape,
                      ForwardArguments<T>& arguments, ScanOptions const& options) {
  using S = state_type<T>;
  using Mine = Tuning<ExecutionSpace, S>;
  auto const tiles = sizes_of(typename Mine::Forward{});
  auto const choice =
      choose(call, {tiles, sizes_of(typename Mine::ForwardRelays{}), sizes_of(typename Mine::ForwardSteps{})}, sizes,
             Mine::units(exec), Mine::forward_relay, options);
  check::scratch(call, sizes.state, 0, forward_waiting_bytes(tiles[choice.tile], sizes.state, sizeof(S)),
                 waiting_bytes_max<ExecutionSpace>());
  if (tape != nullptr) {
    auto const sweep = sizes_of(typename Mine::Backward{});
    auto const sweeper = sweep[choose_tile(sweep, sizes, Mine::units(exec))];
    auto const interval = options.checkpoint_interval != 0 ? options.checkpoint_interval : sweeper.steps;
    // Here already, so that a training step does not fail half way.
    check::scratch(call, sizes.state, interval,
                   backward_waiting_bytes(sweeper, sizes.state, sizes.length, interval, sizeof(S)),
                   waiting_bytes_max<ExecutionSpace>());
    prepare(exec, *tape, sizes, interval);
    arguments.tape = tape->tensor();
    arguments.interval = interval;
  }
  auto& segments = arguments.segments;
  if (choice.step) {
    return visit(typename Mine::ForwardSteps{}, *choice.step, [&](auto tile) {
      segments.tiles = tiles_of<decltype(tile)>(sizes);
      launch(exec, "pssa::scan::forward", segments.count(),
             ForwardStepKernel<ExecutionSpace, T, decltype(tile)>{arguments});
    });
  }
  if (choice.relay) {
    bool done = false;
    visit(typename Mine::ForwardRelays{}, *choice.relay, [&](auto tile) {
      using ThisRelay = decltype(tile);
      using Kernel = ForwardRelayKernel<ExecutionSpace, T, ThisRelay>;
      if (!Kernel::Mine::fits(arguments)) return;
      segments.tiles = tiles_of<ThisRelay>(sizes);
      launch(exec, "pssa::scan::forward", segments.count(), Kernel{arguments});
      done = true;
    });
    if (done) return;
  }
  visit(typename Mine::Forward{}, choice.tile, [&](auto tile) {
    using ThisTile = decltype(tile);
    segments.tiles = tiles_of<ThisTile>(sizes);
    auto const& ends = arguments.carries;
    bool const fits = sizes.state <= ThisTile::states;
    if (fits) {
      segments.unit = tape != nullptr ? tape->interval : ThisTile::steps;
      segments.cut(chunks_of(tiles[choice.tile], segments.count(), Mine::units(exec), Mine::forward_split,
                             segments.most_chunks(ends.rows_for(sizes.state)), options));
    }
    if (segments.chunks > 1) {
      launch(exec, "pssa::scan::ends", segments.count(),
             EndsKernel<ExecutionSpace, T, ThisTile, T, false>{
                 {sizes, segments, arguments.x, arguments.delta, arguments.b, arguments.A, ends}});
      CarryKernel<ExecutionSpace, S, T, false> const carry{sizes, segments, arguments.A, arguments.h0, ends};
      launch(exec, "pssa::scan::carry", carry.count(), carry);
    }
    auto const run = [&](auto slabs) {
      ForwardKernel<ExecutionSpace, T, ThisTile, decltype(slabs)::value> const kernel{arguments};
      launch(exec, "pssa::scan::forward", segments.count(), kernel);
    };
    if (fits) return run(std::false_type{});
    if constexpr (is_largest<ThisTile>(typename Mine::Forward{})) run(std::true_type{});
  });
}

template <class ExecutionSpace, class T>
void forward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
             OutputTensors<T> const& out, TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>* tape,
             ScanOptions const& options) {
  ForwardArguments<T> arguments{sizes,  {sizes.batch, sizes.length},
                                in.x,   in.delta,
                                in.b,   in.c,
                                in.A,   or_absent(in.h0),
                                out.y,  or_absent(out.hT),
                                {},     1,
                                {out.y}};  // the ends of chunks wait in y, which is written after them
  if constexpr (is_packed_v<ExecutionSpace, T>)
    forward_on_host(exec, call, sizes, tape, arguments, options);
  else
    forward_by_teams(exec, call, sizes, tape, arguments, options);
}

#define PSSA_INSTANTIATE_FORWARD(SPACE, T)                                                                     \
  template PSSA_EXPORT void forward<SPACE, T>(SPACE const&, char const*, Sizes const&, InputTensors<T> const&, \
                                              OutputTensors<T> const&,                                         \
                                              TapeStorage<state_type<T>, SPACE::memory_space>*, ScanOptions const&);

}  // namespace pssa::impl
