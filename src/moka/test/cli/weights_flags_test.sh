#!/bin/bash
# promise 16: what of a model was loaded is said; --strict and --skip_mismatch decide what is an error.
set -u
cd "$TMPDIR" || exit 1
moka=$OLDPWD/$MOKA
net() {
  cat > "$1" << END
layer { name: "in" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "x" top: "ip1" inner_product_param { num_output: $2 weight_filler { type: "xavier" } } }
layer { name: "$3" type: "InnerProduct" bottom: "ip1" top: "$3" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "$3" bottom: "$3" top: "loss" }
END
}
solver() { echo "net: '$1' base_lr: 0 lr_policy: 'fixed' max_iter: 0 snapshot_prefix: '$2' random_seed: 1"; }
fail() { echo "$1"; cat log; exit 1; }
train() { "$moka" train --solver=s.prototxt "$@" > log 2>&1; }

net a.prototxt 4 ip2
net b.prototxt 5 other
solver a.prototxt a > s.prototxt
train || fail "cannot make the model"
solver b.prototxt b > s.prototxt
train --weights=a_iter_0.caffemodel && fail "a mismatch was accepted"
grep -q 'ip1.*5 x 3.*4 x 3' log || fail "the mismatch does not name both shapes"
train --weights=a_iter_0.caffemodel --skip_mismatch || fail "--skip_mismatch does not skip"
grep -q 'not in the model.*other' log && grep -q 'not in the net.*ip2' log || fail "the report lacks layers"
net c.prototxt 4 other
solver c.prototxt c > s.prototxt
train --weights=a_iter_0.caffemodel || fail "missing layers are an error without --strict"
train --weights=a_iter_0.caffemodel --strict && fail "--strict accepted missing layers"
exit 0
