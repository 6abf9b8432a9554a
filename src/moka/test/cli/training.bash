# What the tests of `moka train` share; sourced, with $MOKA, $BUILD_DIR and $TMPDIR set.
set -u
dir=$TMPDIR

fail() {
  echo "$1" >&2
  exit 1
}

# make_database NAME [LARGEST_LABEL]: an LMDB of 100 pictures of 28 x 28 in $dir/NAME, whose pixels
# are the bytes of a file that is there anyway, and labels 0 to 9.
make_database() {
  {
    printf '\0\0\10\3\0\0\0\144\0\0\0\34\0\0\0\34'
    head -c 78400 src/moka/test/data/golden/conv.h5
  } > "$dir/images"
  {
    printf '\0\0\10\1\0\0\0\144'
    for _ in 1 2 3 4 5 6 7 8 9 10; do printf '\0\1\2\3\4\5\6\7\10\11'; done
  } > "$dir/labels"
  "$BUILD_DIR/examples/fashion_mnist/convert_idx" "$dir/images" "$dir/labels" "$dir/$1" \
    > /dev/null || fail "no database"
}

# make_net FILE DATABASE: a small net with all that is random: shuffling, crops, mirrors, dropout.
make_net() {
  cat > "$1" <<END
layer { name: "pictures" type: "Data" top: "data" top: "label"
  transform_param { scale: 0.00390625 crop_size: 24 mirror: true }
  data_param { source: "$2" backend: LMDB batch_size: 8 shuffle: true } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 8 kernel_size: 5 stride: 2 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "drop1" type: "Dropout" bottom: "conv1" top: "conv1" }
layer { name: "ip1" type: "InnerProduct" bottom: "conv1" top: "ip1"
  inner_product_param { num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip1" bottom: "label" top: "loss" }
END
}

# make_solver FILE NET PREFIX MAX_ITER [FIELDS]
make_solver() {
  cat > "$1" <<END
net: "$2" base_lr: 0.01 lr_policy: "fixed" momentum: 0.9 random_seed: 7 display: 10
snapshot_prefix: "$3" max_iter: $4 solver_mode: CPU ${5:-}
END
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds.
wait_for() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "waited in vain for $what"
    sleep 0.02
  done
}
