// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#define PSSA_ISA avx512
#define PSSA_PACK_BYTES 64
#include "host_table.hpp"

namespace pssa::impl {

constinit HostTable const host_avx512{"avx512", host_kernels<float>(), host_kernels<double>()};

}  // namespace pssa::impl
