// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "events.hpp"

#include <Kokkos_Core.hpp>

namespace pssa::tests {

namespace {

namespace tools = Kokkos::Tools::Experimental;

Events recorded;
std::vector<std::string> open_regions;
tools::EventSet previous;

void kernel(char const* name, std::uint32_t device, std::uint64_t*) {
  recorded.kernels.emplace_back(name);
  recorded.devices.push_back(device);
  std::string path;
  for (auto const& region : open_regions) path += region + "/";
  recorded.paths.push_back(path + name);
}

}  // namespace

Recording::Recording() {
  recorded = {};
  open_regions.clear();
  previous = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(kernel);
  tools::set_begin_parallel_reduce_callback(kernel);
  tools::set_begin_parallel_scan_callback(kernel);
  tools::set_push_region_callback([](char const* name) {
    recorded.regions.emplace_back(name);
    open_regions.emplace_back(name);
    recorded.open_regions = open_regions.size();
  });
  tools::set_pop_region_callback([] {
    if (!open_regions.empty()) open_regions.pop_back();
    recorded.open_regions = open_regions.size();
  });
  // Before 5.0 Kokkos tells of an allocation of 0 bytes at every launch on CUDA that asks for no level-1 scratch.
  tools::set_allocate_data_callback([](Kokkos::Tools::SpaceHandle, char const* name, void const*, std::uint64_t bytes) {
    if (bytes != 0) recorded.allocations.emplace_back(name);
  });
  tools::set_begin_fence_callback([](char const* name, std::uint32_t, std::uint64_t*) {
    // Kokkos itself fences around the callbacks of a tool, and its Threads backend in every launch; a fence of Threads
    // that is asked for has another name.
    std::string const label = name;
    if (label.rfind("Kokkos::Tools::", 0) == 0) return;
    if (label == "Kokkos::ThreadsInternal::fence: Unnamed Instance Fence") return;
    recorded.fences.push_back(label);
  });
  tools::set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle, char const* to, void const*,
                                         Kokkos::Tools::SpaceHandle, char const*, void const*,
                                         std::uint64_t) { recorded.copies.emplace_back(to); });
}

Recording::~Recording() { tools::set_callbacks(previous); }

Events const& Recording::events() const { return recorded; }

}  // namespace pssa::tests
