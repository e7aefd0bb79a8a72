// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pssa::tests {

/// What Kokkos told its tools.
struct Events {
  std::vector<std::string> kernels{};
  std::vector<std::uint32_t> devices{};  ///< the device id of each kernel's instance
  std::vector<std::string> paths{};      ///< each kernel's label after the regions around it: "region/label"
  std::vector<std::string> regions{};    ///< in the order of their beginnings
  std::size_t open_regions = 0;          ///< begun and not ended
  std::vector<std::string> allocations{};
  std::vector<std::string> fences{};
  std::vector<std::string> copies{};

  bool none() const { return kernels.empty() && allocations.empty() && fences.empty() && copies.empty(); }
};

/// Records Kokkos' events from its construction to its destruction. One at a time.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(Recording const&) = delete;
  Recording& operator=(Recording const&) = delete;

  Events const& events() const;
};

/// The events of one call.
template <class F>
Events events_of(F const& f) {
  Recording const recording;
  f();
  return recording.events();
}

}  // namespace pssa::tests
