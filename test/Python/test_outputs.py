# SPDX-License-Identifier: MIT
"""Files that commands write: links, pipes, and a standard output that is closed."""

import errno
import os
import signal
import subprocess
import sys
import threading

import numera
import numpy as np
import pytest
from numera.study._output import check_path, whole
from studies import square


def write(path, text="new"):
    with whole(path) as made, open(made, "w", encoding="utf-8") as file:
        file.write(text)


def test_a_link_stays_one(tmp_path):
    link, there, later = (tmp_path / name for name in ("ln.csv", "a", "b"))
    there.write_text("old")
    link.symlink_to(there)
    write(link)
    assert link.is_symlink() and there.read_text() == "new"
    link.unlink()
    link.symlink_to("b")
    write(link)
    assert link.is_symlink() and later.read_text() == "new"
    assert {*os.listdir(tmp_path)} == {"ln.csv", "a", "b"}


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write(pipe)
    reader.join(10)
    assert found == ["new"] and pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe.csv"]


def test_what_a_file_had_stays(tmp_path):
    """As of standard output that goes to a file, and who may read it."""
    log, private = tmp_path / "log", tmp_path / "private"
    log.write_text("old\n")
    (tmp_path / "ln").symlink_to("/dev/stdout")
    for path in "/dev/stdout", "/proc/self/fd/1", tmp_path / "ln":
        program = (
            "from numera.study._output import whole\n"
            f"with whole('{path}') as made: open(made, 'w').write('new\\n')\n"
        )
        with log.open("a") as file:
            subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert log.read_text() == "old\nnew\nnew\nnew\n"
    private.write_text("old")
    private.chmod(0o600)
    write(private)
    assert private.stat().st_mode & 0o777 == 0o600


def test_paths_are_refused_before_time_is_spent(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "none" / "x")
    for path in tmp_path, f"{tmp_path}/x/", tmp_path / "link", tmp_path / "no" / "x":
        with pytest.raises(numera.Error, match="^cannot write .*folder"):
            check_path(path)
    check_path(tmp_path / "x")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(numera.Error, match=f"^cannot write {tmp_path}: Is a directory"):
        write(tmp_path)
    with pytest.raises(KeyError), whole(tmp_path / "x") as made:
        open(made, "wb").close()
        raise KeyError
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_read_only(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(os, "remove", refuse)
    path = tmp_path / "x.csv"
    line = f"^cannot write {path}: Read-only file system$"
    with pytest.raises(numera.Error, match=line), whole(path) as made:
        refuse(made)


def test_a_program_is_imported_through_a_link(tmp_path):
    pytest.importorskip("jax")
    (tmp_path / "add.stablehlo").write_text(
        "func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "  %y = stablehlo.add %x, %x : tensor<2xf32>\n"
        "  return %y : tensor<2xf32>\n}\n"
    )
    link = tmp_path / "out.mlir"
    link.symlink_to("there.mlir")
    numera.import_model(tmp_path / "add.stablehlo", link)
    assert link.is_symlink() and "@add" in (tmp_path / "there.mlir").read_text()


@pytest.fixture
def sweep(tmp_path):
    (tmp_path / "square.mlir").write_text(square(4))
    np.save(tmp_path / "x.npy", np.ones(4, "f4"))
    words = ("sweep", "square.mlir", "--input", "x.npy", "--metric", "rmse")
    formats = ("--formats", *(f"float<5,{n}>" for n in range(2, 6)), "--json")

    def run(out):
        return subprocess.run(
            [sys.executable, "-m", "numera", *words, *formats],
            cwd=tmp_path, stdout=out, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip

    return run


def test_a_full_standard_output_is_an_error(sweep):
    with open("/dev/full", "w") as full:
        done = sweep(full)
    assert (done.returncode, done.stderr) == (
        1,
        "numera: error: cannot write to standard output: No space left on device\n",
    )


def test_a_closed_pipe_ends_the_command(sweep):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = sweep(pipe)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")
