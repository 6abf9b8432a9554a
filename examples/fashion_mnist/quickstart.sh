#!/bin/bash
# From raw files to a classified picture: converts Fashion-MNIST, trains LeNet on the CPU, tests it
# on the whole test set, and classifies a picture of it. `make quickstart` builds first.
#   examples/fashion_mnist/quickstart.sh [FOLDER]       FOLDER holds the idx files, see create_data.sh
#   MAX_ITER=10000 examples/fashion_mnist/quickstart.sh    trains longer (by default 2000 iterations)
#   PICTURE=17 ...                                         classifies another picture of the test set
set -euo pipefail
cd "$(dirname "$0")/../.."

example=examples/fashion_mnist
build=${BUILD_DIR:-build}
moka=$build/tools/moka
out=$build/quickstart
iterations=${MAX_ITER:-2000}
picture=${PICTURE:-0}
folder=${1:-/usr/share/datasets/fashion-mnist}
wanted=0.88
[ "$iterations" -ge 1000 ] || wanted=0.70

step() { printf '\n%s\n' "$1"; }
give_up() {
  echo "quickstart: $1" >&2
  exit 1
}
# run LOG COMMAND...: the command's messages go to a file, of which the end is shown if it fails.
run() {
  local log=$out/$1
  shift
  "$@" > "$log" 2>&1 || {
    tail -n 20 "$log" >&2
    give_up "\`$*\` failed; all it said is in $log"
  }
}
# A line for each line of figures in the log of a training.
show_progress() {
  awk -v last="$iterations" '
    /Iteration [0-9]+ \(.*loss = / { sub(/.*Iteration /, ""); iteration = $1; loss = $NF; next }
    / left$/ {
      sub(/.*\]  */, "")
      printf "  iteration %5d of %d   loss %-9s %s\n", iteration, last, loss, $0; fflush()
    }
    /Test net output.*accuracy = / { printf "  accuracy on the test set so far: %s\n", $NF; fflush() }'
}

mkdir -p "$out"
SECONDS=0

step "1. The data: 60,000 + 10,000 pictures of clothes become two LMDBs"
$example/create_data.sh "$folder"

step "2. Training LeNet for $iterations iterations of 64 pictures on the CPU"
sed "s/^max_iter:.*/max_iter: $iterations/" $example/lenet_solver.prototxt > "$out/solver.prototxt"
echo "test_initialization: false" >> "$out/solver.prototxt"
$moka train --solver="$out/solver.prototxt" 2>&1 | tee "$out/train.log" | show_progress || {
  tail -n 20 "$out/train.log" >&2
  give_up "the training failed; all it said is in $out/train.log"
}
model=${example}/lenet_iter_$iterations.caffemodel

step "3. Testing on all 10,000 pictures of the test set"
run test.log $moka test --model=$example/lenet_train_test.prototxt --weights="$model" --iterations=100
accuracy=$(sed -nE 's/.*\] accuracy = ([0-9.]+).*/\1/p' "$out/test.log" | tail -n 1)
echo "  accuracy: ${accuracy:-unknown}"

step "4. What is picture $picture of the test set?"
run extract.log $build/examples/fashion_mnist/convert_idx --extract="$picture" \
  --picture="$out/picture.png" "$(ls "$folder"/t10k-images-idx3-ubyte* | head -n 1)"
label=$(zcat -f "$folder"/t10k-labels-idx1-ubyte* | tail -c +$((9 + picture)) | head -c 1 |
  od -An -tu1) || true  # zcat is cut off by head
run classify.log $moka classify --model=$example/lenet.prototxt --weights="$model" \
  --scale=0.00390625 --labels=$example/labels.txt "$out/picture.png"
grep -E '^[0-9.]+ - ' "$out/classify.log" | sed 's/^/  /'
echo "  its label: $(sed -n $((label + 1))p $example/labels.txt)"

step "Done in $((SECONDS / 60)):$(printf %02d $((SECONDS % 60))) minutes"
echo "  the trained model:  $model"
echo "  the picture:        $out/picture.png"
echo "  the training's log: $out/train.log"
awk -v got="${accuracy:-0}" -v wanted=$wanted 'BEGIN { exit !(got >= wanted) }' ||
  give_up "the accuracy is ${accuracy:-unknown}, and at least $wanted was expected after $iterations iterations"
