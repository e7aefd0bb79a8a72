#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
# Drives pssa_scan on a case of trained tensors and on broken copies of it.
#   test_pssa_scan.sh PROGRAM CASE_DIR
set -eu
program=$1
given=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# run ARG...: leaves the exit status in $status, the output in $work/stdout and $work/stderr
run() {
  status=0
  "$program" "$@" >"$work/stdout" 2>"$work/stderr" || status=$?
}

# passes ARG...: exit status 0
passes() {
  run "$@"
  [ "$status" = 0 ] && return
  fail "pssa_scan $*: exit status $status, expected 0"
  cat "$work/stdout" "$work/stderr"
}

# refuses SENTENCE ARG...: exit status 2, that sentence and nothing else, no output folder
refuses() {
  sentence="pssa_scan: $1"
  shift
  rm -rf "$work/out"
  run "$@" --out "$work/out"
  [ "$status" = 2 ] || fail "pssa_scan $*: exit status $status, expected 2"
  [ "$(cat "$work/stderr")" = "$sentence" ] ||
    fail "pssa_scan $*: it said '$(cat "$work/stderr")', expected '$sentence'"
  [ ! -s "$work/stdout" ] || fail "pssa_scan $*: standard output is not empty"
  [ ! -e "$work/out" ] || fail "pssa_scan $*: an output folder was made"
}

