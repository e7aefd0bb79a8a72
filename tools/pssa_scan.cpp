// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
#include "arguments.hpp"
#include "npy.hpp"
#include "replay.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

namespace {

using namespace pssa::tools;
using pssa::npy::to_string;

constexpr char const* help = R"(Replays a scan whose tensors were saved by NumPy or PyTorch, and times it.

  pssa_scan CASE_DIR [options]

CASE_DIR holds .npy files of '<f2', '<f4' or '<f8':
  x.npy, delta.npy            (batch, length, channels)
  b.npy, c.npy                (batch, length, state)
  A.npy                       (channels, state)
  h0.npy, optional            (batch, channels, state)
and with --backward:
  dy.npy                      (batch, length, channels)
  dhT.npy, optional           (batch, channels, state)

Options:
  --backward        also compute the gradients
  --type NAME       element type: float (default), double, half or bfloat16; the files' values are rounded to it
  --backend NAME    one of Kokkos' enabled backends, in any case (default: Kokkos' default execution space)
  --chunk N         N tokens at a time, carrying the state in place (default: all at once); the results are the same
  --time-chunks N   cut each call's length into at most N chunks that run side by side (default: chosen; 1: no cut)
  --out DIR         write y.npy, hT.npy and with --backward dx.npy, ddelta.npy, db.npy, dc.npy, dA.npy, dh0.npy:
                    '<f8' for --type double, else '<f4'
  --check           compare with the files of those names in CASE_DIR
  --help            print this text
  --kokkos-...      Kokkos' own options

Times are the median of 5 runs after one that is not counted. Tokens are batch * length; states are batch * length *
channels * state. Exit status: 0 done, 1 a check failed, 2 bad input or usage.
)";

/// Bad input or usage: one sentence.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Options {
  std::filesystem::path case_dir;
  std::filesystem::path out;
  std::string type = "float";
  std::string backend = Kokkos::DefaultExecutionSpace::name();
  std::int64_t chunk = 0;  ///< 0: all at once
  int time_chunks = 0;     ///< ScanOptions::time_chunks
  bool backward = false;
  bool check = false;
  bool help = false;
};

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string joined(std::vector<std::string> const& words, char const* last) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i)
    result += (i == 0 ? "" : i + 1 == words.size() ? last : ", ") + words[i];
  return result;
}

/// A number of what, from 1 to the most that Number holds.
template <class Number>
Number positive(std::string const& option, std::string const& text, std::string const& what) {
  Number value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1)
    throw Failure(option + " is '" + text + "', expected a whole number of " + what + ", at least 1");
  return value;
}

std::string const& folder(std::string const& option, std::string const& text) {
  if (text.empty()) throw Failure(option + " is empty, expected a folder");
  return text;
}

void expect_backend(Options& options) {
  std::vector<std::string> enabled;
  for_each_backend([&](auto space) { enabled.push_back(decltype(space)::type::name()); });
  for (auto const& name : enabled)
    if (lower(name) == lower(options.backend)) {
      options.backend = name;
      return;
    }
  throw Failure("--backend is '" + options.backend + "', expected an enabled one: " + joined(enabled, " or "));
}

void expect_type(Options const& options) {
  std::vector<std::string> built;
  for_each_element_type([&](auto, char const* name, Precision const&) { built.push_back(name); });
  if (std::find(built.begin(), built.end(), options.type) != built.end()) return;
  bool const is_known = options.type == "half" || options.type == "bfloat16";
  throw Failure("--type is '" + options.type + "', " + (is_known ? "which this Kokkos has only as float, " : "") +
                "expected " + joined(built, " or "));
}

