// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include <gtest/gtest.h>

#include <cmath>

#include "inputs.hpp"
#include "near.hpp"
#include "session.hpp"

namespace pssa::tests {
namespace {

class Reference : public EverySetup {};
PSSA_EVERY_SETUP(Reference);

/// Two tokens, one channel, two states, with decays 1 and 1 at the first state, 1/2 and 1/4 at the second:
///     h_1 = (5 + 1, 4/2 + 2) = (6, 4),    h_2 = (6 + 18, 4/4 + 6) = (24, 7),    y = (6 + 4, 48 - 7)
///     g_2 = (1 + 4, -1 - 2) = (5, -3),    g_1 = (1 + 5, 1 - 3/4) = (6, 1/4)
TEST_P(Reference, an_example_by_hand) {
  auto const session = GetParam().make();
  if (!session->on_host()) GTEST_SKIP() << "the reference runs on the host";
  double const ln2 = std::log(2.0);
  Sizes const sizes{1, 2, 1, 2};
  Tensors const given = GetParam().rounded({{"x", {{1, 2, 1}, {1, 3}}},
                                            {"delta", {{1, 2, 1}, {1, 2}}},
                                            {"b", {{1, 2, 2}, {1, 2, 3, 1}}},
                                            {"c", {{1, 2, 2}, {1, 1, 2, -1}}},
                                            {"A", {{1, 2}, {0, -ln2}}},
                                            {"h0", {{1, 1, 2}, {5, 4}}},
                                            {"dy", {{1, 2, 1}, {1, 2}}},
                                            {"dhT", {{1, 1, 2}, {1, -1}}}});
  Tensors const expected{{"y", {{1, 2, 1}, {10, 41}}},
                         {"hT", {{1, 1, 2}, {24, 7}}},
                         {"dx", {{1, 2, 1}, {6.5, 24}}},
                         {"ddelta", {{1, 2, 1}, {6.5 - 0.5 * ln2, 36 + 3 * ln2}}},
                         {"db", {{1, 2, 2}, {6, 0.25, 30, -18}}},
                         {"dc", {{1, 2, 2}, {6, 4, 48, 14}}},
                         {"dA", {{1, 2}, {90, -5.5}}},
                         {"dh0", {{1, 1, 2}, {6, 0.125}}}};
  place_forward(*session, given, sizes);
  place_backward(*session, given, sizes);
  session->reference();
  session->reference_backward();
  // Whole numbers are exact; the decays 1/2 and 1/4 carry about two roundings, ln 2 in ddelta and the results one.
  for (auto const& [name, tensor] : expected)
    EXPECT_TRUE(near(name, session->get(name), tensor, {4 * GetParam().sums.unit + GetParam().element.unit, 0}));
}

TEST_P(Reference, states_may_be_in_place_and_arguments_absent) {
  auto const session = GetParam().make();
  if (!session->on_host()) GTEST_SKIP() << "the reference runs on the host";
  Sizes const sizes{2, 5, 3, 4};
  auto given = GetParam().rounded(make_inputs(sizes, 1));
  place_forward(*session, given, sizes);
  session->reference();
  auto const apart = bits(*session, tools::output_names);
  place_forward(*session, given, sizes);
  session->same("hT", "h0");
  session->reference();
  EXPECT_EQ(bits(*session, tools::output_names), apart);

  place_forward(*session, given, sizes);
  session->input("h0", filled("h0", sizes, 0));
  session->reference();
  auto const zero = session->bits("y");
  place_forward(*session, given, sizes);
  session->remove("h0");
  session->remove("hT");
  session->reference();
  EXPECT_EQ(session->bits("y"), zero);
}

}  // namespace
}  // namespace pssa::tests
