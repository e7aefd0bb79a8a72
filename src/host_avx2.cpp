// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#define PSSA_ISA avx2
#define PSSA_PACK_BYTES 32
#include "host_table.hpp"

namespace pssa::impl {

constinit HostTable const host_avx2{"avx2", host_kernels<float>(), host_kernels<double>()};

}  // namespace pssa::impl
