// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// bench_tile BATCH LENGTH CHANNELS STATE [float|double]: every compiled kernel that can run these sizes, whole and cut
// into chunks, beside the one that is chosen (kernel:0/chunks:0). The tables of src/tile.hpp come from it.
#include "measure.hpp"
#include "register.hpp"

#include <pssa/types.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

namespace pssa::perf {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

/// More than any list of kernels has.
constexpr int most_kernels = 64;
constexpr int most_chunks = 256;

template <class T>
class Bench : public std::enable_shared_from_this<Bench<T>> {
 public:
  explicit Bench(Shape const& shape) : m_shape(shape), m_problem(m_instance.exec(), shape, true) {}

  void add(Operation operation, ScanOptions const& options) {
    auto const name = name_of(operation) + std::string(m_cold ? "" : "_graph") +
                      "/kernel:" + std::to_string(options.kernel) + "/chunks:" + std::to_string(options.time_chunks);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [bench = this->shared_from_this(), operation, options](benchmark::State& state) {
                                   for (auto _ : state) bench->run(state, operation, options);
                                 })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }

  bool can_run(Operation operation, ScanOptions const& options) const {
    try {
      with_call(operation, m_instance.exec(), m_problem, options, [](auto const&) {});
    } catch (Error const&) {
      return false;
    }
    return true;
  }

 private:
  void run(benchmark::State& state, Operation operation, ScanOptions const& options) const {
    with_call(operation, m_instance.exec(), m_problem, options, [&](auto const& call) {
      auto const samples = m_cold ? single_calls(m_instance.exec(), call) : calls_in_a_graph(m_instance.exec(), call);
      double const median = samples[samples.size() / 2];
      state.SetIterationTime(median);
      state.counters["states_per_second"] = m_shape.states() / median;
    });
  }

  Shape m_shape;
  RecordableInstance<Space> m_instance;
  Problem<T, Space> m_problem;
  /// What a small call costs shows inside a graph only.
  bool m_cold = m_shape.states() > 5e7 || !RecordableInstance<Space>::removes_gaps;
};

template <class T>
void add_all(Shape const& shape) {
  auto const bench = std::make_shared<Bench<T>>(shape);
  for (auto const operation : operations) {
    bench->add(operation, {});
    for (int kernel = 1; kernel <= most_kernels; ++kernel) {
      if (!bench->can_run(operation, {.kernel = kernel, .time_chunks = 1})) continue;
      for (int chunks = 1; chunks <= most_chunks; chunks *= 2)
        if (bench->can_run(operation, {.kernel = kernel, .time_chunks = chunks}))
          bench->add(operation, {.kernel = kernel, .time_chunks = chunks});
    }
  }
}

}  // namespace

bool register_benchmarks(int argc, char** argv) {
  if (argc < 5 || argc > 6) return false;
  Shape const shape{std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])};
  std::string const type = argc == 6 ? argv[5] : "float";
  if (std::min({shape.batch, shape.length, shape.channels, shape.state}) < 1) return false;
  if (type == "float")
    add_all<float>(shape);
  else if (type == "double")
    add_all<double>(shape);
  else
    return false;
  return true;
}

}  // namespace pssa::perf
