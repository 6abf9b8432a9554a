#!/bin/bash
# Installs what moka is built from, as Debian or Ubuntu packages; does nothing when all is there.
#   scripts/install_deps.sh [--dev]     --dev: also what its developers use (formatting, lint, ccache)
set -eu

packages="g++ make pkg-config protobuf-compiler libprotobuf-dev libgoogle-glog-dev libgflags-dev
  liblmdb-dev libleveldb-dev libopencv-core-dev libopencv-imgproc-dev libopencv-imgcodecs-dev
  libopenblas-openmp-dev libdnnl-dev libhdf5-dev zlib1g-dev nlohmann-json3-dev libboost-dev libgtest-dev
  dataset-fashion-mnist"
case "${1-}" in
  "") ;;
  --dev) packages="$packages clang-format clang-tidy ccache python3-numpy python3-h5py" ;;
  *) echo "usage: $0 [--dev]" >&2 ; exit 2 ;;
esac

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  echo "no apt here: install what these Debian packages hold, then run make:" $packages >&2
  exit 1
fi

missing=
for package in $packages; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "everything moka needs is installed"
  exit 0
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "not root and no sudo: have root install$missing" >&2; exit 1; }
  sudo=sudo
fi
echo "installing$missing"
apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
# A fresh machine has no package lists, and old lists name versions that are gone.
apt-cache show $missing > /dev/null 2>&1 || $apt update
$apt install -y --no-install-recommends $missing ||
  { $apt update && $apt install -y --no-install-recommends $missing; }
