#!/usr/bin/python3
"""Golden cases of the layers of Fast, Faster and Mask R-CNN and R-FCN, by NumPy from the papers.

    rcnn.py OUTPUT_FOLDER
    pack.py OUTPUT_FOLDER src/moka/test/data/golden rcnn
"""

import math
import os
import sys

import numpy

from cases import sixteenths, write_case


def half_away(value):
    """Rounds as C does."""
    return math.copysign(math.floor(abs(value) + 0.5), value)


def some_regions(random, count, samples, size):
    """Regions inside and across the edges of a square picture, and one of a single pixel."""
    regions = numpy.empty((count, 5))
    regions[:, 0] = random.integers(0, samples, count)
    corners = random.uniform(-0.2 * size, 1.2 * size, (count, 2, 2))
    regions[:, 1:3], regions[:, 3:5] = corners.min(1), corners.max(1)
    regions[0, 1:] = [5, 6, 5, 6]
    return regions.astype(numpy.float32)


def clip(value, size):
    return int(min(max(value, 0), size))


def cells(start, length, count, size, offset=0):
    """[begin, end) of each bin. The same in float32 and in float64, or the case is a bad one."""
    def cut(kind):
        bin_length = kind(length) / kind(count)
        return [(clip(math.floor(kind(b) * bin_length + kind(start)) + offset, size),
                 clip(math.ceil(kind(b + 1) * bin_length + kind(start)) + offset, size))
                for b in range(count)]
    assert cut(numpy.float32) == cut(numpy.float64)
    return cut(numpy.float64)


def roi_pooling(x, regions, dy, rows, columns, scale):
    y, dx = numpy.zeros(dy.shape), numpy.zeros(x.shape)
    for r, (sample, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (half_away(float(corner) * scale) for corner in corners)
        h_cells = cells(0, max(y2 - y1 + 1, 1), rows, x.shape[2], y1)
        w_cells = cells(0, max(x2 - x1 + 1, 1), columns, x.shape[3], x1)
        for channel in range(x.shape[1]):
            plane = x[int(sample), channel]
            for i, (h0, h1) in enumerate(h_cells):
                for j, (w0, w1) in enumerate(w_cells):
                    if h0 >= h1 or w0 >= w1:
                        continue
                    window = plane[h0:h1, w0:w1]
                    h, w = numpy.unravel_index(window.argmax(), window.shape)
                    y[r, channel, i, j] = window[h, w]
                    dx[int(sample), channel, h0 + h, w0 + w] += dy[r, channel, i, j]
    return y, dx


def psroi_pooling(x, regions, dy, group, scale):
    y, dx = numpy.zeros(dy.shape), numpy.zeros(x.shape)
    for r, (sample, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (half_away(corner) for corner in corners)
        h_cells = cells(y1 * scale, max((y2 + 1 - y1) * scale, 0.1), group, x.shape[2])
        w_cells = cells(x1 * scale, max((x2 + 1 - x1) * scale, 0.1), group, x.shape[3])
        for k in range(dy.shape[1]):
            for i, (h0, h1) in enumerate(h_cells):
                for j, (w0, w1) in enumerate(w_cells):
                    if h0 >= h1 or w0 >= w1:
                        continue
                    where = int(sample), (k * group + i) * group + j, slice(h0, h1), slice(w0, w1)
                    y[r, k, i, j] = x[where].mean()
                    dx[where] += dy[r, k, i, j] / x[where].size
    return y, dx


def sample_weights(start, length, bins, ratio, size):
    """weights[b, i]: what element i contributes to the mean of bin b along one axis."""
    weights = numpy.zeros((bins, size))
    bin_length = length / bins
    samples = ratio if ratio > 0 else math.ceil(bin_length)
    for b in range(bins):
        for sample in range(samples):
            place = start + b * bin_length + (sample + 0.5) * bin_length / samples
            if not -1 <= place <= size:
                continue
            place = min(max(place, 0), size - 1)
            for i in range(size):
                weights[b, i] += max(0, 1 - abs(place - i)) / samples
    return weights


def roi_align(x, regions, dy, rows, columns, scale, ratio):
    y, dx = numpy.zeros(dy.shape), numpy.zeros(x.shape)
    for r, (sample, *corners) in enumerate(regions):
        x1, y1, x2, y2 = (float(corner) * scale for corner in corners)
        h = sample_weights(y1, max(y2 - y1, 1), rows, ratio, x.shape[2])
        w = sample_weights(x1, max(x2 - x1, 1), columns, ratio, x.shape[3])
        y[r] = numpy.einsum("ih,jw,chw->cij", h, w, x[int(sample)])
        dx[int(sample)] += numpy.einsum("ih,jw,cij->chw", h, w, dy[r])
    return y, dx


def region_case(folder, name, kind, param, function, channels, grid, seed, regions=7):
    """Two samples of 9 x 11 elements, 8 pixels each."""
    random = numpy.random.default_rng(seed)
    x = sixteenths(random, (2, channels, 9, 11))
    rois = some_regions(random, regions, 2, 80)
    dy = sixteenths(random, (regions,) + grid)
    y, dx = function(x.astype(numpy.float64), rois, dy)
    write_case(folder, name,
               f'name: "pool" type: "{kind}" bottom: "x" bottom: "rois" top: "y" {param}',
               {"x": x, "rois": rois}, {"y": y}, {"y": dy}, {"x": dx})


def region_cases(folder):
    region_case(folder, "roi_pooling_3x4", "ROIPooling",
                "roi_pooling_param { pooled_h: 3 pooled_w: 4 spatial_scale: 0.125 }",
                lambda x, rois, dy: roi_pooling(x, rois, dy, 3, 4, 0.125), 3, (3, 3, 4), 1)
    region_case(folder, "psroi_pooling_3", "PSROIPooling",
                "psroi_pooling_param { output_dim: 2 group_size: 3 spatial_scale: 0.125 }",
                lambda x, rois, dy: psroi_pooling(x, rois, dy, 3, 0.125), 18, (2, 3, 3), 2)
    for name, ratio in ("roi_align_ratio2", 2), ("roi_align_adaptive", -1):
        region_case(folder, name, "ROIAlign",
                    "roi_align_param { pooled_h: 3 pooled_w: 4 spatial_scale: 0.125 "
                    f"sampling_ratio: {ratio} }}",
                    lambda x, rois, dy, ratio=ratio: roi_align(x, rois, dy, 3, 4, 0.125, ratio), 3,
                    (3, 3, 4), 3)


def anchors_of(base, ratios, scales):
    """x1, y1, x2, y2 of the anchors at place (0, 0); pixels are 1 wide, the ends belong to them."""
    centre = (base - 1) / 2
    anchors = []
    for ratio in ratios:
        width = numpy.rint(numpy.sqrt(base * base / ratio))
        height = numpy.rint(width * ratio)
        for scale in scales:
            half = numpy.array([width * scale - 1, height * scale - 1]) / 2
            anchors.append([*(centre - half), *(centre + half)])
    return numpy.array(anchors)


def pixel_overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0]) + 1
    height = min(a[3], b[3]) - max(a[1], b[1]) + 1
    common = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (a, b)]
    return common / (sum(areas) - common)


