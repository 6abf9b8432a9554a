#!/usr/bin/python3
"""Golden cases of SSD's layers, by NumPy loops from the paper (Liu et al., ECCV 2016).

    ssd.py OUTPUT_FOLDER
    pack.py OUTPUT_FOLDER src/moka/test/data/golden ssd
"""

import os
import sys

import numpy
from numpy import exp, log, sqrt

from cases import sixteenths, write_case

VARIANCE = [0.1, 0.1, 0.2, 0.2]


def prior_boxes(sizes, height, width, picture, step, offset, clip, variance):
    """1 x 2 x 4P; picture and step are (height, width)."""
    boxes = []
    for h in range(height):
        for w in range(width):
            y, x = (h + offset) * step[0], (w + offset) * step[1]
            for box_w, box_h in sizes:
                boxes.append([(x - box_w / 2) / picture[1], (y - box_h / 2) / picture[0],
                              (x + box_w / 2) / picture[1], (y + box_h / 2) / picture[0]])
    boxes = numpy.array(boxes)
    if clip:
        boxes = boxes.clip(0, 1)
    return numpy.stack([boxes, numpy.broadcast_to(variance, boxes.shape)]).reshape(1, 2, -1)


def sizes_of(min_sizes, max_sizes=(), ratios=(), flip=True):
    shapes = []
    for ratio in ratios:
        if ratio != 1 and ratio not in shapes:
            shapes += [ratio, 1 / ratio] if flip else [ratio]
    sizes = []
    for i, side in enumerate(map(int, min_sizes)):
        sizes.append((side, side))
        if max_sizes:
            sizes.append((sqrt(side * int(max_sizes[i])),) * 2)
        sizes += [(side * sqrt(ratio), side / sqrt(ratio)) for ratio in shapes]
    return sizes


def area(box):
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def overlap(a, b):
    common = area([max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])])
    if common == 0 or a[2] < a[0] or b[2] < b[0]:
        return 0.0
    return common / (area(a) + area(b) - common)


def centre_form(box):
    return numpy.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0],
                        box[3] - box[1]])


def decode(code, prior, variance, offsets):
    if code == "CORNER":
        return prior + variance * offsets
    c = centre_form(prior)
    size = numpy.array([c[2], c[3], c[2], c[3]])
    if code == "CORNER_SIZE":
        return prior + variance * offsets * size
    centre = variance[:2] * offsets[:2] * c[2:] + c[:2]
    half = exp(variance[2:] * offsets[2:]) * c[2:] / 2
    return numpy.concatenate([centre - half, centre + half])


def encode(code, prior, variance, box):
    if code == "CORNER":
        return (box - prior) / variance
    c = centre_form(prior)
    size = numpy.array([c[2], c[3], c[2], c[3]])
    if code == "CORNER_SIZE":
        return (box - prior) / size / variance
    b = centre_form(box)
    return numpy.concatenate([(b[:2] - c[:2]) / c[2:], log(b[2:] / c[2:])]) / variance


def thin_out(order, boxes, threshold, eta=1.0):
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[k]) <= threshold for k in kept):
            kept.append(i)
            if eta < 1 and threshold > 0.5:
                threshold *= eta
    return kept


def detection_output(loc, conf, priors, classes, share, code, in_target, threshold, eta, top_k,
                     keep, least, background=0):
    boxes, variances = priors.reshape(2, -1, 4)
    if in_target:
        variances = numpy.ones_like(variances)
    rows = []
    for item in range(len(loc)):
        item_loc = loc[item].reshape(len(boxes), -1, 4)
        item_conf = conf[item].reshape(len(boxes), classes)
        found = []
        for label in range(classes):
            if label == background:
                continue
            scores = item_conf[:, label]
            order = [p for p in numpy.argsort(-scores, kind="stable") if scores[p] > least]
            decoded = [decode(code, *pair, item_loc[p, 0 if share else label])
                       for p, pair in enumerate(zip(boxes, variances))]
            for p in thin_out(order[:top_k], decoded, threshold, eta):
                found.append((item, label, scores[p], *decoded[p]))
        best = sorted(range(len(found)), key=lambda i: -found[i][2])[:keep]
        rows += [found[i] for i in sorted(best)]
    if not rows:
        rows = [[item] + [-1] * 6 for item in range(len(loc))]
    return numpy.array(rows).reshape(1, 1, -1, 7)


