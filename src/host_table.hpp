// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "host_scan.hpp"
#include "host_sweep.hpp"

namespace PSSA_NAMESPACE {

template <class S>
constexpr HostKernels<S> host_kernels() {
  return {host_scan<S, Purpose::scan>, host_scan<S, Purpose::end>, host_scan<S, Purpose::end_in_reverse>,
          host_sweep<S>};
}

}  // namespace PSSA_NAMESPACE