def suppress(boxes, overlap, threshold, most):
    """Positions that stay, of boxes in the order of their scores."""
    kept = []
    for i, box in enumerate(boxes):
        overlaps = [overlap(boxes[k], box) for k in kept]
        assert all(abs(value - threshold) > 1e-5 for value in overlaps), "too close to call"
        if len(kept) < most and all(value <= threshold for value in overlaps):
            kept.append(i)
    return kept


def proposal(scores, offsets, size, anchors, stride, smallest, pre, post, threshold):
    """Regions (without their sample) and scores of one sample."""
    found = []
    for h in range(scores.shape[1]):
        for w in range(scores.shape[2]):
            for a, (x1, y1, x2, y2) in enumerate(anchors + numpy.tile([w, h], 2) * stride):
                width, height = x2 - x1 + 1, y2 - y1 + 1
                dx, dy, dw, dh = offsets[4 * a:4 * a + 4, h, w]
                x, y = x1 + width / 2 + dx * width, y1 + height / 2 + dy * height
                half_w, half_h = numpy.exp(dw) * width / 2, numpy.exp(dh) * height / 2
                box = numpy.clip([x - half_w, y - half_h, x + half_w, y + half_h], 0,
                                 [size[1] - 1, size[0] - 1] * 2)
                sides = box[2:] - box[:2] + 1
                assert all(abs(sides - smallest * size[2]) > 1e-4), "too close to call"
                if all(sides >= smallest * size[2]):
                    found.append((scores[len(anchors) + a, h, w], box))
    found.sort(key=lambda item: -item[0])
    found = found[:pre]
    kept = suppress([box for _, box in found], pixel_overlap, threshold, post)
    return [found[i][1] for i in kept], [found[i][0] for i in kept]


