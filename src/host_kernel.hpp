// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "backward_walk.hpp"
#include "ends_walk.hpp"
#include "forward_walk.hpp"
#include "host.hpp"

namespace pssa::impl {

/// Scratch of a segment, in elements: the arrays that HostScanWalk and HostSweepWalk lay out in it. copied: b or c,
/// whose states do not stand together.
inline std::int64_t host_scan_elements(std::int64_t tile, std::int64_t state, bool copied) {
  return tile * (2 * state + 2 + 3 * host_scan_block) + (copied ? 2 * host_scan_block * state : 0);
}
inline std::int64_t host_sweep_elements(std::int64_t tile, std::int64_t state, std::int64_t span, bool copied) {
  std::int64_t const blocks = (span + host_sweep_block - 1) / host_sweep_block;
  return tile * ((3 + blocks) * state + 2 + 5 * host_sweep_block + host_states * (4 * host_sweep_block + 1)) +
         (copied ? 2 * host_sweep_block * state : 0);
}
/// Whether b or c is copied into scratch.
template <class T>
bool host_copies(Tensor<T, 3> const& b, Tensor<T, 3> const& c) {
  return b.stride[2] != 1 || c.stride[2] != 1;
}

/// Tokens between two kept states that the sweep begins at: as many entries as a block has, or one.
inline std::int64_t host_span(std::int64_t length, std::int64_t interval) {
  if (interval <= host_sweep_block) return host_sweep_block / interval * interval;
  return std::min(interval, std::max(length, std::int64_t{1}));
}

/// Rows of a tensor's last two axes, the last being columns.
template <class S, int Rank>
HostMatrix<S> host_rows(Tensor<S, Rank> const& tensor, S* first) {
  return {tensor.absent() ? nullptr : first, tensor.stride[Rank - 2], tensor.stride[Rank - 1]};
}
/// The same with the last axis as rows: states of channels.
template <class S, int Rank>
HostMatrix<S> host_states_of(Tensor<S, Rank> const& tensor, S* first) {
  return {tensor.absent() ? nullptr : first, tensor.stride[Rank - 1], tensor.stride[Rank - 2]};
}
/// A tensor's element, null where it is absent.
template <class S, int Rank, class... Index>
S* host_at(Tensor<S, Rank> const& tensor, Index... index) {
  return tensor.absent() ? nullptr : &tensor(index...);
}

/// One team of one thread a segment, with scratch for one.
template <class ExecutionSpace, class S>
struct HostTeams {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
  using Member = typename Policy::member_type;

  static Policy policy(ExecutionSpace const& exec, DenseSegments const& segments, std::int64_t elements) {
    Policy policy(exec, segments.league(), 1, 1);
    policy.set_scratch_size(1, Kokkos::PerTeam(bytes(elements) + host_pack_bytes));
    return policy;
  }
  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(S); }
  static S* scratch(Member const& member, std::int64_t elements) {
    return static_cast<S*>(member.team_scratch(1).get_shmem_aligned(bytes(elements), host_pack_bytes));
  }
  /// Calls f(segment) for the team's segments.
  template <class F>
  static void each(Member const& member, DenseSegments const& segments, F const& f) {
    for (std::int64_t index = member.league_rank(); index < segments.count(); index += member.league_size())
      f(segments(index));
  }
};

/// The forward pass on a host.
template <class ExecutionSpace, class S>
struct HostForwardKernel {
  using Teams = HostTeams<ExecutionSpace, S>;

  ForwardArguments<S> k;
  int tile;
  void (*run)(HostScan<S> const&);

  std::int64_t elements() const { return host_scan_elements(tile, k.sizes.state, host_copies(k.b, k.c)); }
  typename Teams::Policy policy(ExecutionSpace const& exec) const {
    return Teams::policy(exec, k.segments, elements());
  }

  void operator()(typename Teams::Member const& member) const {
    S* const scratch = Teams::scratch(member, elements());
    Teams::each(member, k.segments, [&](Segment const& mine) {
      auto const first = mine.tile * tile;
      bool const last = k.segments.last(mine.chunk);
      auto const rows = [&](auto const& tensor, std::int64_t column) {
        return host_rows(tensor, host_at(tensor, mine.batch, mine.begin, column));
      };
      bool const carried = k.segments.chunks > 1;
      auto const carry_row = k.carries.first(mine.chunk, mine.begin);
      auto const& carries = k.carries.rows;
      run({mine.end - mine.begin,
           k.sizes.state,
           static_cast<int>(std::min<std::int64_t>(tile, k.sizes.channels - first)),
           tile,
           rows(k.x, first),
           rows(k.delta, first),
           rows(k.b, 0),
           rows(k.c, 0),
           host_states_of(k.A, host_at(k.A, first, 0)),
           // Chunks do not read h0: it may be hT, which the last of them writes.
           carried
               ? host_rows(carries.as_const(), static_cast<S const*>(host_at(carries, mine.batch, carry_row, first)))
               : host_states_of(k.h0, host_at(k.h0, mine.batch, first, 0)),
           rows(k.y, first),
           last ? host_states_of(k.hT, host_at(k.hT, mine.batch, first, 0)) : HostMatrix<S>{},
           {},
           host_states_of(k.tape, host_at(k.tape, mine.batch, mine.begin / k.interval, first, 0)),
           k.tape.stride[1],
           k.interval,
           last && mine.end % k.interval == 0,
           scratch});
    });
  }
};

