// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "exponential_packs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace pssa::tests {
namespace {

/// Those that this processor has.
std::vector<Exponentials const*> available() {
  std::vector<Exponentials const*> all{&exponentials_baseline};
#ifdef PSSA_HOST_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&exponentials_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    all.push_back(&exponentials_avx512);
#endif
  return all;
}

template <class S>
Exponential<S> const& of(Exponentials const& all) {
  if constexpr (sizeof(S) == 4)
    return all.of_float;
  else
    return all.of_double;
}

template <class S>
constexpr S least = sizeof(S) == 4 ? S(-126) : S(-1022);
/// What the library states, in units in the last place of the result.
template <class S>
constexpr double most_ulp = sizeof(S) == 4 ? 1.3 : 2.4;

/// Arguments over the whole range: every 211th float from the smallest, of either sign; doubles at random.
template <class S>
std::vector<S> arguments() {
  std::vector<S> result;
  if constexpr (sizeof(S) == 4) {
    for (std::uint32_t bits = 0; bits < std::bit_cast<std::uint32_t>(128.f); bits += 211)
      for (float const x : {std::bit_cast<float>(bits), -std::bit_cast<float>(bits)})
        if (x > least<float>) result.push_back(x);
  } else {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> wide(-1022, 1024), near(-2, 2);
    for (int i = 0; i < 2000000; ++i) {
      result.push_back(wide(random));
      result.push_back(near(random));
    }
  }
  while (result.size() % 16 != 0) result.push_back(S(0));
  return result;
}

template <class S>
void expect_accurate(Exponential<S> const& exponential) {
  using Wide = std::conditional_t<sizeof(S) == 4, double, long double>;
  auto const a = arguments<S>();
  std::vector<S> const one(a.size(), S(1));
  std::vector<S> result(a.size()), unbounded(a.size());
  exponential.bounded(a.data(), one.data(), result.data(), static_cast<int>(a.size()));
  exponential.unbounded(a.data(), one.data(), unbounded.data(), static_cast<int>(a.size()));
  double worst = 0;
  S at = 0;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    Wide const exact = std::exp2(static_cast<Wide>(a[i]));
    Wide const ulp = std::ldexp(Wide(1), std::ilogb(exact) - std::numeric_limits<S>::digits + 1);
    auto const error = static_cast<double>(std::fabs(static_cast<Wide>(result[i]) - exact) / ulp);
    if (!(error <= worst)) {
      worst = error;
      at = a[i];
    }
    different += std::fabs(a[i]) < -least<S> && result[i] != unbounded[i];
  }
  EXPECT_LE(worst, most_ulp<S>) << "at " << at;
  EXPECT_EQ(different, 0u) << "numbers differ without bounds";
}

template <class S>
void expect_bounds(Exponential<S> const& exponential) {
  S const infinity = std::numeric_limits<S>::infinity();
  S const nan = std::numeric_limits<S>::quiet_NaN();
  S const huge = std::numeric_limits<S>::max();
  struct {
    S x, expected;
  } const cases[] = {{least<S>, 0},
                     {2 * least<S>, 0},
                     {-huge, 0},
                     {-infinity, 0},
                     {2 - least<S>, infinity},
                     {huge, infinity},
                     {infinity, infinity},
                     {0, 1},
                     {-S(0), 1},
                     {1, 2},
                     {-1, S(0.5)},
                     {least<S> + 1, 2 * std::numeric_limits<S>::min()}};
  for (auto const& [x, expected] : cases) {
    std::vector<S> const a(16, x), one(16, S(1));
    std::vector<S> result(16, nan);
    exponential.bounded(a.data(), one.data(), result.data(), 16);
    for (S const value : result) EXPECT_EQ(value, expected) << "at " << x;
  }
  std::vector<S> const a(16, nan), one(16, S(1));
  std::vector<S> result(16, S(0));
  exponential.bounded(a.data(), one.data(), result.data(), 16);
  for (S const value : result) EXPECT_TRUE(std::isnan(value));
}

/// The same bits in every lane, whatever stands in the others.
template <class S>
void expect_equal_lanes(Exponential<S> const& exponential) {
  std::mt19937 random(2);
  std::uniform_real_distribution<S> wide(least<S> * S(1.1), -least<S> * S(1.1)), delta(0, S(2)), rate(-20, 0);
  int const width = exponential.width;
  for (int trial = 0; trial < 2000; ++trial) {
    S const a = trial % 2 ? wide(random) : delta(random);
    S const b = trial % 2 ? S(1) : rate(random);
    std::vector<S> as(static_cast<std::size_t>(width)), bs(as.size()), result(as.size()), first;
    for (std::size_t lane = 0; lane < as.size(); ++lane) {
      for (std::size_t i = 0; i < as.size(); ++i) {
        as[i] = i == lane ? a : wide(random);
        bs[i] = i == lane ? b : S(1);
      }
      exponential.bounded(as.data(), bs.data(), result.data(), width);
      first.push_back(result[lane]);
      ASSERT_EQ(result[lane], first[0]) << "lane " << lane << " at " << a << " * " << b;
    }
  }
}

template <class S>
void expect_right(char const* type) {
  for (auto const* isa : available()) {
    SCOPED_TRACE(std::string(isa->isa) + " " + type);
    expect_accurate(of<S>(*isa));
    expect_bounds(of<S>(*isa));
    expect_equal_lanes(of<S>(*isa));
  }
}

TEST(Exponential, of_float) { expect_right<float>("float"); }
TEST(Exponential, of_double) { expect_right<double>("double"); }

}  // namespace
}  // namespace pssa::tests