def match(boxes, truths, threshold, per_prediction, ignore_outside):
    """For each box a true box's number, -1 or -2; and the largest overlap."""
    table = numpy.array([[overlap(box, truth) for truth in truths] for box in boxes])
    table = table.reshape(len(boxes), len(truths))
    matches = numpy.full(len(boxes), -1)
    if len(truths) and ignore_outside:
        outside = ((boxes < 0) | (boxes > 1)).any(1)
        matches[outside], table[outside] = -2, 0
    largest = table.max(1, initial=0)
    free = table.copy()
    for _ in range(len(truths)):
        box, truth = numpy.unravel_index(free.argmax(), free.shape)
        if free[box, truth] <= 1e-6:
            break
        matches[box] = truth
        free[box], free[:, truth] = 0, 0
    if per_prediction:
        for box in range(len(boxes)):
            if matches[box] == -1 and len(truths) and table[box].max() >= threshold:
                matches[box] = table[box].argmax()
    return matches, largest


def location_loss(kind, d):
    if kind == "L2":
        return (0.5 * d * d).sum(), d
    small = abs(d) < 1
    return numpy.where(small, 0.5 * d * d, abs(d) - 0.5).sum(), numpy.where(small, d, numpy.sign(d))


def confidence_loss(kind, x, label):
    target = numpy.eye(len(x))[label]
    if kind == "SOFTMAX":
        p = exp(x - x.max()) / exp(x - x.max()).sum()
        return -log(p[label]), p - target
    p = 1 / (1 + exp(-x))
    return -(target * log(p) + (1 - target) * log(1 - p)).sum(), p - target


def multibox_loss(loc, conf, priors, truths, classes, code="CENTER_SIZE", loc_loss="SMOOTH_L1",
                  conf_loss="SOFTMAX", loc_weight=1.0, share=True, match_type="PER_PREDICTION",
                  overlap_threshold=0.5, by_prior=True, difficult=True, ratio=3.0, neg_overlap=0.5,
                  in_target=False, agnostic=False, ignore_outside=False, bp_inside=False,
                  mining="MAX_NEGATIVE", nms=None, samples=64, nms_by_prior=False,
                  normalization="VALID"):
    """The loss and its gradients."""
    boxes, variances = priors.reshape(2, -1, 4)
    count = len(boxes)
    coded = numpy.ones_like(variances) if in_target else variances
    loc = loc.reshape(len(loc), count, -1, 4)
    conf = conf.reshape(len(conf), count, classes)
    d_loc, d_conf = numpy.zeros_like(loc), numpy.zeros_like(conf)
    loss, matched = 0.0, 0
    for item in range(len(loc)):
        objects = [row for row in truths.reshape(-1, 8)
                   if row[0] == item and (difficult or not row[7])]
        labels = [1 if agnostic else int(row[1]) for row in objects]
        where = [row[3:7] for row in objects]

        def predicted(place):
            return numpy.array([decode(code, boxes[p], coded[p], loc[item, p, place])
                                for p in range(count)])

        all_matches = []
        for place in range(loc.shape[2]):
            wanted = [t for t in range(len(objects))
                      if by_prior or share or int(objects[t][1]) == place]
            against = boxes if by_prior else predicted(place)
            found, largest = match(against, [where[t] for t in wanted], overlap_threshold,
                                   match_type == "PER_PREDICTION", ignore_outside)
            found = numpy.array([wanted[m] if m >= 0 else m for m in found])
            if not share:
                found = numpy.array([m if m < 0 or int(objects[m][1]) == place else -1
                                     for m in found])
            all_matches.append(found)

        def location(p, place):
            """Loss and gradient of a matched prior's location."""
            target = encode(code, boxes[p], coded[p], where[all_matches[place][p]])
            weight = 1 / variances[p] if in_target else numpy.ones(4)
            if bp_inside:
                box = boxes[p] if by_prior else predicted(place)[p]
                weight = weight * ((box >= 0) & (box <= 1))
            value, slope = location_loss(loc_loss, weight * (loc[item, p, place] - target))
            return value, slope * weight

        label_of = numpy.zeros(count, int)
        for found in all_matches:
            for p in numpy.flatnonzero(found >= 0):
                label_of[p] = labels[found[p]]
        counts = numpy.ones(count, bool)
        if mining != "NONE":
            found = all_matches[0]
            costs = numpy.array([confidence_loss(conf_loss, conf[item, p], label_of[p])[0]
                                 for p in range(count)])
            if mining == "HARD_EXAMPLE":
                costs += [location(p, 0)[0] if found[p] >= 0 else 0 for p in range(count)]
                eligible = range(count)
                number = samples
            else:
                eligible = [p for p in range(count) if found[p] == -1 and largest[p] < neg_overlap]
                number = int((found >= 0).sum() * ratio)
            order = sorted(eligible, key=lambda p: -costs[p])
            if nms is not None:
                order = thin_out(order, boxes if nms_by_prior else predicted(0), nms)
            chosen = numpy.isin(numpy.arange(count), order[:number])
            if mining == "HARD_EXAMPLE":
                positive = (found >= 0) & chosen
                counts = positive | (chosen & (found == -1))
                found[~positive & (found >= 0)] = -1
            else:
                counts = (found >= 0) | chosen
        for place, found in enumerate(all_matches):
            for p in numpy.flatnonzero(found >= 0):
                value, d_loc[item, p, place] = location(p, place)
                loss += loc_weight * value
                d_loc[item, p, place] *= loc_weight
                matched += 1
        for p in numpy.flatnonzero(counts):
            value, d_conf[item, p] = confidence_loss(conf_loss, conf[item, p], label_of[p])
            loss += value
    divisor = dict(VALID=max(matched, 1), FULL=len(loc) * count, BATCH_SIZE=len(loc),
                   NONE=1)[normalization]
    return loss / divisor, d_loc.reshape(len(loc), -1) / divisor, \
        d_conf.reshape(len(loc), -1) / divisor


