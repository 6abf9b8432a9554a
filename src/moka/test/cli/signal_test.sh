#!/bin/bash
# Signals during a training do what the flags say, soon, and end it in good order.
. src/moka/test/cli/training.bash
make_database db
make_net "$dir/net.prototxt" "$dir/db"
make_solver "$dir/solver.prototxt" "$dir/net.prototxt" "$dir/out/net" 10000000

# start FLAGS...: a training in the background that has begun to iterate.
start() {
  rm -rf "$dir/out" "$dir/log"
  "$MOKA" train --solver="$dir/solver.prototxt" --threads=1 "$@" > "$dir/log" 2>&1 &
  victim=$!
  wait_for 60 "the first iterations" grep -qs 'Iteration 20 ' "$dir/log"
}
iteration() { sed -nE 's/.*Iteration ([0-9]+) \(.*/\1/p' "$dir/log" | tail -n 1; }
is_over() { ! kill -0 $victim 2> /dev/null; }
has_snapshot() { ls "$dir"/out/*.solverstate > /dev/null 2>&1; }
is_past() { [ "$(iteration)" -gt "$1" ]; }

# stops SIGNAL: the training ends within 10 seconds with status 0.
stops() {
  kill -"$1" $victim
  wait_for 10 "the end after SIG$1" is_over
  wait $victim || fail "status $? after SIG$1: $(tail -n 5 "$dir/log")"
}

start
stops INT
has_snapshot || fail "no snapshot after SIGINT"
grep -q 'Optimization stopped early' "$dir/log" || fail "$(tail -n 5 "$dir/log")"

start --sighup_effect=stop
stops HUP

start --sigint_effect=snapshot --sighup_effect=none
kill -HUP $victim
kill -INT $victim
wait_for 10 "a snapshot" has_snapshot
wait_for 10 "more iterations" is_past $(($(iteration) + 20))
kill -KILL $victim
wait $victim 2> /dev/null

start --sigint_effect=none
kill -INT $victim
wait_for 10 "more iterations" is_past $(($(iteration) + 20))
has_snapshot && fail "a snapshot though --sigint_effect=none"
kill -KILL $victim
wait $victim 2> /dev/null

"$MOKA" train --solver="$dir/solver.prototxt" --sigint_effect=explode > "$dir/log" 2>&1
[ $? -eq 2 ] || fail "an unknown effect was accepted"
