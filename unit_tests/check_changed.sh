#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Holds the C++ lines that have changed to the house style, where the programs for it are found. Older lines stay as they
# are. Changed is what differs from PSSA_BASE; without that from where this branch left origin/main; and on origin/main
# itself, or without one, from the commit before the last.
#   check_changed.sh format PROJECT_DIR             layout, by .clang-format
#   check_changed.sh names PROJECT_DIR BUILD_DIR    names, by .clang-tidy
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
git rev-parse --quiet --verify HEAD >/dev/null || skip 'not a git checkout, so what has changed is not known'
if [ -n "${PSSA_BASE:-}" ]; then
  base=$(git merge-base HEAD "$PSSA_BASE" 2>/dev/null) || skip "no commit $PSSA_BASE to compare with"
else
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=$(git rev-parse HEAD)
  # On main a branch has nothing of its own, and the check would be empty.
  [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse --quiet --verify HEAD~1) ||
    skip 'no commit before the last to compare with'
fi
changed=$(git diff --name-only --diff-filter=d "$base" -- '*.hpp' '*.cpp')
[ -n "$changed" ] || { echo "no C++ file has changed since $base"; exit 0; }
echo "changed since $(git log -1 --format='%h %s' "$base"):" $changed

if [ "$1" = format ]; then
  difference=$(git clang-format --diff --extensions hpp,cpp "$base" || true)
  case $difference in
    'no modified files to format' | 'clang-format did not modify any files' | '') exit 0 ;;
  esac
  echo "$difference"
  echo "Not laid out by .clang-format. To mend: ./dev run git clang-format $base"
  exit 1
fi

[ -e "$3/compile_commands.json" ] || skip "$3/compile_commands.json is missing"
# The changed lines as clang-tidy wants them: [{"name":"f.hpp","lines":[[1,2]]}]. A header is seen through each file that
# includes it, and must not be blamed for older lines.
filter=$(git diff -U0 --diff-filter=d "$base" -- '*.hpp' '*.cpp' | sed -nE 's|^\+\+\+ b/(.*)|f \1|p
  s|^@@ [^+]*\+([0-9]+),([0-9]+) @@.*|l \1 \2|p
  s|^@@ [^+]*\+([0-9]+) @@.*|l \1 1|p' | awk '
  $1 == "f" { if (lines != "") print name lines "]}"; name = "{\"name\":\"/" $2 "\",\"lines\":["; lines = "" }
  $1 == "l" && $3 > 0 { lines = lines (lines == "" ? "" : ",") "[" $2 "," $2 + $3 - 1 "]" }
  END { if (lines != "") print name lines "]}" }' | paste -sd, -)
[ -n "$filter" ] || { echo 'lines have gone only'; exit 0; }
# What this build does not compile, a project of its own or a file that was left out, it cannot judge.
judged=
for file in $changed; do
  case $file in
    *.cpp) grep -q "/$file\"" "$3/compile_commands.json" || { echo "not compiled here, so not looked at: $file"; continue; } ;;
    src/*.hpp)
      # Some are compiled for an instruction set too, without Kokkos, and clang-tidy would guess wrongly how: they are
      # seen through these.
      for through in src/backward_f32.cpp src/forward_f32.cpp src/host_baseline.cpp; do
        case "$judged " in *" $through "*) ;; *) judged="$judged $through" ;; esac
      done
      continue
      ;;
  esac
  case "$judged " in *" $file "*) ;; *) judged="$judged $file" ;; esac
done
[ -n "$judged" ] || skip 'none of the changed files is compiled here'
# CMake leaves -std away where it is the default of the compiler, which need not be that of clang; its warnings are not
# asked. Two at a time, as the tests are.
# shellcheck disable=SC2086
report=$(printf '%s\n' $judged | xargs -n 1 -P 2 clang-tidy --quiet -p "$3" --line-filter="[$filter]" \
  --extra-arg-before=-std=c++20 --extra-arg=-w 2>&1) || true
if echo "$report" | grep -A 2 'readability-identifier-naming'; then
  echo 'Not named by the rules of .clang-tidy.'
  exit 1
fi
! echo "$report" | grep -q 'error: ' || skip "clang-tidy cannot compile all of$judged: $(echo "$report" | grep -m 1 'error: ')"