def detection_evaluate(found, truths, classes, threshold=0.5, difficult=True, background=0):
    objects = [row for row in truths.reshape(-1, 8) if row[0] >= 0]
    rows = []
    for label in range(classes):
        if label != background:
            number = sum(1 for row in objects if row[1] == label and (difficult or not row[7]))
            rows.append([-1, label, number, -1, -1])
    found = sorted(found.reshape(-1, 7), key=lambda row: (row[0], row[1], -row[2]))
    seen = set()
    for row in found:
        overlaps = [overlap(row[3:], other[3:7]) if all(other[:2] == row[:2]) else -1
                    for other in objects]
        best = int(numpy.argmax(overlaps))
        right, wrong = 0, 1
        if overlaps[best] >= threshold:
            if not difficult and objects[best][7]:
                wrong = 0
            elif best not in seen:
                seen.add(best)
                right, wrong = 1, 0
        rows.append([*row[:3], right, wrong])
    return numpy.array(rows).reshape(1, 1, -1, 5)


def fields(**values):
    text = ""
    for name, value in values.items():
        for one in value if isinstance(value, list) else [value]:
            text += f" {name}: {str(one).lower() if isinstance(one, bool) else one}"
    return text


def write_priors(folder):
    def case(name, shape, picture, sizes, kind="PriorBox", clip=False, offset=0.5, step=None,
             variance=0.1, size=None, **given):
        """`given` are fields beside those that the grid has."""
        size = size or picture
        step = step or (size[0] / shape[0], size[1] / shape[1])
        out = prior_boxes(sizes, *shape, size, step, offset, clip, variance)
        given = fields(clip=clip, offset=offset, variance=variance, **given)
        layer = (f'name: "p" type: "{kind}" bottom: "map" bottom: "picture" top: "out" '
                 f'prior_box_param {{{given} }}')
        inputs = dict(map=numpy.zeros((2, 3, *shape)), picture=numpy.zeros((2, 3, *picture)))
        write_case(folder, name, layer, inputs, dict(out=out))

    case("prior_box_square", (3, 4), (30, 60), sizes_of([12]), min_size=12)
    several = dict(min_size=[10, 25.9], max_size=[20, 31.7], aspect_ratio=[1, 2, 3, 2])
    for name, flip, clip in (("flipped", True, False), ("clipped", False, True)):
        sizes = sizes_of(several["min_size"], several["max_size"], several["aspect_ratio"], flip)
        case("prior_box_" + name, (2, 3), (40, 50), sizes, clip=clip, variance=VARIANCE,
             flip=flip, **several)
    case("prior_box_steps", (3, 2), (30, 30), sizes_of([7], [9]), step=(8, 12), offset=0.25,
         min_size=7, max_size=9, step_h=8, step_w=12)
    case("prior_box_size", (2, 2), (30, 20), sizes_of([7]), size=(64, 64), min_size=7, img_size=64)
    case("prior_box_clustered", (2, 3), (40, 50), [(9.4, 15.5), (25.1, 39.6), (14.7, 2.25)],
         kind="PriorBoxClustered", step=(16, 16), variance=VARIANCE, step_h=16, step_w=16,
         width=[9.4, 25.1, 14.7], height=[15.5, 39.6, 2.25])


