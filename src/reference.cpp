// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <pssa/reference.hpp>

#include "elements.hpp"

#include <cmath>
#include <vector>

namespace pssa::impl {

template <class T>
void reference_forward(Sizes const& sizes, InputTensors<T> const& in, OutputTensors<T> const& out) {
  using S = state_type<T>;
  std::vector<S> h(static_cast<std::size_t>(sizes.state));
  for (std::int64_t i = 0; i < sizes.batch; ++i)
    for (std::int64_t d = 0; d < sizes.channels; ++d) {
      for (std::int64_t n = 0; n < sizes.state; ++n) h[static_cast<std::size_t>(n)] = in.h0 ? (*in.h0)(i, d, n) : S(0);
      for (std::int64_t t = 0; t < sizes.length; ++t) {
        S const delta = static_cast<S>(in.delta(i, t, d));
        S const x = static_cast<S>(in.x(i, t, d));
        S y = 0;
        for (std::int64_t n = 0; n < sizes.state; ++n) {
          S& state = h[static_cast<std::size_t>(n)];
          state = std::exp(delta * in.A(d, n)) * state + delta * static_cast<S>(in.b(i, t, n)) * x;
          y += state * static_cast<S>(in.c(i, t, n));
        }
        out.y(i, t, d) = static_cast<T>(y);
      }
      if (out.hT)
        for (std::int64_t n = 0; n < sizes.state; ++n) (*out.hT)(i, d, n) = h[static_cast<std::size_t>(n)];
    }
}

template <class T>
void reference_backward(Sizes const& sizes, InputTensors<T> const& in, CotangentTensors<T> const& cotangents,
                        GradientTensors<T> const& gradients) {
  using S = state_type<T>;
  auto const at = [&](std::int64_t row, std::int64_t n) { return static_cast<std::size_t>(row * sizes.state + n); };
  std::vector<S> h(at(sizes.length + 1, 0));
  std::vector<S> g(at(1, 0));
  std::vector<S> db(at(sizes.length, 0)), dc(db), dA(at(sizes.channels, 0));
  for (std::int64_t i = 0; i < sizes.batch; ++i) {
    db.assign(db.size(), S(0));
    dc.assign(dc.size(), S(0));
    for (std::int64_t d = 0; d < sizes.channels; ++d) {
      for (std::int64_t n = 0; n < sizes.state; ++n) {
        h[at(0, n)] = in.h0 ? (*in.h0)(i, d, n) : S(0);
        g[at(0, n)] = cotangents.dhT ? (*cotangents.dhT)(i, d, n) : S(0);
      }
      for (std::int64_t t = 0; t < sizes.length; ++t) {
        S const delta = static_cast<S>(in.delta(i, t, d));
        S const x = static_cast<S>(in.x(i, t, d));
        for (std::int64_t n = 0; n < sizes.state; ++n)
          h[at(t + 1, n)] = std::exp(delta * in.A(d, n)) * h[at(t, n)] + delta * static_cast<S>(in.b(i, t, n)) * x;
      }
      for (std::int64_t t = sizes.length - 1; t >= 0; --t) {
        S const delta = static_cast<S>(in.delta(i, t, d));
        S const x = static_cast<S>(in.x(i, t, d));
        S const dy = static_cast<S>(cotangents.dy(i, t, d));
        S dx = 0, ddelta = 0;
        for (std::int64_t n = 0; n < sizes.state; ++n) {
          S const a = std::exp(delta * in.A(d, n));
          S const b = static_cast<S>(in.b(i, t, n));
          S const gt = dy * static_cast<S>(in.c(i, t, n)) + g[at(0, n)];  // g here is a_{t+1} g_{t+1}, dhT at the end
          S const decayed = a * h[at(t, n)];
          dx += delta * gt * b;
          ddelta += gt * (in.A(d, n) * decayed + b * x);
          db[at(t, n)] += gt * delta * x;
          dc[at(t, n)] += dy * h[at(t + 1, n)];
          dA[at(d, n)] += gt * delta * decayed;
          g[at(0, n)] = a * gt;
        }
        if (gradients.dx) (*gradients.dx)(i, t, d) = static_cast<T>(dx);
        if (gradients.ddelta) (*gradients.ddelta)(i, t, d) = static_cast<T>(ddelta);
      }
      if (gradients.dh0)
        for (std::int64_t n = 0; n < sizes.state; ++n) (*gradients.dh0)(i, d, n) = g[at(0, n)];
    }
    for (std::int64_t t = 0; t < sizes.length; ++t)
      for (std::int64_t n = 0; n < sizes.state; ++n) {
        if (gradients.db) (*gradients.db)(i, t, n) = static_cast<T>(db[at(t, n)]);
        if (gradients.dc) (*gradients.dc)(i, t, n) = static_cast<T>(dc[at(t, n)]);
      }
  }
  if (gradients.dA)
    for (std::int64_t d = 0; d < sizes.channels; ++d)
      for (std::int64_t n = 0; n < sizes.state; ++n) (*gradients.dA)(d, n) = dA[at(d, n)];
}

#define PSSA_INSTANTIATE(T)                                                                                         \
  template PSSA_EXPORT void reference_forward<T>(Sizes const&, InputTensors<T> const&, OutputTensors<T> const&);    \
  template PSSA_EXPORT void reference_backward<T>(Sizes const&, InputTensors<T> const&, CotangentTensors<T> const&, \
                                                  GradientTensors<T> const&);
PSSA_FOR_EACH_ELEMENT(PSSA_INSTANTIATE)

}  // namespace pssa::impl
