#!/bin/bash
# The converter of idx files: what it writes, what it refuses, and that nothing half-written stays.
set -u
tool=$BUILD_DIR/examples/fashion_mnist/convert_idx
dir=$TMPDIR

fail() {
  echo "$1" >&2
  exit 1
}

# Two images of 2 x 3 and their labels.
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\3ABCDEFGHIJKL' > "$dir/images"
printf '\0\0\10\1\0\0\0\2\5\7' > "$dir/labels"

# Expects success.
converts() { "$tool" "$@" > "$dir/log" 2>&1 || fail "convert_idx $*: $(cat "$dir/log")"; }

# Expects status 1 and a message with this text in it, and no new file.
refuses() {
  local text=$1 before status
  shift
  before=$(ls "$dir")
  "$tool" "$@" > "$dir/log" 2>&1
  status=$?
  [ $status -eq 1 ] || fail "convert_idx $*: status $status"
  grep -qF -- "$text" "$dir/log" || fail "no \"$text\" in: $(cat "$dir/log")"
  [ "$before" = "$(ls "$dir")" ] || fail "convert_idx $* left: $(ls "$dir")"
}

touch "$dir/log"
converts "$dir/images" "$dir/labels" "$dir/db"
grep -q "wrote 2 images of 1 x 2 x 3" "$dir/log" || fail "$(cat "$dir/log")"
for text in 00000000 00000001 ABCDEF GHIJKL; do
  grep -qaF $text "$dir/db/data.mdb" || fail "no $text in the database"
done

refuses "exists already" "$dir/images" "$dir/labels" "$dir/db"
converts --force "$dir/images" "$dir/labels" "$dir/db"

gzip -k "$dir/images"
converts "$dir/images.gz" "$dir/labels" "$dir/db_gz"
cmp -s "$dir/db/data.mdb" "$dir/db_gz/data.mdb" || fail "the gzipped file gives another database"

# The second image, written without compression, has the bytes GHIJKL.
converts --extract=1 --picture="$dir/picture.pgm" "$dir/images"
[ "$(tail -c 6 "$dir/picture.pgm")" = GHIJKL ] || fail "another picture than the second was extracted"
converts --extract=1 --picture="$dir/picture.png" "$dir/images.gz"
refuses "there is no image 2, only 0 to 1" --extract=2 --picture="$dir/new.png" "$dir/images"
refuses "must end with .png" --extract=0 --picture="$dir/new" "$dir/images"
refuses "cannot be written" --extract=0 --picture="$dir/no/new.png" "$dir/images"

refuses "images: No such file" "$dir/no_images" "$dir/labels" "$dir/new"
refuses "is truncated" <(head -c 20 "$dir/images") "$dir/labels" "$dir/new"
refuses "is truncated" <(head -c 30 "$dir/images.gz") "$dir/labels" "$dir/new"
refuses "is truncated" "$dir/images" <(head -c 9 "$dir/labels") "$dir/new"
refuses "is truncated" "$dir/images" /dev/null "$dir/new"
refuses "goes on after the 2 items" <(cat "$dir/images" "$dir/labels") "$dir/labels" "$dir/new"
refuses "has 1 axes, and should have 3" "$dir/labels" "$dir/labels" "$dir/new"
refuses "has 3 axes, and should have 1 (labels)" "$dir/images" "$dir/images" "$dir/new"
refuses "is not an idx file" <(echo "some text of any kind") "$dir/labels" "$dir/new"
refuses "holds values of type 13" <(printf '\0\0\15\3\0\0\0\2') "$dir/labels" "$dir/new"
refuses "has 2 images, but" "$dir/images" <(printf '\0\0\10\1\0\0\0\1\5') "$dir/new"
refuses "lmdb and leveldb" --backend=hdf5 "$dir/images" "$dir/labels" "$dir/new"
refuses "cannot be written" "$dir/images" "$dir/labels" "$dir/no/new"

"$tool" "$dir/images" > "$dir/log" 2>&1
[ $? -eq 2 ] || fail "a missing argument should give status 2"
