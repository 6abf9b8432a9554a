#!/usr/bin/python3
"""Times PyTorch (Debian: python3-torch) on the nets that moka is measured on.

    torch_bench.py NET BATCH train|infer [--seconds=S] [--threads=N] [--layers]

NET is lenet or caffenet, BATCH the number of pictures. `train` is forward, backward and an SGD step
with momentum and weight decay, `infer` forward alone. Data is random. The last line is

    torch NET batch=B train: R images/s, M ms, N iterations

with the median over all iterations. --layers shows the time of each layer, too.
"""

import argparse
import statistics
import time

import torch
from torch import nn

LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.001, 0.9, 0.0005


def lenet():
    """The layers, the shape of a picture and the number of classes."""
    layers = [
        ("conv1", nn.Conv2d(1, 20, 5)), ("pool1", nn.MaxPool2d(2)),
        ("conv2", nn.Conv2d(20, 50, 5)), ("pool2", nn.MaxPool2d(2)), ("flat", nn.Flatten()),
        ("ip1", nn.Linear(800, 500)), ("relu1", nn.ReLU(inplace=True)), ("ip2", nn.Linear(500, 10)),
    ]
    return layers, (1, 28, 28), 10


def caffenet():
    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    def norm():
        return nn.LocalResponseNorm(5, alpha=1e-4, beta=0.75, k=1.0)

    def relu():
        return nn.ReLU(inplace=True)

    layers = [
        ("conv1", nn.Conv2d(3, 96, 11, stride=4)), ("relu1", relu()), ("pool1", pool()),
        ("norm1", norm()),
        ("conv2", nn.Conv2d(96, 256, 5, padding=2, groups=2)), ("relu2", relu()), ("pool2", pool()),
        ("norm2", norm()),
        ("conv3", nn.Conv2d(256, 384, 3, padding=1)), ("relu3", relu()),
        ("conv4", nn.Conv2d(384, 384, 3, padding=1, groups=2)), ("relu4", relu()),
        ("conv5", nn.Conv2d(384, 256, 3, padding=1, groups=2)), ("relu5", relu()),
        ("pool5", pool()), ("flat", nn.Flatten()),
        ("fc6", nn.Linear(9216, 4096)), ("relu6", relu()), ("drop6", nn.Dropout(0.5)),
        ("fc7", nn.Linear(4096, 4096)), ("relu7", relu()), ("drop7", nn.Dropout(0.5)),
        ("fc8", nn.Linear(4096, 1000)),
    ]
    return layers, (3, 227, 227), 1000


NETS = {"lenet": lenet, "caffenet": caffenet}


class Bench:
    """A net with random data that can be run step by step."""

    def __init__(self, name, batch, train):
        torch.manual_seed(1)
        self.layers, shape, classes = NETS[name]()
        self.net = nn.Sequential(*[layer for _, layer in self.layers])
        self.net.train(train)
        self.train = train
        self.pictures = torch.randn(batch, *shape)
        self.labels = torch.randint(0, classes, (batch,))
        self.optimizer = torch.optim.SGD(self.net.parameters(), LEARNING_RATE, MOMENTUM,
                                         weight_decay=WEIGHT_DECAY)

    def step(self):
        if not self.train:
            with torch.no_grad():
                self.net(self.pictures)
            return
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.net(self.pictures), self.labels).backward()
        self.optimizer.step()

    def layer_times(self, runs):
        """Milliseconds of each layer, run by itself: (name, forward, backward)."""
        times, bottom = [], self.pictures
        for name, layer in self.layers:
            forward, backward = [], []
            for _ in range(runs):
                given = bottom.detach().clone().requires_grad_(bottom is not self.pictures)
                # An in-place layer must not work on a leaf.
                given = given * 1 if getattr(layer, "inplace", False) else given
                start = time.perf_counter()
                top = layer(given)
                forward.append(time.perf_counter() - start)
                gradient = torch.randn_like(top)
                start = time.perf_counter()
                top.backward(gradient)
                backward.append(time.perf_counter() - start)
            times.append((name, statistics.median(forward) * 1e3, statistics.median(backward) * 1e3))
            bottom = top.detach()
        return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("net", choices=sorted(NETS))
    parser.add_argument("batch", type=int)
    parser.add_argument("mode", choices=["train", "infer"])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=0, help="0 leaves the choice to PyTorch")
    parser.add_argument("--layers", action="store_true")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    bench = Bench(args.net, args.batch, args.mode == "train")
    for _ in range(3):
        bench.step()
    if args.layers:
        for name, forward, backward in bench.layer_times(10):
            print(f"{name:8} {forward:9.3f} ms forward {backward:9.3f} ms backward")
    times, end = [], time.perf_counter() + args.seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        bench.step()
        times.append(time.perf_counter() - start)
    median = statistics.median(times)
    print(f"torch {args.net} batch={args.batch} {args.mode}: {args.batch / median:.1f} images/s, "
          f"{median * 1e3:.3f} ms, {len(times)} iterations")


if __name__ == "__main__":
    main()
