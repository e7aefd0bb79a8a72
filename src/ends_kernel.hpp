// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "ends_walk.hpp"
#include "team.hpp"

namespace pssa::impl {

/// The ends of all chunks, for CarryKernel: one team of Kokkos' a segment.
template <class ExecutionSpace, class T, class Tile, class E, bool Reverse>
struct EndsKernel {
  using S = state_type<T>;
  using Policy = TeamPolicyOf<ExecutionSpace, Tile>;
  using Member = typename Policy::member_type;
  using Team = MemberTeam<Member, S>;
  using Mine = EndsWalk<T, Tile, E, Reverse, Team>;

  EndsArguments<T, E> arguments;

  Policy policy(ExecutionSpace const& exec) const {
    return team_policy<Tile>(exec, arguments.segments.league(), Mine::scratch_elements * sizeof(S), 0);
  }

  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& segments = arguments.segments;
    Team const team(member, Mine::scratch_elements, 0);
    for (std::int64_t index = member.league_rank(); index < segments.count(); index += member.league_size()) {
      auto const segment = segments(index);
      if (Reverse ? segment.chunk == 0 : segments.last(segment.chunk)) continue;  // nobody needs its end
      Mine(arguments, team, segment).run();
      team.barrier();  // the next segment reuses the scratch
    }
  }
};

}  // namespace pssa::impl
