#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Times pssa's forward scan beside ggml's on one machine, prints the ratios and draws the rates.

    ggml_rivals.py BENCH_TILE GGML_SCAN [--rounds N] [--threads N...] [--out picture.svg]

BENCH_TILE and GGML_SCAN are the programs of the build. The two take turns, and each keeps the best of its rounds, a round being the median of its runs,
since what else a machine does only ever adds. Float; ggml's time has the softplus of delta, which pssa's has not.
"""
import argparse
import json
import os
import subprocess
import tempfile

AT = (1, 512, 256, 16)
SWEEPS = {  # what varies: the shapes
    "length": [(1, n, 256, 16) for n in (16, 64, 256, 1024, 4096)],
    "channels": [(1, 512, n, 16) for n in (16, 32, 100, 256, 1536)],
    "state": [(1, 512, 256, n) for n in (1, 4, 8, 16, 17, 64)],
}
AXIS = {"length": 1, "channels": 2, "state": 3}
COLORS = {"pssa": "#c0392b", "ggml": "#2a7fb8"}


def pssa(program, shape, threads):
    """Seconds, the median of one run of the program."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, *map(str, shape), "float", "--benchmark_filter=^scan_forward/kernel:0/chunks:0/",
                        "--benchmark_out=" + out.name, "--benchmark_out_format=json"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        runs = json.load(open(out.name, encoding="utf-8"))["benchmarks"]
    return min(run["real_time"] for run in runs) * 1e-6


def ggml(program, shape, threads):
    line = subprocess.run([program, str(threads), ",".join(map(str, shape))], check=True, capture_output=True, text=True)
    return float(line.stdout.split()[3]) * 1e-6


def measure(options, shape, threads):
    """1e9 states a second: {rival: rate}."""
    seconds = {"pssa": [], "ggml": []}
    for _ in range(options.rounds):
        seconds["pssa"].append(pssa(options.bench_tile, shape, threads))
        seconds["ggml"].append(ggml(options.ggml_scan, shape, threads))
    states = shape[0] * shape[1] * shape[2] * shape[3]
    rates = {name: states / min(times) * 1e-9 for name, times in seconds.items()}
    print(f"| {', '.join(map(str, shape))} | {threads} | {rates['pssa']:.2f} | {rates['ggml']:.3f} | "
          f"{rates['pssa'] / rates['ggml']:.1f} |", flush=True)
    return rates


def draw(panels, path):
    """Panels of [(label, {rival: rate})], rates on one axis from 0."""
    width, height, top, left = 230, 190, 34, 46
    most = max(rates["pssa"] for points in panels.values() for _, rates in points) * 1.1
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width * len(panels)} {height + 80}" '
           'font-family="sans-serif" font-size="12" role="img" aria-label="States per second of pssa and of ggml">',
           "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->",
           "<!-- SPDX-FileCopyrightText: The pssa authors -->", '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="14">1e9 states a second, forward, float: '
           + ", ".join(f'<tspan fill="{color}">{name}</tspan>' for name, color in COLORS.items()) + "</text>"]
    for place, (title, points) in enumerate(panels.items()):
        x0 = left + place * width
        at = lambda i: x0 + 14 + i * (width - 46) / max(1, len(points) - 1)
        up = lambda rate: top + height - rate / most * height
        out.append(f'<path d="M{x0} {top}V{top + height}H{x0 + width - 20}" fill="none" stroke="#888"/>')
        out.append(f'<text x="{x0 + width / 2 - 10}" y="{top + height + 36}" text-anchor="middle">{title}</text>')
        for tick in range(int(most) + 1):
            out.append(f'<text x="{x0 - 4}" y="{up(tick) + 4}" text-anchor="end">{tick}</text>')
        for i, (label, _) in enumerate(points):
            out.append(f'<text x="{at(i)}" y="{top + height + 18}" text-anchor="middle">{label}</text>')
        for name, color in COLORS.items():
            line = " ".join(f"{at(i):.1f},{up(rates[name]):.1f}" for i, (_, rates) in enumerate(points))
            out.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
            out += [f'<circle cx="{at(i):.1f}" cy="{up(rates[name]):.1f}" r="3" fill="{color}"/>'
                    for i, (_, rates) in enumerate(points)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>\n"]))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench_tile")
parser.add_argument("ggml_scan")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
parser.add_argument("--out")
options = parser.parse_args()
print("| (batch, length, channels, state) | threads | pssa, 1e9 states/s | ggml | pssa / ggml |\n|---|---|---|---|---|")
results = {title: [(shape[AXIS[title]], measure(options, shape, 1)) for shape in shapes]
           for title, shapes in SWEEPS.items()}
results["threads"] = [(threads, measure(options, (1, 2048, 1536, 16), threads)) for threads in options.threads]
if options.out:
    draw(results, options.out)
