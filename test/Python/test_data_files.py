# SPDX-License-Identifier: MIT
"""Data sets in tables and folders of images, and perplexity."""

import pathlib
import runpy

import numera
import numpy as np
import pytest
from numera.study import read
from numera.study._data import load_labels

NET = """func.func @net(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = arith.addf %x, %x : tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}"""


def test_csv(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,label\n1,2.5,1\n\n-3e1,4,0\n")
    assert read(path).tolist() == [[1, 2.5, 1], [-30, 4, 0]]
    assert read(f"{path}:label").tolist() == [1, 0]
    assert read(f"{path}:b,a").tolist() == [[2.5, 1], [4, -30]]
    (tmp_path / "plain.csv").write_text("1,2\n3,4\n")
    assert read(tmp_path / "plain.csv").tolist() == [[1, 2], [3, 4]]
    # As pandas names columns by their numbers.
    (tmp_path / "frame.csv").write_text(",0,1\n0,5,6\n1,7,8\n")
    assert read(tmp_path / "frame.csv").tolist() == [[0, 5, 6], [1, 7, 8]]
    upper = tmp_path / "DATA.CSV"
    upper.write_bytes(path.read_bytes())
    assert read(f"{upper}:label").tolist() == [1, 0]
    found = numera.sweep(
        NET, formats="bf16", inputs=f"{path}:a,b", labels=f"{path}:label"
    )
    assert found[0].value == 0.5


@pytest.mark.parametrize(
    "text, columns, message",
    [
        ("", "", "it has no rows"),
        ("a,b\n1,x\n", "", "bad.csv:2: column 2 is 'x', expected a number"),
        ("a,b\n1,2\n3\n", "", "bad.csv:3: found 1 columns, expected 2"),
        ("1,,3\n4,5,6\n", "", "bad.csv:1: column 2 is '', expected a number"),
        ("a,b\n1,2\n", ":c", "has no column 'c'; it has a, b"),
        ("1,2\n", ":c", "has no column 'c'; it has none, as it has no header"),
        ("a,b\n", "", "it has no rows below its names"),
        ("a,b,a\n1,2,3\n", ":a", "has 2 columns 'a', expected one"),
        # A missing cell is no blank line to leave out, and no name.
        ("y\n1\n\n3\n", "", "bad.csv:3: column 1 is '', expected a number"),
        ("1,NA,3\n4,5,6\n", "", ":1: found 'NA' beside the number 1, expected numbers"),
        ("1_000\n2\n", "", "bad.csv:1: column 1 is '1_000', expected a number"),
        ("1\n1_000\n", "", "bad.csv:2: column 1 is '1_000', expected a number"),
        # A row of numbers, or names that pandas gave.
        ("0,1,2,3\n4,5,6,7\n", "", ":1: 0, 1, 2… may be numbers, or names of columns"),
        ("0,1\n.5,.25\n", "", ":1: 0, 1 may be numbers, or names of columns"),
        ("0\n.5\n", "", ":1: 0 may be numbers, or names of columns as pandas has them"),
    ],
)
def test_bad_csv(tmp_path, text, columns, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(numera.Error, match=message):
        read(f"{path}{columns}")


@pytest.mark.parametrize(
    "text, columns, values",
    [
        # Whole numbers above others are names; labels begin with any number.
        ("0,1,2\n.5,.25,1e-3\n", "", [[0.5, 0.25, 0.001]]),
        ("0\n2\n1\n\n", "", [0, 2, 1]),
        ("0,1,2\n", "", [[0, 1, 2]]),
        # Who asks for columns by such names says what they are.
        ("0,1,2\n4,5,6\n", ":2,0", [[6, 4]]),
        ("id,2024\n7,1\n", ":2024", [1]),
    ],
)
def test_names_that_are_numbers(tmp_path, text, columns, values):
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert read(f"{path}{columns}").tolist() == values


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    lists = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    columns = {"x": lists, "label": [0, 1, 1], "w": [0.5, 1.5, 2.5], "s": ["a"] * 3}
    parquet.write_table(pyarrow.table(columns), path)
    assert read(f"{path}:x").tolist() == lists
    assert read(f"{path}:label").dtype == np.int64
    assert read(f"{path}:label,w").tolist() == [[0, 0.5], [1, 1.5], [1, 2.5]]
    for name, message in (
        ("s", "column 's' of .* has no numbers"),
        ("no", "has no column 'no'; it has x, label, w, s"),
        ("x,w", "has columns of lists; name one"),
    ):
        with pytest.raises(numera.Error, match=message):
            read(f"{path}:{name}")
    for missing in ([[1.0, None], [2.0, 3.0]], [[1.0, 2.0], None]):
        parquet.write_table(pyarrow.table({"x": missing}), path)
        with pytest.raises(numera.Error, match="it has rows without a value"):
            read(path)
    twice = pyarrow.table([[1], [2]], names=["x", "x"])
    parquet.write_table(twice, path)
    with pytest.raises(numera.Error, match="has 2 columns 'x', expected one"):
        read(f"{path}:x")
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(numera.Error, match="cannot read .*data.parquet"):
        read(path)


def test_folders_of_images(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.arange(24, dtype="u1").reshape(2, 3, 4)
    for i, (folder, name) in enumerate((("cat", "b.png"), ("ape", "a.png"))):
        (tmp_path / folder).mkdir()
        image.fromarray(pixels[i]).save(tmp_path / folder / name)
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    # In the order of their paths: ape, then cat.
    assert np.array_equal(read(tmp_path), pixels[::-1, np.newaxis])
    assert load_labels(tmp_path).tolist() == [0, 1]
    colour = np.stack([pixels[0]] * 3, axis=-1)
    colour[..., 1] = 7
    image.fromarray(colour).save(tmp_path / "cat" / "c.png")
    found = read(tmp_path)
    assert found.shape == (3, 3, 3, 4) and np.array_equal(found[2, 0], pixels[0])
    assert np.all(found[2, 1] == 7) and np.array_equal(found[0, 2], pixels[1])
    image.fromarray(pixels[0, :2]).save(tmp_path / "d.png")
    with pytest.raises(numera.Error, match="d.png has 4x2 pixels, expected 4x3"):
        read(tmp_path)
    with pytest.raises(numera.Error, match="d.png is in no folder of a class"):
        load_labels(tmp_path)
    for wide in (np.full((3, 4), 300, "u2"), np.full((3, 4), 0.5, "f4")):
        name = "d.png" if wide.dtype == "u2" else "d.tiff"
        image.fromarray(wide).save(tmp_path / name)
        with pytest.raises(
            numera.Error, match=f"{name} has pixels of more than 8 bits"
        ):
            read(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "d.png").write_bytes(b"nothing")
    with pytest.raises(numera.Error, match="d.png: it is no image"):
        read(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(numera.Error, match="none: it has no images"):
        read(tmp_path / "none")


def test_what_is_hidden_is_no_image_and_links_do_not_lead_out(tmp_path):
    image = pytest.importorskip("PIL.Image")
    folder, other = tmp_path / "images", tmp_path / "other.png"
    pixels = np.arange(24, dtype="u1").reshape(2, 3, 4)
    for i, name in enumerate(("ape/a.png", "cat/b.png")):
        (folder / name).parent.mkdir(parents=True)
        image.fromarray(pixels[i]).save(folder / name)
    image.fromarray(pixels[0]).save(other)
    (folder / ".checkpoints").mkdir()
    for name in (".checkpoints/a.png", "cat/._b.png"):
        image.fromarray(pixels[0]).save(folder / name)
    # A link within the folder is an image, too.
    (folder / "cat" / "c.png").symlink_to(folder / "ape" / "a.png")
    assert np.array_equal(read(folder)[:, 0], pixels[[0, 1, 0]])
    assert load_labels(folder).tolist() == [0, 1, 1]
    (folder / "cat" / "d.png").symlink_to(other)
    for load in (read, load_labels):
        with pytest.raises(numera.Error, match=r"d\.png is a link out of .*images$"):
            load(folder)
    (folder / "dog").symlink_to(folder / "cat")
    for load in (read, load_labels):
        with pytest.raises(numera.Error, match="dog is a link, expected a folder$"):
            load(folder)


def test_perplexity():
    logits = np.log(np.array([[1, 3], [2, 2], [9, 1]], "f4"))
    labels = np.array([1, 0, -100])
    found = numera.sweep(
        NET.replace("%x, %x", "%x, %zero").replace(
            "  %y", "  %zero = arith.subf %x, %x : tensor<?x2xf32>\n  %y"
        ),
        formats="f32", inputs=logits, labels=labels, metric="perplexity",
    )  # fmt: skip
    # 1 / sqrt of the product of the probabilities 3/4 and 1/2.
    assert found[0].value == pytest.approx((0.75 * 0.5) ** -0.5, rel=1e-6)
    assert found.better == "lower"
    with pytest.raises(numera.Error, match="label 3, expected 0 to 1"):
        numera.sweep(
            NET, formats="f32", inputs=logits, labels=labels + 2, metric="perplexity"
        )
    with pytest.raises(numera.Error, match=r"labels have shape \[2\], expected \[3\]"):
        numera.sweep(
            NET, formats="f32", inputs=logits, labels=labels[:2], metric="perplexity"
        )


def test_a_damaged_npy_header_is_one_line(tmp_path):
    # NumPy's parser of headers says that with an error of the tokenizer.
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (), } (\n"
    path = tmp_path / "damaged.npy"
    size = len(header).to_bytes(2, "little")
    path.write_bytes(b"\x93NUMPY\x01\x00" + size + header)
    with pytest.raises(numera.Error, match=r"cannot read .*damaged\.npy: .*"):
        read(path)


def test_damaged_files_are_arrays_or_one_line():
    # The long run is `./dev fuzz arrays`.
    path = pathlib.Path(__file__).parents[1] / "Fuzz" / "arrays.py"
    read_files, refused = runpy.run_path(str(path))["run"](seconds=1, seed=7)
    assert read_files + refused > 0
