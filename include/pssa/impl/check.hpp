// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/call.hpp>
#include <pssa/impl/export.hpp>

#include <cstdint>
#include <vector>

/// Every precondition and every error text of the library. Each function throws Error with one sentence, or returns.
namespace pssa::impl::check {

/// Checks shapes, memory and overlap of a forward call; returns its sizes.
template <class T>
PSSA_EXPORT Sizes forward(char const* call, InputTensors<T> const& in, OutputTensors<T> const& out);

/// Checks shapes, memory and overlap of a backward call; returns its sizes. in.h0 is checked, the tape's is used.
template <class T>
PSSA_EXPORT Sizes backward(char const* call, InputTensors<T> const& in, CotangentTensors<T> const& cotangents,
                           GradientTensors<T> const& gradients);

/// Checks options.checkpoint_interval of a forward call.
PSSA_EXPORT void checkpoint_interval(char const* call, ScanOptions const& options, bool with_tape);

/// Checks that the tape was filled by a forward pass of these sizes, and options.checkpoint_interval against it.
PSSA_EXPORT void tape(char const* call, Sizes const& sizes, Sizes const& recorded, int recorded_interval,
                      ScanOptions const& options);

/// Checks that a tape keeps every state.
PSSA_EXPORT void every_state(char const* call, int recorded_interval);

/// Checks the scratch memory of a team, in bytes, that a state and a checkpoint interval (0: no tape) ask for.
void scratch(char const* call, std::int64_t state, std::int64_t interval, std::int64_t needed, std::int64_t available);

/// Checks options.time_chunks.
PSSA_EXPORT void time_chunks(char const* call, ScanOptions const& options);

/// A compiled kernel, as options.kernel names it.
struct Kernel {
  int number;
  char const* kind;  ///< tile or relay
  int channels;      ///< that a team owns
};

/// Checks options.kernel against the kernels that can run a call.
void kernel(char const* call, ScanOptions const& options, std::vector<Kernel> const& able);

}  // namespace pssa::impl::check
