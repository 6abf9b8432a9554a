#!/usr/bin/python3
"""Compares moka's speed with PyTorch's (Debian: python3-torch) on this machine.

    compare.py [--threads=N] [--rounds=3] [--seconds=10] [--only=lenet|caffenet]

Trains LeNet (64 pictures) and CaffeNet (16) by `moka time` and by torch_bench.py, in turns: single
figures depend on what else the machine does, so that only the ratio of a pair says something. Run
it in the root of the project after the build, when nothing else runs.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

MOKA = os.path.join(os.environ.get("BUILD_DIR", "build"), "tools/moka")
TORCH = [sys.executable, os.path.join(os.path.dirname(__file__), "torch_bench.py")]


class Net:
    def __init__(self, name, model, shape):
        self.name, self.model, self.shape = name, model, shape


NETS = [
    Net("lenet", "examples/fashion_mnist/lenet_train_test.prototxt", (64, 1, 28, 28)),
    Net("caffenet", "models/bvlc_reference_caffenet/train_val.prototxt", (16, 3, 227, 227)),
]


def images_per_second(command):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    return float(re.findall(r"([\d.]+) images/s", run.stdout)[-1])


def time_moka(net, threads, iterations):
    shape = ",".join(map(str, net.shape))
    return images_per_second([MOKA, "time", f"--model={net.model}", f"--data_shape={shape}",
                              f"--threads={threads}", f"--iterations={iterations}"])


def time_torch(net, threads, seconds):
    return images_per_second(TORCH + [net.name, str(net.shape[0]), "train",
                                      f"--threads={threads}", f"--seconds={seconds}"])


def compare(net, args):
    # As many iterations as fit into the time, as far as a first short run can tell.
    iterations = max(5, int(args.seconds * time_moka(net, args.threads, 5) / net.shape[0]))
    ratios = []
    for _ in range(args.rounds):
        moka = time_moka(net, args.threads, iterations)
        torch = time_torch(net, args.threads, args.seconds)
        ratios.append(moka / torch)
        print(f"{net.name:9} batch {net.shape[0]:3}  moka {moka:9.1f}  PyTorch {torch:9.1f}"
              f" images/s  ratio {ratios[-1]:.2f}", flush=True)
    print(f"{net.name:9} median ratio {statistics.median(ratios):.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--only", choices=[net.name for net in NETS])
    args = parser.parse_args()
    for net in NETS:
        if args.only in (None, net.name):
            compare(net, args)


if __name__ == "__main__":
    main()
