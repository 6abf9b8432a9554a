#!/bin/bash
# Only what changed is rebuilt. Tried on a small copy of the project: the build files and the room `base`.
set -eu
mkdir -p "$TMPDIR/src/moka" "$TMPDIR/include/moka"
cp -r Makefile scripts "$TMPDIR"
cp -r include/moka/base "$TMPDIR/include/moka"
cp -r src/moka/base "$TMPDIR/src/moka"
cd "$TMPDIR"
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD_DIR SANITIZE
sources=$(find src -name '*.cpp' | wc -l)

# check WHAT COMPILED LINKED MAKE-ARGUMENTS...: how many files make compiles and links
check() {
  local what=$1 compiled=$2 linked=$3 output
  shift 3
  output=$(make CPU_ONLY=1 ARCH= "CXXFLAGS=-O0" "$@" 2>&1) || { echo "$output"; exit 1; }
  if [ "$(grep -c '^  CXX ' <<< "$output")" != "$compiled" ] ||
     [ "$(grep -c '^  LINK ' <<< "$output")" != "$linked" ]; then
    printf '%s: expected %s compiled and %s linked, got\n%s\n' "$what" "$compiled" "$linked" "$output"
    exit 1
  fi
}

check "first build" "$sources" 1
check "nothing changed" 0 0
make -q CPU_ONLY=1 ARCH= CXXFLAGS=-O0 || { echo "make -q finds work"; exit 1; }

sleep 0.01
touch include/moka/base/crc32.hpp
check "a header changed" "$(grep -l 'moka/base/crc32.hpp' -r src | wc -l)" 1
check "the flags changed" "$sources" 1 CPPFLAGS=-DNEW
check "the flags changed back" "$sources" 1

printf '#include "moka/base/gone.hpp"\n' > src/moka/base/fresh.cpp
touch include/moka/base/gone.hpp
check "a new file" 1 1
rm src/moka/base/fresh.cpp include/moka/base/gone.hpp
check "a file is gone" 0 1

if make -n -B CPU_ONLY=1 V=1 | grep -iE 'nvcc|cuda'; then echo "CPU_ONLY touches CUDA"; exit 1; fi
