// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/impl/check.hpp>
#include <pssa/impl/export.hpp>
#include <pssa/types.hpp>

namespace pssa {

namespace impl {

template <class T>
PSSA_EXPORT void reference_forward(Sizes const& sizes, InputTensors<T> const& in, OutputTensors<T> const& out);

template <class T>
PSSA_EXPORT void reference_backward(Sizes const& sizes, InputTensors<T> const& in,
                                    CotangentTensors<T> const& cotangents, GradientTensors<T> const& gradients);

template <class T, class MemorySpace>
constexpr void require_reference() {
  static_assert(is_element_type_v<T>,
                "pssa: the element type must be float, double, Kokkos::Experimental::half_t or bhalf_t");
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible,
                "pssa: the reference runs on the host, so its Views must be accessible from there");
}

}  // namespace impl

/// The scan as its definition reads: one sequential loop on the host, in state_type<T>. With T = double it is the judge
/// of every other implementation. Same arguments, formulas and errors as scan; blocks until done; deterministic.
template <class T, class MemorySpace>
void scan_reference(ScanInputs<T, MemorySpace> const& in, ScanOutputs<T, MemorySpace> const& out) {
  impl::require_reference<T, MemorySpace>();
  auto const inputs = impl::tensors(in);
  auto const outputs = impl::tensors(out);
  impl::reference_forward<T>(impl::check::forward("pssa::scan_reference", inputs, outputs), inputs, outputs);
}

/// The gradients as scan_backward's formulas read; needs no tape and reads in.h0. Holds (length + 1) * state states of
/// one channel at a time. Blocks until done; deterministic.
template <class T, class MemorySpace>
void scan_reference_backward(ScanInputs<T, MemorySpace> const& in, ScanCotangents<T, MemorySpace> const& cotangents,
                             ScanGradients<T, MemorySpace> const& gradients) {
  impl::require_reference<T, MemorySpace>();
  auto const inputs = impl::tensors(in);
  auto const incoming = impl::tensors(cotangents);
  auto const outgoing = impl::tensors(gradients);
  auto const sizes = impl::check::backward("pssa::scan_reference_backward", inputs, incoming, outgoing);
  impl::reference_backward<T>(sizes, inputs, incoming, outgoing);
}

}  // namespace pssa
