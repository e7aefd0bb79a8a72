// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "backward_kernel.hpp"
#include "carry_kernel.hpp"
#include "ends_kernel.hpp"
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
void carry_cotangents(ExecutionSpace const& exec, char const* call, Sizes const& sizes, DenseSegments segments,
                      InputTensors<T> const& in, CotangentTensors<T> const& cotangents,
                      Ends<state_type<T>, state_type<T>> const& ends) {
  using S = state_type<T>;
  using Mine = Tuning<ExecutionSpace, S>;
  auto const chosen = choose(call, sizes_of(typename Mine::Forward{}), sizes, Mine::units(exec), ScanOptions{});
  visit(typename Mine::Forward{}, chosen, [&](auto tile) {
    using ThisTile = decltype(tile);
    segments.tiles = (sizes.channels + ThisTile::channels - 1) / ThisTile::channels;
    launch(exec, "pssa::scan_backward::ends", segments.count(),
           EndsKernel<ExecutionSpace, T, ThisTile, S, true>{{sizes, segments, reversed(cotangents.dy),
                                                              reversed(in.delta), reversed(in.c), in.A, ends}});
  });
  CarryKernel<ExecutionSpace, S, S, true> const carry{sizes, segments, in.A, or_absent(cotangents.dhT), ends};
  launch(exec, "pssa::scan_backward::carry", carry.count(), carry);
}

template <class ExecutionSpace, class T>
void backward(ExecutionSpace const& exec, char const* call, Sizes const& sizes, InputTensors<T> const& in,
              CotangentTensors<T> const& cotangents, GradientTensors<T> const& gradients,
              TapeStorage<state_type<T>, typename ExecutionSpace::memory_space>& tape, ScanOptions const& options) {
  using S = state_type<T>;
  using Mine = Tuning<ExecutionSpace, S>;
  auto const sweep_tiles = sizes_of(typename Mine::Backward{});
  auto const chosen = choose(call, sweep_tiles, sizes, Mine::units(exec), options);
  check::scratch(call, sizes.state, tape.interval,
                 backward_waiting_bytes(sweep_tiles[chosen], sizes.state, sizes.length, tape.interval, sizeof(S)),
                 waiting_bytes_max<ExecutionSpace>());
  if (gradients.empty()) return;
  auto const states = tape.tensor();
  visit(typename Mine::Backward{}, chosen, [&](auto tile) {
    using ThisTile = decltype(tile);
    std::int64_t const tiles = (sizes.channels + ThisTile::channels - 1) / ThisTile::channels;
    DenseSegments segments{sizes.batch, sizes.length, tiles};
    std::int64_t const rows_a_chunk = Ends<S, S>::rows_for(sizes.state);
    if (sizes.state <= ThisTile::states) {
      segments.unit = span_of(sizes.length, tape.interval, ThisTile::steps);
      segments.cut(chunks_of(sweep_tiles[chosen], segments.count(), Mine::units(exec), Mine::backward_split,
                             segments.most_chunks(sizes.state), options));
    }
    ReduceKernel<ExecutionSpace, T, typename ThisTile::machine> reduce{
        sizes,   tiles,
        sizes.batch * segments.chunks,
        nullptr, nullptr,
        or_absent(gradients.db), or_absent(gradients.dc), or_absent(gradients.dA)};
    std::int64_t const token_parts = tiles * reduce.token_sums();
    std::int64_t const A_parts = gradients.dA ? segments.chunks * sizes.batch * sizes.channels * sizes.state : 0;
    std::int64_t const carries =
        segments.chunks > 1 ? sizes.batch * segments.chunks * rows_a_chunk * sizes.channels : 0;
    grow(exec, "pssa::Tape::partials", tape.partials, token_parts + A_parts + carries);
    reduce.token_parts = tape.partials.data();
    reduce.A_parts = tape.partials.data() + token_parts;
    Ends<S, S> const ends{{tape.partials.data() + token_parts + A_parts,
                           {sizes.batch, segments.chunks * rows_a_chunk, sizes.channels},
                           {segments.chunks * rows_a_chunk * sizes.channels, sizes.channels, 1}},
                          rows_a_chunk};
    if (segments.chunks > 1) carry_cotangents(exec, call, sizes, segments, in, cotangents, ends);

    auto const sweep = [&](auto waits) {
      using Kernel = BackwardKernel<ExecutionSpace, T, ThisTile, decltype(waits)::value>;
      std::int64_t const n = sizes.state;
      std::int64_t const per_tile = sizes.batch * sizes.length * 2 * n;
      Kernel kernel{{
          sizes,
          segments,
          in.x,
          in.delta,
          in.b,
          in.c,
          cotangents.dy,
          in.A,
          or_absent(cotangents.dhT),
          states.as_const(),
          tape.interval,
          or_absent(gradients.dx),
          or_absent(gradients.ddelta),
          or_absent(gradients.dh0),
          {token_parts > 0 ? tape.partials.data() : nullptr,
           {tiles, sizes.batch, sizes.length, 2, n},
           {per_tile, sizes.length * 2 * n, 2 * n, n, 1}},
          {A_parts > 0 ? tape.partials.data() + token_parts : nullptr,
           {sizes.batch, segments.chunks, sizes.channels, n},
           {segments.chunks * sizes.channels * n, sizes.channels * n, n, 1}},
          ends}};
      launch(exec, "pssa::scan_backward::sweep", segments.count(), kernel);
    };
    // Only the kernel that also waits computes its offsets in 64 bits.
    auto const far = [](auto const& tensor) { return !tensor.absent() && !is_near(tensor, ThisTile::steps); };
    bool const any_far = far(in.x) || far(in.delta) || far(in.b) || far(in.c) || far(cotangents.dy) ||
                         far(or_absent(gradients.dx)) || far(or_absent(gradients.ddelta));
    if (any_far || BackwardKernel<ExecutionSpace, T, ThisTile, true>::Mine::waits(sizes, tape.interval))
      sweep(std::true_type{});
    else
      sweep(std::false_type{});
    launch(exec, "pssa::scan_backward::reduce", reduce.token_sums() + reduce.A_sums(), reduce);
  });
}

#define PSSA_INSTANTIATE_BACKWARD(SPACE, T)                                                                     \
  template PSSA_EXPORT void backward<SPACE, T>(SPACE const&, char const*, Sizes const&, InputTensors<T> const&, \
                                               CotangentTensors<T> const&, GradientTensors<T> const&,           \
                                               TapeStorage<state_type<T>, SPACE::memory_space>&, ScanOptions const&);

}  // namespace pssa::impl
