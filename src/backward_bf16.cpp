// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "elements.hpp"
#include "backward_dispatch.hpp"

namespace pssa::impl {

PSSA_IF_BHALF(PSSA_FOR_EACH_SPACE(PSSA_INSTANTIATE_BACKWARD, Kokkos::Experimental::bhalf_t))

}  // namespace pssa::impl