def some_priors():
    sizes = sizes_of([20], [35], [2])
    return prior_boxes(sizes, 3, 4, (60, 80), (20, 20), 0.5, False, VARIANCE).astype(numpy.float32)


def write_detections(folder, random):
    priors, classes, items = some_priors(), 4, 3
    count = priors.size // 8

    def case(name, share=True, code="CENTER_SIZE", in_target=False, threshold=0.45, eta=1.0,
             top_k=20, keep=15, least=0.3):
        shape = (items, count * (1 if share else classes) * 4)
        loc = (0.7 * random.standard_normal(shape) * (0.1 if in_target else 1))
        logits = 2 * random.standard_normal((items, count, classes))
        conf = exp(logits) / exp(logits).sum(2, keepdims=True)
        loc, conf = loc.astype(numpy.float32), conf.reshape(items, -1).astype(numpy.float32)
        out = detection_output(loc.astype(float), conf.astype(float), priors.astype(float), classes,
                               share, code, in_target, threshold, eta, top_k, keep, least)
        text = fields(num_classes=classes, share_location=share, code_type=code,
                      variance_encoded_in_target=in_target, keep_top_k=keep,
                      confidence_threshold=least)
        nms = fields(nms_threshold=threshold, eta=eta, top_k=top_k)
        layer = ('name: "d" type: "DetectionOutput" bottom: "loc" bottom: "conf" bottom: "priors" '
                 f'top: "out" detection_output_param {{{text} nms_param {{{nms} }} }}')
        write_case(folder, "detection_output_" + name, layer,
                   dict(loc=loc, conf=conf, priors=priors), dict(out=out), phase="TEST")

    case("centers")
    case("corners", code="CORNER", top_k=10)
    case("corners_by_size", code="CORNER_SIZE", keep=100)
    case("a_location_a_class", share=False)
    case("variance_in_target", in_target=True)
    case("eta", threshold=0.9, eta=0.7, keep=100, least=0.1, top_k=40)
    case("nothing", least=0.9999)


def some_truths(random, priors, classes, items):
    """Two to four objects near priors in each item but the last, and the padding of a batch."""
    boxes = priors.reshape(2, -1, 4)[0]
    rows = []
    for item in range(items - 1):
        for instance in range(random.integers(2, 5)):
            box = boxes[random.integers(len(boxes))] + 0.04 * random.standard_normal(4)
            rows.append([item, random.integers(1, classes), instance, *box, len(rows) % 3 == 0])
    rows.append([-1] * 8)
    return numpy.array(rows, numpy.float32).reshape(1, 1, -1, 8)


