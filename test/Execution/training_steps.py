# SPDX-License-Identifier: MIT
"""Adagrad, Adam, Momentum, Dropout, windows, mel weights, n-grams and ai.onnx.ml
against NumPy, with every operation rounded: training_steps.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from node_cases import check

GENERATOR = np.random.default_rng(12)
TRAINING, ML = "ai.onnx.preview.training", "ai.onnx.ml"


def numbers(*shape):
    return GENERATOR.integers(-16, 17, shape) / 8


def f4(x):
    return np.float64(np.float32(x))


def regular(r, x, g, norm):
    return r(r(r(f4(norm)) * x) + g)


def adagrad(rate, t, tensors, norm, decay, epsilon):
    def reference(r):
        xs, hs = [], []
        step = r(rate / r(1 + r(t * r(f4(decay)))))
        for x, g, h in tensors:
            g1 = regular(r, x, g, norm)
            h1 = r(h + r(g1 * g1))
            xs.append(r(x - r(r(step * g1) / r(r(np.sqrt(h1)) + r(f4(epsilon))))))
            hs.append(h1)
        return xs + hs

    given = [np.float64(rate), np.int64(t), *(y for kind in zip(*tensors) for y in kind)]
    attributes = {"norm_coefficient": norm, "decay_factor": decay, "epsilon": epsilon}
    return "Adagrad", {"domain": TRAINING, **attributes}, given, reference


def adam(rate, t, tensors, alpha, beta, post):
    def reference(r):
        xs, vs, hs = [], [], []
        a, b = r(f4(alpha)), r(f4(beta))
        rest_a, rest_b = r(f4(1 - f4(alpha))), r(f4(1 - f4(beta)))
        step = rate
        if t > 0:
            high = r(rate * r(np.sqrt(r(1 - r(b**t)))))
            step = r(high / r(1 - r(a**t)))
        for x, g, v, h in tensors:
            g1 = regular(r, x, g, 0.5)
            v1 = r(r(a * v) + r(rest_a * g1))
            h1 = r(r(b * h) + r(r(rest_b * g1) * g1))
            root = r(r(np.sqrt(h1)) + r(f4(0.125)))
            xs.append(r(r(f4(1 - f4(post))) * r(x - r(r(step * v1) / root))))
            vs.append(v1)
            hs.append(h1)
        return xs + vs + hs

    given = [np.float64(rate), np.int64(t), *(y for kind in zip(*tensors) for y in kind)]
    attributes = {"alpha": alpha, "beta": beta, "epsilon": 0.125}
    attributes |= {"norm_coefficient": 0.5, "norm_coefficient_post": post}
    return "Adam", {"domain": TRAINING, **attributes}, given, reference


def momentum(rate, t, x, g, v, mode):
    def reference(r):
        g1 = regular(r, x, g, 0.25)
        v1 = r(r(r(f4(0.9)) * v) + r((r(f4(0.7)) if t > 0 else 1) * g1))
        along = v1 if mode == "standard" else r(g1 + r(r(f4(0.9)) * v1))
        return [r(x - r(rate * along)), v1]

    attributes = {"alpha": 0.9, "beta": 0.7, "norm_coefficient": 0.25, "mode": mode}
    given = [np.float64(rate), np.int64(t), x, g, v]
    return "Momentum", {"domain": TRAINING, **attributes}, given, reference


def dropout(x, ratio, seed, trains):
    def reference(r):
        kept = np.random.RandomState(seed).uniform(0, 1, x.shape) >= ratio
        kept |= not trains or ratio == 0
        scale = r(1 / (1 - ratio)) if trains else 1
        return [r(x * kept * scale), kept]

    return "Dropout", {"seed": seed}, [x, np.float64(ratio), np.array(trains)], reference


def window(name, size, periodic):
    def reference(r):
        angle = np.arange(size) * (2 * np.pi) / (size if periodic else size - 1)
        a0, a1 = {"Hann": (0.5, 0.5), "Hamming": (25 / 46, 1 - 25 / 46)}.get(name, (0.42, 0.5))
        y = a0 - a1 * np.cos(angle)
        if name == "Blackman":
            y = y + 0.08 * np.cos(angle * 2)
        return [r(y)]

    return f"{name}Window", {"periodic": periodic}, [np.int64(size)], reference


def mel(bins, length, rate, low, high):
    def reference(r):
        ends = [2595 * np.log1p(f / 700) / np.log(10) for f in (low, high)]
        places = ends[0] + np.arange(bins + 2) * (ends[1] - ends[0]) / (bins + 2)
        hertz = 700 * np.expm1(places / 2595 * np.log(10))
        edges = np.floor((length + 1) * hertz / rate).astype(int)
        y = np.zeros((length // 2 + 1, bins))
        for i, (left, centre, right) in enumerate(zip(edges, edges[1:], edges[2:])):
            if left == centre:
                y[centre, i] = 1
            for j in range(left, centre + (left < centre)):
                y[j, i] = (j - left) / (centre - left)
            for j in range(centre, right):
                y[j, i] = (right - j) / (right - centre)
        return [r(y)]

    given = [np.int64(n) for n in (bins, length, rate)]
    return "MelWeightMatrix", {}, given + [np.float64(low), np.float64(high)], reference


GRAMS = [(2,), (5,), (2, 3), (5, 2), (2, 2), (3, 5, 2)]


def ngrams(x, mode, least, most, skips):
    places = [5, 0, 3, 1, 6, 2]
    weights = [0.5, 2.0, 1.5, 0.25, 1.0, 4.0]

    def count(row, gram):
        n, found = len(gram), 0
        for skip in range(1, 2 if n == 1 else skips + 2):
            for start in range(len(row) - (n - 1) * skip):
                found += tuple(row[start : start + (n - 1) * skip + 1 : skip]) == gram
        return found

    def reference(r):
        y = np.zeros((len(np.atleast_2d(x)), 7))
        for i, row in enumerate(np.atleast_2d(x)):
            for gram, place, weight in zip(GRAMS, places, weights, strict=True):
                if least <= len(gram) <= most:
                    found = count(row.tolist(), gram)
                    found = min(found, 1) if mode == "IDF" else found
                    y[i, place] += found * (1 if mode == "TF" else weight)
        return [r(y if x.ndim == 2 else y[0])]

    attributes = {"mode": mode, "min_gram_length": least, "max_gram_length": most}
    attributes |= {"max_skip_count": skips, "ngram_counts": [0, 2, 8], "weights": weights}
    attributes |= {"ngram_indexes": places, "pool_int64s": [i for g in GRAMS for i in g]}
    return "TfIdfVectorizer", attributes, [x], reference


def cases():
    tensors = [[numbers(3), numbers(3), abs(numbers(3))], [numbers(2, 2) for _ in range(2)]]
    tensors[1].append(abs(numbers(2, 2)))
    yield adagrad(0.5, 3, tensors, 0.25, 0.1, 1e-3)
    for t in 0, 3:
        several = [[x, g, numbers(*x.shape), h] for x, g, h in tensors]
        yield adam(0.25, t, several, 0.9, 0.75, 0.25)
        for mode in "standard", "nesterov":
            yield momentum(0.5, t, numbers(4), numbers(4), numbers(4), mode)
    for ratio, seed, trains in (0.25, 0, True), (0.5, 7, True), (0.5, 7, False), (0, 3, True):
        yield dropout(numbers(4, 5), ratio, seed, trains)
    for name in "Hann", "Hamming", "Blackman":
        yield window(name, 9, 1)
        yield window(name, 8, 0)
    yield mel(6, 40, 8000, 0, 4000)
    x = np.array([[2, 3, 2, 2, 5, 2, 3, 5, 5, 2], [3, 5, 2, 2, 9, 2, 5, 5, 3, 2]])
    for mode in "TF", "IDF", "TFIDF":
        yield ngrams(x, mode, 1, 3, 0)
    yield ngrams(x[0], "TF", 2, 2, 3)
    yield ngrams(x[1], "TF", 3, 3, 1)
    y = numbers(3, 5)
    places = np.array([[4, 0, 0]])
    yield (
        "ArrayFeatureExtractor",
        {"domain": ML},
        [y, places],
        lambda _: [y[:, places[0]]],
    )
    yield "Binarizer", {"domain": ML, "threshold": 0.5}, [y], lambda _: [np.float64(y > 0.5)]
    yield "OptionalGetElement", {}, [y], lambda _: [y]
    yield "OptionalHasElement", {}, [y], lambda _: [np.array(True)]


if __name__ == "__main__":
    check(Path(sys.argv[1]), list(cases()), 21)
