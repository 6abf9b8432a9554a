#!/bin/bash
# CaffeNet has 60,965,224 params (the sum over its public layer table),
# and its table needs neither data nor memory.
set -u
out=$("$MOKA" summary --model=models/bvlc_reference_caffenet/train_val.prototxt) || exit 1
grep -q '60,965,224' <<< "$out" || { echo "$out"; exit 1; }
grep -qE 'conv1 +Convolution +256 x 96 x 55 x 55' <<< "$out" || { echo "$out"; exit 1; }
grep -q 'its shape is assumed' <<< "$out" || { echo "$out"; exit 1; }
"$MOKA" summary --model=nowhere.prototxt 2> /dev/null && exit 1
exit 0
