// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <string>
#include <vector>

namespace pssa::tools {

/// Sorts a command line into Kokkos' own arguments and all others. Kokkos is shown its own only: it would print its own
/// help for --help.
class KokkosArguments {
 public:
  KokkosArguments(int argc, char* argv[]) {
    for (int i = 0; i < argc; ++i)
      if (i == 0 || std::string(argv[i]).rfind("--kokkos-", 0) == 0)
        m_kokkos.push_back(argv[i]);
      else
        m_others.emplace_back(argv[i]);
    m_argc = static_cast<int>(m_kokkos.size());
    m_kokkos.push_back(nullptr);
  }

  int& argc() { return m_argc; }
  char** argv() { return m_kokkos.data(); }
  std::vector<std::string> const& others() const { return m_others; }

 private:
  int m_argc = 0;
  std::vector<char*> m_kokkos;
  std::vector<std::string> m_others;
};

}  // namespace pssa::tools