/// The ends of all chunks on a host, as EndsKernel.
template <class ExecutionSpace, class S, bool Reverse>
struct HostEndsKernel {
  using Teams = HostTeams<ExecutionSpace, S>;

  EndsArguments<S, S> k;
  int tile;
  void (*run)(HostScan<S> const&);

  std::int64_t elements() const { return host_scan_elements(tile, k.sizes.state, host_copies(k.b, k.b)); }
  typename Teams::Policy policy(ExecutionSpace const& exec) const {
    return Teams::policy(exec, k.segments, elements());
  }

  void operator()(typename Teams::Member const& member) const {
    S* const scratch = Teams::scratch(member, elements());
    Teams::each(member, k.segments, [&](Segment const& mine) {
      if (Reverse ? mine.chunk == 0 : k.segments.last(mine.chunk)) return;  // nobody needs its end
      auto const first = mine.tile * tile;
      auto const begin = Reverse ? k.sizes.length - mine.end : mine.begin;
      auto const rows = [&](auto const& tensor, std::int64_t column) {
        return host_rows(tensor, host_at(tensor, mine.batch, begin, column));
      };
      auto const row = k.ends.first(mine.chunk, mine.begin);
      auto const& ends = k.ends.rows;
      run({mine.end - mine.begin,
           k.sizes.state,
           static_cast<int>(std::min<std::int64_t>(tile, k.sizes.channels - first)),
           tile,
           rows(k.x, first),
           rows(k.delta, first),
           rows(k.b, 0),
           {},
           host_states_of(k.A, host_at(k.A, first, 0)),
           {},
           {},
           host_rows(ends, host_at(ends, mine.batch, row, first)),
           host_rows(ends, host_at(ends, mine.batch, row + k.sizes.state, first)),
           {},
           0,
           1,
           false,
           scratch});
    });
  }
};

/// The backward sweep on a host.
template <class ExecutionSpace, class S>
struct HostSweepKernel {
  using Teams = HostTeams<ExecutionSpace, S>;

  BackwardArguments<S> k;
  int tile;
  void (*run)(HostSweep<S> const&);

  std::int64_t span() const { return host_span(k.sizes.length, k.interval); }
  std::int64_t elements() const { return host_sweep_elements(tile, k.sizes.state, span(), host_copies(k.b, k.c)); }
  typename Teams::Policy policy(ExecutionSpace const& exec) const {
    return Teams::policy(exec, k.segments, elements());
  }

  void operator()(typename Teams::Member const& member) const {
    S* const scratch = Teams::scratch(member, elements());
    Teams::each(member, k.segments, [&](Segment const& mine) {
      auto const first = mine.tile * tile;
      auto const rows = [&](auto const& tensor, std::int64_t column) {
        return host_rows(tensor, host_at(tensor, mine.batch, mine.begin, column));
      };
      auto const parts = [&](int which) {
        return HostMatrix<S>{host_at(k.token_parts, mine.tile, mine.batch, mine.begin, which, 0),
                             k.token_parts.stride[2], 1};
      };
      bool const carried = k.segments.chunks > 1;
      auto const carry_row = k.carries.first(mine.chunk, mine.begin);
      auto const& carries = k.carries.rows;
      run({mine.end - mine.begin, k.sizes.state,
           static_cast<int>(std::min<std::int64_t>(tile, k.sizes.channels - first)), tile, rows(k.x, first),
           rows(k.delta, first), rows(k.dy, first), rows(k.b, 0), rows(k.c, 0),
           host_states_of(k.A, host_at(k.A, first, 0)),
           // Chunks do not read dhT: it may be dh0, which the first of them writes.
           carried
               ? host_rows(carries.as_const(), static_cast<S const*>(host_at(carries, mine.batch, carry_row, first)))
               : host_states_of(k.dhT, host_at(k.dhT, mine.batch, first, 0)),
           rows(k.dx, first), rows(k.ddelta, first), parts(0), parts(1),
           host_states_of(k.A_parts, host_at(k.A_parts, mine.batch, mine.chunk, first, 0)),
           mine.chunk == 0 ? host_states_of(k.dh0, host_at(k.dh0, mine.batch, first, 0)) : HostMatrix<S>{},
           host_states_of(k.tape, host_at(k.tape, mine.batch, mine.begin / k.interval, first, 0)), k.tape.stride[1],
           k.interval, span(), scratch});
    });
  }
};

}  // namespace pssa::impl
