// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/pssa.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace {

struct Sizes {
  int batch, length, channels, state;
};

template <class T, class Memory>
using V3 = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;
template <class T, class Memory>
using V2 = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
using Host = Kokkos::HostSpace;

/// The tensors of one scan, results NaN until written.
template <class T, class Memory>
struct Tensors {
  using S = pssa::state_type<T>;
  V3<T, Memory> x, delta, b, c, dy, y, dx, ddelta, db, dc;
  V3<S, Memory> h0, dhT, hT, dh0;
  V2<S, Memory> A, dA;

  explicit Tensors(Sizes const& n) {
    auto const token = [&](std::string const& name, int last) { return V3<T, Memory>(name, n.batch, n.length, last); };
    auto const state = [&](std::string const& name) { return V3<S, Memory>(name, n.batch, n.channels, n.state); };
    x = token("x", n.channels), delta = token("delta", n.channels), dy = token("dy", n.channels);
    y = token("y", n.channels), dx = token("dx", n.channels), ddelta = token("ddelta", n.channels);
    b = token("b", n.state), c = token("c", n.state), db = token("db", n.state), dc = token("dc", n.state);
    h0 = state("h0"), dhT = state("dhT"), hT = state("hT"), dh0 = state("dh0");
    A = V2<S, Memory>("A", n.channels, n.state), dA = V2<S, Memory>("dA", n.channels, n.state);
    T const nan = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
    S const state_nan = std::numeric_limits<S>::quiet_NaN();
    for (auto const& view : {y, dx, ddelta, db, dc}) Kokkos::deep_copy(view, nan);
    for (auto const& view : {hT, dh0}) Kokkos::deep_copy(view, state_nan);
    Kokkos::deep_copy(dA, state_nan);
  }

  pssa::ScanInputs<T, Memory> in() const { return {x, delta, b, c, A, h0}; }
  pssa::ScanOutputs<T, Memory> out() const { return {y, hT}; }
  pssa::ScanCotangents<T, Memory> cotangents() const { return {dy, dhT}; }
  pssa::ScanGradients<T, Memory> gradients() const { return {dx, ddelta, db, dc, dA, dh0}; }
};

template <class To, class From>
void copy_converted(To const& to, From const& from) {
  auto const mirror = Kokkos::create_mirror_view(to);
  for (std::size_t i = 0; i < from.size(); ++i)
    mirror.data()[i] = static_cast<typename To::value_type>(from.data()[i]);
  Kokkos::deep_copy(to, mirror);
}

/// Inputs rounded to T, so that the judge sees what the kernel sees; A is about -decay.
template <class T>
Tensors<double, Host> make_inputs(Sizes const& n, double decay) {
  Tensors<double, Host> t(n);
  std::mt19937_64 generator(11);
  std::normal_distribution<double> normal;
  auto const softplus = [](double v) { return std::log1p(std::exp(v)); };
  auto const fill = [&](auto const& view, auto const& value) {
    for (std::size_t i = 0; i < view.size(); ++i) view.data()[i] = value();
  };
  auto const rounded = [](double v) { return static_cast<double>(static_cast<T>(v)); };
  auto const rounded_state = [](double v) { return static_cast<double>(static_cast<pssa::state_type<T>>(v)); };
  for (auto const& view : {t.x, t.b, t.c, t.dy}) fill(view, [&] { return rounded(normal(generator)); });
  for (auto const& view : {t.h0, t.dhT}) fill(view, [&] { return rounded_state(normal(generator)); });
  fill(t.delta, [&] { return rounded(softplus(normal(generator))); });
  fill(t.A, [&] { return rounded_state(-decay * softplus(normal(generator))); });
  return t;
}

/// The largest error, relative to the largest value of the tensor.
template <class View, class Judge>
double error(View const& view, Judge const& judge) {
  auto const mirror = Kokkos::create_mirror_view(view);
  Kokkos::deep_copy(mirror, view);
  double largest = std::numeric_limits<double>::min(), worst = 0;
  for (std::size_t i = 0; i < judge.size(); ++i) {
    double const difference = std::abs(static_cast<double>(mirror.data()[i]) - judge.data()[i]);
    worst = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(worst, difference);
    largest = std::max(largest, std::abs(judge.data()[i]));
  }
  return worst / largest;
}

