// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "measure.hpp"
#include "register.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#ifdef PSSA_PERF_CUDA_TWIN
#include "cuda_twin.hpp"
#endif

namespace pssa::perf {
namespace {

/// Memory traffic with every input read once and every output written once; the tape does not count.
template <class T>
double bytes_of(Operation operation, Shape const& shape) {
  auto const channels = static_cast<double>(shape.channels);
  auto const state = static_cast<double>(shape.state);
  double const wide = shape.tokens() * channels;
  double const narrow = shape.tokens() * state;
  double const ends = static_cast<double>(shape.batch) * channels * state;
  double const rates = channels * state;
  bool const back = operation == Operation::backward;
  double const elements = back ? 5 * wide + 4 * narrow : 3 * wide + 2 * narrow;
  double const sums = back ? 2 * ends + 2 * rates : 2 * ends + rates;
  return elements * sizeof(T) + sums * sizeof(state_type<T>);
}

/// The least time that an H200 can take, from its measured ceilings: 4.27 TB/s, and 4.16e12 float exponentials a second
/// of which each state of each token needs one.
template <class T>
double h200_bound(Operation operation, Shape const& shape) {
  return std::max(bytes_of<T>(operation, shape) / 4.27e12, shape.states() / 4.16e12);
}

template <class T, class ExecutionSpace>
void report(benchmark::State& state, Operation operation, Shape const& shape, std::vector<double> const& samples) {
  double const median = samples[samples.size() / 2];
  state.SetIterationTime(median);
  state.counters["states_per_second"] = shape.states() / median;
  state.counters["bytes_per_second"] = bytes_of<T>(operation, shape) / median;
  state.counters["runs"] = static_cast<double>(samples.size());
  state.counters["fastest_seconds"] = samples.front();
  state.counters["slowest_seconds"] = samples.back();
  // Sums in double need exponentials in double, for which this ceiling does not hold.
  if (std::is_same_v<state_type<T>, float> && device_name<ExecutionSpace>().find("H200") != std::string::npos)
    state.counters["bound_ratio"] = median / h200_bound<T>(operation, shape);
}

template <class T, class ExecutionSpace>
void single(benchmark::State& state, Operation operation, Shape const& shape) {
  ExecutionSpace const exec;
  Problem<T, ExecutionSpace> const problem(exec, shape, operation == Operation::backward);
  with_call(operation, exec, problem, {},
            [&](auto const& call) { report<T, ExecutionSpace>(state, operation, shape, single_calls(exec, call)); });
}

template <class T, class ExecutionSpace>
void graph(benchmark::State& state, Operation operation, Shape const& shape) {
  RecordableInstance<ExecutionSpace> const instance;
  auto const& exec = instance.exec();
  Problem<T, ExecutionSpace> const problem(exec, shape, operation == Operation::backward);
  with_call(operation, exec, problem, {}, [&](auto const& call) {
    report<T, ExecutionSpace>(state, operation, shape, calls_in_a_graph(exec, call));
  });
}

#ifdef PSSA_PERF_CUDA_TWIN
/// The plain CUDA twin, on the same terms as single().
void twin(benchmark::State& state, Operation operation, Shape const& shape) {
  Kokkos::Cuda const exec;
  Problem<float, Kokkos::Cuda> const problem(exec, shape, false);
  auto const call = [&] { cuda_twin(exec, problem.inputs(), problem.outputs()); };
  call();
  report<float, Kokkos::Cuda>(state, operation, shape, single_calls(exec, call));
}
#endif

using Body = void (*)(benchmark::State&, Operation, Shape const&);

void add(std::string const& name, Body body, Operation operation, std::vector<Shape> const& shapes) {
  auto* const family = benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    Shape const shape{state.range(0), state.range(1), state.range(2), state.range(3)};
    for (auto _ : state) {
      try {
        body(state, operation, shape);
      } catch (std::runtime_error const& error) {  // most likely the memory does not suffice
        return state.SkipWithError(error.what());
      }
    }
  });
  family->ArgNames({"batch", "length", "channels", "state"})->UseManualTime()->Iterations(1);
  family->Unit(benchmark::kMicrosecond);
  for (auto const& shape : shapes) family->Args({shape.batch, shape.length, shape.channels, shape.state});
}

/// The case that ctest runs.
constexpr Shape smoke{2, 20, 24, 16};

std::vector<Shape> device_shapes() {
  return {smoke,
          {8, 2048, 2048, 16},
          {8, 2048, 5120, 16},
          {64, 512, 768, 16},
          {1, 2048, 1536, 16},
          {1, 65536, 1536, 16},
          {8, 2048, 2048, 64},
          {2, 4096, 4096, 128},
          {256, 1, 5120, 16},
          {1, 64, 256, 16},
          {1, 512, 256, 16},
          {8, 512, 256, 16},
          {1, 4096, 256, 16}};
}

std::vector<Shape> graph_shapes() {
  return {smoke, {256, 1, 5120, 16}, {1, 64, 256, 16}, {1, 512, 256, 16}, {8, 512, 256, 16}, {1, 4096, 256, 16}};
}

std::vector<Shape> host_shapes() {
  return {smoke, {1, 64, 256, 16}, {1, 512, 256, 16}, {1, 8192, 32, 16}, {1, 2048, 1536, 16}, {1, 2048, 1536, 64}};
}

template <class T>
void add_type(std::string const& type) {
  using Device = Kokkos::DefaultExecutionSpace;
  using Host = Kokkos::DefaultHostExecutionSpace;
  for (auto const operation : operations) {
    std::string const name = name_of(operation);
    add(name + "<" + type + ">", single<T, Device>, operation,
        std::is_same_v<Device, Host> ? host_shapes() : device_shapes());
    if constexpr (RecordableInstance<Device>::removes_gaps)
      add(name + "_graph<" + type + ">", graph<T, Device>, operation, graph_shapes());
    if constexpr (!std::is_same_v<Device, Host>)
      add(name + "<" + type + "," + Host::name() + ">", single<T, Host>, operation, host_shapes());
  }
}

}  // namespace

bool register_benchmarks(int argc, char**) {
  add_type<float>("float");
  add_type<double>("double");
  // Where no device backend defines them these are other names of float.
  if constexpr (!std::is_same_v<Kokkos::Experimental::half_t, float>) add_type<Kokkos::Experimental::half_t>("half_t");
  if constexpr (!std::is_same_v<Kokkos::Experimental::bhalf_t, float>)
    add_type<Kokkos::Experimental::bhalf_t>("bhalf_t");
#ifdef PSSA_PERF_CUDA_TWIN
  add("scan_forward_cuda_twin<float>", twin, Operation::forward,
      {{8, 2048, 2048, 16}, {8, 2048, 5120, 16}, {64, 512, 768, 16}});
#endif
  return argc == 1;
}

}  // namespace pssa::perf
