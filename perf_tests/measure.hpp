// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include "problem.hpp"
#include "timer.hpp"

#include <pssa/scan.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

/// What the benchmarks of whole calls share.
namespace pssa::perf {

enum class Operation { forward, forward_tape, backward };

inline constexpr Operation operations[] = {Operation::forward, Operation::forward_tape, Operation::backward};

inline char const* name_of(Operation operation) {
  switch (operation) {
    case Operation::forward:
      return "scan_forward";
    case Operation::forward_tape:
      return "scan_forward_tape";
    default:
      return "scan_backward";
  }
}

/// Times of 15 runs, fewer when they take long; sorted.
template <class Sample>
std::vector<double> sorted_samples(Sample const& sample) {
  constexpr double enough_seconds = 0.3;
  std::vector<double> samples;
  for (double total = 0; samples.size() < 3 || (samples.size() < 15 && total < enough_seconds);) {
    samples.push_back(sample());
    total += samples.back();
  }
  std::sort(samples.begin(), samples.end());
  return samples;
}

/// Calls visit(call) with the operation as a function without arguments, after a first call that allocates. Options are
/// those of the operation; a forward pass before it makes its own choice.
template <class T, class ExecutionSpace, class Visitor>
void with_call(Operation operation, ExecutionSpace const& exec, Problem<T, ExecutionSpace> const& problem,
               ScanOptions const& options, Visitor const& visit) {
  auto const in = problem.inputs();
  auto const out = problem.outputs();
  Tape<T, typename ExecutionSpace::memory_space> tape;
  auto const warm = [&](auto const& call) {
    call();
    exec.fence();
    visit(call);
    exec.fence();
  };
  switch (operation) {
    case Operation::forward:
      return warm([&] { scan(exec, in, out, options); });
    case Operation::forward_tape:
      return warm([&] { scan(exec, in, out, tape, options); });
    case Operation::backward:
      scan(exec, in, out, tape);
      auto const cotangents = problem.cotangents();
      auto const gradients = problem.gradients();
      return warm([&] { scan_backward(exec, in, cotangents, tape, gradients, options); });
  }
}

/// Seconds of single calls on a cold device cache; sorted.
template <class ExecutionSpace, class Call>
std::vector<double> single_calls(ExecutionSpace const& exec, Call const& call) {
  ColdCache<ExecutionSpace> const cold(exec);
  Timer<ExecutionSpace> timer;
  auto const prepare = [&] { cold(exec); };
  return sorted_samples([&] { return timer.seconds(exec, prepare, call); });
}

/// Seconds a call of twenty in a row, without launch gaps and with what the cache keeps; sorted. exec is a
/// RecordableInstance's.
template <class ExecutionSpace, class Call>
std::vector<double> calls_in_a_graph(ExecutionSpace const& exec, Call const& call) {
  constexpr int copies = 20;
  Timer<ExecutionSpace> timer;
  Recording<ExecutionSpace, Call> const recording(exec, copies, call);
  auto const nothing = [] {};
  auto const replay = [&] { recording.replay(); };
  replay();
  return sorted_samples([&] { return timer.seconds(exec, nothing, replay) / copies; });
}

}  // namespace pssa::perf
