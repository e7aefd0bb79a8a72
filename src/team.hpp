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
      : member_(member),
        scratch_(in_scratch<S>(member.team_scratch(0).get_shmem_aligned(bytes(elements), alignment))),
        waiting_(waiting_elements == 0 ? nullptr
                                       : static_cast<S*>(member.team_scratch(1).get_shmem_aligned(
                                             bytes(waiting_elements), alignment))) {}

  KOKKOS_FORCEINLINE_FUNCTION int rank() const { return member_.team_rank(); }
  KOKKOS_FORCEINLINE_FUNCTION S* scratch() const { return scratch_; }
  KOKKOS_FORCEINLINE_FUNCTION S* waiting() const { return waiting_; }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { impl::barrier(member_); }

 private:
  static constexpr int alignment = 16;
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t bytes(std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(S);
  }

  Member const& member_;
  S* scratch_;
  S* waiting_;
};

}  // namespace pssa::impl
