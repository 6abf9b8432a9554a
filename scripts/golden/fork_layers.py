#!/usr/bin/python3
"""Computes golden cases of layers that forks of Caffe added, with PyTorch and NumPy alone.

    fork_layers.py OUTPUT_FOLDER

writes OUTPUT_FOLDER/fork_layers.h5 in the form of pack.py. Each formula is that of the layer's
paper or of the operation of PyTorch that is the same; gradients are PyTorch's.
"""

import os
import sys
import tempfile

import h5py
import numpy
import torch
import torch.nn.functional as F

import pack

rng = numpy.random.RandomState(3)


def values(*shape):
    return rng.uniform(-1, 1, shape).astype(numpy.float32)


def positive(*shape):
    return rng.uniform(0.5, 2, shape).astype(numpy.float32)


class Cases:
    """Writes cases as folders: net.prototxt and golden.h5."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, name, layer, inputs, compute, params=(), phase="TRAIN", statistics=(), fixed=()):
        """`compute` maps tensors (inputs, then params) to (outputs, params after); `layer` is the
        text of the layer, whose bottoms are named as `inputs` and whose tops are y, z. `statistics`
        are numbers of params, and `fixed` names of inputs, without gradient."""
        net = 'name: "%s" force_backward: true\n' % name
        tensors = {}
        for blob, value in inputs.items():
            dims = " ".join("dim: %d" % d for d in value.shape)
            net += 'layer { name: "%s" type: "Input" top: "%s" ' % (blob, blob)
            net += "input_param { shape { %s } } }\n" % dims
            tensors[blob] = torch.tensor(value, dtype=torch.float64, requires_grad=blob not in fixed)
        weights = [torch.tensor(p, dtype=torch.float64, requires_grad=i not in statistics)
                   for i, p in enumerate(params)]
        net += 'layer { name: "l" %s }\n' % layer
        outputs, after = compute(*tensors.values(), *weights)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        with open(os.path.join(folder, "net.prototxt"), "w") as out:
            out.write(net)
        with h5py.File(os.path.join(folder, "golden.h5"), "w") as out:
            attributes = dict(phase=phase, level=0, stages=" ", n_forward=1, backward=1,
                              force_backward=1, loss=0.0)
            for key, value in attributes.items():
                out.attrs[key] = numpy.bytes_(value) if isinstance(value, str) else value
            for blob, value in inputs.items():
                out["input/" + blob] = value
            loss = 0
            for top, y in zip("yz", outputs):
                gradient = values(*y.shape)
                out["output/" + top] = y.detach().numpy().astype(numpy.float32)
                out["top_diff/" + top] = gradient
                loss = loss + (y * torch.tensor(gradient, dtype=torch.float64)).sum()
            loss.backward()
            for blob, tensor in tensors.items():
                if tensor.requires_grad:
                    out["input_diff/" + blob] = tensor.grad.numpy().astype(numpy.float32)
            for i, weight in enumerate(weights):
                out["param/l/%d" % i] = params[i]
                if weight.requires_grad:
                    out["param_diff/l/%d" % i] = weight.grad.numpy().astype(numpy.float32)
            for i, value in after.items():
                out["param_after/l/%d" % i] = value.detach().numpy().astype(numpy.float32)


def layer(kind, rest="", bottoms="a", tops="y"):
    bottoms = " ".join('bottom: "%s"' % b for b in bottoms.split())
    tops = " ".join('top: "%s"' % t for t in tops.split())
    return 'type: "%s" %s %s %s' % (kind, bottoms, tops, rest)


def channel(p):
    return p.reshape(1, -1, 1, 1)


def batch_statistics(x):
    return x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False), x.var((0, 2, 3), unbiased=True)


def norms(cases):
    x, c = values(4, 3, 5, 2), 3

    def sums(x, mean, variance, weight, scale, bias):
        m, v, unbiased = batch_statistics(x)
        y = F.batch_norm(x, None, None, scale, bias, True, eps=1e-4)
        f = 0.9
        return y, {0: f * mean + m, 1: f * variance + unbiased, 2: f * weight + 1}

    text = "batch_norm_param { scale_bias: true eps: 1e-4 moving_average_fraction: 0.9 }"
    stored = [values(c), positive(c), positive(1), values(c), values(c)]
    cases.add("bn_scale_bias_train", layer("BatchNorm", text), {"a": x}, sums, stored,
              statistics=(0, 1, 2))
    cases.add("bn_scale_bias_test", layer("BatchNorm", text), {"a": x},
              lambda x, m, v, w, s, b: (F.batch_norm(x, m / w, v / w, s, b, False, eps=1e-4), {}),
              stored, "TEST", statistics=(0, 1, 2))

    def outside(x, mean, variance, weight):
        m, v, unbiased = batch_statistics(x)
        y = (x - channel(m)) / (channel(v).sqrt() + 0.25)
        return y, {0: 0.999 * mean + m, 1: 0.999 * variance + unbiased, 2: 0.999 * weight + 1}

    text = "batch_norm_param { add_eps_before_sqrt: false eps: 0.25 }"
    cases.add("bn_eps_outside", layer("BatchNorm", text), {"a": x}, outside, stored[:3],
              statistics=(0, 1, 2))

    two = [values(1, c, 1, 1), values(1, c, 1, 1)]
    for phase in ("TRAIN", "TEST"):
        cases.add("segnet_bn_learn_" + phase.lower(), layer("BN"), {"a": x},
                  lambda x, s, b: (F.batch_norm(x, None, None, s.flatten(), b.flatten(), True,
                                                eps=1e-9), {}), two, phase)
    cases.add("segnet_bn_inference", layer("BN", "bn_param { bn_mode: INFERENCE }"), {"a": x},
              lambda x, s, b: (x * s + b, {}), two)

    four = two + [values(1, c, 1, 1), positive(1, c, 1, 1)]

    def averages(x, s, b, mean, variance):
        running = mean.flatten().clone(), variance.flatten().clone()
        y = F.batch_norm(x, running[0], running[1], s.flatten(), b.flatten(), True, momentum=0.25)
        return y, {2: channel(running[0]), 3: channel(running[1])}

    text = "bn_param { momentum: 0.75 }"
    cases.add("pspnet_bn_train", layer("BN", text), {"a": x}, averages, four, statistics=(2, 3))
    cases.add("pspnet_bn_test", layer("BN", text), {"a": x},
              lambda x, s, b, m, v: (F.batch_norm(x, m.flatten(), v.flatten(), s.flatten(),
                                                  b.flatten(), False), {}),
              four, "TEST", statistics=(2, 3))
    cases.add("pspnet_bn_frozen", layer("BN", "bn_param { frozen: true }"), {"a": x},
              lambda x, s, b, m, v: (F.batch_norm(x, m.flatten(), v.flatten(), s.flatten(),
                                                  b.flatten(), False), {}),
              four, statistics=(0, 1, 2, 3))


def orders(cases):
    x = values(2, 6, 3, 4)
    cases.add("shuffle_channel", layer("ShuffleChannel", "shuffle_channel_param { group: 3 }"),
              {"a": x}, lambda x: (x.reshape(2, 3, 2, 3, 4).transpose(1, 2).reshape(x.shape), {}))
    cases.add("transpose", layer("Transpose", "transpose_param { dim: 3 dim: 0 dim: -2 dim: 1 }"),
              {"a": x}, lambda x: (x.permute(3, 0, 2, 1), {}))
    cases.add("pixelshuffler", layer("Reshape", "reshape_param { pixelshuffler: 2 }"),
              {"a": values(2, 8, 3, 2)}, lambda x: (F.pixel_shuffle(x, 2), {}))
    cases.add("pad", layer("Pad", "pad_param { pad_l: 1 pad_r: 2 pad_t: 0 pad_b: 3 }"), {"a": x},
              lambda x: (F.pad(x, (1, 2, 0, 3)), {}))


def products(cases):
    x = values(2, 3, 4, 5)
    cases.add("axpy", layer("Axpy", bottoms="a b c"),
              {"a": values(2, 3, 1, 1), "b": x, "c": values(2, 3, 4, 5)},
              lambda a, b, c: (a * b + c, {}))
    shapes = dict(channels=(2, 3, 1, 1), shared=(1, 3, 1, 1), pixels=(2, 1, 4, 5), same=x.shape,
                  number=(1, 1, 1, 1), columns=(1, 1, 1, 5))
    for name, shape in shapes.items():
        cases.add("mul_" + name, layer("Mul", bottoms="a b"), {"a": x, "b": values(*shape)},
                  lambda a, b: (a * b, {}))
    cases.add("mul_small_first", layer("BroadcastMul", bottoms="b a"),
              {"b": values(2, 3, 1, 1), "a": x}, lambda b, a: (a * b, {}))


def resized(cases):
    x = values(2, 2, 5, 4)

    def bilinear(height, width, corners=True):
        return lambda x: (F.interpolate(x, (height, width), mode="bilinear",
                                        align_corners=corners), {})

    def interp(name, text, compute):
        cases.add("interp_" + name, layer("Interp", "interp_param { %s }" % text), {"a": x}, compute)

    interp("size", "height: 9 width: 11", bilinear(9, 11))
    interp("smaller", "height: 3 width: 2", bilinear(3, 2))
    interp("one_pixel", "height: 1 width: 1", bilinear(1, 1))
    interp("zoom", "zoom_factor: 3", bilinear(13, 10))
    interp("shrink", "shrink_factor: 2", bilinear(3, 2))
    interp("shrink_zoom", "shrink_factor: 2 zoom_factor: 4", bilinear(9, 5))
    interp("cut", "height: 7 width: 3 pad_beg: -1 pad_end: -1",
           lambda x: bilinear(7, 3)(x[:, :, 1:-1, 1:-1]))
    cases.add("upsample_nearest", layer("Upsample", "upsample_param { scale: 3 }"), {"a": x},
              lambda x: (F.interpolate(x, scale_factor=3), {}))
    cases.add("upsample_two_factors",
              layer("Upsample", "upsample_param { scale_h: 1 scale_w: 2 }"), {"a": x},
              lambda x: (F.interpolate(x, (5, 8)), {}))
    cases.add("upsample_darknet", layer("Upsample", "upsample_param { stride: 2 scale: 0.5 }"),
              {"a": x}, lambda x: (0.5 * F.interpolate(x, scale_factor=2), {}))
    cases.add("upsample_bilinear", layer("Upsample", "upsample_param { scale: 3 mode: BILINEAR }"),
              {"a": x}, bilinear(15, 12, False))


def placed(cases):
    image = values(2, 3, 5, 7)
    pooled, places = F.max_pool2d(torch.tensor(image), 2, 2, ceil_mode=True, return_indices=True)
    inputs = {"a": values(*pooled.shape), "b": places.numpy().astype(numpy.float32)}

    def unpool(size):
        return lambda x, b: (F.max_unpool2d(x, b.long(), 2, 2, output_size=size), {})

    cases.add("upsample_places",
              layer("Upsample", "upsample_param { scale: 2 pad_out_h: true pad_out_w: true }", "a b"),
              inputs, unpool((5, 7)), fixed="b")
    cases.add("upsample_stated", layer("Upsample", "upsample_param { upsample_h: 5 upsample_w: 7 }",
                                       "a b"), inputs, unpool((5, 7)), fixed="b")
    text = "unpooling_param { kernel_size: 2 stride: 2 unpool_h: 5 unpool_w: 7 }"
    cases.add("unpooling_places", layer("Unpooling", text, "a b"), inputs, unpool((5, 7)), fixed="b")

    # Spreading is a transposed convolution of each channel by itself.
    def spread(weight):
        kernel = torch.full((3, 1, 3, 3), weight, dtype=torch.float64)
        return lambda x: (F.conv_transpose2d(x, kernel, stride=2, groups=3), {})

    x = values(2, 3, 3, 4)
    for kind, weight in (("AVE", 1 / 9), ("TILE", 1.0)):
        text = "unpooling_param { unpool: %s kernel_size: 3 stride: 2 }" % kind
        cases.add("unpooling_" + kind.lower(), layer("Unpooling", text), {"a": x}, spread(weight))
    middle = torch.zeros(3, 1, 3, 3, dtype=torch.float64)
    middle[:, :, 1, 1] = 1
    cases.add("unpooling_middle",
              layer("Unpooling", "unpooling_param { kernel_size: 3 stride: 2 }"), {"a": x},
              lambda x: (F.conv_transpose2d(x, middle, stride=2, groups=3), {}))


def others(cases):
    x = values(2, 6, 4, 3)
    text = "lrn_param { local_size: 5 alpha: 0.5 beta: 0.75 k: 2 }"
    # In place: the input is a copy of the data, so that it can be compared.
    cases.add("lrn_in_place",
              'type: "Power" bottom: "a" top: "y" } layer { name: "n" type: "LRN" bottom: "y" '
              'top: "y" %s } layer { name: "r" type: "ReLU" bottom: "y" top: "y"' % text,
              {"a": x}, lambda x: (F.relu(F.local_response_norm(x, 5, 0.5, 0.75, 2)), {}))
    cases.add("dropout_scale_test", layer("Dropout", "dropout_param { dropout_ratio: 0.25 "
                                                     "scale_train: false }"), {"a": x},
              lambda x: (0.75 * x, {}), phase="TEST")
    cases.add("pooling_torch", layer("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 "
                                                "torch_pooling: true }"), {"a": values(2, 2, 6, 7)},
              lambda x: (F.max_pool2d(x, 3, 2, 1), {}))

    # The weights of each output have length 1.
    text = "inner_product_param { num_output: 4 normalize: true transpose: %s }"
    x, weights = {"a": values(3, 5)}, values(4, 5)
    cases.add("inner_product_normalize", layer("InnerProduct", text % "false"), x,
              lambda x, w, b: (F.linear(x, F.normalize(w, dim=1), b), {}), [weights, values(4)])
    cases.add("inner_product_normalize_transpose", layer("InnerProduct", text % "true"), x,
              lambda x, w, b: (F.linear(x, F.normalize(w.t(), dim=1), b), {}),
              [weights.T.copy(), values(4)])


def main(output):
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(folder)
        for part in (norms, orders, products, resized, placed, others):
            part(cases)
        packer = pack.Packer(os.path.join(output, "fork_layers.h5"))
        for name in sorted(os.listdir(folder)):
            packer.add_case(name, os.path.join(folder, name))
        packer.out.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
