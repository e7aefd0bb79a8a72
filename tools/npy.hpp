// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

/// Tensors of real numbers in NumPy's .npy files.
namespace pssa::npy {

/// Thrown by every function here. The text is one sentence: the file, what it is and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a file stores its values: '<f2', '<f4' or '<f8'.
enum class Type { float16, float32, float64 };

/// A tensor as it was stored; float16 and float32 convert to double exactly.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> data;  ///< C order (last axis contiguous), whatever the file's order
  Type type = Type::float64;
};

/// Reads a file of format 1.0, 2.0 or 3.0. Reads no more than the file holds, whatever its header says.
Array read(std::filesystem::path const& path);

/// Writes a file of format 1.0 from values in C order, rounded to type. The file appears under its name only when it is
/// complete: it is written beside it under another name, which a failure removes.
void write(std::filesystem::path const& path, std::vector<std::int64_t> const& shape, std::vector<double> const& data,
           Type type);

/// The bits of the IEEE 754 binary16 nearest to value, ties to even.
std::uint16_t half_bits(double value);

/// The value of an IEEE 754 binary16.
double half_value(std::uint16_t bits);

/// (2, 3, 5), as error texts show a shape.
std::string to_string(std::vector<std::int64_t> const& shape);

}  // namespace pssa::npy
