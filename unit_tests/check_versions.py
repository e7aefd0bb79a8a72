#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Holds the places that name the version to that of CMakeLists.txt.

    check_versions.py PROJECT_DIR
"""
import os
import re
import sys

project = sys.argv[1]


def find(path, pattern):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        found = re.search(pattern, file.read(), re.MULTILINE)
    return found.group(1) if found else None


version = find("CMakeLists.txt", r"^  VERSION (\d+\.\d+\.\d+)$")
minor = version.rpartition(".")[0]
faults = [
    f"{path} names {found}, expected {expected}"
    for path, pattern, expected in (
        ("CITATION.cff", r"^version: (\S+)$", version),
        ("CHANGELOG.md", r"^## (\S+?),? ", version),
        ("README.md", r"^Version (\S+), ", version),
        ("README.md", r"find_package\(pssa (\S+) ", minor),
        ("docs/getting_started.md", r"find_package\(pssa (\S+) ", minor),
        ("CONTRIBUTING.md", r"find_package\(pssa (\S+)\)", minor),
        ("unit_tests/consumer/CMakeLists.txt", r"find_package\(pssa (\S+) ", minor),
        ("unit_tests/consumer/pkgconfig.cmake", r'"pssa >= (\S+)"', minor),
    )
    for found in [find(path, pattern)]
    if found != expected
]
for fault in faults:
    print(fault)
print(f"version {version}, {len(faults)} faults")
sys.exit(1 if faults else 0)
