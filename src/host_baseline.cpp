// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#define PSSA_ISA baseline
#define PSSA_PACK_BYTES 16
#include "host_table.hpp"

namespace pssa::impl {

constinit HostTable const host_baseline{"baseline", host_kernels<float>(), host_kernels<double>()};

}  // namespace pssa::impl
