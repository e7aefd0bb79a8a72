#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Draws the times of bench_scan and of its rivals against the bound of an H200, as an SVG.

    plot.py results.json rivals.json picture.svg

A row a shape, in float: how many times the bound (bytes / 4.27 TB/s or exponentials / 4.16e12 a second, whichever is
longer) each takes, on a logarithmic axis. results.json is bench_scan's, rivals.json that of rivals/torch_rivals.py.
"""
import json
import math
import sys

SERIES = [("pssa", "#c0392b"), ("mamba", "#2a7fb8"), ("triton", "#8a97a5")]
NAMES = {"pssa": "pssa", "mamba": "Mamba's CUDA kernels", "triton": "Triton kernel"}
PANEL, LEFT, ROW, TOP = 300, 190, 22, 60
LOW, HIGH = 1, 1000


def bound(operation, shape):
    """Microseconds, as bench_scan's bound_ratio has it."""
    batch, length, channels, state = shape
    wide, narrow = batch * length * channels, batch * length * state
    ends, rates = batch * channels * state, channels * state
    backward = operation == "scan_backward"
    numbers = 5 * wide + 4 * narrow + 2 * ends + 2 * rates if backward else 3 * wide + 2 * narrow + 2 * ends + rates
    return max(4 * numbers / 4.27e12, wide * state / 4.16e12) * 1e6


def read(results, rivals):
    """{(operation, shape): {series: microseconds}}; a graph's times where there are any, since the rivals' are."""
    times = {}
    with open(rivals, encoding="utf-8") as file:
        for entry in json.load(file):
            if entry["type"] == "float":
                times.setdefault((entry["operation"], tuple(entry["shape"])), {})[entry["rival"]] = entry["us"]
    with open(results, encoding="utf-8") as file:
        entries = json.load(file)["benchmarks"]
    for entry in sorted(entries, key=lambda entry: "_graph" in entry["name"]):
        operation, rest = entry["name"].split("<")
        kind, sizes = rest.split(">/")
        shape = tuple(int(part.split(":")[1]) for part in sizes.split("/")[:4])
        key = operation.removesuffix("_graph"), shape
        if kind == "float" and key in times:
            times[key]["pssa"] = entry["real_time"]
    return times


def draw(times):
    shapes = list(dict.fromkeys(shape for _, shape in times))
    width, height = LEFT + 2 * PANEL + 60, TOP + ROW * len(shapes) + 50
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12" role="img" '
           'aria-label="Times the bound of an H200 that each implementation takes, shape by shape">',
           "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
           "<!-- SPDX-FileCopyrightText: The pssa authors -->",
           f'<rect width="{width}" height="{height}" fill="white"/>']

    def text(x, y, words, anchor="start", extra=""):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>{words}</text>')

    x = LEFT
    for name, colour in SERIES:
        out.append(f'<circle cx="{x}" cy="16" r="5" fill="{colour}"/>')
        text(x + 10, 20, NAMES[name])
        x += 40 + 7 * len(NAMES[name])
    text(LEFT - 10, TOP - 12, "batch, length, channels, state", "end", 'font-size="10"')
    for row, shape in enumerate(shapes):
        text(LEFT - 10, TOP + ROW * (row + 0.7), ", ".join(map(str, shape)), "end")
    for panel, operation in enumerate(("scan_forward", "scan_backward")):
        left = LEFT + panel * (PANEL + 30)

        def place(ratio):
            return left + PANEL * math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)

        text(left + PANEL / 2, TOP - 12, operation[5:] + ", times the bound", "middle", 'font-weight="bold"')
        for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
            strong = tick in (1, 10, 100, 1000)
            out.append(f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{TOP}" y2="{TOP + ROW * len(shapes)}" '
                       f'stroke="{"#999" if strong else "#e4e4e4"}"/>')
            if strong:
                text(place(tick), TOP + ROW * len(shapes) + 16, tick, "middle")
        for row, shape in enumerate(shapes):
            y = TOP + ROW * (row + 0.55)
            for name, colour in SERIES[::-1]:
                time = times.get((operation, shape), {}).get(name)
                if time is not None:
                    out.append(f'<circle cx="{place(time / bound(operation, shape)):.1f}" cy="{y:.1f}" r="5" '
                               f'fill="{colour}"><title>{NAMES[name]}: {time:.1f} us</title></circle>')
    text(LEFT, height - 10, "float, one H200; beyond 1000 at the edge; further left is faster", extra='font-size="10"')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    picture = draw(read(sys.argv[1], sys.argv[2]))
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
