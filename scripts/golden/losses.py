#!/usr/bin/env python3
"""Losses of forks, computed with torch or NumPy alone; prints the values that
src/moka/test/layers/fork_losses_test.cpp holds. Each array's element j is `step` times
(j * 7 % 11 - 5); labels are (j * 7 + 3) % classes."""
import numpy as np
import torch
import torch.nn.functional as F


def values(shape, step=0.3):
    j = np.arange(np.prod(shape))
    return torch.tensor(step * (j * 7 % 11 - 5), dtype=torch.float64).reshape(shape)


def labels(shape, classes):
    return torch.tensor((np.arange(np.prod(shape)) * 7 + 3) % classes).reshape(shape)


def show(name, value):
    print(f"{name:40s} {float(value):.9g}")


def softmax():
    x, y = values((4, 5)), labels((4,), 5)
    weight = torch.tensor([0.5, 2, 1, 0.25, 3], dtype=torch.float64)
    show("class_weight", F.cross_entropy(x, y, weight, reduction="sum") / 4)
    show("label_smoothing", F.cross_entropy(x, y, label_smoothing=0.1))
    show("both", F.cross_entropy(x, y, weight, reduction="sum", label_smoothing=0.1) / 4)
    x, y = values((2, 3, 4)), labels((2, 4), 3)
    show("spatial, label 1 ignored",
         F.cross_entropy(x, y, weight[:3], ignore_index=1, reduction="sum", label_smoothing=0.2)
         / int((y != 1).sum()))
    p = F.softmax(values((4, 5)), 1)[range(4), labels((4,), 5)]
    show("focal", (-0.25 * (1 - p) ** 2 * p.log()).mean())
    show("focal, gamma 0.5, alpha a class",
         (-weight[labels((4,), 5)] * (1 - p) ** 0.5 * p.log()).mean())


def sigmoid_focal():
    x = values((3, 4))
    t = torch.tensor(np.arange(12) % 2, dtype=torch.float64).reshape(3, 4)
    s = torch.sigmoid(x)
    loss = -t * 0.25 * (1 - s) ** 2 * s.log() - (1 - t) * 0.75 * s ** 2 * (1 - s).log()
    show("sigmoid focal", loss.sum() / 3)
    yes, no = F.logsigmoid(3 * x + 0.5) / 3, F.logsigmoid(-3 * x + 0.5) / 3
    show("sigmoid focal, LINEAR", -(0.4 * t * yes + 0.6 * (1 - t) * no).sum() / 3)


def dice():
    x, y = values((2, 6), 0.1).abs(), values((2, 6), 0.15).abs().round()
    for squared in True, False:
        size = (x * x + y * y if squared else x + y).sum(1)
        show(f"dice, squared {squared}", (1 - (2 * (x * y).sum(1) + 0.5) / (size + 0.5)).mean())


def center():
    x, y, c = values((4, 3)), torch.tensor([1, 0, 1, 1]), torch.full((3, 3), 0.5)
    show("center", ((x - c[y]) ** 2).sum() / 8)
    for k in range(3):
        member = x[y == k]
        print("center gradient", k, ((c[k] - member).sum(0) / (1 + len(member))).tolist())


def triplet():
    x = values((6, 4))
    a, p, n = x[:2], x[2:4], x[4:]
    miss = ((a - p) ** 2).sum(1) - ((a - n) ** 2).sum(1) + 1.5
    show("triplet", miss.clamp(min=0).sum() / 4)
    show("triplet, weights 2 and 0.5", (torch.tensor([2, 0.5]) * miss.clamp(min=0)).sum() / 4)
    x = values((8, 3)).reshape(2, 4, 3)  # sets of an anchor, a positive and two negatives
    to_p = ((x[:, 0] - x[:, 1]) ** 2).sum(1)
    to_n = ((x[:, :1] - x[:, 2:]) ** 2).sum(2)
    relative = (1 - to_n / (to_p[:, None] + 4)).clamp(min=0)
    show("triplet sets, losstype 1", (to_p.sum() + relative.sum()) / 4)
    plain = (to_p[:, None] - to_n + 4).clamp(min=0)
    show("triplet sets, losstype 0", (to_p.sum() + plain.sum()) / 4)


if __name__ == "__main__":
    for group in softmax, sigmoid_focal, dice, center, triplet:
        group()
