// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "carry_kernel.hpp"
#include "ends_kernel.hpp"
#include "forward_kernel.hpp"
#include "launch.hpp"

#include <pssa/impl/check.hpp>

namespace pssa::impl {

template <class ExecutionSpace, class T>
void forward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
             OutputTensors<T> const& out, TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>* tape,
             ScanOptions const& options) {
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
    tape->interval = 0;  // no pass has filled the tape until its memory is there
    grow(exec, "pssa::Tape::states", tape->states,
         sizes.batch * (sizes.length / interval + 1) * sizes.channels * sizes.state);
    tape->interval = interval;
    tape->sizes = sizes;
    tape->channel_stride = Mine::channel_major ? 1 : sizes.state;
    tape->state_stride = Mine::channel_major ? sizes.channels : 1;
  }
  ForwardArguments<T> arguments{sizes,
                                {sizes.batch, sizes.length},
                                in.x,
                                in.delta,
                                in.b,
                                in.c,
                                in.A,
                                or_absent(in.h0),
                                out.y,
                                or_absent(out.hT),
                                tape != nullptr ? tape->tensor() : Tensor<S, 4>{},
                                tape != nullptr ? tape->interval : 1,
                                {out.y}};  // the ends of chunks wait in y, which is written after them
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
             EndsKernel<ExecutionSpace, T, ThisTile, T, false>{{sizes, segments, in.x, in.delta, in.b, in.A, ends}});
      CarryKernel<ExecutionSpace, S, T, false> const carry{sizes, segments, in.A, or_absent(in.h0), ends};
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

#define PSSA_INSTANTIATE_FORWARD(SPACE, T)                                                                     \
  template PSSA_EXPORT void forward<SPACE, T>(SPACE const&, char const*, Sizes const&, InputTensors<T> const&, \
                                              OutputTensors<T> const&,                                         \
                                              TapeStorage<state_type<T>, SPACE::memory_space>*, ScanOptions const&);

}  // namespace pssa::impl
