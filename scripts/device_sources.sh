#!/bin/sh
# Prints those of the given sources that hold kernels: they include ForEach or the reductions, themselves
# or through a header of ours.
pattern='moka/device/(for_each|reduce)\.hpp'
while :; do
  headers=$(grep -rlE --include='*.hpp' "#include \"($pattern)\"" include src |
    sed -E 's#^(include|src)/##; s#\.#\\.#g' | sort -u)
  wider=$(printf '%s\n' 'moka/device/(for_each|reduce)\.hpp' $headers | paste -sd'|')
  [ "$wider" = "$pattern" ] && break
  pattern=$wider
done
[ $# -eq 0 ] || grep -lE "#include \"($pattern)\"" "$@"
exit 0
