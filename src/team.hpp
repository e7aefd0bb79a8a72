// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "intrinsics.hpp"

/// Those that walk a segment together, as a walk sees them: rank(), their scratch of both levels, barrier().
namespace pssa::impl {

/// A team of Kokkos'.
template <class Member, class S>
class MemberTeam {
 public:
  /// Takes the team's scratch: elements of level 0 and of level 1, where 0 leaves that level alone.
  KOKKOS_FORCEINLINE_FUNCTION MemberTeam(Member const& member, int elements, std::int64_t waiting_elements)
      : m_member(member),
        m_scratch(in_scratch<S>(member.team_scratch(0).get_shmem_aligned(bytes(elements), alignment))),
        m_waiting(waiting_elements == 0
                      ? nullptr
                      : static_cast<S*>(member.team_scratch(1).get_shmem_aligned(bytes(waiting_elements), alignment))) {
  }

  KOKKOS_FORCEINLINE_FUNCTION int rank() const { return m_member.team_rank(); }
  KOKKOS_FORCEINLINE_FUNCTION S* scratch() const { return m_scratch; }
  KOKKOS_FORCEINLINE_FUNCTION S* waiting() const { return m_waiting; }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { impl::barrier(m_member); }

 private:
  static constexpr int alignment = 16;
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t bytes(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(S);
  }

  Member const& m_member;
  S* m_scratch;
  S* m_waiting;
};

}  // namespace pssa::impl
