#!/usr/bin/env python3
"""Values for src/moka/test/layers/ctc_loss_layer_test.cpp: PyTorch's ctc_loss of scores sin(i) (6 x 2 x 4)."""
import torch

scores = torch.sin(torch.arange(48, dtype=torch.float64)).reshape(6, 2, 4).requires_grad_()


def show(name, labels, blank, lengths):
    log_p = torch.log_softmax(scores, 2)
    losses = torch.nn.functional.ctc_loss(
        log_p, torch.tensor(sum(labels, [])), torch.tensor(lengths),
        torch.tensor([len(label) for label in labels]), blank=blank, reduction="none")
    gradient, = torch.autograd.grad(losses.mean(), scores)
    print(name, "loss %.8g" % losses.mean().item(), "losses", losses.tolist())
    print("gradient", ", ".join("%.7g" % value for value in gradient.flatten().tolist()))


show("blank first, repeated class", [[1, 2, 2], [3]], 0, [6, 6])
show("blank last, other lengths", [[0, 1], [2, 2]], 3, [6, 4])
