// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "host_choice.hpp"

#include <pssa/types.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace pssa::impl {
namespace {

/// What this processor has, the best last.
std::vector<HostTable const*> available() {
  std::vector<HostTable const*> tables{&host_baseline};
#ifdef PSSA_HOST_X86
  __builtin_cpu_init();
  bool const avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) tables.push_back(&host_avx2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
    tables.push_back(&host_avx512);
#endif
  return tables;
}

std::optional<std::string> asked() {
  char const* const name = std::getenv("PSSA_HOST_ISA");
  return name == nullptr ? std::nullopt : std::optional<std::string>(name);
}

}  // namespace

HostTable const& host_table(char const* call) {
  static auto const name = asked();
  static auto const tables = available();
  if (!name) return *tables.back();
  auto const found =
      std::find_if(tables.begin(), tables.end(), [&](auto const* table) { return table->name == *name; });
  if (found != tables.end()) return **found;
  std::string list;
  for (auto const* table : tables) list += (list.empty() ? "" : ", ") + std::string(table->name);
  throw Error(std::string(call) + ": PSSA_HOST_ISA is '" + *name + "' in the environment, expected one of " + list);
}

}  // namespace pssa::impl
