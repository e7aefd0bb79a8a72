// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host.hpp"

namespace pssa::impl {

/// The best instruction set that this library and this processor have, or the one that PSSA_HOST_ISA in the environment
/// names, as it was at the first call. Throws Error when they do not have that one.
HostTable const& host_table(char const* call);

/// The part of the table for an element type.
inline HostKernels<float> const& kernels_of(HostTable const& table, float) { return table.of_float; }
inline HostKernels<double> const& kernels_of(HostTable const& table, double) { return table.of_double; }

}  // namespace pssa::impl
