// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// Views as they are: columns of a wider buffer, transposed memory, the other layout, one row for all channels.
#include <pssa/scan.hpp>

#include <cstdio>
#include <cstring>

using Packed2 = Kokkos::View<float**, Kokkos::LayoutRight>;
using Packed3 = Kokkos::View<float***, Kokkos::LayoutRight>;

constexpr int batch = 2, length = 50, channels = 24, state = 16;

/// Some numbers between low and high, other ones for another seed.
template <class ViewType>
void fill(ViewType const& view, unsigned seed, float low, float high) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < host.span(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    host.data()[i] = low + (high - low) * static_cast<float>(seed >> 8) / 16777216;
  }
  Kokkos::deep_copy(view, host);
}

/// A packed copy of any View of the same shape.
template <class PackedView, class ViewType>
PackedView packed(ViewType const& view) {
  PackedView copy("packed", view.extent(0), view.extent(1), view.extent(2));
  using Range = Kokkos::MDRangePolicy<Kokkos::Rank<3>>;
  Kokkos::parallel_for(
      "pack", Range({0, 0, 0}, {view.extent(0), view.extent(1), view.extent(2)}),
      KOKKOS_LAMBDA(int i, int j, int k) { copy(i, j, k) = view(i, j, k); });
  return copy;
}

bool same_bits(Packed3 const& a, Packed3 const& b) {
  auto const left = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
  auto const right = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, b);
  return std::memcmp(left.data(), right.data(), left.span() * sizeof(float)) == 0;
}

int run() {
  //! [columns]
  // One matrix product often makes x, delta, b and c side by side: (batch, length, x | delta | b | c).
  Packed3 const projected("projected", batch, length, 2 * channels + 2 * state);
  fill(projected, 1, 0.f, 1.f);
  auto const columns = [&](int first, int count) {
    return Kokkos::subview(projected, Kokkos::ALL, Kokkos::ALL, Kokkos::make_pair(first, first + count));
  };
  auto const x = columns(0, channels);
  auto const delta = columns(channels, channels);
  auto const b = columns(2 * channels, state);
  auto const c = columns(2 * channels + state, state);
  //! [columns]

  //! [broadcast]
  // One row of A for all channels: a stride of zero. Inputs may share elements, outputs may not.
  Kokkos::View<float*> const row("row", state);
  fill(row, 2, -1.f, -0.1f);
  Kokkos::View<float const**, Kokkos::LayoutStride> const A(row.data(), Kokkos::LayoutStride(channels, 0, state, 1));
  //! [broadcast]

  //! [transposed]
  // y in memory ordered (batch, channels, length), as a convolution wants it, seen as (batch, length, channels).
  Packed3 const memory("memory", batch, channels, length);
  Kokkos::View<float***, Kokkos::LayoutStride> const y(
      memory.data(), Kokkos::LayoutStride(batch, channels * length, length, 1, channels, length));
  //! [transposed]

  //! [layout]
  // hT of the layout that Fortran and GPUs like.
  Kokkos::View<float***, Kokkos::LayoutLeft> const hT("hT", batch, channels, state);
  //! [layout]

  pssa::scan(pssa::ScanInputs<float>{.x = x, .delta = delta, .b = b, .c = c, .A = A},
             pssa::ScanOutputs<float>{.y = y, .hT = hT});

  // The same numbers, copied tight.
  Packed2 const packed_A("packed A", channels, state);
  Kokkos::parallel_for(
      "expand", Kokkos::MDRangePolicy<Kokkos::Rank<2>>({0, 0}, {channels, state}),
      KOKKOS_LAMBDA(int d, int n) { packed_A(d, n) = row(n); });
  Packed3 const packed_y("packed y", batch, length, channels), packed_hT("packed hT", batch, channels, state);
  pssa::scan(pssa::ScanInputs<float>{.x = packed<Packed3>(x),
                                     .delta = packed<Packed3>(delta),
                                     .b = packed<Packed3>(b),
                                     .c = packed<Packed3>(c),
                                     .A = packed_A},
             pssa::ScanOutputs<float>{.y = packed_y, .hT = packed_hT});

  bool const same_y = same_bits(packed<Packed3>(y), packed_y);
  bool const same_hT = same_bits(packed<Packed3>(hT), packed_hT);
  std::printf("y  in transposed memory: %s as packed\n", same_y ? "the same bits" : "other bits");
  std::printf("hT in LayoutLeft:        %s as packed\n", same_hT ? "the same bits" : "other bits");
  return same_y && same_hT ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}
