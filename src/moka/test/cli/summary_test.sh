#!/bin/bash
# `moka summary` shows CaffeNet's known numbers of params: 60,965,224 in all, 34,944 in conv1
# (96 filters of 3 x 11 x 11, and 96 biases), without data or much memory, and takes other data's shape.
set -u
net=models/bvlc_reference_caffenet/train_val.prototxt
# check TEXT...: each is in the output, however many spaces between the words.
check() {
  for text in "$@"; do
    grep -qF -- "$text" <<< "$(tr -s ' ' <<< "$out")" || { echo "no \"$text\" in: $out"; exit 1; }
  done
}
out=$("$MOKA" summary --model=$net) || exit 1
check "total 60,965,224" "conv1 Convolution conv1 256 x 96 x 55 x 55 34,944" \
  "relu1 ReLU conv1 256 x 96 x 55 x 55 74.34 0 B"
# conv1: 2 x 363 operations for each of 96 x 55 x 55 values.
out=$("$MOKA" summary --model=$net --phase=TEST --data_shape=1,3,227,227) || exit 1
check "phase TEST" "conv1 Convolution conv1 1 x 96 x 55 x 55 34,944 210.83" "total 60,965,224"

grep -q "layer \"data\" (Data): random data" <<< "$("$MOKA" summary --model=$net)" || exit 1
"$MOKA" summary --model=nowhere.prototxt 2> /dev/null && exit 1
"$MOKA" summary --model=$net --data_shape=1,3,x 2> /dev/null
[ $? -eq 2 ]
