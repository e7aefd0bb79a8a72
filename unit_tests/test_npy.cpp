// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "npy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace npy = pssa::npy;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Each test has a folder of its own, removed at its end.
class Npy : public ::testing::Test {
 protected:
  Npy() {
    auto const* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    m_folder = std::filesystem::path(::testing::TempDir()) / ("pssa_npy_" + std::string(test->name()));
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directories(m_folder);
  }
  ~Npy() override {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
  }

  std::filesystem::path file() const { return m_folder / "x.npy"; }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : std::filesystem::directory_iterator(m_folder))
      names.push_back(entry.path().filename().string());
    return names;
  }

  void put(std::string const& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }

  std::string bytes() const {
    std::ifstream stream(file(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }

  /// A file of this format version with this header and data.
  static std::string made_of(std::string const& header, std::string const& data, int major = 1, int minor = 0) {
    std::string start("\x93NUMPY", 6);
    start += static_cast<char>(major);
    start += static_cast<char>(minor);
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) start += static_cast<char>(header.size() >> (8 * i) & 0xff);
    return start + header + data;
  }

  static std::string header(std::string const& descr, std::string const& order, std::string const& shape) {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  }

  void expect_refused(std::string const& text) const {
    try {
      npy::read(file());
      ADD_FAILURE() << "read without an error, expected: " << text;
    } catch (npy::Error const& error) {
      EXPECT_EQ(std::string(error.what()), file().string() + text);
    }
  }

  void expect_header_refused(std::string const& header, std::string const& text) const {
    put(made_of(header, std::string(16, '\0')));
    expect_refused(text);
  }

  std::filesystem::path m_folder;
};

TEST_F(Npy, RoundTripKeepsShapeAndValues) {
  std::vector<double> const values{0.0, -0.0, 1.0, -1.5, 65504.0, 0x1p-24, infinity, -infinity};
  for (auto const type : {npy::Type::float16, npy::Type::float32, npy::Type::float64})
    for (auto const& shape : {std::vector<std::int64_t>{8}, {2, 4}, {2, 1, 4}, {1, 2, 2, 2}}) {
      npy::write(file(), shape, values, type);
      auto const array = npy::read(file());
      EXPECT_EQ(array.shape, shape);
      EXPECT_EQ(array.data, values);
      EXPECT_TRUE(std::signbit(array.data[1]));
      EXPECT_EQ(array.type, type);
    }
  EXPECT_EQ(files(), std::vector<std::string>{"x.npy"});
}

TEST_F(Npy, RoundTripOfManyValues) {
  std::vector<double> values;
  for (int i = 0; i < 3 * 65536 + 5; ++i) values.push_back(i);
  npy::write(file(), {3 * 65536 + 5}, values, npy::Type::float32);
  EXPECT_EQ(npy::read(file()).data, values);
}

TEST_F(Npy, RoundTripOfScalarsEmptyTensorsAndNaN) {
  npy::write(file(), {}, {2.5}, npy::Type::float64);
  EXPECT_EQ(npy::read(file()).shape, std::vector<std::int64_t>{});
  EXPECT_EQ(npy::read(file()).data, std::vector<double>{2.5});
  npy::write(file(), {3, 0, 5}, {}, npy::Type::float32);
  EXPECT_EQ(npy::read(file()).shape, (std::vector<std::int64_t>{3, 0, 5}));
  EXPECT_TRUE(npy::read(file()).data.empty());
  for (auto const type : {npy::Type::float16, npy::Type::float32, npy::Type::float64}) {
    npy::write(file(), {1}, {not_a_number}, type);
    EXPECT_TRUE(std::isnan(npy::read(file()).data.at(0)));
  }
}

TEST_F(Npy, WritesTheBytesThatNumPyWrites) {
  npy::write(file(), {2}, {1.0, -2.0}, npy::Type::float32);
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  text.resize(128 - 10 - 1, ' ');
  EXPECT_EQ(bytes(), made_of(text + '\n', std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
}

TEST_F(Npy, FortranOrderBecomesCOrder) {
  // In memory order: element (i, j, k) of shape (2, 3, 2) is 100 i + 10 j + k.
  std::string data;
  for (int k = 0; k < 2; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) {
        auto const bits = npy::half_bits(100 * i + 10 * j + k);
        data += static_cast<char>(bits & 0xff);
        data += static_cast<char>(bits >> 8);
      }
  put(made_of(header("'<f2'", "True", "(2, 3, 2)"), data));
  auto const array = npy::read(file());
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3, 2}));
  EXPECT_EQ(array.data, (std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121}));
  put(made_of(header("'<f2'", "True", "(2, 0)"), ""));
  EXPECT_TRUE(npy::read(file()).data.empty());
}

