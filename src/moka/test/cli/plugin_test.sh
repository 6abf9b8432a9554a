#!/bin/bash
# promise 46: layers load from plug-ins, with parameters of their own; what is wrong with one is said.
set -u
plugin=$PWD/$BUILD_DIR/examples/plugin_layer/scaled_tanh.so
example=$PWD/examples/plugin_layer
moka=$PWD/$MOKA
cd "$TMPDIR" || exit 1
fail() { echo "$1"; cat log; exit 1; }
run() { "$moka" "$@" > log 2>&1; }
# refuses STATUS PATTERN ARGUMENTS...: the program ends so, with a message like the pattern.
refuses() {
  local status=$1 pattern=$2
  shift 2
  run "$@"
  local actual=$?
  [ $actual -eq "$status" ] || fail "status $actual, not $status: $*"
  grep -q "$pattern" log || fail "no \"$pattern\": $*"
}

sed "s|^net:.*|net: '$example/train.prototxt'|; s|^snapshot_prefix:.*|snapshot_prefix: 'net'|" \
  "$example/solver.prototxt" > solver.prototxt
for device in cpu shadow; do
  run train --plugin="$plugin" --solver=solver.prototxt --device=$device --threads=1 || fail "no training on $device"
  last=$(grep -oE 'Iteration 200, loss = [0-9.e+-]+' log | tail -n 1 | sed 's/.*= //')
  awk -v l="${last:-9}" 'BEGIN { exit !(l < 0.2) }' || fail "the loss on $device is ${last:-unknown}"
  mv net_iter_200.caffemodel $device.caffemodel
done
cmp cpu.caffemodel shadow.caffemodel || fail "cpu and shadow learned differently"

# The model keeps the parameters, and loads again.
grep -aq scaled_tanh_param cpu.caffemodel || fail "the model has no parameters of the plug-in"
run test --plugin="$plugin" --model="$example/train.prototxt" --weights=cpu.caffemodel --iterations=2 ||
  fail "the model does not load"
MOKA_PLUGINS=$plugin run check --plugin="$plugin" "$example/train.prototxt" || fail "given twice"

# The manual.
run help layer ScaledTanh --plugin "$plugin" && grep -q 'slope.*float' log || fail "no manual of the layer"
run help layers --plugin "$plugin" && grep -q '^  ScaledTanh  *tanh' log || fail "the layer is not listed"

# Mistakes in its parameters have their place; without the plug-in they and the type are unknown.
sed 's/slope: 0.5/slope: -1/' "$example/train.prototxt" > slope.prototxt
refuses 1 'slope.prototxt:31:5: layer "tanh1" (ScaledTanh): slope is -1' check --plugin="$plugin" slope.prototxt
sed 's/slope: 0.5/slop: 1/' "$example/train.prototxt" > slop.prototxt
refuses 1 'slop.prototxt:31:5: .*"slop" in ScaledTanhParameter (did you mean "slope"' check --plugin="$plugin" slop.prototxt
sed 's/scaled_tanh_param/scaled_tan_param/' "$example/train.prototxt" > block.prototxt
refuses 1 'block.prototxt:29:3: .*did you mean "scaled_tanh_param"' check --plugin="$plugin" block.prototxt
refuses 1 'train.prototxt:29:3: unknown field "scaled_tanh_param"' check "$example/train.prototxt"
sed '/scaled_tanh_param/,/^  }/d' "$example/train.prototxt" > plain.prototxt
refuses 1 'unknown layer type "ScaledTanh"' check plain.prototxt
grep -q -- '--plugin=FILE' log || fail 'no word of --plugin'

# What is no plug-in of this moka.
refuses 1 'nowhere.so: cannot open nowhere.so: No such file' help layers --plugin=nowhere.so
echo 'no plug-in' > text.so
refuses 1 'text.so: is no plug-in of moka' help layers --plugin=text.so
LC_ALL=C sed 's/\(scaled_tanh\x00\{53\}\)[0-9]/\19/' "$plugin" > other.so
cmp -s "$plugin" other.so && fail "the plug-in's version was not found"
refuses 1 'other.so: was built for moka 9[.].* this is moka' help layers --plugin=other.so
head -c $(($(stat -c %s "$plugin") / 2)) "$plugin" > short.so
refuses 1 'short.so: is no ' help layers --plugin=short.so
cp "$plugin" copy.so
refuses 1 'copy.so: a plug-in "scaled_tanh" is loaded already, from .*scaled_tanh.so' \
  help layers --plugin="$plugin" --plugin=copy.so
refuses 1 'libmoka.so: is no plug-in' help layers --plugin="${plugin%/examples/*}/lib/libmoka.so"
LC_ALL=C sed 's/scaled_tanh\(\x00\{53\}\)/sealed_tanh\1/' "$plugin" > renamed.so
refuses 1 'renamed.so: brings a scaled_tanh.proto, which is loaded already' \
  help layers --plugin="$plugin,renamed.so"
refuses 2 '\-\-plugin needs a value' help layers --plugin
exit 0
