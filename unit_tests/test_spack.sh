#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# The recipe in Spack itself, where it is on PATH: test_spack.sh audit|install PROJECT_DIR
set -eu

skip() {
  echo "skipped: $*"
  exit 0
}
command -v spack >/dev/null || skip 'spack is not on PATH'
# Inside a build of Spack's, which runs these tests, Spack would start itself once more.
[ -z "${SPACK_SHORT_SPEC:-}" ] || skip 'inside a Spack build'

spack --version
case $1 in
  audit) spack --config "repos:pssa:$2/spack/spack_repo/pssa" audit packages pssa ;;
  install) spack --config "repos:pssa:$2/spack/spack_repo/pssa" install --overwrite -y --test=root pssa +openmp ;;
esac
