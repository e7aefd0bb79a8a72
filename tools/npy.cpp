// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "npy.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace pssa::npy {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& what) {
  throw Error(path.string() + " " + what);
}

std::string reason(int error) { return std::generic_category().message(error); }

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::size_t item_size(Type type) { return type == Type::float16 ? 2 : type == Type::float32 ? 4 : 8; }

char const* name(Type type) { return type == Type::float16 ? "<f2" : type == Type::float32 ? "<f4" : "<f8"; }

/// Number of values of a shape; nothing when it does not fit in 60 bits, so that its bytes fit in 63.
std::optional<std::int64_t> count(std::vector<std::int64_t> const& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  constexpr std::int64_t largest = std::int64_t{1} << 60;
  std::int64_t values = 1;
  for (auto const extent : shape) {
    if (extent < 0 || extent > largest / values) return std::nullopt;
    values *= extent;
  }
  return values;
}

template <class Word>
Word load(unsigned char const* bytes) {
  Word word = 0;
  for (std::size_t i = sizeof(Word); i-- > 0;) word = static_cast<Word>(word << 8 | bytes[i]);
  return word;
}

template <class Word>
void store(Word word, unsigned char* bytes) {
  for (std::size_t i = 0; i < sizeof(Word); ++i) bytes[i] = static_cast<unsigned char>(word >> (8 * i));
}

double decode(Type type, unsigned char const* bytes) {
  if (type == Type::float16) return half_value(load<std::uint16_t>(bytes));
  if (type == Type::float32) return static_cast<double>(std::bit_cast<float>(load<std::uint32_t>(bytes)));
  return std::bit_cast<double>(load<std::uint64_t>(bytes));
}

void encode(double value, Type type, unsigned char* bytes) {
  if (type == Type::float16) return store(half_bits(value), bytes);
  if (type == Type::float32) return store(std::bit_cast<std::uint32_t>(static_cast<float>(value)), bytes);
  store(std::bit_cast<std::uint64_t>(value), bytes);
}

struct Header {
  Type type = Type::float64;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parses a header: the text of a Python dictionary with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  HeaderParser(std::filesystem::path const& path, std::string_view text) : m_path(path), m_text(text) {}

  Header parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      auto const key = string();
      expect(':');
      if (key == "descr" && !std::exchange(has_descr, true))
        header.type = type();
      else if (key == "fortran_order" && !std::exchange(has_order, true))
        header.fortran_order = boolean();
      else if (key == "shape" && !std::exchange(has_shape, true))
        header.shape = shape();
      else
        malformed();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (m_at != m_text.size() || !has_descr || !has_order || !has_shape) malformed();
    return header;
  }

 private:
  [[noreturn]] void malformed() const {
    fail(m_path, "has a malformed header, expected the dictionary of descr, fortran_order and shape");
  }

  void skip_space() { m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size()); }

  bool accept(char wanted) {
    skip_space();
    if (m_at == m_text.size() || m_text[m_at] != wanted) return false;
    ++m_at;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) malformed();
  }

  std::string_view string() {
    char const quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    auto const end = m_text.find(quote, m_at);
    if (end == std::string_view::npos) malformed();
    auto const result = m_text.substr(m_at, end - m_at);
    m_at = end + 1;
    return result;
  }

  Type type() {
    constexpr char const* expected = ", expected '<f2', '<f4' or '<f8'";
    if (accept('[')) fail(m_path, std::string("has a structured dtype") + expected);
    auto const descr = string();
    for (auto const known : {Type::float16, Type::float32, Type::float64})
      if (descr == name(known)) return known;
    auto const is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
    if (descr.size() < 2 || descr.size() > 16 || !std::all_of(descr.begin(), descr.end(), is_plain)) malformed();
    fail(m_path, "has dtype '" + std::string(descr) + "' (" + kind(descr) + ")" + expected);
  }

  static char const* kind(std::string_view descr) {
    switch (descr[1]) {
      case 'f': return descr[0] == '>' ? "big-endian" : "another float";
      case 'i':
      case 'u': return "integer";
      case 'b': return "boolean";
      case 'c': return "complex";
      case 'O': return "object";
      default: return "not a number";
    }
  }

  bool boolean() {
    skip_space();
    for (auto const& [text, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
      if (m_text.substr(m_at, text.size()) == text) {
        m_at += text.size();
        return value;
      }
    malformed();
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      result.push_back(integer());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return result;
  }

  std::int64_t integer() {
    skip_space();
    auto const begin = m_at;
    std::int64_t value = 0;
    for (; m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9'; ++m_at) {
      std::int64_t const digit = m_text[m_at] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
        fail(m_path, "has an extent of more than 63 bits in its header, expected fewer than 2^60 values");
      value = 10 * value + digit;
    }
    if (m_at == begin) malformed();
    return value;
  }

  std::filesystem::path const& m_path;
  std::string_view m_text;
  std::size_t m_at = 0;
};

/// A file that is read from its beginning and never past its size at the time of opening.
class Reader {
 public:
  explicit Reader(std::filesystem::path const& path) : m_path(path) {
    std::error_code error;
    auto const status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) fail(path, "does not exist, expected a .npy file");
    if (!error && status.type() != std::filesystem::file_type::regular)
      fail(path, "is not a regular file, expected a .npy file");
    m_file.reset(std::fopen(path.c_str(), "rb"));
    if (!m_file) fail(path, "cannot be read (" + reason(errno) + "), expected a .npy file");
    m_left = std::filesystem::file_size(path, error);
    if (error) fail(path, "cannot be read (" + error.message() + "), expected a .npy file");
    if (m_left == 0) fail(path, "is empty (0 bytes), expected a .npy file");
  }

  std::uintmax_t left() const { return m_left; }

  void read(void* to, std::size_t bytes) {
    if (bytes > m_left || std::fread(to, 1, bytes, m_file.get()) != bytes)
      fail(m_path, "cannot be read to its end, expected " + std::to_string(bytes) + " more bytes");
    m_left -= bytes;
  }

 private:
  std::filesystem::path const& m_path;
  File m_file;
  std::uintmax_t m_left = 0;
};

