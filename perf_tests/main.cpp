// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "register.hpp"
#include "timer.hpp"

#include <pssa/version.hpp>

#include <benchmark/benchmark.h>

#include <sstream>
#include <string>

namespace {

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

/// The architectures that Kokkos was compiled for, from its own report.
std::string kokkos_architecture() {
  std::ostringstream report;
  Kokkos::print_configuration(report);
  std::istringstream lines(report.str());
  std::string result;
  for (std::string line; std::getline(lines, line);)
    if (auto const begin = line.find_first_not_of(' '); line.find(" architecture: ") != std::string::npos)
      result += (result.empty() ? "" : ", ") + line.substr(begin);
  return result;
}

std::string kokkos_backends() {
  std::string result;
#ifdef KOKKOS_ENABLE_CUDA
  result += "Cuda ";
#endif
#ifdef KOKKOS_ENABLE_HIP
  result += "HIP ";
#endif
#ifdef KOKKOS_ENABLE_SYCL
  result += "SYCL ";
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  result += "OpenMP ";
#endif
#ifdef KOKKOS_ENABLE_THREADS
  result += "Threads ";
#endif
#ifdef KOKKOS_ENABLE_SERIAL
  result += "Serial ";
#endif
  return result.substr(0, result.size() - 1);
}

void describe() {
  benchmark::AddCustomContext("pssa_version", PSSA_VERSION_STRING);
  benchmark::AddCustomContext("git_hash", PSSA_PERF_GIT_HASH);
  benchmark::AddCustomContext("compiler", PSSA_PERF_COMPILER);
  benchmark::AddCustomContext("kokkos_version", kokkos_version());
  benchmark::AddCustomContext("kokkos_backends", kokkos_backends());
  benchmark::AddCustomContext("kokkos_architecture", kokkos_architecture());
  benchmark::AddCustomContext("execution_space", Kokkos::DefaultExecutionSpace::name());
  benchmark::AddCustomContext("host_execution_space", Kokkos::DefaultHostExecutionSpace::name());
  benchmark::AddCustomContext("host_threads", std::to_string(Kokkos::DefaultHostExecutionSpace().concurrency()));
  auto const device = pssa::perf::device_name<Kokkos::DefaultExecutionSpace>();
  if (!device.empty()) benchmark::AddCustomContext("device", device);
}

}  // namespace

int main(int argc, char* argv[]) {
  benchmark::Initialize(&argc, argv);
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (!pssa::perf::register_benchmarks(argc, argv)) {
    benchmark::ReportUnrecognizedArguments(argc, argv);
    return 1;
  }
  describe();
  auto const run = benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();  // they may hold Views
  return run == 0 ? 1 : 0;                 // a filter that matches nothing is a mistake
}
