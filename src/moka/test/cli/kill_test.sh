#!/bin/bash
# promises 1 and 4: a training that is killed between two snapshots goes on from the last one and
# ends with the weights of one that was not, to the last bit.
. src/moka/test/cli/training.bash
make_database db
make_net "$dir/net.prototxt" "$dir/db"

train() { "$MOKA" train "$@" > "$dir/log" 2>&1; }
newest_state() { ls "$dir"/killed/*.solverstate.h5 2> /dev/null | sort -V | tail -n 1; }

fields='snapshot: 7 snapshot_format: HDF5'
make_solver "$dir/whole.prototxt" "$dir/net.prototxt" "$dir/whole/net" 400 "$fields"
make_solver "$dir/killed.prototxt" "$dir/net.prototxt" "$dir/killed/net" 400 "$fields"
train --solver="$dir/whole.prototxt" --threads=1 || fail "$(cat "$dir/log")"

"$MOKA" train --solver="$dir/killed.prototxt" --threads=1 > "$dir/log_killed" 2>&1 &
victim=$!
wait_for 60 "a snapshot" test -e "$dir/killed/net_iter_21.solverstate.h5"
kill -KILL $victim
wait $victim 2> /dev/null
[ $? -eq 137 ] || fail "the training ended by itself: $(tail -n 5 "$dir/log_killed")"
[ ! -e "$dir/killed/net_iter_400.solverstate.h5" ] || fail "the training was over already"

state=$(newest_state)
echo "killed after $state"
train --solver="$dir/killed.prototxt" --threads=1 --snapshot="$state" || fail "$(cat "$dir/log")"
for kind in caffemodel solverstate; do
  "$MOKA" compare "$dir/whole/net_iter_400.$kind.h5" "$dir/killed/net_iter_400.$kind.h5" \
    --only=data/,history/ --tolerance=0 || fail "not the same $kind"
done
