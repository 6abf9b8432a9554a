#!/bin/bash
# What README.md and docs/*.md say is true: links lead somewhere, files and tests that they name exist, and
# their commands run. Commands are the blocks marked sh and the lines that begin with "$ " in blocks
# marked console; they run one after the other in a copy of the project's examples, with few iterations.
set -u
export PATH=/usr/bin:$PATH  # Debian's Python, for which Debian's h5py is
pages=(README.md docs/*.md)
all_pages=("${pages[@]}" CONTRIBUTING.md examples/*/readme.md models/*/readme.md)
failed=0
complain() {
  echo "$1" >&2
  failed=1
}

# Commands that are not run here: CI runs each by itself, and CELU has a test of its own.
left_to_ci='make( .*)?|.*moka help layer CELU'

# --- links ------------------------------------------------------------------------------------------
# The name under which a heading can be linked to.
anchors() {
  sed -nE 's/^#+ +//p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'
}
for page in "${all_pages[@]}"; do
  [ -f "$page" ] || continue
  for link in $(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//'); do
    case $link in http:* | https:*) continue ;; esac
    target=${link%%#*}
    file=$page
    [ -z "$target" ] || file=$(dirname "$page")/$target
    if [ ! -e "$file" ]; then
      complain "$page: the link $link leads nowhere"
    elif [[ $link == *#* ]] && ! anchors "$file" | grep -qxF -- "${link#*#}"; then
      complain "$page: $file has no heading for $link"
    fi
  done
done

# --- names of files and tests -------------------------------------------------------------------------
for page in "${pages[@]}"; do
  for path in $(grep -oE '(src|include|tools|docs|scripts)/[A-Za-z0-9_./]+[A-Za-z0-9]' "$page" | sort -u); do
    case $path in */celu_layer* | */dnnl | */cudnn | tools/moka | tools/caffe) continue ;; esac
    [ -e "$path" ] || complain "$page: there is no $path"
  done
done
for name in $(grep -oE '`[A-Z][A-Za-z0-9]+\.[A-Z][A-Za-z0-9]+`' docs/differences.md | tr -d '`'); do
  grep -qE "TEST(_F|_P)?\(${name%.*}, ${name#*.}\)" -r src/moka/test ||
    complain "docs/differences.md: there is no test $name"
done

# --- commands -----------------------------------------------------------------------------------------
# The commands of a page as a script, long runs made short; lines left to CI become comments.
commands() {
  awk '
    /^```/ { kind = $0; sub(/^```/, "", kind); next }
    kind == "sh" { print; next }
    kind == "console" && /^\$ / { more = 1 }
    kind == "console" && more { line = $0; sub(/^\$ /, "", line); print line; more = /\\$/ }' "$1" |
    sed -E "s/^($left_to_ci)( +#.*)?\$/# left to CI: &/
            s/iter_10000/iter_20/g; s/iter_5000/iter_10/g; s/--iterations=[0-9]+/--iterations=2/"
}

tree=$TMPDIR/tree
mkdir "$tree"
cp -r examples models "$tree"
rm -rf "$tree"/examples/*/*_lmdb
ln -s "$(realpath "$BUILD_DIR")" "$tree/build"
sed -i -E 's/^(max_iter: ).*/\120/; s/^(snapshot: ).*/\110/; s/^(test_iter: ).*/\12/' \
  "$tree/examples/fashion_mnist/lenet_solver.prototxt"

run=0
for page in "${pages[@]}"; do
  script=$TMPDIR/$(basename "$page").sh
  commands "$page" > "$script"
  if grep -q h5py "$script" && ! python3 -c 'import h5py' 2> /dev/null; then
    echo "$page: not run, for want of python3-h5py"
    continue
  fi
  echo "== $page"
  cat "$script"
  (cd "$tree" && BUILD_DIR=build bash -eu "$script") > "$TMPDIR/log" 2>&1 ||
    complain "$page: its commands fail, at the end with: $(tail -n 15 "$TMPDIR/log")"
  run=$((run + $(grep -cE '^(build|examples|scripts|python3)' "$script")))
done
[ $run -ge 15 ] || complain "only $run commands were found"

[ $failed -eq 0 ]
