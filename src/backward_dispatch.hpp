// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "backward_kernel.hpp"
#include "carry_kernel.hpp"
#include "ends_kernel.hpp"
#include "host_launch.hpp"
#include "launch.hpp"
#include "reduce_kernel.hpp"

#include <pssa/impl/check.hpp>

namespace pssa::impl {

/// The tensor with its tokens in reverse order.
template <class T>
Tensor<T, 3> reversed(Tensor<T, 3> tensor) {
  tensor.data += (tensor.extent[1] - 1) * tensor.stride[1];
  tensor.stride[1] = -tensor.stride[1];
  return tensor;
}

/// Leaves, in ends, the cotangent that reaches every chunk from later ones.
template <class ExecutionSpace, class T>
void carry_cotangents(ExecutionSpace const& exec, Sizes const& sizes, DenseSegments segments, InputTensors<T> const& in,
                      CotangentTensors<T> const& cotangents, Ends<state_type<T>, state_type<T>> const& ends) {
  using S = state_type<T>;
  using Mine = Tuning<ExecutionSpace, S>;
  auto const chosen = choose_tile(sizes_of(typename Mine::Forward{}), sizes, Mine::units(exec));
  visit(typename Mine::Forward{}, chosen, [&](auto tile) {
    using ThisTile = decltype(tile);
    segments.tiles = tiles_of<ThisTile>(sizes);
    launch(exec, "pssa::scan_backward::ends", segments.count(),
           EndsKernel<ExecutionSpace, T, ThisTile, S, true>{{sizes, segments, reversed(cotangents.dy),
                                                              reversed(in.delta), reversed(in.c), in.A, ends}});
  });
  CarryKernel<ExecutionSpace, S, S, true> const carry{sizes, segments, in.A, or_absent(cotangents.dhT), ends};
  launch(exec, "pssa::scan_backward::carry", carry.count(), carry);
}

/// Gives the segments room for their parts of db, dc and dA and for what chunks leave each other, and returns the kernel
/// that adds the parts.
template <class ExecutionSpace, class Machine, class T>
auto make_parts(ExecutionSpace const& exec, GradientTensors<T> const& gradients,
                TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>& tape,
                BackwardArguments<T>& arguments) {
  using S = state_type<T>;
  auto const& sizes = arguments.sizes;
  std::int64_t const tiles = arguments.segments.tiles;
  std::int64_t const chunks = arguments.segments.chunks;
  std::int64_t const n = sizes.state;
  std::int64_t const rows_a_chunk = Ends<S, S>::rows_for(n);
  ReduceKernel<ExecutionSpace, T, Machine> reduce{sizes,
                                                  tiles,
                                                  sizes.batch * chunks,
                                                  nullptr,
                                                  nullptr,
                                                  or_absent(gradients.db),
                                                  or_absent(gradients.dc),
                                                  or_absent(gradients.dA)};
  std::int64_t const token_parts = tiles * reduce.token_sums();
  std::int64_t const A_parts = gradients.dA ? chunks * sizes.batch * sizes.channels * n : 0;
  std::int64_t const carries = chunks > 1 ? sizes.batch * chunks * rows_a_chunk * sizes.channels : 0;
  grow(exec, "pssa::Tape::partials", tape.partials, token_parts + A_parts + carries);
  S* const parts = tape.partials.data();
  reduce.token_parts = parts;
  reduce.A_parts = parts + token_parts;
  std::int64_t const per_tile = sizes.batch * sizes.length * 2 * n;
  arguments.token_parts = {token_parts > 0 ? parts : nullptr,
                           {tiles, sizes.batch, sizes.length, 2, n},
                           {per_tile, sizes.length * 2 * n, 2 * n, n, 1}};
  arguments.A_parts = {A_parts > 0 ? parts + token_parts : nullptr,
                       {sizes.batch, chunks, sizes.channels, n},
                       {chunks * sizes.channels * n, sizes.channels * n, n, 1}};
  arguments.carries = {{parts + token_parts + A_parts,
                        {sizes.batch, chunks * rows_a_chunk, sizes.channels},
                        {chunks * rows_a_chunk * sizes.channels, sizes.channels, 1}},
                       rows_a_chunk};
  return reduce;
}

/// The backward pass of float or double on a host.
template <class ExecutionSpace, class S>
void backward_on_host(ExecutionSpace const& exec, char const* call, GradientTensors<S> const& gradients,
                      TapeStorage<S, typename ExecutionSpace::memory_space>& tape, BackwardArguments<S>& arguments,
                      ScanOptions const& options) {
  using Mine = HostTuning<S>;
  auto const& sizes = arguments.sizes;
  auto const& kernels = kernels_of(host_table(call), S{});
  int const tile =
      host_sweep_tile<ExecutionSpace, S>(call, sizes, tape.interval, host_copies(arguments.b, arguments.c), options);
  if (gradients.empty()) return;
  auto& segments = arguments.segments;
  segments.tiles = (sizes.channels + tile - 1) / tile;
  segments.unit = host_span(sizes.length, tape.interval);
  segments.cut(chunks_of({0, tile, 0, 1}, segments.count(), exec.concurrency() / Mine::split_threads, Mine::split,
                         segments.most_chunks(sizes.state), options));
  auto const reduce = make_parts<ExecutionSpace, HostMachine>(exec, gradients, tape, arguments);
  if (segments.chunks > 1) {
    auto const& ends = arguments.carries;
    launch(exec, "pssa::scan_backward::ends", segments.count(),
           HostEndsKernel<ExecutionSpace, S, true>{{sizes, segments, reversed(arguments.dy), reversed(arguments.delta),
                                                    reversed(arguments.c), arguments.A, ends},
                                                   tile,
                                                   kernels.end_in_reverse});
    CarryKernel<ExecutionSpace, S, S, true> const carry{sizes, segments, arguments.A, arguments.dhT, ends};
    launch(exec, "pssa::scan_backward::carry", carry.count(), carry);
  }
  launch(exec, "pssa::scan_backward::sweep", segments.count(),
         HostSweepKernel<ExecutionSpace, S>{arguments, tile, kernels.sweep});
  launch(exec, "pssa::scan_backward::reduce", reduce.token_sums() + reduce.A_sums(), reduce);
}

/// The backward pass by teams.
template <class ExecutionSpace, class T>
void backward_by_teams(ExecutionSpace const& exec, char const* call, InputTensors<T> const& in,
                       CotangentTensors<T> const& cotangents, GradientTensors<T> const& gradients,
                       TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>& tape,
                       BackwardArguments<T>& arguments, ScanOptions const& options) {
  auto const& sizes = arguments.sizes;
  using S = state_type<T>;
  using Mine = Tuning<ExecutionSpace, S>;
  auto const sweep_tiles = sizes_of(typename Mine::Backward{});
  auto const choice = choose(call, {sweep_tiles, sizes_of(typename Mine::BackwardRelays{}), {}}, sizes,
                             Mine::units(exec), Mine::backward_relay, options);
  check::scratch(call, sizes.state, tape.interval,
                 backward_waiting_bytes(sweep_tiles[choice.tile], sizes.state, sizes.length, tape.interval, sizeof(S)),
                 waiting_bytes_max<ExecutionSpace>());
  if (gradients.empty()) return;
  auto& segments = arguments.segments;
  if (choice.relay) {
    bool done = false;
    visit(typename Mine::BackwardRelays{}, *choice.relay, [&](auto tile) {
      using Kernel = BackwardRelayKernel<ExecutionSpace, T, decltype(tile)>;
      if (!Kernel::Mine::fits(arguments)) return;
      segments.tiles = tiles_of<decltype(tile)>(sizes);
      auto const reduce =
          make_parts<ExecutionSpace, typename decltype(tile)::machine>(exec, gradients, tape, arguments);
      launch(exec, "pssa::scan_backward::sweep", segments.count(), Kernel{arguments});
      launch(exec, "pssa::scan_backward::reduce", reduce.token_sums() + reduce.A_sums(), reduce);
      done = true;
    });
    if (done) return;
  }
  visit(typename Mine::Backward{}, choice.tile, [&](auto tile) {
    using ThisTile = decltype(tile);
    segments.tiles = tiles_of<ThisTile>(sizes);
    if (sizes.state <= ThisTile::states) {
      segments.unit = span_of(sizes.length, tape.interval, ThisTile::steps);
      segments.cut(chunks_of(sweep_tiles[choice.tile], segments.count(), Mine::units(exec), Mine::backward_split,
                             segments.most_chunks(sizes.state), options));
    }
    auto const reduce = make_parts<ExecutionSpace, typename ThisTile::machine>(exec, gradients, tape, arguments);
    if (segments.chunks > 1) carry_cotangents(exec, sizes, segments, in, cotangents, arguments.carries);

    auto const sweep = [&](auto waits) {
      BackwardKernel<ExecutionSpace, T, ThisTile, decltype(waits)::value> const kernel{arguments};
      launch(exec, "pssa::scan_backward::sweep", segments.count(), kernel);
    };
    using Walk = typename BackwardKernel<ExecutionSpace, T, ThisTile, true>::Mine;
    // Only the kernel that also waits computes its offsets in 64 bits.
    if (!Walk::is_near(arguments) || Walk::waits(sizes, tape.interval))
      sweep(std::true_type{});
    else
      sweep(std::false_type{});
    launch(exec, "pssa::scan_backward::reduce", reduce.token_sums() + reduce.A_sums(), reduce);
  });
}

template <class ExecutionSpace, class T>
void backward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
              CotangentTensors<T> const& cotangents, GradientTensors<T> const& gradients,
              TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>& tape, ScanOptions const& options) {
  BackwardArguments<T> arguments{sizes,
                                 {sizes.batch, sizes.length},
                                 in.x,
                                 in.delta,
                                 in.b,
                                 in.c,
                                 cotangents.dy,
                                 in.A,
                                 or_absent(cotangents.dhT),
                                 tape.tensor().as_const(),
                                 tape.interval,
                                 or_absent(gradients.dx),
                                 or_absent(gradients.ddelta),
                                 or_absent(gradients.dh0)};
  if constexpr (is_packed_v<ExecutionSpace, T>)
    backward_on_host(exec, call, gradients, tape, arguments, options);
  else
    backward_by_teams(exec, call, in, cotangents, gradients, tape, arguments, options);
}

#define PSSA_INSTANTIATE_BACKWARD(SPACE, T)                                                                     \
  template PSSA_EXPORT void backward<SPACE, T>(SPACE const&, char const*, Sizes const&, InputTensors<T> const&, \
                                               CotangentTensors<T> const&, GradientTensors<T> const&,           \
                                               TapeStorage<state_type<T>, SPACE::memory_space>&, ScanOptions const&);

}  // namespace pssa::impl