Header read_header(std::filesystem::path const& path, Reader& reader) {
  auto const expect_left = [&](std::size_t bytes) {
    if (reader.left() < bytes)
      fail(path, "ends within its header, expected at least " + std::to_string(bytes - reader.left()) + " more bytes");
  };
  unsigned char start[12] = {};
  auto const got = static_cast<std::size_t>(std::min<std::uintmax_t>(reader.left(), magic.size()));
  reader.read(start, got);
  if (std::memcmp(start, magic.data(), got) != 0) fail(path, "does not begin with \\x93NUMPY, expected a .npy file");
  expect_left(magic.size() - got + 4);
  reader.read(start + 6, 4);
  int const major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    fail(path, "has format version " + std::to_string(major) + "." + std::to_string(minor) +
                   ", expected 1.0, 2.0 or 3.0");
  std::size_t length = load<std::uint16_t>(start + 8);
  if (major > 1) {
    expect_left(2);
    reader.read(start + 10, 2);
    length = load<std::uint32_t>(start + 8);
  }
  expect_left(length);
  std::string text(length, '\0');
  reader.read(text.data(), length);
  return HeaderParser(path, text).parse();
}

/// Row-major copy of column-major values.
std::vector<double> transposed(std::vector<double> const& values, std::vector<std::int64_t> const& shape) {
  std::vector<double> result(values.size());
  std::vector<std::int64_t> index(shape.size());
  std::vector<std::size_t> stride(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;)
    stride[axis - 1] = stride[axis] * static_cast<std::size_t>(shape[axis]);
  std::size_t to = 0;
  for (auto const value : values) {
    result[to] = value;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      to += stride[axis];
      if (++index[axis] < shape[axis]) break;
      to -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return result;
}

std::string header_text(std::vector<std::int64_t> const& shape, Type type) {
  auto tuple = to_string(shape);
  if (shape.size() == 1) tuple.insert(tuple.size() - 1, 1, ',');
  auto text = std::string("{'descr': '") + name(type) + "', 'fortran_order': False, 'shape': " + tuple + ", }";
  // The data begin at a multiple of 64 bytes, as NumPy writes them; 10 bytes stand before this text, a newline ends it.
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  return text + '\n';
}

constexpr std::size_t block = std::size_t{1} << 16;  // values converted at a time

void write_all(std::FILE* file, std::vector<std::int64_t> const& shape, std::vector<double> const& data, Type type,
               std::filesystem::path const& path) {
  auto const put = [&](void const* from, std::size_t bytes) {
    if (std::fwrite(from, 1, bytes, file) != bytes) fail(path, "cannot be written (" + reason(errno) + ")");
  };
  auto const text = header_text(shape, type);
  unsigned char start[10] = {0, 0, 0, 0, 0, 0, 1, 0};
  std::memcpy(start, magic.data(), magic.size());
  store(static_cast<std::uint16_t>(text.size()), start + 8);
  put(start, sizeof start);
  put(text.data(), text.size());
  auto const size = item_size(type);
  std::vector<unsigned char> bytes(std::min(block, data.size()) * size);
  for (std::size_t begin = 0; begin < data.size(); begin += block) {
    auto const values = std::min(block, data.size() - begin);
    for (std::size_t i = 0; i < values; ++i) encode(data[begin + i], type, bytes.data() + i * size);
    put(bytes.data(), values * size);
  }
}

}  // namespace

