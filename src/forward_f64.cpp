// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "elements.hpp"
#include "forward_dispatch.hpp"

namespace pssa::impl {

PSSA_FOR_EACH_SPACE(PSSA_INSTANTIATE_FORWARD, double)

}  // namespace pssa::impl
