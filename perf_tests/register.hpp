// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

namespace pssa::perf {

/// Registers a program's benchmarks, once Kokkos is up. Arguments are those that Google Benchmark does not know, after
/// the program's name. Returns false when the program does not know them either.
bool register_benchmarks(int argc, char** argv);

}  // namespace pssa::perf
