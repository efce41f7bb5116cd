#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training steps through `numera.torch.backend`, beside PyTorch's eager mode in f32.

    PYTHONPATH=build/release/python taskset -c 1 build/venv/bin/python bench/python/training.py

A step is forward, loss, backward and SGD with momentum on random data: LeNet
with 64 images of 28 x 28, ResNet-18 with 16 of 32 x 32, a GPT of 4 layers of 128
with 8 sequences of 64 characters. Prints a row of a Markdown table
for each model and format: milliseconds a step, the median of rounds in which
both take their turn, and Numera's over PyTorch's: below 1, Numera is faster. With
--threads 2, leave taskset out. With --first, a row has the seconds of the first step
in place of these, and Numera's in a process after that; each model and backend has a
process of its own, and the first of them an empty cache. PyTorch's `aot_eager`, which
traces a model and compiles nothing, is a bound of the former, and `eager`, which has
Dynamo alone, of the latter.
"""

import argparse
import os
import subprocess
import sys
import tempfile
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


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        split = (*x.shape[:2], self.heads, -1)
        q, k, v = (e.reshape(split).transpose(1, 2) for e in self.qkv(x).chunk(3, dim=-1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads))
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.mlp(x)


class GPT(nn.Module):
    def __init__(self, characters=65, length=64, width=128, layers=4, heads=4):
        super().__init__()
        self.token, self.place = nn.Embedding(characters, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, characters, bias=False)

    def forward(self, text):
        x = self.token(text) + self.place(torch.arange(text.shape[1]))
        return self.head(self.norm(self.layers(x))).transpose(1, 2)


def images(*shape):
    return torch.randn(shape), torch.randint(0, 10, shape[:1])


def text(*shape):
    return torch.randint(0, 65, shape), torch.randint(0, 65, shape)


MODELS = {
    "LeNet": (lenet, lambda: images(64, 1, 28, 28)),
    "ResNet-18": (resnet18, lambda: images(16, 3, 32, 32)),
    "GPT": (GPT, lambda: text(8, 64)),
}


def step_of(build, draw, backend):
    torch.manual_seed(0)
    model = build()
    run = torch.compile(model, backend=backend) if backend else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs, labels = draw()

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(run(inputs), labels).backward()
        optimizer.step()

    return step


def first(model, form, backend):
    """Seconds of a step in a new process."""
    if backend == "numera":
        form, backward, sums = FORMATS[form]
        backend = numera.torch.backend(
            format=form, accumulate=sums, **({"backward": backward} if backward else {}))
    step = step_of(*MODELS[model], backend)
    begin = time.perf_counter()
    step()
    print(time.perf_counter() - begin)


def firsts(models, formats):
    backends = ("numera", "numera", "aot_eager", "eager")
    names = ("model", "format", "first step", "in a second process", *backends[2:])
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}", flush=True)

    def seconds(*words):
        command = [sys.executable, __file__, "--of", *words]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    for model in models:
        for name in formats:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["XDG_CACHE_HOME"] = folder
                found = [seconds(model, name, each) for each in backends]
            print(f"| {model} | {name} | {' | '.join(f'{each:.3g}' for each in found)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--formats", nargs="*", default=list(FORMATS), choices=list(FORMATS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10, help="for each row")
    parser.add_argument("--first", action="store_true", help="the first step of a process")
    parser.add_argument("--of", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.of:
        return first(*given.of)
    if given.first:
        return firsts(given.models, given.formats)
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
