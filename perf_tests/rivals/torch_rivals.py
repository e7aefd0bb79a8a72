#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Times the scans that run under PyTorch, and prints their ratios to pssa's times of the same machine.

    bench_scan --benchmark_filter='<(float|bhalf_t)>/' --benchmark_out=results.json --benchmark_out_format=json
    torch_rivals.py results.json [--triton FILE] [--out rivals.json]

Rivals: Mamba's CUDA extension where selective_scan_cuda is importable, in float and bfloat16; and the Triton kernels of a
Python FILE that has scan_fwd and scan_bwd, as the one that pssa grew out of. What is missing is named and left out.

A time is the median of 15 launches by CUDA events, after 256 MiB were written to empty the L2 cache and while the GPU
is still busy with that, so that the host's launch costs are hidden; at the smallest shapes, of 20 calls in a CUDA graph.
Triton's sums are zeroed and Mamba's outputs allocated within the time. A rival that breaks the CUDA context fails at all
shapes after that; they come by rising state.
"""
import argparse
import importlib.util
import json
import statistics
import sys

import torch

COLD = [(8, 2048, 2048, 16), (8, 2048, 5120, 16), (64, 512, 768, 16), (1, 2048, 1536, 16), (1, 65536, 1536, 16),
        (8, 2048, 2048, 64), (2, 4096, 4096, 128), (256, 1, 5120, 16)]
GRAPH = [(1, 64, 256, 16), (1, 512, 256, 16), (8, 512, 256, 16), (1, 4096, 256, 16)]
DTYPES = {"float": torch.float32, "bhalf_t": torch.bfloat16}


def cold(call):
    """Microseconds of one call on a cold cache."""
    trash = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    call()
    torch.cuda.synchronize()
    times = []
    for _ in range(15):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for fill in range(8):  # as long as the host needs to launch the call
            trash.fill_(fill)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def graph(call, copies=20):
    """Microseconds of one of the calls in a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    recording = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recording, stream=stream):
        for _ in range(copies):
            call()
    recording.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(15):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        recording.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / copies)
    return statistics.median(times)


def tensors(shape, dtype):
    batch, length, channels, state = shape
    generator = torch.Generator(device="cuda").manual_seed(1)

    def uniform(low, high, *size, dtype=dtype):
        return (torch.rand(*size, device="cuda", generator=generator) * (high - low) + low).to(dtype)

    wide, narrow = (batch, length, channels), (batch, length, state)
    return {"x": uniform(-1, 1, *wide), "delta": uniform(1e-3, 0.1, *wide), "dy": uniform(-1, 1, *wide),
            "b": uniform(-1, 1, *narrow), "c": uniform(-1, 1, *narrow),
            "A": uniform(-8, -0.5, channels, state, dtype=torch.float32),
            "h0": uniform(-1, 1, batch, channels, state, dtype=torch.float32)}


def mamba_calls(extension, given):
    """Forward and backward call. Its tensors are (batch, channels, length); it has no h0."""
    wide = {name: given[name].transpose(1, 2).contiguous() for name in ("x", "delta", "dy")}
    narrow = {name: given[name].transpose(1, 2).unsqueeze(1).contiguous() for name in ("b", "c")}
    arguments = (wide["x"], wide["delta"], given["A"], narrow["b"], narrow["c"], None, None, None)

    def forward():
        return extension.fwd(*arguments, False)

    out, kept = forward()[:2]
    return forward, lambda: extension.bwd(*arguments, wide["dy"], kept, out, None, False, False)


def triton_calls(module, given):
    batch, length, channels = given["x"].shape
    state = given["A"].shape[1]
    inputs = [given[name] for name in ("x", "delta", "b", "c", "A")]
    new = lambda *size: torch.empty(*size, device="cuda")
    y, hT, H = new(batch, length, channels), new(batch, channels, state), new(batch, length, channels, state)
    sizes = {"T": length, "D": channels, "DS": state, "BD": 16}
    teams = (batch, -(-channels // 16))
    gradients = [torch.empty_like(given[name]) for name in ("h0", "x", "delta", "b", "c", "A")]

    def forward():
        module.scan_fwd[teams](*inputs, given["h0"], y, hT, H, **sizes)

    def backward():
        for sum_of_parts in gradients[3:]:
            sum_of_parts.zero_()
        module.scan_bwd[teams](given["dy"], *inputs, H, given["h0"], *gradients, **sizes)

    forward()
    return forward, backward


def load(path):
    spec = importlib.util.spec_from_file_location("triton_scan", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["triton_scan"] = module
    spec.loader.exec_module(module)
    return module


def pssa_times(path):
    """{(operation, type, shape, in a graph): microseconds} of bench_scan's JSON."""
    result = {}
    with open(path, encoding="utf-8") as file:
        for entry in json.load(file)["benchmarks"]:
            operation, rest = entry["name"].split("<")
            kind, sizes = rest.split(">/")
            shape = tuple(int(part.split(":")[1]) for part in sizes.split("/")[:4])
            in_graph = operation.endswith("_graph")
            result[operation.removesuffix("_graph"), kind, shape, in_graph] = entry["real_time"]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("results", help="bench_scan's JSON")
    parser.add_argument("--triton", help="Python file with scan_fwd and scan_bwd")
    parser.add_argument("--out", help="write the rivals' times as JSON")
    arguments = parser.parse_args()
    ours = pssa_times(arguments.results)
    rivals = {}
    try:
        import selective_scan_cuda
        rivals["mamba"] = (lambda given: mamba_calls(selective_scan_cuda, given), ("float", "bhalf_t"))
    except ImportError as error:
        print(f"Mamba is left out: {error}")
    if arguments.triton:
        module = load(arguments.triton)
        rivals["triton"] = (lambda given: triton_calls(module, given), ("float",))

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds, and how often pssa's time")
    times = []
    for name, (calls, kinds) in rivals.items():
        for shape in sorted(COLD + GRAPH, key=lambda shape: shape[3]):
            timer = graph if shape in GRAPH else cold
            for kind in kinds:
                row = f"{name:6} {kind:7} {str(shape):24}"
                try:
                    pair = calls(tensors(shape, DTYPES[kind]))
                    for operation, call in zip(("scan_forward", "scan_backward"), pair):
                        time = timer(call)
                        times.append({"rival": name, "operation": operation, "type": kind, "shape": shape, "us": time})
                        own = ours.get((operation, kind, shape, shape in GRAPH))
                        row += f"  {operation[5:]} {time:9.1f}" + (f" = {time / own:6.2f} x {own:8.1f}" if own else "")
                except RuntimeError as error:  # the memory does not suffice, or the rival fails at this shape
                    row += "  " + str(error).split("\n")[0][:60]
                print(row, flush=True)
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            json.dump(times, file, indent=1)


if __name__ == "__main__":
    main()
