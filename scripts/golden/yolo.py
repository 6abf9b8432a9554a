#!/usr/bin/python3
"""Golden cases of the layers of YOLO v2 by NumPy: Reorg, RegionLoss, YoloDetectionOutput.

    yolo.py OUTPUT_FOLDER
    pack.py OUTPUT_FOLDER src/moka/test/data/golden yolo
"""

import os
import sys

import numpy

from cases import sixteenths, write_case

BIASES = [(1.25, 1.5), (2.5, 0.75), (0.5, 0.875)]
CLASSES = 4


def reorg_cases(folder):
    """Flat indices, element by element, as darknet's reorg loop has them."""
    for name, shape, stride, reverse in (("reorg_2", (2, 8, 4, 6), 2, False),
                                         ("reorg_3", (1, 9, 3, 6), 3, False),
                                         ("reorg_reverse", (2, 8, 2, 3), 2, True)):
        n, c, h, w = shape
        few = c // stride**2
        x = numpy.arange(n * c * h * w)
        dy = (7 * x) % 101
        y, dx = numpy.empty_like(x), numpy.empty_like(x)
        for b in range(n):
            for k in range(c):
                for j in range(h):
                    for i in range(w):
                        tight = i + w * (j + h * (k + c * b))
                        d = k // few
                        column, row = i * stride + d % stride, j * stride + d // stride
                        block = column + w * stride * (row + h * stride * (k % few + few * b))
                        to, come_from = (block, tight) if reverse else (tight, block)
                        y[to] = x[come_from]
                        dx[come_from] = dy[to]
        top = ((n, few, h * stride, w * stride) if reverse else
               (n, c * stride**2, h // stride, w // stride))
        write_case(folder, name,
                   'name: "reorg" type: "Reorg" bottom: "x" top: "y" '
                   f'reorg_param {{ stride: {stride} reverse: {str(reverse).lower()} }}',
                   {"x": x.reshape(shape)}, {"y": y.reshape(top)}, {"y": dy.reshape(top)},
                   {"x": dx.reshape(shape)})


def logistic(x):
    return 1 / (1 + numpy.exp(-x))


def softmax(x):
    e = numpy.exp(x - x.max())
    return e / e.sum()


def overlap(a, b):
    """Of boxes (x, y, width, height) with x and y their centres."""
    common = 1.0
    for axis in (0, 1):
        common *= max(0, min(a[axis] + a[axis + 2] / 2, b[axis] + b[axis + 2] / 2) -
                      max(a[axis] - a[axis + 2] / 2, b[axis] - b[axis + 2] / 2))
    return common / (a[2] * a[3] + b[2] * b[3] - common)


def predicted(v, bias, row, column, height, width):
    return ((column + logistic(v[0])) / width, (row + logistic(v[1])) / height,
            numpy.exp(v[2]) * bias[0] / width, numpy.exp(v[3]) * bias[1] / height)


class Region:
    """Loss and gradient of one batch; channels last, so that v is an anchor's vector."""

    def __init__(self, x, truths, threshold=0.3, rescore=True, bias_match=True, soft=True,
                 early=False, scales=(5, 0.5, 1.5, 2)):
        samples, _, height, width = x.shape
        self.x = x.astype(numpy.float64).reshape(samples, len(BIASES), 5 + CLASSES, height, width)
        self.gradient, self.loss = numpy.zeros(self.x.shape), 0.0
        self.object, self.no_object, self.classes, self.box = scales
        self.soft = soft
        self.height, self.width = height, width
        for n in range(samples):
            owners = {}
            for label, *box in truths[n]:
                row, column = int(box[1] * height), int(box[0] * width)
                owners[row, column, self.anchor_of(n, box, row, column, bias_match)] = label, box
            for row in range(height):
                for column in range(width):
                    for a in range(len(BIASES)):
                        where = n, a, slice(None), row, column
                        self.cell(where, owners.get((row, column, a)), truths[n], threshold,
                                  rescore, early)
        self.loss /= samples
        self.gradient = (self.gradient / samples).reshape(x.shape)

    def anchor_of(self, n, box, row, column, bias_match):
        def size(a):
            grow = numpy.ones(2) if bias_match else numpy.exp(self.x[n, a, 2:4, row, column])
            return grow * BIASES[a] / (self.width, self.height)
        return max(range(len(BIASES)),
                   key=lambda a: overlap((0, 0, *size(a)), (0, 0, box[2], box[3])))

    def square(self, where, channel, target, weight, is_logistic):
        n, a, _, row, column = where
        v = self.x[n, a, channel, row, column]
        value = logistic(v) if is_logistic else v
        self.loss += weight * (value - target)**2 / 2
        slope = value * (1 - value) if is_logistic else 1
        self.gradient[n, a, channel, row, column] = weight * (value - target) * slope

    def box_loss(self, where, targets, weight):
        for channel, target in enumerate(targets):
            self.square(where, channel, target, weight, channel < 2)

    def cell(self, where, owner, truths, threshold, rescore, early):
        _, a, _, row, column = where
        v = self.x[where]
        box = predicted(v, BIASES[a], row, column, self.height, self.width)
        if owner is None:
            if early:
                self.box_loss(where, (0.5, 0.5, 0, 0), 0.01)
            overlaps = [overlap(box, truth[1:]) for truth in truths]
            assert all(abs(value - threshold) > 1e-5 for value in overlaps), "too close to call"
            if all(value <= threshold for value in overlaps):
                self.square(where, 4, 0, self.no_object, True)
            return
        label, truth = owner
        self.box_loss(where, (truth[0] * self.width - column, truth[1] * self.height - row,
                              numpy.log(truth[2] * self.width / BIASES[a][0]),
                              numpy.log(truth[3] * self.height / BIASES[a][1])), self.box)
        self.square(where, 4, overlap(box, truth) if rescore else 1, self.object, True)
        target = numpy.eye(CLASSES)[label]
        p = softmax(v[5:]) if self.soft else logistic(v[5:])
        self.loss -= self.classes * (numpy.log(p) * target).sum()
        if not self.soft:
            self.loss -= self.classes * (numpy.log(1 - p) * (1 - target)).sum()
        self.gradient[where][5:] = self.classes * (p - target)


# Two of sample 0 share a place, but no anchor; of those of sample 1 the last two share both, and
# the last one counts.
TRUTHS = [[(2, 0.5, 0.4, 0.25, 0.5), (0, 0.52, 0.42, 0.5, 0.1), (3, 0.9, 0.95, 0.125, 0.2)],
          [(1, 0.1, 0.15, 0.2, 0.25), (0, 0.7, 0.6, 0.3, 0.4), (3, 0.72, 0.58, 0.31, 0.42)]]


def lists(truths, rows=4):
    label = numpy.zeros((len(truths), rows, 5))
    for n, of_sample in enumerate(truths):
        label[n, :len(of_sample)] = of_sample
    return label


def annotated(truths):
    return numpy.array([[n, label + 1, 0, x - w / 2, y - h / 2, x + w / 2, y + h / 2, 0]
                        for n, of_sample in enumerate(truths)
                        for label, x, y, w, h in of_sample]).reshape(1, 1, -1, 8)


def region_case(folder, name, fields, label=lists, phase="TEST", seed=1, **options):
    random = numpy.random.default_rng(seed)
    x = sixteenths(random, (2, len(BIASES) * (5 + CLASSES), 3, 4))
    region = Region(x, TRUTHS, early=phase == "TRAIN", **options)
    biases = " ".join(f"biases: {value}" for pair in BIASES for value in pair)
    write_case(folder, "region_" + name,
               'name: "loss" type: "RegionLoss" bottom: "x" bottom: "label" top: "loss" '
               f"region_loss_param {{ num: {len(BIASES)} num_class: {CLASSES} object_scale: 5 "
               f"noobject_scale: 0.5 class_scale: 1.5 coord_scale: 2 thresh: 0.3 {fields} "
               f"{biases} }}",
               {"x": x, "label": label(TRUTHS)}, {"loss": region.loss}, {}, {"x": region.gradient},
               loss=region.loss, phase=phase)


def region_cases(folder):
    region_case(folder, "lists", "")
    region_case(folder, "annotated", "", label=annotated)
    region_case(folder, "early", "", phase="TRAIN")
    region_case(folder, "no_rescore", "rescore: 0", rescore=False)
    region_case(folder, "match_predictions", "bias_match: 0", bias_match=False)
    region_case(folder, "logistic_classes", "softmax: 0", soft=False)


def detections(x, threshold, nms):
    samples, _, height, width = x.shape
    v = x.astype(numpy.float64).reshape(samples, len(BIASES), 5 + CLASSES, height, width)
    rows = []
    for n in range(samples):
        found = []
        for a, row, column in numpy.ndindex(len(BIASES), height, width):
            of_cell = v[n, a, :, row, column]
            p = softmax(of_cell[5:])
            score = logistic(of_cell[4]) * p.max()
            if score > threshold:
                found.append((score, p.argmax(),
                              predicted(of_cell, BIASES[a], row, column, height, width)))
        found.sort(key=lambda item: -item[0])
        kept = []
        for score, label, box in found:
            overlaps = [overlap(box, other) for _, other_label, other in kept
                        if other_label == label]
            assert all(abs(value - nms) > 1e-5 for value in overlaps), "too close to call"
            if all(value <= nms for value in overlaps):
                kept.append((score, label, box))
        rows += [[n, label + 1, score, x - w / 2, y - h / 2, x + w / 2, y + h / 2]
                 for score, label, (x, y, w, h) in kept]
    return numpy.array(rows or [[0, -1, -1, -1, -1, -1, -1]]).reshape(1, 1, -1, 7)


def detection_case(folder, name, threshold, nms):
    x = sixteenths(numpy.random.default_rng(2), (2, len(BIASES) * (5 + CLASSES), 3, 4))
    biases = " ".join(f"biases: {value}" for pair in BIASES for value in pair)
    write_case(folder, "yolo_detection_" + name,
               'name: "out" type: "YoloDetectionOutput" bottom: "x" top: "y" '
               f"yolo_detection_output_param {{ num_box: {len(BIASES)} num_classes: {CLASSES} "
               f"confidence_threshold: {threshold} nms_threshold: {nms} {biases} }}",
               {"x": x}, {"y": detections(x, threshold, nms)}, phase="TEST")


def main(output):
    folder = os.path.join(output, "yolo")
    reorg_cases(folder)
    region_cases(folder)
    detection_case(folder, "many", 0.1, 0.3)
    detection_case(folder, "none", 0.99, 0.3)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
