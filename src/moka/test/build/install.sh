#!/bin/bash
# What `make install` copies works from any folder, and elsewhere after it was moved (promise 8).
set -eu
[ -x "$MOKA" ] || { echo "the tool is not built"; exit 77; }
make --no-print-directory install PREFIX="$TMPDIR/first" > /dev/null
mv "$TMPDIR/first" "$TMPDIR/second"
cd /
"$TMPDIR/second/bin/moka" version
"$TMPDIR/second/bin/caffe" version
ldd "$TMPDIR/second/bin/moka" | grep "libmoka.so => $TMPDIR/second/" ||
  { echo "the moved tool does not find its library beside it"; exit 1; }
[ -f "$TMPDIR/second/include/moka/proto/moka.pb.h" ] || { echo "no generated header"; exit 1; }
