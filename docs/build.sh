#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Builds the documentation by Doxygen, whose warnings are errors: docs/build.sh FOLDER, and the first page is
# FOLDER/html/index.html.
set -eu

case $1 in
  /*) folder=$1 ;;
  *) folder=$PWD/$1 ;;
esac
cd "$(dirname "$0")/.."
rm -rf "$folder" # pages that are gone would stay
mkdir -p "$folder"
{
  cat docs/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$folder\""
  sed -n 's/^  VERSION \([0-9.]*\)$/PROJECT_NUMBER = \1/p' CMakeLists.txt
} >"$folder/Doxyfile"
command -v doxygen >/dev/null || { echo "docs: doxygen is missing, expected it on the PATH" >&2; exit 1; }
doxygen --version | sed 's/^/doxygen /'
doxygen "$folder/Doxyfile"
