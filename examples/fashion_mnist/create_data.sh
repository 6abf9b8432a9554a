#!/bin/bash
# Turns the idx files of Fashion-MNIST into two LMDBs in this folder, fashion_mnist_train_lmdb and
# fashion_mnist_test_lmdb.
#   examples/fashion_mnist/create_data.sh [FOLDER]
# FOLDER holds the four idx files, gzipped or not; by default where the Debian package
# dataset-fashion-mnist puts them. Those of MNIST work as well. What exists is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${1:-/usr/share/datasets/fashion-mnist}
tool=${BUILD_DIR:-build}/examples/fashion_mnist/convert_idx
out=examples/fashion_mnist

if [ ! -x "$tool" ]; then
  echo "$tool is missing: run make first" >&2
  exit 1
fi

# The file with this name, gzipped or not.
find_file() {
  for file in "$folder/$1" "$folder/$1.gz"; do
    if [ -e "$file" ]; then
      echo "$file"
      return
    fi
  done
  echo "$folder has neither $1 nor $1.gz: install the package dataset-fashion-mnist," \
    "or name the folder of the idx files" >&2
  return 1
}

convert() {
  local images labels
  images=$(find_file "$1-images-idx3-ubyte")
  labels=$(find_file "$1-labels-idx1-ubyte")
  if [ -e "$out/$2" ]; then
    echo "$out/$2 exists already"
  else
    "$tool" "$images" "$labels" "$out/$2"
  fi
}

convert train fashion_mnist_train_lmdb
convert t10k fashion_mnist_test_lmdb
