#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Code of one instruction set offers the linker nothing that the rest of a program could take instead of its own:
# check_weak.sh NM ISA OBJECT
set -eu

symbols=$("$1" --defined-only -C "$3")
# Weak, weak with a value, unique and common symbols; and whatever else is global but the table.
leaks=$(echo "$symbols" | grep -E ' [A-Zuvwi] ' | grep -vE "pssa::impl::($2::|host_$2\$)" || true)
if [ -n "$leaks" ]; then
  echo "host_$2.cpp defines outside pssa::impl::$2:"
  echo "$leaks"
  exit 1
fi
echo "$symbols" | grep -q "pssa::impl::$2::" || { echo "host_$2.cpp defines nothing, expected pssa::impl::$2::..."; exit 1; }