/// Reads and checks the command line, Kokkos' own arguments apart.
Options parse(std::vector<std::string> const& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto const& argument = arguments[i];
    auto const value = [&]() -> std::string const& {
      if (i + 1 == arguments.size() || arguments[i + 1].rfind("--", 0) == 0)
        throw Failure(argument + " has no value, expected one after it");
      return arguments[++i];
    };
    if (argument == "--help")
      options.help = true;
    else if (argument == "--backward")
      options.backward = true;
    else if (argument == "--check")
      options.check = true;
    else if (argument == "--out")
      options.out = folder("--out", value());
    else if (argument == "--type")
      options.type = value();
    else if (argument == "--backend")
      options.backend = value();
    else if (argument == "--chunk")
      options.chunk = positive<std::int64_t>("--chunk", value(), "tokens");
    else if (argument == "--time-chunks")
      options.time_chunks = positive<int>("--time-chunks", value(), "chunks");
    else if (argument.rfind("-", 0) == 0)
      throw Failure("unknown option '" + argument + "', expected one that pssa_scan --help lists");
    else if (!options.case_dir.empty())
      throw Failure("unexpected argument '" + argument + "' after CASE_DIR '" + options.case_dir.string() + "'");
    else
      options.case_dir = argument;
  }
  if (options.help) return options;
  if (options.case_dir.empty()) throw Failure("CASE_DIR is missing, expected pssa_scan CASE_DIR [options]");
  if (!std::filesystem::is_directory(options.case_dir))
    throw Failure(options.case_dir.string() + " is not a folder, expected one with x.npy, delta.npy, ...");
  expect_backend(options);
  expect_type(options);
  if (options.out.empty()) return options;
  if (std::filesystem::exists(options.out) && !std::filesystem::is_directory(options.out))
    throw Failure("--out is " + options.out.string() + ", which is not a folder");
  std::error_code ignored;
  if (std::filesystem::equivalent(options.out, options.case_dir, ignored))
    throw Failure("--out is CASE_DIR itself, expected another folder, so that nothing there is overwritten");
  return options;
}

/// The tensors that CASE_DIR holds.
struct Case {
  Sizes sizes;
  Tensors inputs;    ///< and cotangents
  Tensors expected;  ///< those of the results that are there
  double expected_unit = 0;  ///< coarsest rounding among the expected files
};

std::filesystem::path file_of(Options const& options, std::string const& name) {
  return options.case_dir / (name + ".npy");
}

bool is_there(std::filesystem::path const& path) {
  return std::filesystem::symlink_status(path).type() != std::filesystem::file_type::not_found;
}

void expect_shape(std::string const& name, std::vector<std::int64_t> const& shape, Sizes const& sizes) {
  auto const axes = axes_of(name);
  auto const expected = shape_of(axes, sizes);
  if (shape != expected)
    throw Failure(name + ".npy has shape " + to_string(shape) + ", expected " + axes_text(axes) + " = " +
                  to_string(expected));
}

void expect_rank(std::string const& name, Tensor const& tensor, std::size_t rank) {
  if (tensor.shape.size() != rank)
    throw Failure(name + ".npy has shape " + to_string(tensor.shape) + ", expected " + axes_text(axes_of(name)));
}

Case load(Options const& options) {
  Case result;
  auto names = input_names;
  if (options.backward) names.insert(names.end(), cotangent_names.begin(), cotangent_names.end());
  for (auto const& name : names) {
    bool const is_optional = name == "h0" || name == "dhT";
    if (is_optional && !is_there(file_of(options, name))) continue;
    auto array = pssa::npy::read(file_of(options, name));
    result.inputs[name] = {std::move(array.shape), std::move(array.data)};
  }
  auto const& x = result.inputs["x"];
  auto const& A = result.inputs["A"];
  expect_rank("x", x, 3);
  expect_rank("A", A, 2);
  result.sizes = {x.shape[0], x.shape[1], x.shape[2], A.shape[1]};
  if (result.sizes.state < 1)
    throw Failure("A.npy has shape " + to_string(A.shape) + ", expected (channels, state) with a state of at least 1");
  for (auto const& name : names)
    if (result.inputs.count(name) != 0) expect_shape(name, result.inputs[name].shape, result.sizes);

  if (!options.check) return result;
  auto results = output_names;
  if (options.backward) results.insert(results.end(), gradient_names.begin(), gradient_names.end());
  for (auto const& name : results) {
    if (!is_there(file_of(options, name))) continue;
    auto array = pssa::npy::read(file_of(options, name));
    expect_shape(name, array.shape, result.sizes);
    result.expected[name] = {std::move(array.shape), std::move(array.data)};
    auto const& stored = array.type == pssa::npy::Type::float16   ? precision_of_half
                         : array.type == pssa::npy::Type::float32 ? precision_of_float
                                                                  : precision_of_double;
    result.expected_unit = std::max(result.expected_unit, stored.unit);
  }
  if (result.expected.empty())
    throw Failure("--check found none of the expected tensors in " + options.case_dir.string() + ", expected " +
                  joined(results, " or ") + " as .npy files");
  return result;
}

/// Milliseconds of one run: the median of five after one that is not counted.
template <class Runner, class Run>
double milliseconds(Runner const& runner, Run&& run) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    runner.fence();
    Kokkos::Timer const timer;
    run();
    runner.fence();
    times.push_back(1e3 * timer.seconds());
  }
  std::sort(times.begin() + 1, times.end());
  return times[3];
}

