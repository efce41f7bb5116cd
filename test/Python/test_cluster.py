# SPDX-License-Identifier: MIT
"""Sweeps on a cluster of Ray: several nodes on one machine."""

import contextlib
import itertools
import os
import pathlib
import signal
import threading

import numera
import numpy as np
import pytest
from numera.study import _cluster, _run, _tasks, _worker
from numera.study._data import DataSet
from numera.study._metrics import metric
from studies import perceptron

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

RANDOM = np.random.default_rng(3)
WEIGHTS = RANDOM.normal(size=(16, 4)).astype("f4")
X = RANDOM.normal(size=(200, 16)).astype("f4")
LABELS = (X @ WEIGHTS).argmax(axis=1)
LAYER = """func.func @layer(%x: tensor<?x16xf32>, %w: tensor<16x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x4xf32>)
         outs(%i : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}"""
FORMATS = ["float<2..4,1..2>", "posit<6..7,0>", "fixed<3,4>"]


@pytest.fixture(scope="module")
def cluster():
    head = {"num_cpus": 1, "include_dashboard": False}
    try:
        made = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        for _ in range(2):
            made.add_node(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
    except (OSError, RuntimeError, TimeoutError) as error:
        pytest.skip(f"Ray does not start on this machine: {error}")
    yield made
    ray.shutdown()
    made.shutdown()


def values(found):
    return [(row.format, row.value, row.error) for row in found]


def sweep(model=LAYER, formats=FORMATS, **options):
    options.setdefault("labels", LABELS)
    return numera.sweep(model, formats=formats, inputs=[X, WEIGHTS], **options)


def test_rows_are_those_of_one_machine(cluster, tmp_path):
    path = tmp_path / "layer.mlir"
    path.write_text(LAYER)
    store = tmp_path / "sweep.sqlite"
    found = sweep(path, cluster=cluster.address, store=store)
    assert values(found) == values(sweep())
    assert sweep(path, store=store).computed == 0


@pytest.mark.parametrize("rounding", ["nearest-even", "stochastic"])
def test_shards_of_the_data(cluster, rounding):
    """Two formats on three processors: each in shards of whole batches."""
    options = {
        "formats": ["posit<6,0>", "float<3,2>"],
        "rounding": rounding,
        "batch": 32,
    }
    assert values(sweep(cluster=True, **options)) == values(sweep(**options))


HERE = os.getpid()


def test_the_work_of_a_killed_worker_is_done_again(cluster, tmp_path):
    flag = str(tmp_path / "killed")

    def score(outputs, labels, here=HERE, flag=flag):
        if os.getpid() != here and not os.path.exists(flag):
            open(flag, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return float((outputs.argmax(axis=1) == labels.ravel()).mean())

    found = sweep(metric=score, cluster=True)
    assert os.path.exists(flag)
    assert [row.value for row in found] == [row.value for row in sweep()]


def test_a_node_that_is_lost(cluster):
    node = cluster.add_node(num_cpus=1)
    done = []

    def lose(count, total, row):
        done.append(row)
        if len(done) == 1:
            cluster.remove_node(node)

    found = sweep(cluster=True, progress=lose)
    assert values(found) == values(sweep()) and len(done) == len(found)


def test_a_format_that_refuses_is_a_row(cluster):
    found = sweep(formats=["posit8", "mxfp4"], cluster=True, rounding="up")
    assert values(found) == values(sweep(formats=["posit8", "mxfp4"], rounding="up"))


def test_names_that_were_loaded_are_known_to_workers(cluster, tmp_path):
    (tmp_path / "f.yaml").write_text(
        "formats: {coarse_of_a_cluster: {family: float, exponent: 2, mantissa: 1}}"
    )
    numera.load(tmp_path / "f.yaml")
    rule = {"match": {"op": "linalg.matmul"}, "format": "coarse_of_a_cluster"}
    given = {"formats": ["bf16", "f16"], "policy": {"rules": [rule]}}
    found = sweep(cluster=cluster.address, **given)
    assert values(found) == values(sweep(**given))
    assert not any(row.error for row in found)


def test_external_data_is_shipped(tmp_path):
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "w.bin").write_bytes(b"1234")
    name = b"weights/w.bin"
    entry = b"\n\x08location\x12" + bytes([len(name)]) + name
    (tmp_path / "m.onnx").write_bytes(b"head" + entry + b"tail")
    packed = _worker.packed(tmp_path / "m.onnx")
    other = tmp_path / "other"
    other.mkdir()
    assert packed.write(str(other)) == str(other / "m.onnx")
    assert (other / "weights" / "w.bin").read_bytes() == b"1234"


def test_what_is_wrong_is_one_line(cluster, tmp_path):
    with pytest.raises(numera.Error, match="cannot read .*none.yaml: No such file"):
        sweep(cluster=True, policy=tmp_path / "none.yaml")
    with pytest.raises(
        numera.Error, match=r"cannot connect to the cluster 127.0.0.1:1:"
    ):
        _cluster._check_reachable("127.0.0.1:1")
    with pytest.raises(numera.Error, match="label 9, expected 0 to 3"):
        sweep(cluster=True, labels=np.full(200, 9))


def test_programs_travel_as_shared_objects(cluster):
    """For every CPU of the cluster; workers that run them have no model."""
    assert _cluster._cpus(ray) == numera.compile(LAYER).target.split()[-1]
    task = _tasks.Task(numera.format("posit8"))
    data = DataSet(numera.compile(LAYER)._only, [X, WEIGHTS], None, None)
    study = _run._Study(LAYER, {}, data, LABELS, metric("top1", None), 1)
    work = _worker.work_of(study)
    built = _worker.build(work, task, "x86-64-v2,x86-64-v3")
    assert built.shared.startswith(b"\x7fELF")
    empty = work._replace(model="no model")
    part = _worker.do(empty, task, built, _worker.Shard(0, None), True)
    assert part.row.error is None
    assert part.row.value == sweep(formats="posit8")[0].value
    # Without a shared object, which takes clang, the model is compiled.
    alone = built._replace(shared=None)
    part = _worker.do(work, task, alone, _worker.Shard(0, None), True)
    assert part.row.value == sweep(formats="posit8")[0].value
    assert _worker.do(empty, task, alone, _worker.Shard(0, None), True).row.error


def network(sizes=(6, 8, 5, 4)):
    random = np.random.default_rng(2)
    pairs = itertools.pairwise(sizes)
    weights = [random.normal(size=pair).astype("f4") for pair in pairs]
    return perceptron(*weights), random.normal(size=(90, sizes[0])).astype("f4")


@pytest.mark.parametrize(
    ("batch", "metric"), [(64, "rmse"), (16, "rmse"), (64, "top1"), (16, "top1")]
)
def test_a_search_is_that_of_one_machine(cluster, batch, metric, tmp_path):
    """Policies one at a time, each in shards of the data, and two at a time; those
    that are stopped after a part of the rows are the same."""
    pytest.importorskip("optuna")
    model, x = network()
    given = {"formats": ["float<4,1..3>", "f16"], "inputs": x, "metric": metric}
    given |= {"budget": 9, "trials": 5, "batch": batch, "optimization": 0}
    if metric == "top1":
        given["labels"] = numera.compile(model, format="f32")(x).argmax(1)
    given["workers"] = 1 if batch == 64 else 2
    store = tmp_path / "s.sqlite"
    found = numera.search(model, cluster=True, store=store, **given)
    alone = numera.search(model, **given)
    assert [t._replace(seconds=0) for t in found] == [
        t._replace(seconds=0) for t in alone
    ]
    assert found.layers() == alone.layers()
    assert found.stopped == alone.stopped
    assert bool(found.stopped) == (metric == "top1")
    again = numera.search(model, store=store, **given)
    assert (again.runs, again.stopped) == (0, found.stopped)


def is_ours(process):
    """Whether a process descends from this one."""
    while process > 1 and process != HERE:
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
    return process == HERE


def kill_workers():
    """This test's workers that do something now: a process is called by its task."""
    killed = 0
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name = (folder / "cmdline").read_text().partition("\0")[0].strip()
            busy = name in ("ray::build", "ray::do", "ray::layers")
            if busy and is_ours(int(folder.name)):
                os.kill(int(folder.name), signal.SIGKILL)
                killed += 1
    return killed


def test_a_search_goes_on_without_its_killed_workers(cluster):
    pytest.importorskip("optuna")
    model, x = network((6, 64, 64, 4))
    given = {"formats": ["float<4,1..3>", "f16"], "inputs": x, "metric": "rmse"}
    given |= {"budget": 9, "trials": 6, "workers": 2}
    killed = [0]

    def watch(stop):
        while not stop.wait(0.05):
            if killed[0] < 3:
                killed[0] += kill_workers()

    stop = threading.Event()
    killer = threading.Thread(target=watch, args=(stop,))
    killer.start()
    try:
        found = numera.search(model, cluster=True, **given)
    finally:
        stop.set()
        killer.join()
    assert killed[0] >= 1
    alone = numera.search(model, **given)
    assert [t._replace(seconds=0) for t in found] == [
        t._replace(seconds=0) for t in alone
    ]
    assert found.layers() == alone.layers()


def test_machines_of_several_kinds_run_one_program(cluster, monkeypatch):
    """A program has a version for each kind of CPU, whichever worker runs it."""
    known = numera.compile(LAYER).target.split()[-1]
    kinds = ",".join(dict.fromkeys(["x86-64", "x86-64-v2", "x86-64-v3", known]))
    monkeypatch.setattr(_cluster, "_cpus", lambda ray: kinds)
    options = {"formats": ["posit8", "float<3,2>"], "rounding": "stochastic", "batch": 32}
    assert values(sweep(cluster=True, **options)) == values(sweep(**options))
    study = _run._Study(
        LAYER, {}, DataSet(numera.compile(LAYER)._only, [X, WEIGHTS], None, None),
        LABELS, metric("top1", None), 1,
    )  # fmt: skip
    made = _worker.build(_worker.work_of(study), _tasks.Task(numera.format("posit8")), kinds)
    assert made.shared and all(kind.encode() in made.shared for kind in kinds.split(","))


def test_a_search_leaves_out_what_refuses(cluster):
    pytest.importorskip("optuna")
    model, x = network((6, 4))
    with pytest.warns(UserWarning, match="'lns<4,3>' is left out: .* no quire"):
        found = numera.search(
            model, formats=["lns<4,3>", "posit8"], accumulate="quire", inputs=x,
            metric="rmse", sqnr=0, trials=1, cluster=cluster.address,
        )  # fmt: skip
    assert found.layers()[0]["format"] == "posit8"
