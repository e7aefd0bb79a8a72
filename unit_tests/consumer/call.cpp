// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Every call of the front door; no_kernel.cmake looks into the object.
#include <pssa/scan.hpp>

template <class T>
void call(pssa::ScanInputs<T> const& in, pssa::ScanOutputs<T> const& out, pssa::Tape<T>& tape,
          pssa::ScanCotangents<T> const& cotangents, pssa::ScanGradients<T> const& gradients) {
  pssa::scan(in, out);
  pssa::scan(in, out, tape);
  pssa::scan_backward(in, cotangents, tape, gradients);
}

template void call<float>(pssa::ScanInputs<float> const&, pssa::ScanOutputs<float> const&, pssa::Tape<float>&,
                          pssa::ScanCotangents<float> const&, pssa::ScanGradients<float> const&);
template void call<double>(pssa::ScanInputs<double> const&, pssa::ScanOutputs<double> const&, pssa::Tape<double>&,
                           pssa::ScanCotangents<double> const&, pssa::ScanGradients<double> const&);
