"""Writes golden cases of layers that NumPy computes, in the form that pack.py packs."""

import os

import h5py
import numpy


def sixteenths(random, shape):
    """Normal values of few bits, which compress."""
    return (numpy.round(16 * random.standard_normal(shape)) / 16).astype(numpy.float32)


def write_case(folder, name, layer, inputs, outputs, top_diffs=None, input_diffs=None, loss=0.0,
               phase="TRAIN"):
    """One case: the layer's prototxt (without its braces), arrays by blob name.

    Where there are input_diffs, top_diffs are put into the tops and a backward pass is compared.
    """
    top_diffs, input_diffs = top_diffs or {}, input_diffs or {}
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    backward = int(bool(input_diffs))
    text = f'name: "{name}"\n' + ("force_backward: true\n" if backward else "")
    for blob, array in inputs.items():
        dims = " ".join(f"dim: {dim}" for dim in array.shape)
        text += (f'layer {{ name: "{blob}" type: "Input" top: "{blob}" '
                 f'input_param {{ shape {{ {dims} }} }} }}\n')
    with open(os.path.join(path, "net.prototxt"), "w") as file:
        file.write(text + f"layer {{ {layer} }}\n")
    with h5py.File(os.path.join(path, "golden.h5"), "w") as file:
        file.attrs.update(phase=numpy.bytes_(phase), level=0, stages=numpy.bytes_(" "), n_forward=1,
                          backward=backward, force_backward=backward, loss=float(loss))
        for kind, arrays in (("input", inputs), ("output", outputs), ("top_diff", top_diffs),
                             ("input_diff", input_diffs)):
            for blob, array in arrays.items():
                file[f"{kind}/{blob}"] = numpy.asarray(array, numpy.float32)
