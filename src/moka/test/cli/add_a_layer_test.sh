#!/bin/bash
# docs/add_a_layer.md: the layer and the test on that page compile with the build's own flags, pass, and
# `moka help layer` says of them what the page says.
set -eu
page=docs/add_a_layer.md

# `flags: ...` of `make config`
setting() { sed -n "s/^$1: *//p" <<< "$config"; }
config=$(make -s --no-print-directory config)
compiler=$(setting compiler)
libraries=$(setting libraries)

# Each code block under a line that names its file becomes that file.
awk -v dir="$TMPDIR" '
  /^`src\/.*\.cpp`:$/ { gsub(/[`:]/, ""); file = dir "/" $0; sub(/.*\//, dir "/", file); next }
  /^```cpp$/ { if (file == "") exit 1; code = 1; next }
  /^```$/ { if (code) close(file); code = 0; file = ""; next }
  code { print > file }' $page
[ -s "$TMPDIR/celu_layer.cpp" ] && [ -s "$TMPDIR/celu_layer_test.cpp" ]

# Files with kernels are compiled by nvcc where there is one.
nvcc=$(setting nvcc)
if [ -n "$nvcc" ]; then
  $nvcc -c "$TMPDIR/celu_layer.cpp" -o "$TMPDIR/celu_layer.o"
else
  $compiler $(setting flags) -Werror -c "$TMPDIR/celu_layer.cpp" -o "$TMPDIR/celu_layer.o"
fi
link="$compiler -fopenmp $(grep -oE -- '-fsanitize=[^ ]+' <<< "$config" | head -n 1)"
library=$(realpath "$BUILD_DIR/lib")
$link -shared "$TMPDIR/celu_layer.o" -L"$library" -lmoka -o "$TMPDIR/libcelu.so"

$compiler $(setting flags) -Werror -c "$TMPDIR/celu_layer_test.cpp" -o "$TMPDIR/celu_layer_test.o"
$link "$TMPDIR/celu_layer_test.o" "$TMPDIR/celu_layer.o" \
  "$BUILD_DIR"/obj/src/moka/test/{layers/harness,golden}.o \
  -L"$library" -Wl,-rpath,"$library" -lmoka $libraries -lgtest_main -lgtest -o "$TMPDIR/celu_test"
"$TMPDIR/celu_test" | tee "$TMPDIR/log"
grep -q 'PASSED.* 3 tests' "$TMPDIR/log"

# The shown beginning of the manual, up to "...".
sed -n '/^\$ .*help layer CELU$/,/^\.\.\.$/p' $page | sed '1d;$d' > "$TMPDIR/shown"
[ -s "$TMPDIR/shown" ]
LD_PRELOAD=$TMPDIR/libcelu.so ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
  "$MOKA" help layer CELU | head -n "$(wc -l < "$TMPDIR/shown")" | diff "$TMPDIR/shown" - ||
  { echo "$page shows another manual than the tool"; exit 1; }
