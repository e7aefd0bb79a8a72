// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SPDX-FileCopyrightText: The pssa authors
//
// A signal of any length, a chunk at a time, the state carried in place: how a text shouts.
//
//     streaming TEXT_FILE PLOT.svg
//
// Three channels remember the last 20, 200 and 2000 characters, more or less: each is the share of capitals among them,
// the more recent ones counting more. The plot shows all three along the text.
#include <pssa/scan.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using T = double;  // float would do; in double the plot is the same to the last digit on every machine
using Sequence = Kokkos::View<T***>;

constexpr int chunk = 512, channels = 3;
constexpr double memory[channels] = {20, 200, 2000};  // characters

using Curve = std::vector<double>;

/// Draws the curves over the characters, from 0 to 1, as lines of one SVG file.
bool plot(std::string const& path, std::vector<Curve> const& curves) {
  constexpr double left = 75, top = 20, width = 705, height = 260, bottom = top + height;
  char const* const colours[channels] = {"#8a97a5", "#2a7fb8", "#c0392b"};
  auto const count = static_cast<double>(curves[0].size());
  std::ofstream out(path);
  char line[200];
  auto const text = [&](double x, double y, char const* anchor, std::string const& words, char const* colour) {
    std::snprintf(line, sizeof line, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor,
                  colour);
    out << line << words << "</text>\n";
  };
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 350\" font-family=\"sans-serif\" "
         "font-size=\"18\">\n<rect width=\"800\" height=\"350\" fill=\"#ffffff\"/>\n";
  for (int percent = 0; percent <= 100; percent += 25) {
    double const y = bottom - height * percent / 100;
    std::snprintf(line, sizeof line, "<path d=\"M%.0f %.0fH%.0f\" stroke=\"#dddddd\"/>\n", left, y, left + width);
    out << line;
    text(left - 6, y + 6, "end", std::to_string(percent) + " %", "#333333");
  }
  for (int k = 0; k <= static_cast<int>(count) / 2000; ++k)
    text(left + width * 2000 * k / count, bottom + 24, "middle", std::to_string(2000 * k), "#333333");
  text(left, bottom + 54, "start", "capitals, with a memory of", "#333333");
  text(left + 465, bottom + 54, "start", "characters", "#333333");
  for (int d = 0; d < channels; ++d) {
    text(left + 260 + 65 * d, bottom + 54, "start", std::to_string(static_cast<int>(memory[d])), colours[d]);
    out << "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"" << colours[d] << "\" d=\"";
    for (std::size_t i = 0; i < curves[0].size(); i += 8) {
      std::snprintf(line, sizeof line, "%c%.1f %.1f", i == 0 ? 'M' : 'L',
                    left + width * static_cast<double>(i) / count,
                    bottom - height * curves[static_cast<std::size_t>(d)][i]);
      out << line;
    }
    out << "\"/>\n";
  }
  out << "</svg>\n";
  out.close();
  return !out.fail();
}

/// The share of capitals along the text, in pieces of so many characters, for every memory.
std::vector<Curve> shares(std::string const& text, int piece) {
  Kokkos::View<T**> const A("A", channels, 1);
  auto const host_A = Kokkos::create_mirror_view(A);
  for (int d = 0; d < channels; ++d) host_A(d, 0) = -1 / memory[d];
  Kokkos::deep_copy(A, host_A);
  Sequence const x("x", 1, piece, channels), y("y", 1, piece, channels);
  Sequence const delta("delta", 1, piece, channels), one("b and c", 1, piece, 1);
  Kokkos::deep_copy(delta, 1.0);  // a character is one unit of time
  Kokkos::deep_copy(one, 1.0);
  Sequence const h("h", 1, channels, 1);  // zero: nothing is remembered yet
  auto const host_x = Kokkos::create_mirror_view(x);
  auto const host_y = Kokkos::create_mirror_view(y);

  std::vector<Curve> curves(channels);
  for (std::size_t begin = 0; begin < text.size(); begin += static_cast<std::size_t>(piece)) {
    auto const size = static_cast<int>(std::min(static_cast<std::size_t>(piece), text.size() - begin));
    for (int t = 0; t < size; ++t) {
      bool const capital = std::isupper(static_cast<unsigned char>(text[begin + static_cast<std::size_t>(t)])) != 0;
      // Scaled so that capitals for ever would give 1.
      for (int d = 0; d < channels; ++d) host_x(0, t, d) = capital ? 1 - std::exp(-1 / memory[d]) : 0;
    }
    Kokkos::deep_copy(x, host_x);
    //! [chunk]
    // The last chunk is shorter: the scan takes the beginnings of the Views as they are.
    auto const first = [&](Sequence const& view) {
      return Kokkos::subview(view, Kokkos::ALL, Kokkos::make_pair(0, size), Kokkos::ALL);
    };
    pssa::scan(pssa::ScanInputs<T>{.x = first(x),
                                   .delta = first(delta),
                                   .b = first(one),
                                   .c = first(one),
                                   .A = A,
                                   .h0 = h},
               pssa::ScanOutputs<T>{.y = first(y), .hT = h});  // the state replaced in place
    //! [chunk]
    Kokkos::deep_copy(host_y, y);
    for (std::size_t d = 0; d < channels; ++d)
      for (int t = 0; t < size; ++t) curves[d].push_back(host_y(0, t, static_cast<int>(d)));
  }
  return curves;
}

int run(std::string const& text_path, std::string const& plot_path) {
  std::ifstream file(text_path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.empty()) {
    std::fprintf(stderr, "streaming: no text can be read from %s\n", text_path.c_str());
    return 2;
  }
  auto const curves = shares(text, chunk);
  auto const whole = shares(text, static_cast<int>(text.size()));

  double difference = 0;
  for (std::size_t d = 0; d < channels; ++d) {
    auto const loudest = std::max_element(curves[d].begin(), curves[d].end()) - curves[d].begin();
    std::printf("memory of %4.0f characters: loudest after character %ld, %.0f %% capitals\n", memory[d],
                static_cast<long>(loudest) + 1, 100 * curves[d][static_cast<std::size_t>(loudest)]);
    for (std::size_t t = 0; t < text.size(); ++t)
      difference = std::max(difference, std::abs(curves[d][t] - whole[d][t]));
  }
  bool const same = difference < 1e-14;  // of shares of at most 1: a few roundings in double
  std::printf("%ld characters in chunks of %d: %s as in one call\n", static_cast<long>(text.size()), chunk,
              same ? "the same" : "not the same");
  if (!plot(plot_path, curves)) {
    std::fprintf(stderr, "streaming: %s cannot be written\n", plot_path.c_str());
    return 2;
  }
  return same ? 0 : 1;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (argc == 3) return run(argv[1], argv[2]);
  std::fprintf(stderr, "usage: streaming TEXT_FILE PLOT.svg\n");
  return 2;
}
