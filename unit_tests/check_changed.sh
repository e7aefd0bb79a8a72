#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Holds what has changed since PSSA_BASE (default: where this branch left origin/main) to the house style, where the
# programs for it are found. What is older stays as it is.
#   check_changed.sh format PROJECT_DIR             layout of the changed lines, by .clang-format
#   check_changed.sh names PROJECT_DIR BUILD_DIR    names in the changed files, by .clang-tidy
set -eu

skip() {
  echo "skipped: $*"
  exit 0
}
cd "$2"
case $1 in
  format) program=git-clang-format ;;
  names) program=clang-tidy ;;
esac
command -v "$program" >/dev/null || skip "$program is missing"
# In a container the checkout may belong to another user, which git distrusts.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
base=$(git merge-base HEAD "${PSSA_BASE:-origin/main}" 2>/dev/null) || skip "no ${PSSA_BASE:-origin/main} to compare with"
changed=$(git diff --name-only --diff-filter=d "$base" -- '*.hpp' '*.cpp')
[ -n "$changed" ] || { echo 'no C++ file has changed'; exit 0; }

if [ "$1" = format ]; then
  difference=$(git clang-format --diff --extensions hpp,cpp "$base" || true)
  case $difference in
    'no modified files to format' | 'clang-format did not modify any files' | '') exit 0 ;;
  esac
  echo "$difference"
  echo "Not laid out by .clang-format. To mend: git clang-format $base"
  exit 1
fi

[ -e "$3/compile_commands.json" ] || skip "$3/compile_commands.json is missing"
status=0
# CMake leaves -std away where it is the default of the compiler, which need not be that of clang; its warnings are not asked.
# shellcheck disable=SC2086
report=$(clang-tidy --quiet -p "$3" --extra-arg-before=-std=c++20 --extra-arg=-w \
  $changed 2>&1) || status=$?
echo "$report" | grep -B 0 -A 2 'readability-identifier-naming' && exit 1
[ $status -eq 0 ] || skip "clang-tidy cannot compile all of $changed: $(echo "$report" | grep -m 1 'error: ')"
