#!/usr/bin/python3
"""Packs golden cases into one compact HDF5 file a group.

    pack.py GOLDEN_FOLDER OUTPUT_FOLDER [GROUP...]

GOLDEN_FOLDER holds GROUP/CASE/, each with a net.prototxt or other files and mostly a golden.h5.
OUTPUT_FOLDER/GROUP.h5 then has a group for each case with all that its golden.h5 held, and the
other files of the case, byte by byte, in its subgroup `file`. Equal arrays of a group are stored
once (hard links); arrays that gain by it are compressed. src/moka/test/golden.hpp reads the result.
"""

import os
import sys
import zlib

import h5py
import numpy

GROUPS = "act conv data invalid io linear loss net nets norm pool recurrent shape solver".split()
COMPACT_BYTES = 4096  # up to this an array lies in its header, without an own block
COMPRESS_BYTES = 1024


def shuffled_size(array):
    """The size that HDF5's shuffle and gzip filters would reach."""
    raw = numpy.frombuffer(array.tobytes(), numpy.uint8)
    return len(zlib.compress(raw.reshape(-1, array.itemsize).T.tobytes(), 9))


class Packer:
    """Writes the cases of one group."""

    def __init__(self, path):
        self.out = h5py.File(path, "w", libver="latest")
        self.stored = {}  # content -> path of the array that holds it

    def add_array(self, path, array):
        array = numpy.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key in self.stored:
            self.out[path] = self.out[self.stored[key]]
            return
        self.stored[key] = path
        options = {}
        if array.nbytes > COMPRESS_BYTES and shuffled_size(array) < 0.9 * array.nbytes - 200:
            options = dict(chunks=array.shape, compression="gzip", compression_opts=9, shuffle=True)
        elif 0 < array.nbytes <= COMPACT_BYTES:
            self.add_compact(path, array)
            return
        self.out.create_dataset(path, data=array, **options)

    def add_compact(self, path, array):
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_layout(h5py.h5d.COMPACT)
        properties.set_obj_track_times(False)
        links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        links.set_create_intermediate_group(True)
        space = h5py.h5s.create_simple(array.shape) if array.shape else h5py.h5s.create(
            h5py.h5s.SCALAR)
        kind = h5py.h5t.py_create(array.dtype, logical=True)
        dataset = h5py.h5d.create(self.out.id, path.encode(), kind, space, properties, links)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.ascontiguousarray(array))

    def add_golden(self, case, path):
        with h5py.File(path, "r") as golden:
            for name, value in golden.attrs.items():
                self.out[case].attrs[name] = value
            golden.visititems(lambda name, item: self.add_array(f"{case}/{name}", item[()])
                              if isinstance(item, h5py.Dataset) else None)

    def add_case(self, case, folder):
        self.out.require_group(case)
        for root, folders, files in os.walk(folder):
            folders.sort()
            for file in sorted(files):
                path = os.path.join(root, file)
                if path == os.path.join(folder, "golden.h5"):
                    self.add_golden(case, path)
                    continue
                with open(path, "rb") as source:
                    content = numpy.frombuffer(source.read(), numpy.uint8)
                self.add_array(f"{case}/file/{os.path.relpath(path, folder)}", content)


def main(golden, output, *groups):
    total = 0
    for group in groups or GROUPS:
        path = os.path.join(output, group + ".h5")
        packer = Packer(path)
        cases = sorted(os.listdir(os.path.join(golden, group)))
        for case in cases:
            packer.add_case(case, os.path.join(golden, group, case))
        packer.out.close()
        total += os.path.getsize(path)
        print(f"{group:10} {len(cases):4} cases {os.path.getsize(path):9} bytes")
    print(f"{'total':10} {total:20} bytes")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
