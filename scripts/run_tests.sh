#!/bin/bash
# Runs every test from the repository root: the GoogleTest program, then each script in
# src/moka/test (*.sh, *_test.py), which finds the tool in $MOKA and an empty folder in $TMPDIR and ends
# with 0, or 77 when it skips itself. The last line is the count.
#   scripts/run_tests.sh BUILD_DIR [--gtest_filter=...]
set -u
export BUILD_DIR=$1 MOKA=$1/tools/moka
shift
# Threads that spin while they wait slow everything down where other processes run, too.
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-1000}
passed=0 failed=0 skipped=0
failures=()

log=$(mktemp) && scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$log" "$scratch"' EXIT

# The number in a line of GoogleTest's summary: "[  PASSED  ] 12 tests."
summary() { sed -nE "s/^\[  $1 *\] ([0-9]+) tests?[.,].*/\1/p" "$log" | tail -n 1; }

run_program() {
  local program=$1 status number
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  number=$(summary PASSED) ; passed=$((passed + ${number:-0}))
  number=$(summary SKIPPED) ; skipped=$((skipped + ${number:-0}))
  number=$(summary FAILED) ; failed=$((failed + ${number:-0}))
  if [ "$status" -ne 0 ] && [ -z "$number" ]; then
    passed=$((passed + $(grep -ac '^\[       OK ' "$log")))
    failed=$((failed + 1))
    failures+=("$program ended with status $status in $(grep -a '^\[ RUN ' "$log" | tail -n 1)")
  fi
}

run_script() {
  local script=$1 status start=$SECONDS
  mkdir -p "$scratch/files"
  TMPDIR=$scratch/files timeout 900 "${@:2}" "$script" > "$log" 2>&1 < /dev/null
  status=$?
  rm -rf "$scratch/files"
  case $status in
    0) passed=$((passed + 1)) ; echo "passed   $script ($((SECONDS - start)) s)" ;;
    77) skipped=$((skipped + 1)) ; echo "skipped  $script: $(tail -n 1 "$log")" ;;
    *) failed=$((failed + 1)) ; failures+=("$script (status $status)")
       cat "$log" ; echo "FAILED   $script (status $status)" ;;
  esac
}

[ ! -x "$BUILD_DIR/test/moka_tests" ] || run_program "$BUILD_DIR/test/moka_tests" "$@"
for script in $(find src/moka/test -name '*.sh' | sort); do run_script "$script" bash; done
for script in $(find src/moka/test -name '*_test.py' | sort); do run_script "$script" python3; done

for failure in "${failures[@]:+${failures[@]}}"; do echo "FAILED: $failure"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