# prints CHARACTERS at a byte of a file of the copied case
patch_file() {
  printf "$3" | dd of="$work/case/$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# shortens a file of the copied case to a number of blocks of 64 bytes
shorten() {
  dd if="$given/$1" of="$work/case/$1" bs=64 count="$2" 2>/dev/null
}

fresh() {
  rm -rf "$work/case"
  mkdir "$work/case"
  cp "$given"/*.npy "$work/case"
}

has_lines() {
  [ "$(grep -c "$2" "$work/stdout")" = "$1" ] || fail "expected $1 lines with '$2', got: $(cat "$work/stdout")"
}

# The case itself.
for type in float double; do
  passes "$given" --check --type $type
  has_lines 2 'ok$'
  for chunk in 1000 64 37; do
    passes "$given" --check --backward --type $type --chunk $chunk
    passes "$given" --check --backward --type $type --chunk $chunk --time-chunks 3
    has_lines 8 'ok$'
  done
done
for type in half bfloat16; do
  run "$given" --check --backward --type $type
  if [ "$status" = 2 ]; then
    grep -q "^pssa_scan: --type is '$type', which this Kokkos has only as float, expected float" \
      "$work/stderr" || fail "--type $type: $(cat "$work/stderr")"
  else
    passes "$given" --check --backward --type $type
    has_lines 8 'ok$'
  fi
done

# Every enabled backend, in any case.
run "$given" --backend nosuch
[ "$status" = 2 ] || fail "--backend nosuch: exit status $status, expected 2"
grep -q "^pssa_scan: --backend is 'nosuch', expected an enabled one: " "$work/stderr" ||
  fail "--backend nosuch: $(cat "$work/stderr")"
for backend in $(sed 's/.*: //; s/ or / /g; s/,//g' "$work/stderr" | tr '[:upper:]' '[:lower:]'); do
  passes "$given" --check --backward --backend "$backend"
  has_lines 8 'ok$'
done

# What was written is read back, equal to the last bit.
fresh
rm "$work"/case/h0.npy
passes "$work/case" --backward --out "$work/made/new"
[ "$(cd "$work/made/new" && echo *)" = "dA.npy db.npy dc.npy ddelta.npy dh0.npy dx.npy hT.npy y.npy" ] ||
  fail "--out holds $(ls "$work/made/new")"
cp "$work"/made/new/*.npy "$work/case" || exit 1
passes "$work/case" --backward --check
has_lines 8 ' 0.0e+00 .*ok$'

# A check that fails, and tensors that are not there to be checked.
fresh
patch_file y.npy 128 '\000\000\200\077'
run "$work/case" --check
[ "$status" = 1 ] || fail "a wrong y: exit status $status, expected 1"
has_lines 1 '^y .*FAIL$'
has_lines 1 '^hT .*ok$'
patch_file y.npy 128 '\000\000\300\177'
run "$work/case" --check
[ "$status" = 1 ] || fail "y with NaN: exit status $status, expected 1"
fresh
rm "$work/case/hT.npy"
passes "$work/case" --check
has_lines 1 '^hT .*not checked: CASE_DIR has no hT.npy$'
rm "$work/case/y.npy"
refuses "--check found none of the expected tensors in $work/case, expected y or hT as .npy files" "$work/case" --check

# Broken files, each one sentence.
fresh
rm "$work/case/x.npy"
refuses "$work/case/x.npy does not exist, expected a .npy file" "$work/case"
fresh
: >"$work/case/c.npy"
refuses "$work/case/c.npy is empty (0 bytes), expected a .npy file" "$work/case"
fresh
shorten x.npy 1
refuses "$work/case/x.npy ends within its header, expected at least 64 more bytes" "$work/case"
shorten x.npy 100
refuses "$work/case/x.npy holds 6272 bytes of data, expected 262144 for shape (1, 256, 256) and dtype '<f4'" \
  "$work/case"
fresh
printf x >>"$work/case/x.npy"
refuses "$work/case/x.npy holds 262145 bytes of data, expected 262144 for shape (1, 256, 256) and dtype '<f4'" \
  "$work/case"
fresh
patch_file b.npy 21 '>'
refuses "$work/case/b.npy has dtype '>f4' (big-endian), expected '<f2', '<f4' or '<f8'" "$work/case"
patch_file b.npy 21 '<i'
refuses "$work/case/b.npy has dtype '<i4' (integer), expected '<f2', '<f4' or '<f8'" "$work/case"
fresh
shorten delta.npy 4082
patch_file delta.npy 71 5
refuses "delta.npy has shape (1, 256, 255), expected (batch, length, channels) = (1, 256, 256)" "$work/case"
fresh
cp "$given/b.npy" "$work/case/A.npy"
refuses "A.npy has shape (1, 256, 16), expected (channels, state)" "$work/case"
fresh
cp "$given/A.npy" "$work/case/x.npy"
refuses "x.npy has shape (256, 16), expected (batch, length, channels)" "$work/case"
fresh
cp "$given/b.npy" "$work/case/dy.npy"
refuses "dy.npy has shape (1, 256, 16), expected (batch, length, channels) = (1, 256, 256)" "$work/case" --backward
cp "$given/x.npy" "$work/case/dhT.npy"
cp "$given/dy.npy" "$work/case/dy.npy"
refuses "dhT.npy has shape (1, 256, 256), expected (batch, channels, state) = (1, 256, 16)" "$work/case" --backward
fresh
cp "$given/x.npy" "$work/case/hT.npy"
refuses "hT.npy has shape (1, 256, 256), expected (batch, channels, state) = (1, 256, 16)" "$work/case" --check
fresh
rm "$work/case/h0.npy"
ln -s nowhere "$work/case/h0.npy"
refuses "$work/case/h0.npy does not exist, expected a .npy file" "$work/case"

# Usage, each one sentence.
refuses "CASE_DIR is missing, expected pssa_scan CASE_DIR [options]"
refuses "$work/nosuch is not a folder, expected one with x.npy, delta.npy, ..." "$work/nosuch"
refuses "unexpected argument 'second' after CASE_DIR '$given'" "$given" second
refuses "unknown option '--checks', expected one that pssa_scan --help lists" "$given" --checks
refuses "unknown option '-c', expected one that pssa_scan --help lists" "$given" -c
refuses "--type has no value, expected one after it" "$given" --type
run "$given" --type int
[ "$status" = 2 ] || fail "--type int: exit status $status, expected 2"
grep -q "^pssa_scan: --type is 'int', expected float" \
  "$work/stderr" || fail "--type int: $(cat "$work/stderr")"
for chunk in 0 -1 4.5 64x '' 99999999999999999999; do
  refuses "--chunk is '$chunk', expected a whole number of tokens, at least 1" "$given" --chunk "$chunk"
done
for chunks in 0 -1 x 99999999999; do
  refuses "--time-chunks is '$chunks', expected a whole number of chunks, at least 1" "$given" --time-chunks "$chunks"
done
run "$given" --chunk
[ "$status $(cat "$work/stderr")" = "2 pssa_scan: --chunk has no value, expected one after it" ] ||
  fail "--chunk without a value: $status $(cat "$work/stderr")"
run "$given" --out ''
[ "$status $(cat "$work/stderr")" = "2 pssa_scan: --out is empty, expected a folder" ] ||
  fail "--out '': $status $(cat "$work/stderr")"
run "$given" --out "$given"
[ "$status" = 2 ] || fail "--out CASE_DIR: exit status $status, expected 2"
run "$given" --out "$given/x.npy"
[ "$status $(cat "$work/stderr")" = "2 pssa_scan: --out is $given/x.npy, which is not a folder" ] ||
  fail "--out on a file: $status $(cat "$work/stderr")"
passes --help
has_lines 1 '^  pssa_scan CASE_DIR \[options\]$'

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
echo "all passed"
