#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# SPDX-FileCopyrightText: The pssa authors
#
# Finishes the development environment: runs inside a Debian sid root that holds the packages of environment.txt.
set -eu

# libkokkos-dev 5.2.2-2 names two empty archives in its CMake targets that it does not ship.
cd "/usr/lib/$(gcc -print-multiarch)"
for archive in libkokkosalgorithms.a libkokkossimd.a; do
  [ -e "$archive" ] || ar rcs "$archive"
done

# A second Kokkos with another backend: 5.0.2 with Serial, and Kokkos Kernels, of Debian experimental's Trilinos. It
# conflicts with libkokkos-dev, so it is unpacked beside it.
prefix=/opt/kokkos-5.0
list=/etc/apt/sources.list.d/experimental.list
if ls /etc/apt/sources.list.d/*.sources >/dev/null 2>&1; then
  sed 's/^Suites:.*/Suites: experimental/' /etc/apt/sources.list.d/*.sources >/etc/apt/sources.list.d/experimental.sources
  list=/etc/apt/sources.list.d/experimental.sources
else
  sed -n 's/^\(deb .*\) sid /\1 experimental /p' /etc/apt/sources.list >"$list"
fi
apt-get -qq update
work=$(mktemp -d)
cd "$work"
packages=$(apt-cache search --names-only '^libtrilinos-kokkos' | sed 's/ .*//' | while read -r name; do
  apt-cache policy "$name" | grep -q ' 17\.' && echo "$name/experimental"
done)
# The sandboxed download user cannot write here.
apt-get -qq -o APT::Sandbox::User=root download $packages
mkdir -p "$prefix"
for package in *.deb; do dpkg -x "$package" "$prefix"; done
cd /
rm -rf "$work" "$list"
apt-get -qq update
# Their CMake files name the place that the packages would be installed to.
grep -rlE '/usr/(include|lib)' --include='*.cmake' "$prefix/usr" | while read -r file; do
  sed -i "s#\([\";]\)/usr/\(include\|lib\)#\1$prefix/usr/\2#g" "$file"
done
