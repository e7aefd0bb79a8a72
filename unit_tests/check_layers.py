#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Holds the floors of the house: an include may only point down.

    check_layers.py PROJECT_DIR
"""
import os
import re
import sys

# From the ground up. A header may include what stands above it in this table: earlier floors, and earlier on its own.
HEADERS = [
    "impl/export.hpp types.hpp version.hpp impl/tensor.hpp",  # F0 ground
    "impl/call.hpp impl/check.hpp",  # F1 preconditions and error texts
    "tape.hpp",  # F2
    "impl/dispatch.hpp",  # F3 all that the front door sees of the kernels
    "reference.hpp scan.hpp",  # F4 front door
    "pssa.hpp",  # umbrella
]
# The same for src, with the highest header of pssa that a file of that floor may include.
SOURCES = [
    ("ground.hpp exponential.hpp pack.hpp host.hpp", "impl/export.hpp"),
    ("elements.hpp intrinsics.hpp tile.hpp", "impl/call.hpp"),
    ("block.hpp recurrence.hpp registers.hpp segments.hpp", "impl/call.hpp"),
    ("host_walk.hpp host_scan.hpp host_sweep.hpp host_table.hpp", "impl/export.hpp"),  # for every instruction set
    ("ends.hpp", "impl/call.hpp"),
    ("walk.hpp", "impl/call.hpp"),
    ("forward_walk.hpp backward_walk.hpp ends_walk.hpp", "impl/call.hpp"),  # one team, one segment
    ("exchange.hpp forward_relay.hpp backward_relay.hpp forward_step.hpp", "impl/call.hpp"),  # the same, its warps side by side in time, or one token
    ("team.hpp", "impl/call.hpp"),
    ("forward_kernel.hpp backward_kernel.hpp ends_kernel.hpp carry_kernel.hpp reduce_kernel.hpp host_kernel.hpp", "impl/call.hpp"),  # never check, never choose
    ("host_choice.hpp launch.hpp host_launch.hpp forward_dispatch.hpp backward_dispatch.hpp", "impl/dispatch.hpp"),
]
SOURCE_CEILING = "reference.hpp"  # of a .cpp in src: not the front door
ROOMS = "unit_tests tools perf_tests examples".split()  # what uses the library
INTERNALS_ALLOWED = ["unit_tests"]

SKIPPED = re.compile(r"^(build|out|\..*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)

faults = []


def read(path):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        return file.read()


def files():
    for folder, folders, names in os.walk(project):
        folders[:] = sorted(f for f in folders if not SKIPPED.match(f))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), project).replace(os.sep, "/")


def check_header(name):
    if name not in height:
        return faults.append(f"include/pssa/{name} has no floor, expected a place in HEADERS of check_layers.py")
    for kind, target in INCLUDE.findall(read("include/pssa/" + name)):
        if kind == '"':
            faults.append(f'include/pssa/{name} includes "{target}", expected <pssa/...>: src and the rest are above it')
        elif target.startswith("pssa/"):
            below = target[len("pssa/"):]
            if height.get(below, len(height)) >= height[name]:
                faults.append(f"include/pssa/{name} includes <{target}>, expected only headers below it")


def check_source(name):
    if name.endswith(".hpp") and name not in source_height:
        return faults.append(f"src/{name} has no floor, expected a place in SOURCES of check_layers.py")
    mine, ceiling = source_height.get(name, (len(source_height), SOURCE_CEILING))
    for kind, target in INCLUDE.findall(read("src/" + name)):
        if kind == '"':
            if source_height.get(target, (len(source_height), None))[0] >= mine:
                faults.append(f'src/{name} includes "{target}", expected only headers of src below it')
        elif target.startswith("pssa/") and height.get(target[len("pssa/"):], len(height)) > height[ceiling]:
            faults.append(f"src/{name} includes <{target}>, expected nothing above pssa/{ceiling}")


def check_room(path):
    for _, target in INCLUDE.findall(read(path)):
        if "src/" in target:
            faults.append(f"{path} includes {target}, expected public headers of pssa: src is the library's own")
        if target.startswith("pssa/impl/") and path.split("/")[0] not in INTERNALS_ALLOWED:
            faults.append(f"{path} includes <{target}>, expected public headers of pssa")


project = os.path.abspath(sys.argv[1])
height = {name: i for i, name in enumerate(" ".join(HEADERS).split())}
source_height = {}
for row, ceiling_of_row in SOURCES:
    for source in row.split():
        source_height[source] = (len(source_height), ceiling_of_row)

seen = 0
for path in files():
    seen += path.endswith((".hpp", ".cpp"))
    if path.startswith("include/pssa/") and path.endswith(".hpp"):
        check_header(path[len("include/pssa/"):])
    elif path.startswith("src/") and path.endswith((".hpp", ".cpp")):
        check_source(path[len("src/"):])
    elif path.split("/")[0] in ROOMS and path.endswith((".hpp", ".cpp")):
        check_room(path)

for fault in faults:
    print(fault)
print(f"{seen} files, {len(faults)} faults")
sys.exit(1 if faults or not seen else 0)
