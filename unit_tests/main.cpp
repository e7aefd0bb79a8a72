// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <iostream>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  Kokkos::ScopeGuard const guard(argc, argv);
  int const status = RUN_ALL_TESTS();
  auto const& all = *::testing::UnitTest::GetInstance();
  if (!::testing::GTEST_FLAG(list_tests) && all.test_to_run_count() == 0) {
    std::cerr << "no test matches the filter\n";
    return 1;
  }
  return status;
}
