#!/bin/bash
# promise 4: a snapshot that does not fit on the disk leaves the older one as it is, and training
# goes on.
. src/moka/test/cli/training.bash
[ "$(id -u)" -eq 0 ] || { echo "only root can mount a small disk" ; exit 77 ; }
mkdir "$dir/disk"
mount -t tmpfs -o size=100k tmpfs "$dir/disk" 2> /dev/null || { echo "mounting is not allowed" ; exit 77 ; }
trap 'umount "$dir/disk"' EXIT
make_database db
make_net "$dir/net.prototxt" "$dir/db"
# Model and state take 33 KB each: there is room for one snapshot and no more.
make_solver "$dir/solver.prototxt" "$dir/net.prototxt" "$dir/disk/net" 25 \
  'snapshot: 10 snapshot_after_train: false'
"$MOKA" train --solver="$dir/solver.prototxt" > "$dir/log" 2>&1 || fail "$(cat "$dir/log")"
ls -l "$dir/disk"
grep -q 'no snapshot at iteration 20: .*No space left on device.*; training goes on' "$dir/log" ||
  fail "no word of the full disk: $(cat "$dir/log")"
[ "$(ls "$dir/disk")" = "$(printf 'net_iter_10.caffemodel\nnet_iter_10.solverstate')" ] ||
  fail "the disk holds $(ls "$dir/disk")"
# The older one is good.
"$MOKA" train --solver="$dir/solver.prototxt" --snapshot="$dir/disk/net_iter_10.solverstate" \
  > "$dir/log" 2>&1 || fail "$(cat "$dir/log")"
