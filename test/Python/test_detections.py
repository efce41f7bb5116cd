# SPDX-License-Identifier: MIT
"""Mean average precision, against COCO's own code and by hand."""

import warnings

import numera
import numpy as np
import pytest

# COCO's pycocotools 2.0 for `drawn(seed)`: AP, and AP at an overlap of 0.5.
COCO = (
    (0.102866805514, 0.234395074305),
    (0.202808483165, 0.453700801481),
    (0.174292963773, 0.393395589559),
    (0.170706206189, 0.437061711919),
)


def drawn(seed):
    """Detections and labels of some images: boxes near to those that are right, and
    others; every second seed has many equal scores."""
    random = np.random.RandomState(seed)
    images, boxes, count, classes = 6, 9, 120 if seed == 0 else 25, 3
    labels = np.full((images, boxes, 5), -1.0)
    found = np.full((images, count, 6), -1.0)
    for image in range(images):
        known = boxes if image == 0 else random.randint(0, boxes + 1)
        corner = random.randint(0, 40, (known, 2))
        size = random.randint(3, 25, (known, 2))
        kind = random.randint(0, classes, known)
        labels[image, :known] = np.c_[corner, corner + size, kind]
        for place in range(count):
            if random.rand() < 0.1:
                continue
            if known and random.rand() < 0.6:
                box = labels[image, random.randint(0, known)].copy()
                box[:4] += random.randint(-2, 3, 4)
                box[2:4] = np.maximum(box[2:4], box[:2] + 1)
            else:
                corner = random.randint(0, 40, 2)
                size = random.randint(2, 20, 2)
                box = np.r_[corner, corner + size, random.randint(0, classes)]
            score = np.round(random.rand(), 1 if seed % 2 else 6)
            found[image, place] = np.r_[box[:4], score, box[4]]
    return found, labels


def measured(metric, found, labels):
    """Of a model that returns what it is given."""
    shape = "x".join(["?", *map(str, found.shape[1:])])
    model = f"func.func @f(%x: tensor<{shape}xf64>) -> tensor<{shape}xf64> "
    (row,) = numera.sweep(
        model + f"{{ return %x : tensor<{shape}xf64> }}",
        formats="f64", inputs=found, labels=labels, metric=metric, batch=2,
    )  # fmt: skip
    return row.value


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_coco(seed):
    for metric, value in zip(("map", "map50"), COCO[seed]):
        assert measured(metric, *drawn(seed)) == pytest.approx(value, abs=1e-9)


def test_by_hand():
    box, other = [0, 0, 10, 10], [20, 20, 30, 30]
    labels = np.array([[[*box, 0], [*other, 0]]], "f8")
    # The first is right, the second is no box: half of the recalls, 0 to 0.5, have
    # the precision 1, which are 51 of 101.
    found = np.array([[[*box, 0.9, 0], [50, 50, 60, 60, 0.8, 0]]], "f8")
    assert measured("map50", found, labels) == pytest.approx(51 / 101)
    # 80 of 100 pixels in common: right up to an overlap of 0.8.
    found = np.array([[[0, 0, 10, 8, 0.9, 0], [*other, 0.8, 0]]], "f8")
    assert measured("map50", found, labels) == 1
    # Above, one of two at precisions of 1/2, for 0.85, 0.9 and 0.95.
    assert measured("map", found, labels) == pytest.approx((7 + 3 * 51 / 101 / 2) / 10)
    # A box that is found again is wrong the second time; a NaN is not there.
    found = np.array([[[*box, 0.9, 0], [*box, 0.8, 0], [*other, np.nan, 0]]], "f8")
    assert measured("map50", found, labels) == pytest.approx(51 / 101)
    # Nor is, if it takes none, one whose right side is left of its left side.
    found = np.array([[[9, 0, 1, 10, 0.9, 0], [*box, 0.8, 0], [*other, 0.7, 0]]], "f8")
    assert measured("map50", found, labels) == 1
    # What is of another class takes nothing.
    found = np.array([[[*box, 0.9, 1], [*other, 0.8, 0]]], "f8")
    assert measured("map50", found, labels) == pytest.approx(51 / 101)


def test_boxes_scores_and_classes_may_be_three_outputs():
    found, labels = drawn(1)
    types = [f"tensor<?x25x4x{'f64'}>", "tensor<?x25xf64>", "tensor<?x25xf64>"]
    given = ", ".join(f"%{n}: {each}" for n, each in zip("abc", types))
    body = f"return %a, %b, %c : {', '.join(types)}"
    model = f"func.func @f({given}) -> ({', '.join(types)}) {{ {body} }}"
    inputs = [found[..., :4], found[..., 4], found[..., 5]]
    (row,) = numera.sweep(
        model, formats="f64", inputs=inputs, labels=labels, metric="map"
    )
    assert row.value == pytest.approx(COCO[1][0], abs=1e-9)


TYPES = "tensor<?x25x4xf32>", "tensor<?x25xf32>", "tensor<?x25xi64>"
WHOLE = """func.func @f(%x: tensor<?x25x6xf32>) -> tensor<?x25x6xf32> {
  %y = arith.addf %x, %x : tensor<?x25x6xf32>
  return %y : tensor<?x25x6xf32>
}"""


def test_classes_that_a_format_does_not_have_are_warned_of():
    found, labels = drawn(1)
    labels[..., 4] *= 10  # 0, 10 and 20
    given = {"inputs": found, "labels": labels, "metric": "map"}
    line = "float<4,3> has no class 17, float<5,2> has no class 9; return boxes"
    formats = ["float<4..5,2..3>", "bf16", "mxfp8e4m3"]
    with pytest.warns(UserWarning) as caught:
        numera.sweep(WHOLE, formats=["float<4,3>", "float<5,2>", "bf16"], **given)
    assert len(caught) == 1 and line in str(caught[0].message)
    assert "\n" not in str(caught[0].message)
    with pytest.warns(
        UserWarning, match="float<5,2> has no class 9, 1 more lack some; return"
    ):
        numera.sweep(WHOLE, formats=formats, **given)
    with pytest.warns(UserWarning, match="f8E4M3 has no class 17; return boxes"):
        numera.report(WHOLE, format="float<4,3>", hints=0, **given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The rest is in f32 where factors of contractions are in another format.
        numera.sweep(WHOLE, formats=["float<4,3>"], roles="weights", **given)
        numera.sweep(WHOLE, formats=["f16", "mxfp8e4m3"], **given)
        # Integers are not rounded.
        arguments = ", ".join(f"%{n}: {each}" for n, each in zip("abc", TYPES))
        three = f"return %a, %b, %c : {', '.join(TYPES)}"
        given["inputs"] = [found[..., :4], found[..., 4], found[..., 5].astype("i8")]
        model = f"func.func @f({arguments}) -> ({', '.join(TYPES)}) {{ {three} }}"
        numera.sweep(model, formats=["float<4,3>"], **given)


def test_what_is_wrong_is_one_line():
    found, labels = drawn(1)
    for wrong, line in [
        (labels[:3], r"labels have shape \[3, 9, 5\], expected \[6, \?, 5\]"),
        (labels[..., :4], r"labels have shape \[6, 9, 4\], expected \[6, \?, 5\]"),
        (np.full_like(labels, -1), "the labels have no box of a class from 0 on"),
        (None, "metric 'map' needs labels"),
    ]:
        with pytest.raises(numera.Error, match=line):
            measured("map", found, wrong)
    with pytest.raises(numera.Error, match=r"outputs of \[6, 25, 5\], expected det"):
        measured("map", found[..., :5], labels)
