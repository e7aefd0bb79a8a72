// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "forward_relay.hpp"
#include "forward_step.hpp"
#include "forward_walk.hpp"
#include "team.hpp"

namespace pssa::impl {

/// The forward pass: one team of Kokkos' a segment.
template <class ExecutionSpace, class T, class Tile, bool Slabs>
struct ForwardKernel {
  using S = state_type<T>;
  using Policy = TeamPolicyOf<ExecutionSpace, Tile>;
  using Member = typename Policy::member_type;
  using Team = MemberTeam<Member, S>;
  using Mine = ForwardWalk<T, Tile, Slabs, Team>;
  static_assert(Mine::scratch_elements * sizeof(S) <= most_scratch);

  ForwardArguments<T> arguments;

  Policy policy(ExecutionSpace const& exec) const {
    return team_policy<Tile>(exec, arguments.segments.league(), Mine::scratch_elements * sizeof(S),
                             forward_waiting_bytes(size_of<Tile>(), arguments.sizes.state, sizeof(S)));
  }

  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& segments = arguments.segments;
    Team const team(member, Mine::scratch_elements, Mine::waiting_elements(arguments));
    for (std::int64_t index = member.league_rank(); index < segments.count(); index += member.league_size()) {
      Mine(arguments, team, segments(index)).run();
      team.barrier();  // the next segment reuses the scratch
    }
  }
};

/// The same with a relay of warps in every team.
template <class ExecutionSpace, class T, class Relay>
struct ForwardRelayKernel {
  using S = state_type<T>;
  using Policy = TeamPolicyOf<ExecutionSpace, Relay>;
  using Member = typename Policy::member_type;
  using Team = MemberTeam<Member, S>;
  using Mine = ForwardRelay<T, Relay, Team>;
  static_assert(Mine::scratch_elements * sizeof(S) <= most_scratch);

  ForwardArguments<T> arguments;

  Policy policy(ExecutionSpace const& exec) const {
    return team_policy<Relay>(exec, arguments.segments.league(), Mine::scratch_elements * sizeof(S), 0);
  }

  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& segments = arguments.segments;
    Team const team(member, Mine::scratch_elements, 0);
    for (std::int64_t index = member.league_rank(); index < segments.count(); index += member.league_size()) {
      Mine(arguments, team, segments(index)).run();
      team.barrier();  // the next segment reuses the scratch
    }
  }
};

/// The same for single tokens.
template <class ExecutionSpace, class T, class Tile>
struct ForwardStepKernel {
  using Policy = TeamPolicyOf<ExecutionSpace, Tile>;
  using Member = typename Policy::member_type;

  ForwardArguments<T> arguments;

  Policy policy(ExecutionSpace const& exec) const { return team_policy<Tile>(exec, arguments.segments.league(), 0, 0); }

  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& segments = arguments.segments;
    for (std::int64_t index = member.league_rank(); index < segments.count(); index += member.league_size())
      ForwardStep<T, Tile>(arguments, member.team_rank(), segments(index)).run();
  }
};

}  // namespace pssa::impl