def write_losses(folder, random):
    priors, items = some_priors(), 3
    count = priors.size // 8

    def case(name, classes=4, loss_fields="", **given):
        places = 1 if given.get("share", True) else classes
        loc = sixteenths(random, (items, count * places * 4))
        conf = (2 * random.standard_normal((items, count * classes))).astype(numpy.float32)
        truths = some_truths(random, priors, max(classes, 3) if given.get("agnostic") else classes,
                             items)
        if given.get("agnostic"):
            truths[..., 1] = numpy.minimum(truths[..., 1], 1)
        loss, d_loc, d_conf = multibox_loss(loc.astype(float), conf.astype(float),
                                            priors.astype(float), truths.astype(float), classes,
                                            **given)
        names = dict(code="code_type", loc_loss="loc_loss_type", conf_loss="conf_loss_type",
                     share="share_location", by_prior="use_prior_for_matching",
                     difficult="use_difficult_gt", ratio="neg_pos_ratio",
                     in_target="encode_variance_in_target", agnostic="map_object_to_agnostic",
                     ignore_outside="ignore_cross_boundary_bbox", mining="mining_type",
                     samples="sample_size", nms_by_prior="use_prior_for_nms")
        given = dict(dict(code="CENTER_SIZE"), **given)
        normalization = given.pop("normalization", None)
        nms = given.pop("nms", None)
        text = fields(num_classes=classes, **{names.get(k, k): v for k, v in given.items()})
        if nms is not None:
            text += f" nms_param {{ nms_threshold: {nms} }}"
        layer = ('name: "l" type: "MultiBoxLoss" bottom: "loc" bottom: "conf" bottom: "priors" '
                 f'bottom: "truths" top: "loss" multibox_loss_param {{{text} }}')
        if normalization:
            layer += f" loss_param {{ normalization: {normalization} }}"
        write_case(folder, "multibox_loss_" + name, layer,
                   dict(loc=loc, conf=conf, priors=priors, truths=truths), dict(loss=loss),
                   input_diffs=dict(loc=d_loc, conf=d_conf), loss=loss)

    case("ssd")
    case("l2_logistic", loc_loss="L2", conf_loss="LOGISTIC", loc_weight=0.5)
    case("bipartite", match_type="BIPARTITE", ratio=1.5, neg_overlap=0.3)
    case("corners_all", code="CORNER", mining="NONE", normalization="FULL")
    case("corners_by_size", code="CORNER_SIZE", difficult=False, normalization="BATCH_SIZE")
    case("a_location_a_class", share=False, mining="NONE")
    case("a_location_a_class_by_prediction", share=False, mining="NONE", by_prior=False,
         overlap_threshold=0.3)
    case("by_prediction", by_prior=False, overlap_threshold=0.3)
    case("hard_examples", mining="HARD_EXAMPLE", samples=12)
    case("hard_examples_thinned", mining="HARD_EXAMPLE", samples=12, nms=0.4)
    case("thinned_by_prior", nms=0.4, nms_by_prior=True)
    case("inside", ignore_outside=True)
    case("inside_coordinates", bp_inside=True, normalization="NONE")
    case("inside_coordinates_by_prediction", bp_inside=True, by_prior=False, overlap_threshold=0.2)
    case("agnostic", classes=2, agnostic=True)
    case("variance_in_target", in_target=True)


def write_evaluations(folder, random):
    priors, classes, items = some_priors(), 4, 3
    truths = some_truths(random, priors, classes, items)
    rows = []
    for row in truths.reshape(-1, 8)[:-1]:
        for _ in range(3):
            label = row[1] if random.random() < 0.8 else random.integers(1, classes)
            box = row[3:7] + 0.03 * random.standard_normal(4)
            rows.append([row[0], label, random.random(), *box])
    rows.append([items - 1, 2, 0.5, 0.1, 0.1, 0.4, 0.4])
    found = numpy.array(rows, numpy.float32).reshape(1, 1, -1, 7)
    for name, threshold, difficult in (("all", 0.5, True), ("easy", 0.6, False)):
        out = detection_evaluate(found.astype(float), truths.astype(float), classes, threshold,
                                 difficult)
        text = fields(num_classes=classes, overlap_threshold=threshold,
                      evaluate_difficult_gt=difficult)
        layer = ('name: "e" type: "DetectionEvaluate" bottom: "found" bottom: "truths" top: "out" '
                 f'detection_evaluate_param {{{text} }}')
        write_case(folder, "detection_evaluate_" + name, layer, dict(found=found, truths=truths),
                   dict(out=out), phase="TEST")


def main():
    folder = os.path.join(sys.argv[1], "ssd")
    random = numpy.random.default_rng(7)
    write_priors(folder)
    write_detections(folder, random)
    write_losses(folder, random)
    write_evaluations(folder, random)


if __name__ == "__main__":
    main()