/// Unit roundoff of T.
template <class T>
double roundoff() {
  if (sizeof(T) == 8) return 1.2e-16;
  if (sizeof(T) == 4) return 6.0e-8;
  return static_cast<float>(static_cast<T>(1.f + 1.f / 512)) == 1.f ? 4e-3 : 5e-4;
}

template <class Space, class T>
void compare(Sizes const& n, int interval, double decay) {
  using Memory = typename Space::memory_space;
  auto const judge = make_inputs<T>(n, decay);
  pssa::scan_reference(judge.in(), judge.out());
  pssa::scan_reference_backward(judge.in(), judge.cotangents(), judge.gradients());
  Tensors<T, Memory> t(n);
  copy_converted(t.x, judge.x), copy_converted(t.delta, judge.delta), copy_converted(t.b, judge.b);
  copy_converted(t.c, judge.c), copy_converted(t.dy, judge.dy), copy_converted(t.h0, judge.h0);
  copy_converted(t.dhT, judge.dhT), copy_converted(t.A, judge.A);
  pssa::Tape<T, Memory> tape;
  Space const space;
  pssa::scan(space, t.in(), t.out(), tape, {interval, 0});
  pssa::scan_backward(space, t.in(), t.cotangents(), tape, t.gradients());
  space.fence();
  // Rounding errors of random sign grow with the square root of their number: over the tokens, and over the states or
  // channels that a result adds. The factor 2 and the 16 for single steps are allowances, not derived; the error is taken
  // against the whole tensor's largest value, so a small channel's own digits are not judged here.
  double const terms = 16 + 2 * std::sqrt(static_cast<double>(n.length)) +
                       2 * std::sqrt(static_cast<double>(std::max(n.state, n.channels)));
  double const bound = terms * (roundoff<pssa::state_type<T>>() + (sizeof(T) < 4 ? roundoff<T>() / 8 : 0));
  std::string const where = std::string(Space::name()) + " (" + std::to_string(n.batch) + ", " +
                            std::to_string(n.length) + ", " + std::to_string(n.channels) + ", " +
                            std::to_string(n.state) + ") interval " + std::to_string(interval) + " decay " +
                            std::to_string(decay) + " bytes " + std::to_string(sizeof(T));
  EXPECT_LE(error(t.y, judge.y), bound) << where;
  EXPECT_LE(error(t.hT, judge.hT), bound) << where;
  EXPECT_LE(error(t.dx, judge.dx), bound) << where;
  EXPECT_LE(error(t.ddelta, judge.ddelta), bound) << where;
  EXPECT_LE(error(t.db, judge.db), bound) << where;
  EXPECT_LE(error(t.dc, judge.dc), bound) << where;
  EXPECT_LE(error(t.dA, judge.dA), bound) << where;
  EXPECT_LE(error(t.dh0, judge.dh0), bound) << where;
}

template <class F>
void for_each_space(F const& f) {
#ifdef KOKKOS_ENABLE_SERIAL
  f(Kokkos::Serial{});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  f(Kokkos::OpenMP{});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  f(Kokkos::Cuda{});
#endif
}

template <class Space>
void compare_types(Sizes const& n, int interval, double decay) {
  compare<Space, float>(n, interval, decay);
  compare<Space, double>(n, interval, decay);
#if defined(KOKKOS_HALF_T_IS_FLOAT) && !KOKKOS_HALF_T_IS_FLOAT
  compare<Space, Kokkos::Experimental::half_t>(n, interval, decay);
  compare<Space, Kokkos::Experimental::bhalf_t>(n, interval, decay);
#endif
}

TEST(Scan, Sizes) {
  for_each_space([](auto space) {
    for (int const state : {1, 2, 3, 5, 16, 17, 24, 33, 64, 96, 100, 128, 129, 256, 257, 300, 512})
      compare_types<decltype(space)>({2, 19, 9, state}, 0, 1);
    for (int const channels : {1, 3, 15, 16, 17, 63, 65, 100, 257})
      compare_types<decltype(space)>({2, 21, channels, 16}, 0, 1);
    for (int const length : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000})
      compare_types<decltype(space)>({1, length, 5, 16}, 0, 1);
  });
}