def proposal_case(folder, name, samples, fields, ratios, scales, pre, post, threshold, seed):
    random = numpy.random.default_rng(seed)
    anchors = anchors_of(16, ratios, scales)
    # Scores differ, so that their order is no question.
    count = len(anchors)
    scores = random.permutation(samples * 2 * count * 20).reshape(samples, 2 * count, 4, 5) / 4096
    offsets = sixteenths(random, (samples, 4 * count, 4, 5)) / 4
    sizes = numpy.array([[61, 77, 0.75], [64, 80, 1.0]])[:samples]
    rois, roi_scores = [], []
    for n in range(samples):
        boxes, of_boxes = proposal(scores[n], offsets[n], sizes[n], anchors, 16, 16, pre, post,
                                   threshold)
        rois += [[n, *box] for box in boxes]
        roi_scores += [[score] for score in of_boxes]
    write_case(folder, name,
               'name: "proposal" type: "Proposal" bottom: "scores" bottom: "offsets" '
               f'bottom: "size" top: "rois" top: "roi_scores" {fields}',
               {"scores": scores, "offsets": offsets, "size": sizes},
               {"rois": rois, "roi_scores": roi_scores}, phase="TEST")


def proposal_cases(folder):
    proposal_case(folder, "proposal_default", 1, "", [0.5, 1, 2], [8, 16, 32], 6000, 300, 0.7, 4)
    proposal_case(folder, "proposal_two_samples", 2,
                  "proposal_param { ratio: 0.4 ratio: 1 scale: 1 scale: 2.5 pre_nms_topn: 40 "
                  "post_nms_topn: 11 nms_thresh: 0.4 }",
                  [0.4, 1], [1, 2.5], 40, 11, 0.4, 5)


def smooth_l1_ohem_cases(folder):
    """Sigma 1, three regions of two positions each."""
    random = numpy.random.default_rng(6)
    a, b = sixteenths(random, (3, 4, 2, 1)), sixteenths(random, (3, 4, 2, 1))
    weight = (random.integers(0, 3, a.shape) / 2).astype(numpy.float32)
    d = weight * (a - b)
    of_regions = numpy.where(abs(d) < 1, d * d / 2, abs(d) - 0.5).sum(1, keepdims=True)
    slope = weight * numpy.clip(d, -1, 1)
    for name, fields, divisor in (
            ("prefixed", "normalization: PRE_FIXED pre_fixed_normalizer: 128", 128),
            ("valid", "", 6), ("batch_size", "normalization: BATCH_SIZE", 3)):
        write_case(folder, "smooth_l1_ohem_" + name,
                   'name: "loss" type: "SmoothL1LossOHEM" bottom: "a" bottom: "b" bottom: "weight" '
                   'top: "loss" top: "of_regions" loss_weight: 2 loss_weight: 0 '
                   f"loss_param {{ {fields} }}",
                   {"a": a, "b": b, "weight": weight},
                   {"loss": of_regions.sum() / divisor, "of_regions": of_regions},
                   {"of_regions": numpy.zeros(of_regions.shape)},
                   {"a": 2 * slope / divisor, "b": -2 * slope / divisor},
                   loss=2 * of_regions.sum() / divisor)


def softmax_ohem_case(folder):
    random = numpy.random.default_rng(7)
    x = sixteenths(random, (5, 4, 1, 1))
    labels = numpy.array([2, -1, 0, 3, 3], numpy.float32).reshape(5, 1, 1, 1)
    p = numpy.exp(x) / numpy.exp(x).sum(1, keepdims=True)
    valid = labels.ravel() >= 0
    chosen = numpy.eye(4)[labels.ravel().astype(int)].reshape(x.shape)
    of_regions = numpy.where(valid, -numpy.log((p * chosen).sum((1, 2, 3))), 0).reshape(5, 1, 1, 1)
    write_case(folder, "softmax_ohem",
               'name: "loss" type: "SoftmaxWithLossOHEM" bottom: "x" bottom: "labels" top: "loss" '
               'top: "p" top: "of_regions" loss_weight: 1 loss_weight: 0 loss_weight: 0 '
               "loss_param { ignore_label: -1 normalization: PRE_FIXED pre_fixed_normalizer: 16 }",
               {"x": x, "labels": labels},
               {"loss": of_regions.sum() / 16, "p": p, "of_regions": of_regions},
               {"p": numpy.zeros(p.shape), "of_regions": numpy.zeros(of_regions.shape)},
               {"x": (p - chosen) * valid.reshape(5, 1, 1, 1) / 16}, loss=of_regions.sum() / 16)


def main(output):
    folder = os.path.join(output, "rcnn")
    region_cases(folder)
    proposal_cases(folder)
    smooth_l1_ohem_cases(folder)
    softmax_ohem_case(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