void print_time(char const* what, double time, Sizes const& sizes) {
  auto const tokens = static_cast<double>(sizes.batch) * static_cast<double>(sizes.length);
  auto const states = tokens * static_cast<double>(sizes.channels) * static_cast<double>(sizes.state);
  std::printf("%-18s %10.4f %12.4g %12.4g\n", what, time, 1e3 * tokens / time, 1e3 * states / time);
}

/// Runs and times what the options ask for; returns the results.
template <class T, class ExecutionSpace>
Tensors run(Options const& options, Case const& given) {
  Replay<T, ExecutionSpace> replay(given.inputs, given.sizes, options.chunk, {.time_chunks = options.time_chunks});
  std::printf("%-18s %10s %12s %12s\n", "", "ms", "tokens/s", "states/s");
  print_time("forward", milliseconds(replay, [&] { replay.forward(); }), given.sizes);
  auto results = replay.outputs();
  if (!options.backward) return results;
  print_time("forward with tape", milliseconds(replay, [&] { replay.forward_with_tape(); }), given.sizes);
  print_time("backward", milliseconds(replay, [&] { replay.backward(); }), given.sizes);
  results = replay.outputs();
  results.merge(replay.gradients());
  return results;
}

/// Compares with the expected tensors and prints one line each; true when all are within their bounds.
template <class T>
bool check(Case const& given, Tensors const& results, Precision const& element) {
  Roundings const roundings{element, precision_of_sums<T>(), given.expected_unit,
                            largest_change(rounded<T>(given.inputs), given.inputs), least_decay(given.inputs)};
  std::printf("\n%-7s %9s %9s   (largest error, relative to its channel's largest value)\n", "", "error", "bound");
  bool all_within = true;
  auto names = output_names;
  names.insert(names.end(), gradient_names.begin(), gradient_names.end());
  for (auto const& name : names) {
    if (results.count(name) == 0) continue;
    if (given.expected.count(name) == 0) {
      std::printf("%-7s not checked: CASE_DIR has no %s.npy\n", name.c_str(), name.c_str());
      continue;
    }
    auto const axes = axes_of(name);
    auto const& type = is_of_element_type(axes) ? roundings.element : roundings.sums;
    auto const error = largest_error(results.at(name), given.expected.at(name), axes, type, roundings.sums);
    auto const bound = error_bound(name, given.sizes, roundings);
    std::printf("%-7s %9.1e %9.1e   %s\n", name.c_str(), error, bound, error <= bound ? "ok" : "FAIL");
    all_within = all_within && error <= bound;
  }
  return all_within;
}

void write(Options const& options, Tensors const& results) {
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) throw Failure("--out is " + options.out.string() + ", which cannot be made (" + error.message() + ")");
  auto const type = options.type == "double" ? pssa::npy::Type::float64 : pssa::npy::Type::float32;
  for (auto const& [name, tensor] : results)
    pssa::npy::write(options.out / (name + ".npy"), tensor.shape, tensor.data, type);
}

/// Replays the case with the chosen element type on the chosen backend; false when a check failed.
bool replay(Options const& options, Case const& given) {
  bool passed = true;
  for_each_element_type([&](auto element, char const* type, Precision const& precision) {
    if (options.type != type) return;
    using T = typename decltype(element)::type;
    auto const [batch, length, channels, state] = given.sizes;
    std::printf("batch %lld, length %lld, channels %lld, state %lld: %s on %s", static_cast<long long>(batch),
                static_cast<long long>(length), static_cast<long long>(channels), static_cast<long long>(state), type,
                options.backend.c_str());
    if (options.chunk != 0) std::printf(", %lld tokens at a time", static_cast<long long>(options.chunk));
    std::printf("\n\n");
    Tensors results;
    for_each_backend([&](auto space) {
      using ExecutionSpace = typename decltype(space)::type;
      if (options.backend == ExecutionSpace::name()) results = run<T, ExecutionSpace>(options, given);
    });
    if (options.check) passed = check<T>(given, results, precision);
    if (!options.out.empty()) write(options, results);
  });
  return passed;
}

int fail(std::string const& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "pssa_scan: %s\n", what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char* argv[]) try {
  KokkosArguments kokkos_arguments(argc, argv);
  auto const options = parse(kokkos_arguments.others());
  if (options.help) {
    std::fputs(help, stdout);
    return 0;
  }
  auto const given = load(options);
  Kokkos::ScopeGuard const kokkos(kokkos_arguments.argc(), kokkos_arguments.argv());
  return replay(options, given) ? 0 : 1;
} catch (std::bad_alloc const&) {
  return fail("not enough memory for this case");
} catch (std::exception const& error) {
  return fail(error.what());
}
