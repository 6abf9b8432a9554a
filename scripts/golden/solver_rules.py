#!/usr/bin/env python3
"""Steps of AdamW (torch.optim.AdamW) and LARS (NumPy, by the paper's formula) for update_rule_test.

The net is one weight w (a row of 3) with the loss |x w - t|^2 / (2 N); prints the weights after each
step as a C++ table.
"""
import numpy as np
import torch

X = np.array([[1, 2, -1], [0.5, -1, 3]], np.float64)
T = np.array([1, -2], np.float64)
W = np.array([0.3, -0.2, 0.5], np.float64)
STEPS, RATE, DECAY = 5, 0.1, 0.2


def gradient(w):
    return X.T @ (X @ w - T) / len(T)


def adamw():
    w = torch.tensor(W, requires_grad=True)
    rule = torch.optim.AdamW([w], lr=RATE, betas=(0.9, 0.95), eps=1e-3, weight_decay=DECAY)
    for _ in range(STEPS):
        w.grad = torch.tensor(gradient(w.detach().numpy()))
        rule.step()
        yield w.detach().numpy()


def lars(policy, eta, momentum=0.9):
    w, h = W.copy(), np.zeros(3)
    for _ in range(STEPS):
        g = gradient(w)
        local = eta * np.linalg.norm(w) / (np.linalg.norm(g) + DECAY * np.linalg.norm(w))
        rate = RATE * local if policy == "scale" else min(RATE, local)
        h = momentum * h + rate * (g + DECAY * w)
        w = w - h
        yield w


for name, steps in [("AdamW", adamw()), ("LARS", lars("scale", 0.5)), ("clip", lars("clip", 0.4))]:
    print(name, ", ".join("{" + ", ".join(f"{v:.7f}f" for v in w) + "}" for w in steps))