TEST_F(Npy, ReadsEveryVersionAndSpelling) {
  std::string const data("\0\0\x80\x3f", 4);
  for (int const major : {1, 2, 3}) {
    put(made_of(header("'<f4'", "False", "(1,)"), data, major));
    EXPECT_EQ(npy::read(file()).data, std::vector<double>{1.0}) << major;
  }
  put(made_of("{ \"shape\" :(1 ,1), \"fortran_order\":False,\"descr\" : \"<f4\"}   \n", data));
  EXPECT_EQ(npy::read(file()).shape, (std::vector<std::int64_t>{1, 1}));
}

TEST_F(Npy, RefusesWhatIsNoFile) {
  expect_refused(" does not exist, expected a .npy file");
  std::filesystem::create_directory(file());
  expect_refused(" is not a regular file, expected a .npy file");
}

TEST_F(Npy, RefusesWhatIsNotNpy) {
  put("");
  expect_refused(" is empty (0 bytes), expected a .npy file");
  put("PK\x03\x04 and so on");
  expect_refused(" does not begin with \\x93NUMPY, expected a .npy file");
  put("\x93NUMPX");
  expect_refused(" does not begin with \\x93NUMPY, expected a .npy file");
  put(made_of("", "", 4, 0));
  expect_refused(" has format version 4.0, expected 1.0, 2.0 or 3.0");
  put(made_of("", "", 1, 7));
  expect_refused(" has format version 1.7, expected 1.0, 2.0 or 3.0");
  put(made_of("", "", 0, 0));
  expect_refused(" has format version 0.0, expected 1.0, 2.0 or 3.0");
}

TEST_F(Npy, RefusesEveryTruncation) {
  npy::write(file(), {2, 2}, {1, 2, 3, 4}, npy::Type::float32);
  auto const whole = bytes();
  ASSERT_EQ(whole.size(), 144u);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    if (size < 10)
      expect_refused(" ends within its header, expected at least " + std::to_string(10 - size) + " more bytes");
    else if (size < 128)
      expect_refused(" ends within its header, expected at least " + std::to_string(128 - size) + " more bytes");
    else
      expect_refused(" holds " + std::to_string(size - 128) +
                     " bytes of data, expected 16 for shape (2, 2) and dtype '<f4'");
  }
  put(made_of("", "", 2).substr(0, 11));
  expect_refused(" ends within its header, expected at least 1 more bytes");
  auto huge = made_of("", "", 2);
  huge.replace(8, 4, "\xff\xff\xff\xff");
  put(huge);
  expect_refused(" ends within its header, expected at least 4294967295 more bytes");
}

TEST_F(Npy, RefusesTrailingBytes) {
  put(made_of(header("'<f4'", "False", "(1,)"), "12345"));
  expect_refused(" holds 5 bytes of data, expected 4 for shape (1) and dtype '<f4'");
}

TEST_F(Npy, RefusesOtherTypes) {
  auto const refused = [&](std::string const& descr, std::string const& text) {
    expect_header_refused(header(descr, "False", "(1,)"), text + ", expected '<f2', '<f4' or '<f8'");
  };
  refused("'>f4'", " has dtype '>f4' (big-endian)");
  refused("'>f8'", " has dtype '>f8' (big-endian)");
  refused("'<f16'", " has dtype '<f16' (another float)");
  refused("'<i8'", " has dtype '<i8' (integer)");
  refused("'|u1'", " has dtype '|u1' (integer)");
  refused("'|b1'", " has dtype '|b1' (boolean)");
  refused("'<c8'", " has dtype '<c8' (complex)");
  refused("'|O'", " has dtype '|O' (object)");
  refused("'<U3'", " has dtype '<U3' (not a number)");
  refused("[('x', '<f4'), ('y', '<f4')]", " has a structured dtype");
}

TEST_F(Npy, RefusesMalformedHeaders) {
  std::string const text = " has a malformed header, expected the dictionary of descr, fortran_order and shape";
  auto const good = header("'<f4'", "False", "(4,)");
  for (auto const& bad : std::vector<std::string>{
           "", "\n", "{}", "{'descr': '<f4', 'fortran_order': False, }", "{'descr': '<f4', 'shape': (4,), }",
           "{'fortran_order': False, 'shape': (4,), }", "'descr'", good + "x", good.substr(0, good.size() - 2),
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'extra': 1}",
           header("'<f4'", "0", "(4,)"), header("'<f4'", "False", "4"), header("'<f4'", "False", "(-4,)"),
           header("'<f4'", "False", "(4"), header("'<f4'", "False", "(4.0,)"), header("'<f4'", "False", "(,)"),
           header("'<f4", "False", "(4,)"), header("''", "False", "(4,)"), header("'\x1b[2J'", "False", "(4,)"),
           header("'" + std::string(500, 'f') + "'", "False", "(4,)"), header("None", "False", "(4,)")}) {
    SCOPED_TRACE(bad);
    expect_header_refused(bad, text);
  }
}

