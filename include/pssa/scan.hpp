// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/check.hpp>
#include <pssa/impl/dispatch.hpp>
#include <pssa/tape.hpp>
#include <pssa/types.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace pssa {

namespace impl {

/// Holds what every call asks of its template arguments, each with a sentence.
template <class ExecutionSpace, class T, class MemorySpace>
constexpr void require_compiled() {
  static_assert(is_element_type_v<T>,
                "pssa: the element type must be float, double, Kokkos::Experimental::half_t or bhalf_t");
  static_assert(is_compiled_v<ExecutionSpace>,
                "pssa: the execution space must be one of the backends that this Kokkos has enabled");
  static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, MemorySpace>::accessible,
                "pssa: the Views' memory space must be accessible from the execution space");
}

/// The tape's memory is allocated by the library in the execution space's own memory space.
template <class ExecutionSpace, class MemorySpace>
constexpr void require_tape_space() {
  static_assert(std::is_same_v<MemorySpace, typename ExecutionSpace::memory_space>,
                "pssa: the Tape's memory space must be the execution space's own");
}

}  // namespace impl

/// The selective diagonal state-space scan, for inference:
///
///     h_t = exp(delta_t A) h_{t-1} + delta_t b_t x_t,    y_t = sum over the state of h_t c_t,    hT = h at the end.
///
/// Shapes and defaults: see ScanInputs, ScanOutputs, ScanOptions. Any strides, any sizes; half and bfloat16 are
/// computed and summed in float. delta_t b_t x_t and the decay follow Gu and Dao, "Mamba: Linear-Time Sequence Modeling
/// with Selective State Spaces", 2023, equations 2 to 4, with their simplified (Euler) discretisation of b.
///
/// Asynchronous: one kernel on the instance exec, or three where the length is cut into chunks (ScanOptions::time_chunks),
/// which keep their ends in y until it is written; no fence, no allocation (a state beyond the largest compiled tile
/// uses Kokkos' level-1 scratch, which Kokkos keeps). Deterministic: the same bits from run to run.
/// Kokkos Tools see the call as the region pssa::scan, that of scan_backward as pssa::scan_backward.
/// Cost in bytes: every input read once a tile, b and c once for every tile of channels; every output written once.
/// Throws Error, before anything is launched or written, for shapes that do not fit, outputs that overlap another
/// argument (hT may be the very View given as h0), options out of range, and a state or checkpoint interval that needs
/// more level-1 scratch than a team can have.
template <class ExecutionSpace, class T, class MemorySpace>
void scan(ExecutionSpace const& exec, ScanInputs<T, MemorySpace> const& in, ScanOutputs<T, MemorySpace> const& out,
          ScanOptions const& options = {}) {
  impl::require_compiled<ExecutionSpace, T, MemorySpace>();
  Kokkos::Profiling::ScopedRegion const region("pssa::scan");
  auto const inputs = impl::tensors(in);
  auto const outputs = impl::tensors(out);
  auto const sizes = impl::check::forward("pssa::scan", inputs, outputs);
  impl::check::checkpoint_interval("pssa::scan", options, false);
  impl::check::time_chunks("pssa::scan", options);
  impl::forward<ExecutionSpace, T>(exec, "pssa::scan", sizes, inputs, outputs, nullptr, options);
}

/// The same on the default instance of the memory space's execution space.
template <class T, class MemorySpace>
void scan(ScanInputs<T, MemorySpace> const& in, ScanOutputs<T, MemorySpace> const& out,
          ScanOptions const& options = {}) {
  scan(typename MemorySpace::execution_space{}, in, out, options);
}

