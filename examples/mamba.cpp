// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// What Mamba's selective_scan_fn does besides the scan, forward and backward, on tensors in its order (batch, channels,
// length): softplus of the step sizes with a bias, the skip D u, the gate silu(z). A difference of the loss along a
// random direction checks the gradients.
#include <pssa/scan.hpp>

#include <cmath>
#include <cstdio>
#include <string>

using T = double;
using Memory = Kokkos::View<T***, Kokkos::LayoutRight>;   // (batch, channels, length)
using Tokens = Kokkos::View<T***, Kokkos::LayoutStride>;  // the same seen as (batch, length, channels)
using Vector = Kokkos::View<T*>;                          // (channels)
using Rates = Kokkos::View<T**, Kokkos::LayoutRight>;
using Range = Kokkos::MDRangePolicy<Kokkos::Rank<3>>;

constexpr int batch = 2, length = 12, channels = 5, state = 4;

//! [seen]
Tokens tokens(Memory const& m) {
  return Tokens(m.data(), Kokkos::LayoutStride(m.extent(0), m.stride(0), m.extent(2), m.stride(2), m.extent(1),
                                               m.stride(1)));
}
//! [seen]

/// A tensor of the block and its gradient.
template <class ViewType>
struct Pair {
  ViewType value, gradient;
};

Pair<Memory> tensor(std::string const& label, int columns) {
  return {Memory(label, batch, columns, length), Memory(label, batch, columns, length)};
}
Pair<Vector> vector(std::string const& label) { return {Vector(label, channels), Vector(label, channels)}; }

/// The arguments of selective_scan_fn, by its names, and what lies between them.
struct Block {
  Pair<Memory> u = tensor("u", channels), delta = tensor("delta", channels), z = tensor("z", channels);
  Pair<Memory> B = tensor("B", state), C = tensor("C", state);
  Pair<Rates> A{Rates("A", channels, state), Rates("dA", channels, state)};
  Pair<Vector> D = vector("D"), delta_bias = vector("delta_bias");
  Pair<Memory> out = tensor("out", channels);
  Pair<Memory> step = tensor("step", channels), y = tensor("y", channels);
  pssa::Tape<T> tape{};

  pssa::ScanInputs<T> inputs() const {
    return {.x = tokens(u.value), .delta = tokens(step.value), .b = tokens(B.value), .c = tokens(C.value), .A = A.value};
  }
};

KOKKOS_INLINE_FUNCTION T sigmoid(T value) { return 1 / (1 + Kokkos::exp(-value)); }
KOKKOS_INLINE_FUNCTION T softplus(T value) {
  return Kokkos::fmax(value, T(0)) + Kokkos::log1p(Kokkos::exp(-Kokkos::abs(value)));
}

//! [forward]
/// out = (scan(u, softplus(delta + delta_bias), A, B, C) + D u) silu(z)
void forward(Block& block) {
  Memory const u = block.u.value, raw = block.delta.value, z = block.z.value;
  Memory const step = block.step.value, y = block.y.value, out = block.out.value;
  Vector const D = block.D.value, bias = block.delta_bias.value;
  Range const all({0, 0, 0}, {batch, channels, length});
  Kokkos::parallel_for(
      "softplus", all, KOKKOS_LAMBDA(int i, int d, int t) { step(i, d, t) = softplus(raw(i, d, t) + bias(d)); });
  pssa::scan(block.inputs(), pssa::ScanOutputs<T>{.y = tokens(y)}, block.tape);
  Kokkos::parallel_for(
      "gate", all, KOKKOS_LAMBDA(int i, int d, int t) {
        out(i, d, t) = (y(i, d, t) + D(d) * u(i, d, t)) * z(i, d, t) * sigmoid(z(i, d, t));
      });
}
//! [forward]

