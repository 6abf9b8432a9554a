#!/bin/bash
# promise 3: what is wrong with a file is told in one message, with status 1.
. src/moka/test/cli/training.bash
make_database db
make_net "$dir/net.prototxt" "$dir/db"
make_solver "$dir/solver.prototxt" "$dir/net.prototxt" "$dir/net" 3

# refuses PARTS COMMAND FLAGS...: PARTS, with | between, are in the message. All that is not a line
# of the log is one line and what belongs to it, indented.
refuses() {
  local parts=$1 status message part
  shift
  "$MOKA" "$@" > "$dir/stdout" 2> "$dir/stderr"
  status=$?
  [ $status -eq 1 ] || fail "moka $*: status $status: $(cat "$dir/stderr")"
  message=$(grep -vE '^[IWE][0-9]{4} ' "$dir/stderr")
  [ "$(grep -c '^moka: ' <<< "$message")" -eq 1 ] || fail "moka $*: not one message: $message"
  if grep -qvE '^(moka: |  )' <<< "$message"; then fail "moka $*: more than a message: $message"; fi
  IFS='|' read -ra parts <<< "$parts"
  for part in "${parts[@]}"; do
    grep -qF -- "$part" <<< "$message" || fail "moka $*: no \"$part\" in: $message"
  done
}
# with NET EXPRESSION: a solver for the net as changed by sed.
with() {
  sed -E "$2" "$dir/net.prototxt" > "$dir/$1.prototxt"
  make_solver "$dir/${1}_solver.prototxt" "$dir/$1.prototxt" "$dir/$1" 3
}

"$MOKA" train --solver="$dir/solver.prototxt" > "$dir/log" 2>&1 || fail "$(cat "$dir/log")"
model=$dir/net_iter_3.caffemodel state=$dir/net_iter_3.solverstate
: > "$dir/empty"

refuses "empty" train --solver="$dir/empty"
refuses "empty" train --solver="$dir/solver.prototxt" --weights="$dir/empty"
refuses "empty" train --solver="$dir/solver.prototxt" --snapshot="$dir/empty"
refuses "nothing.prototxt" train --solver="$dir/nothing.prototxt"

# promise 17
refuses "$model|not a text file|caffemodel" train --solver="$model"
refuses "$model|--weights" train --solver="$dir/solver.prototxt" --snapshot="$model"
refuses "$state|--snapshot" train --solver="$dir/solver.prototxt" --weights="$state"

# promise 16
with wide 's/num_output: 10/num_output: 11/'
refuses '"ip1"|10 x 800|11 x 800' train --solver="$dir/wide_solver.prototxt" --weights="$model"
refuses '"ip1"|10 x 800|11 x 800' test --model="$dir/wide.prototxt" --weights="$model" --phase=TRAIN

# promise 2
with narrow 's/num_output: 10/num_output: 9/'
refuses 'narrow.prototxt:|"loss"|label|9' train --solver="$dir/narrow_solver.prototxt"

# promise 14
with mean 's#crop_size#mean_file: "no_mean.binaryproto" crop_size#'
refuses 'mean.prototxt:1:|"pictures"|no_mean.binaryproto' train --solver="$dir/mean_solver.prototxt"

# promise 10
mkdir "$dir/cut" && head -c 20000 "$dir/db/data.mdb" > "$dir/cut/data.mdb"
with cut "s#$dir/db#$dir/cut#"
refuses "\"pictures\"|$dir/cut|truncated" train --solver="$dir/cut_solver.prototxt"
mkdir "$dir/void" && : > "$dir/void/data.mdb"
with void "s#$dir/db#$dir/void#"
refuses "\"pictures\"|$dir/void" train --solver="$dir/void_solver.prototxt"

# promise 5
make_solver "$dir/where.prototxt" "$dir/net.prototxt" "$dir/empty/below/net" 3 'snapshot: 1'
refuses "$dir/empty/below" train --solver="$dir/where.prototxt"
