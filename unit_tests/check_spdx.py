#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
"""Asks every tracked file for its two SPDX lines at the top; data and prose have none.

    check_spdx.py PROJECT_DIR
"""
import os
import re
import subprocess
import sys

WANTED = [
    "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
    "SPDX-FileCopyrightText: The pssa authors",
]
EXEMPT = re.compile(r"\.(npy|json|md|cff)$|^examples/.*\.(txt|svg)$|(^|/)LICENSE$|(^|/)\.git\w+$|^cmake/environment\.txt$")

project = sys.argv[1]
if not os.path.exists(os.path.join(project, ".git")):
    print("skipped: not a git checkout, so no file is known to be tracked")
    sys.exit(0)
# In a container the checkout may belong to another user, which git distrusts.
git = ["git", "-c", "safe.directory=*", "-C", project]
# Files about to be added count as tracked.
tracked = subprocess.run(git + ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], check=True,
                         stdout=subprocess.PIPE).stdout.decode().split("\0")

seen = 0
faults = []
for path in sorted(set(tracked)):
    full = os.path.join(project, path)
    if not path or EXEMPT.search(path) or not os.path.isfile(full):
        continue
    seen += 1
    with open(full, encoding="utf-8") as file:
        head = file.read().split("\n")[:4]
    for line in WANTED:
        if not any(line in text for text in head):
            faults.append(f"{path} lacks '{line}' in its first four lines")

for fault in faults:
    print(fault)
print(f"{seen} files, {len(faults)} faults")
sys.exit(1 if faults or not seen else 0)
