// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <pssa/types.hpp>

#include "backends.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>

namespace pssa::tools {

template <class T, class MemorySpace>
using Packed2 = Kokkos::View<T**, Kokkos::LayoutRight, MemorySpace>;
template <class T, class MemorySpace>
using Packed3 = Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace>;

/// A View of this shape, in C order, uninitialised.
template <class ViewType>
ViewType allocate(std::string const& name, std::vector<std::int64_t> const& shape) {
  auto const label = Kokkos::view_alloc("pssa::tools::" + name, Kokkos::WithoutInitializing);
  auto const extent = [&](std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
  if constexpr (ViewType::rank() == 2)
    return ViewType(label, extent(0), extent(1));
  else
    return ViewType(label, extent(0), extent(1), extent(2));
}

/// A View of NaN, so that a value which a scan leaves out is seen.
template <class ViewType>
ViewType allocate_output(std::string const& name, Sizes const& sizes) {
  using T = typename ViewType::non_const_value_type;
  auto const view = allocate<ViewType>(name, shape_of(axes_of(name), sizes));
  Kokkos::deep_copy(view, to_element<T>(std::numeric_limits<double>::quiet_NaN()));
  return view;
}

/// The tensor of this name in device memory. Throws for a value beyond the range of the View's type.
template <class ViewType>
ViewType upload(std::string const& name, Tensors const& tensors) {
  using T = typename ViewType::non_const_value_type;
  auto const& tensor = tensors.at(name);
  auto const view = allocate<ViewType>(name, tensor.shape);
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < tensor.data.size(); ++i) {
    host.data()[i] = to_element<T>(tensor.data[i]);
    if (std::isfinite(tensor.data[i]) && !std::isfinite(to_double(host.data()[i]))) {
      std::ostringstream text;
      text << name << " holds " << tensor.data[i] << ", expected values in the range of the element type";
      throw std::runtime_error(text.str());
    }
  }
  Kokkos::deep_copy(view, host);
  return view;
}

template <class ViewType>
std::optional<ViewType> upload_if_present(std::string const& name, Tensors const& tensors) {
  return tensors.count(name) != 0 ? std::optional<ViewType>(upload<ViewType>(name, tensors)) : std::nullopt;
}

/// A packed View's values on the host.
template <class ViewType>
Tensor download(ViewType const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  Tensor tensor;
  for (std::size_t axis = 0; axis < ViewType::rank(); ++axis)
    tensor.shape.push_back(static_cast<std::int64_t>(view.extent(axis)));
  tensor.data.resize(view.size());
  for (std::size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] = to_double(host.data()[i]);
  return tensor;
}

/// What a forward pass reads and writes, in one memory space.
template <class T, class MemorySpace>
struct ForwardBuffers {
  using Elements = Packed3<T, MemorySpace>;
  using States = Packed3<state_type<T>, MemorySpace>;
  using Decays = Packed2<state_type<T>, MemorySpace>;

  ForwardBuffers(Tensors const& tensors, Sizes const& sizes)
      : x(upload<Elements>("x", tensors)),
        delta(upload<Elements>("delta", tensors)),
        b(upload<Elements>("b", tensors)),
        c(upload<Elements>("c", tensors)),
        A(upload<Decays>("A", tensors)),
        h0(upload_if_present<States>("h0", tensors)),
        y(allocate_output<Elements>("y", sizes)),
        hT(allocate_output<States>("hT", sizes)) {}

  Tensors download_outputs() const { return {{"y", download(y)}, {"hT", download(hT)}}; }

  Elements x, delta, b, c;
  Decays A;
  std::optional<States> h0;
  Elements y;
  States hT;
};

/// What a backward pass reads and writes besides.
template <class T, class MemorySpace>
struct BackwardBuffers {
  using Elements = Packed3<T, MemorySpace>;
  using States = Packed3<state_type<T>, MemorySpace>;
  using Decays = Packed2<state_type<T>, MemorySpace>;

  BackwardBuffers(Tensors const& tensors, Sizes const& sizes)
      : dy(upload<Elements>("dy", tensors)),
        dhT(upload_if_present<States>("dhT", tensors)),
        dx(allocate_output<Elements>("dx", sizes)),
        ddelta(allocate_output<Elements>("ddelta", sizes)),
        db(allocate_output<Elements>("db", sizes)),
        dc(allocate_output<Elements>("dc", sizes)),
        dA(allocate_output<Decays>("dA", sizes)),
        dh0(allocate_output<States>("dh0", sizes)) {}

  Tensors download_gradients() const {
    return {{"dx", download(dx)}, {"ddelta", download(ddelta)}, {"db", download(db)},
            {"dc", download(dc)}, {"dA", download(dA)},         {"dh0", download(dh0)}};
  }

  Elements dy;
  std::optional<States> dhT;
  Elements dx, ddelta, db, dc;
  Decays dA;
  States dh0;
};

}  // namespace pssa::tools