Array read(std::filesystem::path const& path) {
  Reader reader(path);
  auto header = read_header(path, reader);
  auto const values = count(header.shape);
  auto const shape = to_string(header.shape);
  if (!values) fail(path, "has shape " + shape + ", expected fewer than 2^60 values");
  auto const size = item_size(header.type);
  auto const expected = static_cast<std::uintmax_t>(*values) * size;
  if (reader.left() != expected)
    fail(path, "holds " + std::to_string(reader.left()) + " bytes of data, expected " + std::to_string(expected) +
                   " for shape " + shape + " and dtype '" + name(header.type) + "'");
  std::vector<double> data(static_cast<std::size_t>(*values));
  std::vector<unsigned char> bytes(std::min(block, data.size()) * size);
  for (std::size_t begin = 0; begin < data.size(); begin += block) {
    auto const part = std::min(block, data.size() - begin);
    reader.read(bytes.data(), part * size);
    for (std::size_t i = 0; i < part; ++i) data[begin + i] = decode(header.type, bytes.data() + i * size);
  }
  if (header.fortran_order) data = transposed(data, header.shape);
  return {std::move(header.shape), std::move(data), header.type};
}

void write(std::filesystem::path const& path, std::vector<std::int64_t> const& shape, std::vector<double> const& data,
           Type type) {
  auto const values = count(shape);
  if (!values || static_cast<std::size_t>(*values) != data.size())
    fail(path, "was to be written with " + std::to_string(data.size()) + " values, expected as many as shape " +
                   to_string(shape) + " has");
  if (shape.size() > 32)
    fail(path, "was to be written with " + std::to_string(shape.size()) + " axes, expected at most 32");
  auto aside = path;
  aside += ".part" + std::to_string(::getpid());
  File file(std::fopen(aside.c_str(), "wb"));
  if (!file) fail(path, "cannot be written (" + reason(errno) + ")");
  try {
    write_all(file.get(), shape, data, type, path);
    if (std::fclose(file.release()) != 0) fail(path, "cannot be written (" + reason(errno) + ")");
    std::error_code error;
    std::filesystem::rename(aside, path, error);
    if (error) fail(path, "cannot be written (" + error.message() + ")");
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw;
  }
}

std::uint16_t half_bits(double value) {
  auto const sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  auto const with_sign = [&](long bits) { return static_cast<std::uint16_t>(sign | bits); };
  double const magnitude = std::fabs(value);
  if (std::isnan(value)) return with_sign(0x7e00);
  if (magnitude >= 65536) return with_sign(0x7c00);
  if (magnitude == 0) return with_sign(0);
  // In units of its last place a normal number is 1024 ... 2047; numbers below 2^-14 share the unit 2^-24.
  int const exponent = std::max(std::ilogb(magnitude), -14);
  double const scaled = std::ldexp(magnitude, 10 - exponent);
  auto units = static_cast<long>(scaled);
  double const rest = scaled - static_cast<double>(units);
  if (rest > 0.5 || (rest == 0.5 && units % 2 != 0)) ++units;
  // The implicit bit of units, and a carry out of it, add one to the exponent field.
  return with_sign((exponent + 14L) * 1024 + units);
}

double half_value(std::uint16_t bits) {
  int const exponent = bits >> 10 & 0x1f;
  int const fraction = bits & 0x3ff;
  double magnitude = std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0) magnitude = std::ldexp(fraction, -24);
  if (exponent == 0x1f)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::string to_string(std::vector<std::int64_t> const& shape) {
  std::string result;
  for (auto const extent : shape) result += (result.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + result + ")";
}

}  // namespace pssa::npy