TEST(Scan, Degenerate) {
  for_each_space([](auto space) {
    compare_types<decltype(space)>({2, 0, 5, 3}, 0, 1);
    compare_types<decltype(space)>({0, 4, 5, 3}, 0, 1);
    compare_types<decltype(space)>({2, 3, 0, 4}, 0, 1);
  });
}

TEST(Scan, Intervals) {
  for_each_space([](auto space) {
    for (int const interval : {1, 2, 3, 4, 5, 7, 8, 16, 20, 64, 1000})
      for (int const state : {5, 16, 300}) compare_types<decltype(space)>({2, 70, 7, state}, interval, 1);
  });
}

TEST(Scan, Decays) {
  for_each_space([](auto space) {
    for (double const decay : {1e-4, 1., 16.}) compare_types<decltype(space)>({2, 200, 33, 16}, 0, decay);
  });
}

/// Whether two contiguous Views hold the same bits.
template <class View>
bool same_bits(View const& a, View const& b) {
  auto const left = Kokkos::create_mirror_view(a);
  auto const right = Kokkos::create_mirror_view(b);
  Kokkos::deep_copy(left, a);
  Kokkos::deep_copy(right, b);
  return std::memcmp(left.data(), right.data(), left.size() * sizeof(typename View::value_type)) == 0;
}

template <class Space>
Tensors<float, typename Space::memory_space> device_inputs(Sizes const& n) {
  auto const host = make_inputs<float>(n, 1);
  Tensors<float, typename Space::memory_space> t(n);
  copy_converted(t.x, host.x), copy_converted(t.delta, host.delta), copy_converted(t.b, host.b);
  copy_converted(t.c, host.c), copy_converted(t.dy, host.dy), copy_converted(t.h0, host.h0);
  copy_converted(t.dhT, host.dhT), copy_converted(t.A, host.A);
  return t;
}

TEST(Scan, Reproducible) {
  for_each_space([](auto space) {
    using Space = decltype(space);
    Sizes const n{3, 100, 70, 16};
    auto const first = device_inputs<Space>(n);
    for (int run = 0; run < 20; ++run) {
      auto const t = run == 0 ? first : device_inputs<Space>(n);
      pssa::Tape<float, typename Space::memory_space> tape;
      pssa::scan(space, t.in(), t.out(), tape);
      pssa::scan_backward(space, t.in(), t.cotangents(), tape, t.gradients());
      space.fence();
      EXPECT_TRUE(same_bits(t.y, first.y) && same_bits(t.dx, first.dx) && same_bits(t.ddelta, first.ddelta) &&
                  same_bits(t.db, first.db) && same_bits(t.dc, first.dc) && same_bits(t.dA, first.dA) &&
                  same_bits(t.dh0, first.dh0));
    }
  });
}

TEST(Scan, CarriedInPlace) {
  for_each_space([](auto space) {
    using Space = decltype(space);
    using Memory = typename Space::memory_space;
    Sizes const n{2, 257, 20, 16};
    auto const whole = device_inputs<Space>(n);
    pssa::scan(space, whole.in(), whole.out());
    for (int const chunk : {1, 7, 64, 193}) {
      auto const t = device_inputs<Space>(n);
      for (int begin = 0; begin < n.length; begin += chunk) {
        auto const part = [&](auto const& view) {
          return Kokkos::subview(view, Kokkos::ALL, std::make_pair(begin, std::min(begin + chunk, n.length)),
                                 Kokkos::ALL);
        };
        pssa::ScanInputs<float, Memory> const in{part(t.x), part(t.delta), part(t.b), part(t.c), t.A, t.h0};
        pssa::scan(space, in, pssa::ScanOutputs<float, Memory>{part(t.y), t.h0});
      }
      space.fence();
      EXPECT_TRUE(same_bits(t.y, whole.y)) << chunk;
      EXPECT_TRUE(same_bits(t.h0, whole.hT)) << chunk;
    }
  });
}

}  // namespace