TEST_F(Npy, NeverTrustsTheShape) {
  auto const refused = [&](std::string const& shape, std::string const& text) {
    expect_header_refused(header("'<f4'", "False", shape), text);
  };
  refused("(4611686018427387904, 4)",
          " has shape (4611686018427387904, 4), expected fewer than 2^60 values");
  refused("(9223372036854775807,)", " has shape (9223372036854775807), expected fewer than 2^60 values");
  refused("(9223372036854775808,)",
          " has an extent of more than 63 bits in its header, expected fewer than 2^60 values");
  refused("(1000000000000,)",
          " holds 16 bytes of data, expected 4000000000000 for shape (1000000000000) and dtype '<f4'");
  refused("(0, 9223372036854775807)",
          " holds 16 bytes of data, expected 0 for shape (0, 9223372036854775807) and dtype '<f4'");
}

TEST_F(Npy, FailedWriteLeavesNothing) {
  auto const refused = [](std::filesystem::path const& path, std::vector<std::int64_t> const& shape,
                          std::string const& text) {
    try {
      npy::write(path, shape, {1, 2, 3}, npy::Type::float32);
      ADD_FAILURE() << "written without an error, expected: " << text;
    } catch (npy::Error const& error) {
      EXPECT_EQ(std::string(error.what()), path.string() + text);
    }
  };
  refused(m_folder / "absent" / "x.npy", {3}, " cannot be written (No such file or directory)");
  refused(file(), {2, 2}, " was to be written with 3 values, expected as many as shape (2, 2) has");
  refused(file(), {-3}, " was to be written with 3 values, expected as many as shape (-3) has");
  EXPECT_TRUE(files().empty());
  std::filesystem::create_directory(file());
  refused(file(), {3}, " cannot be written (Is a directory)");
  EXPECT_EQ(files(), std::vector<std::string>{"x.npy"});
}

TEST(NpyHalf, AgreesWithATable) {
  for (auto const& [bits, value] : std::vector<std::pair<std::uint16_t, double>>{
           {0x0000, 0.0},           {0x0001, 0x1p-24},       {0x0002, 0x1p-23},       {0x03ff, 1023 * 0x1p-24},
           {0x0400, 0x1p-14},       {0x0401, 1025 * 0x1p-24}, {0x3555, 1365 * 0x1p-12}, {0x3bff, 2047 * 0x1p-11},
           {0x3c00, 1.0},           {0x3c01, 1 + 0x1p-10},   {0x4000, 2.0},           {0x4248, 3.140625},
           {0x7bff, 65504.0},       {0x7c00, infinity}}) {
    EXPECT_EQ(npy::half_value(bits), value) << bits;
    EXPECT_EQ(npy::half_bits(value), bits) << value;
    auto const negative = static_cast<std::uint16_t>(bits | 0x8000);
    EXPECT_EQ(npy::half_value(negative), -value) << bits;
    EXPECT_EQ(npy::half_bits(-value), negative) << value;
  }
  EXPECT_TRUE(std::signbit(npy::half_value(0x8000)));
}

TEST(NpyHalf, RoundsToNearestTiesToEven) {
  for (auto const& [value, bits] : std::vector<std::pair<double, std::uint16_t>>{
           {1 + 0x1p-11, 0x3c00},                  // half way between 0x3c00 and 0x3c01
           {1 + 0x1p-11 + 0x1p-50, 0x3c01},        // just above: a float on the way would lose it
           {1 + 3 * 0x1p-11, 0x3c02},              // half way between 0x3c01 and 0x3c02
           {2 - 0x1p-12, 0x4000},                  // carries into the exponent
           {0x1p-25, 0x0000},                      // half of the least subnormal
           {0x1p-25 + 0x1p-70, 0x0001}, {3 * 0x1p-25, 0x0002}, {0x1p-14 - 0x1p-26, 0x0400},
           {65519.999, 0x7bff},         {65520, 0x7c00},       {1e300, 0x7c00},
           {5e-324, 0x0000},            {1e-10, 0x0000}})
    EXPECT_EQ(npy::half_bits(value), bits) << value;
}

TEST(NpyHalf, EveryValueRoundTrips) {
  for (int i = 0; i < 0x10000; ++i) {
    auto const bits = static_cast<std::uint16_t>(i);
    auto const value = npy::half_value(bits);
    bool const is_nan = (i & 0x7c00) == 0x7c00 && (i & 0x3ff) != 0;
    EXPECT_EQ(std::isnan(value), is_nan) << i;
    if (!is_nan) {
      EXPECT_EQ(npy::half_bits(value), bits) << i;
    }
  }
  EXPECT_EQ(npy::half_bits(not_a_number) & 0x7fff, 0x7e00);
}

}  // namespace