//! [backward]
/// All gradients from that of out.
void backward(Block& block) {
  Memory const u = block.u.value, raw = block.delta.value, z = block.z.value, y = block.y.value;
  Memory const dout = block.out.gradient, dy = block.y.gradient, dz = block.z.gradient;
  Memory const du = block.u.gradient, dstep = block.step.gradient, draw = block.delta.gradient;
  Vector const D = block.D.value, bias = block.delta_bias.value;
  Vector const dD = block.D.gradient, dbias = block.delta_bias.gradient;
  Range const all({0, 0, 0}, {batch, channels, length});
  Kokkos::parallel_for(
      "gate backward", all, KOKKOS_LAMBDA(int i, int d, int t) {
        T const s = sigmoid(z(i, d, t)), slope = s * (1 + z(i, d, t) * (1 - s));
        dy(i, d, t) = dout(i, d, t) * z(i, d, t) * s;
        dz(i, d, t) = dout(i, d, t) * (y(i, d, t) + D(d) * u(i, d, t)) * slope;
      });
  pssa::scan_backward(block.inputs(), pssa::ScanCotangents<T>{.dy = tokens(dy)}, block.tape,
                      pssa::ScanGradients<T>{.dx = tokens(du),
                                             .ddelta = tokens(dstep),
                                             .db = tokens(block.B.gradient),
                                             .dc = tokens(block.C.gradient),
                                             .dA = block.A.gradient});
  // One thread a channel adds dD and the bias' gradient in a fixed order.
  Kokkos::parallel_for(
      "skip and softplus backward", channels, KOKKOS_LAMBDA(int d) {
        T sum_D = 0, sum_bias = 0;
        for (int i = 0; i < batch; ++i)
          for (int t = 0; t < length; ++t) {
            du(i, d, t) += D(d) * dy(i, d, t);
            sum_D += dy(i, d, t) * u(i, d, t);
            draw(i, d, t) = dstep(i, d, t) * sigmoid(raw(i, d, t) + bias(d));
            sum_bias += draw(i, d, t);
          }
        dD(d) = sum_D;
        dbias(d) = sum_bias;
      });
}
//! [backward]

/// The i-th of some numbers in [-1, 1).
T noise(unsigned seed, std::size_t i) {
  auto bits = seed * 2654435761u + static_cast<unsigned>(i) * 1664525u + 1013904223u;
  bits = (bits ^ bits >> 15) * 2246822519u;
  bits = (bits ^ bits >> 13) * 3266489917u;
  return static_cast<T>(bits >> 8) / 8388608 - 1;
}

/// Adds scale times some numbers.
template <class ViewType>
void move(ViewType const& view, unsigned seed, T scale) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  for (std::size_t i = 0; i < host.size(); ++i) host.data()[i] += scale * noise(seed, i);
  Kokkos::deep_copy(view, host);
}

/// The sum of view times the same numbers.
template <class ViewType>
T along(ViewType const& view, unsigned seed) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  T sum = 0;
  for (std::size_t i = 0; i < host.size(); ++i) sum += host.data()[i] * noise(seed, i);
  return sum;
}

/// Compares a gradient with the difference of the loss when its tensor moves.
template <class ViewType>
bool check(char const* name, Block& block, Pair<ViewType> const& tensor) {
  constexpr T r = 1e-5;  // leaves an error of about r^2 of the third derivative, and of rounding / r
  constexpr unsigned direction = 100, loss = 200;
  T side[2];
  for (int const k : {0, 1}) {
    move(tensor.value, direction, k == 0 ? -r : 2 * r);
    forward(block);
    side[k] = along(block.out.value, loss);
  }
  move(tensor.value, direction, -r);
  T const difference = (side[1] - side[0]) / (2 * r), gradient = along(tensor.gradient, direction);
  bool const right = std::abs(difference - gradient) < 1e-7 * std::abs(gradient);
  std::printf("%-10s %9.5f %s\n", name, gradient, right ? "as by differences" : "but not by differences");
  return right;
}

int run() {
  Block block;
  unsigned seed = 0;
  for (auto const& value : {block.u.value, block.delta.value, block.z.value, block.B.value, block.C.value})
    move(value, ++seed, 1);
  move(block.D.value, ++seed, 1);
  move(block.delta_bias.value, ++seed, 1);
  Kokkos::deep_copy(block.A.value, -1.0);
  move(block.A.value, ++seed, 0.5);

  forward(block);
  move(block.out.gradient, 200, 1);  // loss = the sum of out times these numbers
  backward(block);

  std::printf("gradient along a random direction\n");
  bool right = check("u", block, block.u);
  right = check("delta", block, block.delta) && right;
  right = check("A", block, block.A) && right;
  right = check("B", block, block.B) && right;
  right = check("C", block, block.C) && right;
  right = check("D", block, block.D) && right;
  right = check("z", block, block.z) && right;
  right = check("delta_bias", block, block.delta_bias) && right;
  return right ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  return run();
}
