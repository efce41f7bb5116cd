#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training steps through `numera.torch.backend`, beside PyTorch's eager mode in f32.

    PYTHONPATH=build/release/python taskset -c 1 build/venv/bin/python bench/python/training.py

A step is forward, loss, backward and SGD with momentum on random images: LeNet
with 64 of 28 x 28, ResNet-18 with 16 of 32 x 32. Prints a row of a Markdown table
for each model and format: milliseconds a step, the median of rounds in which
both take their turn, and Numera's over PyTorch's: below 1, Numera is faster. With
--threads 2, leave taskset out.
"""

import argparse
import time

import torch
from torch import nn

import numera.torch

FORMATS = {  # of weights and activations, of gradients, of sums
    "f32": ("f32", None, "f32"),
    "bf16": ("bf16", None, "f32"),
    "posit16": ("posit16", None, "f32"),
    "f8E4M3FN, f8E5M2": ("f8E4M3FN", "f8E5M2", "f32"),
    "bf16, every operation rounded": ("bf16", None, "same"),
}


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out),
        )
        self.beside = nn.Identity()
        if stride != 1 or channels != out:
            self.beside = nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return torch.relu(self.body(x) + self.beside(x))


def resnet18():
    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    channels = 64
    for out in (64, 128, 256, 512):
        layers += [Block(channels, out, 1 if out == 64 else 2), Block(out, out, 1)]
        channels = out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


MODELS = {"LeNet": (lenet, (64, 1, 28, 28)), "ResNet-18": (resnet18, (16, 3, 32, 32))}


def step_of(build, shape, backend):
    torch.manual_seed(0)
    model = build()
    run = torch.compile(model, backend=backend) if backend else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(shape), torch.randint(0, 10, shape[:1])

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(run(images), labels).backward()
        optimizer.step()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="for each row")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print("| model | format | PyTorch | Numera | ratio |\n|---|---|---|---|---|", flush=True)
    for model in given.models:
        for name in given.formats:
            form, backward, sums = FORMATS[name]
            torch._dynamo.reset()
            backend = numera.torch.backend(
                format=form, accumulate=sums, threads=given.threads,
                **({"backward": backward} if backward else {}))
            steps = [step_of(*MODELS[model], each) for each in (None, backend)]
            times = [[], []]
            for _ in range(3):
                for step in steps:
                    step()
            end = time.monotonic() + given.seconds
            while time.monotonic() < end or len(times[0]) < 5:
                for step, list_ in zip(steps, times):
                    begin = time.perf_counter()
                    step()
                    list_.append(time.perf_counter() - begin)
            eager, ours = (sorted(each)[len(each) // 2] * 1e3 for each in times)
            print(f"| {model} | {name} | {eager:.3g} | {ours:.3g} | {ours / eager:.2f} |",
                  flush=True)


if __name__ == "__main__":
    main()
