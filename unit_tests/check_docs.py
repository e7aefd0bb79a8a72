#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Holds what the pages of docs quote: files, marked pieces of them, links, pictures, labels; and that every example has a page.

    check_docs.py PROJECT_DIR
"""
import os
import re
import sys

project = os.path.abspath(sys.argv[1])
faults = []


def path(*parts):
    return os.path.join(project, *parts)


def read(*parts):
    with open(path(*parts), encoding="utf-8") as file:
        return file.read()


def pages():
    for folder, _, names in os.walk(path("docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), project).replace(os.sep, "/")


texts = {page: read(page) for page in pages()}
anchors = {anchor for text in texts.values() for anchor in re.findall(r"^# .*\{#(\w+)\}$", text, re.MULTILINE)}
quoted = set()
for page, text in texts.items():
    for command, name, marker in re.findall(r"^\\(include|verbinclude|snippet)(?:\{\w+\})? (\S+) ?(\S*)$", text, re.MULTILINE):
        quoted.add(name)
        if not os.path.isfile(path("examples", name)):
            faults.append(f"{page} quotes {name}, which is not in examples")
        elif command == "snippet":
            count = read("examples", name).count(f"//! [{marker}]\n")
            if count != 2:
                faults.append(f"{page} quotes [{marker}] of {name}, which is marked {count} times, expected 2")
    for broken in re.findall(r"\[[^]\n]*\n[^]]*\]\(", text):
        faults.append(f"{page} breaks the link text {broken[:-1]!r}, which loses the space there")
    for picture, target in re.findall(r"(!?)\[[^]]*\]\(([^)#]+)\)", text):
        if "://" in target:
            continue
        places = ["docs", "examples"] if picture else [os.path.dirname(page)]
        if not any(os.path.isfile(path(place, target)) for place in places):
            faults.append(f"{page} links to {target}, expected it in {' or '.join(places)}")
    for anchor in re.findall(r"\\subpage (\w+)", text):
        if anchor not in anchors:
            faults.append(f"{page} has {anchor} as a page, which no page is called")

for folder, _, names in os.walk(path("examples")):
    for name in names:
        example = os.path.relpath(os.path.join(folder, name), path("examples")).replace(os.sep, "/")
        if name.endswith((".cpp", ".txt")) and example not in quoted and name != "CMakeLists.txt":
            faults.append(f"no page quotes examples/{example}")

# What a profiler shows: every label of the library is on the page, and no other.
sources = [path(folder, name) for folder in ("src", "include/pssa") for name in sorted(os.listdir(path(folder)))
           if name.endswith((".hpp", ".cpp"))]
labels = {label for name in sources
          for label in re.findall(r'(?:launch\(exec|grow\(exec|ScopedRegion const region\(|ScopedRegion\()(?:, )?"([^"]+)"', read(name))}
told = set(re.findall(r"`(pssa::[a-zA-Z_:]+)`", texts["docs/performance.md"]))
for label in sorted(labels ^ told - {"pssa::"}):
    faults.append(f"the label {label} is {'not in docs/performance.md' if label in labels else 'in no source'}")

for fault in faults:
    print(fault)
print(f"{len(texts)} pages, {len(quoted)} files quoted, {len(labels)} labels, {len(faults)} faults")
sys.exit(1 if faults or not texts or not quoted or not labels else 0)
