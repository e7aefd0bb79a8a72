// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/types.hpp>

namespace pssa::perf {

/// The forward scan of a state of 16 in a plain CUDA kernel: the same walk without a team of Kokkos', its policy or its
/// launch. Asynchronous on exec's stream; for sizes at which pssa::scan runs that walk, one kernel for whole sequences.
void cuda_twin(Kokkos::Cuda const& exec, ScanInputs<float, Kokkos::CudaSpace> const& in,
               ScanOutputs<float, Kokkos::CudaSpace> const& out);

}  // namespace pssa::perf