/// The scan for training: as above, and leaves in tape what scan_backward needs. Allocates when the tape has to grow.
/// Cost in bytes: as above, and the tape's states written once.
template <class ExecutionSpace, class T, class MemorySpace>
void scan(ExecutionSpace const& exec, ScanInputs<T, MemorySpace> const& in, ScanOutputs<T, MemorySpace> const& out,
          Tape<T, MemorySpace>& tape, ScanOptions const& options = {}) {
  impl::require_compiled<ExecutionSpace, T, MemorySpace>();
  impl::require_tape_space<ExecutionSpace, MemorySpace>();
  Kokkos::Profiling::ScopedRegion const region("pssa::scan");
  auto const inputs = impl::tensors(in);
  auto const outputs = impl::tensors(out);
  auto const sizes = impl::check::forward("pssa::scan", inputs, outputs);
  impl::check::checkpoint_interval("pssa::scan", options, true);
  impl::check::time_chunks("pssa::scan", options);
  impl::forward<ExecutionSpace, T>(exec, "pssa::scan", sizes, inputs, outputs, &tape.storage(), options);
}

/// The same on the default instance of the memory space's execution space.
template <class T, class MemorySpace>
void scan(ScanInputs<T, MemorySpace> const& in, ScanOutputs<T, MemorySpace> const& out, Tape<T, MemorySpace>& tape,
          ScanOptions const& options = {}) {
  scan(typename MemorySpace::execution_space{}, in, out, tape, options);
}

/// The gradients of the scan. With g_t = dL/dh_t and a_t = exp(delta_t A):
///
///     g_T = dhT + dy_T c_T,    g_t = dy_t c_t + a_{t+1} g_{t+1},    dh0 = a_1 g_1,
///     dx_t = delta_t sum_n g_t b_t,    ddelta_t = sum_n g_t (A a_t h_{t-1} + b_t x_t),    db_t = sum_d g_t delta_t x_t,
///     dc_t = sum_d dy_t h_t,    dA = sum over batch and time of g_t delta_t a_t h_{t-1}.
///
/// in: the inputs of the forward pass that filled tape, with the values they had. The tape has kept h0, so in.h0 is not
/// read, and hT may have replaced it. Gradients that are absent are not computed. dh0 may be the very View given as dhT.
///
/// Asynchronous: one kernel for the sweep, two before it where the length is cut into chunks and, for db, dc and dA, one
/// that adds their parts in a fixed order; no fence.
/// Allocates when the tape has to grow, and where the tape's states stand further apart than a block of the kernel, uses
/// level-1 scratch. Deterministic: no atomics, the same bits from run to run.
/// Cost in bytes: inputs, dy and the tape's states read once, gradients written once, the parts written and read once.
/// Throws Error, before anything is launched or written, for shapes that do not fit, gradients that overlap another
/// argument, and a tape that no forward pass of these sizes has filled.
template <class ExecutionSpace, class T, class MemorySpace>
void scan_backward(ExecutionSpace const& exec, ScanInputs<T, MemorySpace> const& in,
                   ScanCotangents<T, MemorySpace> const& cotangents, Tape<T, MemorySpace>& tape,
                   ScanGradients<T, MemorySpace> const& gradients, ScanOptions const& options = {}) {
  impl::require_compiled<ExecutionSpace, T, MemorySpace>();
  impl::require_tape_space<ExecutionSpace, MemorySpace>();
  Kokkos::Profiling::ScopedRegion const region("pssa::scan_backward");
  auto const inputs = impl::tensors(in);
  auto const incoming = impl::tensors(cotangents);
  auto const outgoing = impl::tensors(gradients);
  auto& storage = tape.storage();
  auto const sizes = impl::check::backward("pssa::scan_backward", inputs, incoming, outgoing);
  impl::check::time_chunks("pssa::scan_backward", options);
  impl::check::tape("pssa::scan_backward", sizes, storage.sizes, storage.interval, options);
  impl::backward<ExecutionSpace, T>(exec, "pssa::scan_backward", sizes, inputs, incoming, outgoing, storage, options);
}

/// The same on the default instance of the memory space's execution space.
template <class T, class MemorySpace>
void scan_backward(ScanInputs<T, MemorySpace> const& in, ScanCotangents<T, MemorySpace> const& cotangents,
                   Tape<T, MemorySpace>& tape, ScanGradients<T, MemorySpace> const& gradients,
                   ScanOptions const& options = {}) {
  scan_backward(typename MemorySpace::execution_space{}, in, cotangents, tape, gradients, options);
}

}  // namespace pssa
