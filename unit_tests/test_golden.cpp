// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "accuracy.hpp"
#include "inputs.hpp"
#include "near.hpp"
#include "npy.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Golden : public EverySetup {};
PSSA_EVERY_SETUP(Golden);

/// The tensors of a case: inputs and results in double, made by another program.
Tensors load(std::string const& name) {
  char const* const moved = std::getenv("PSSA_GOLDEN_DIR");
  auto const folder = std::filesystem::path(moved != nullptr ? moved : PSSA_GOLDEN_DIR) / name;
  Tensors result;
  for (auto const& names : {tools::input_names, tools::cotangent_names, tools::output_names, tools::gradient_names})
    for (auto const& tensor : names)
      if (auto const file = folder / (tensor + ".npy"); tensor != "dhT" || std::filesystem::exists(file)) {
        auto const array = npy::read(file);
        result[tensor] = {array.shape, array.data};
      }
  return result;
}

void expect_golden(Setup const& setup, Session& session, Tensors const& golden, Tensors const& given,
                   Sizes const& sizes) {
  // Of the inputs only: the results are not given to anyone.
  auto inputs = golden;
  for (auto const& names : {tools::output_names, tools::gradient_names})
    for (auto const& name : names) inputs.erase(name);
  tools::Roundings const roundings{setup.element, setup.sums, 0, largest_change(given, inputs), least_decay(inputs)};
  for (auto const& names : {tools::output_names, tools::gradient_names})
    for (auto const& name : names) {
      // Twice: the golden values carry the roundings of their own sums in double.
      double const bound = 2 * error_bound(name, sizes, roundings);
      if (setup.element.unit < 1e-15) {
        EXPECT_LT(bound, 1e-12);
      }
      EXPECT_TRUE(near(name, session.get(name), golden.at(name), {bound, setup.sums.least_normal}));
    }
}

void expect_golden(Setup const& setup, std::string const& name) {
  SCOPED_TRACE(name);
  auto const golden = load(name);
  auto given = golden;
  for (auto const& names : {tools::output_names, tools::gradient_names})
    for (auto const& result : names) given.erase(result);
  given = setup.rounded(given);
  auto const& shape = golden.at("x").shape;
  Sizes const sizes{shape[0], shape[1], shape[2], golden.at("A").shape[1]};
  auto const session = setup.make();
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  session->forward_with_tape();
  session->backward();
  expect_golden(setup, *session, golden, given, sizes);
  if (!session->on_host()) return;
  SCOPED_TRACE("scan_reference");
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  session->reference();
  session->reference_backward();
  expect_golden(setup, *session, golden, given, sizes);
}

TEST_P(Golden, long_sequence) { expect_golden(GetParam(), "long"); }
TEST_P(Golden, odd_state) { expect_golden(GetParam(), "odd_state"); }
TEST_P(Golden, ragged) { expect_golden(GetParam(), "ragged"); }
TEST_P(Golden, selftest) { expect_golden(GetParam(), "selftest"); }
TEST_P(Golden, single_step) { expect_golden(GetParam(), "single_step"); }
TEST_P(Golden, strong_decay) { expect_golden(GetParam(), "strong_decay"); }
TEST_P(Golden, wide_state) { expect_golden(GetParam(), "wide_state"); }

}  // namespace
}  // namespace pssa::tests
