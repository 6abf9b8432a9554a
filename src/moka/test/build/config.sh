#!/bin/bash
# Makefile.config.example, used as it is with all its lines uncommented, is a valid configuration, and
# names every switch that the build knows.
set -eu
known=$(sed -nE 's/^ *([A-Z0-9_]+) \?=.*/\1/p' Makefile scripts/config.mk | sort -u)
for switch in $known CPU_ONLY USE_CUDNN USE_NCCL USE_DNNL USE_LEVELDB USE_MPI; do
  grep -qE "^# $switch :=" Makefile.config.example ||
    [ "$switch" = SANITIZE ] || { echo "$switch is not in Makefile.config.example"; exit 1; }
done
for switch in $(sed -nE 's/^# ([A-Z0-9_]+) :=.*/\1/p' Makefile.config.example); do
  grep -qwE "$switch" Makefile scripts/config.mk ||
    { echo "$switch of Makefile.config.example does nothing"; exit 1; }
done
cp -r Makefile scripts "$TMPDIR"
sed -E 's/^# ([A-Z0-9_]+ :=)/\1/' Makefile.config.example > "$TMPDIR/Makefile.config"
env -u MAKEFLAGS -u BUILD_DIR make -C "$TMPDIR" config > /dev/null

# A required library that is missing is one line with the package that brings it (promise 7).
message=$(make OPENCV_INCLUDE="$TMPDIR" all 2>&1) && { echo "built without OpenCV"; exit 1; }
grep -q 'moka needs libopencv-core-dev .*make deps' <<< "$message" || { echo "$message"; exit 1; }
