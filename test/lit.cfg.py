# SPDX-License-Identifier: MIT
"""The lit suite: IR and tools by FileCheck, values by running."""

import importlib.util
import os
import shutil
import sys

import lit.formats

config.name = "Numera"
config.test_format = lit.formats.ShTest(execute_external=True)
# Proofs of a test are its own affair, and not of the one who runs it.
config.environment["XDG_CACHE_HOME"] = os.path.join(
    config.numera_build_root, "test", "cache")
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Consumer", "Inputs", "Emulation", "corpus"]
config.test_source_root = os.path.join(config.numera_source_root, "test")
config.test_exec_root = os.path.join(config.numera_build_root, "test")

tools = os.path.join(config.numera_build_root, "bin")
# Tools in front of the build's: tools/dev/mutate has some.
config.environment["PATH"] = os.pathsep.join(
    [os.environ.get("NUMERA_TOOLS", tools), tools, config.llvm_bindir, "/usr/bin", config.environment["PATH"]])

# A test that hangs fails. lit ends all that it started, for which it needs psutil.
if importlib.util.find_spec("psutil"):
    lit_config.maxIndividualTestTime = 6000 if config.numera_sanitize else 900

# A build with sanitizers.
if config.numera_sanitize:
    config.available_features.add("sanitized")
    config.environment.setdefault("ASAN_OPTIONS", config.asan_options)
    config.environment.setdefault("TSAN_OPTIONS", config.tsan_options)
    config.environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
# Python that loads the runtime, which may have a sanitizer.
loads_runtime = "/usr/bin/python3"
if config.numera_sanitizer:
    loads_runtime = f"env LD_PRELOAD={config.numera_sanitizer} " \
                    f"ASAN_OPTIONS={config.asan_options}:detect_leaks=0 {loads_runtime}"

# The emulated GPU and its tools (test/Emulation).
emulation = os.path.join(config.test_exec_root, "Emulation")
emulated_path = os.pathsep.join(
    [os.path.join(config.test_source_root, "Emulation", "tools"),
     config.environment["PATH"]])

config.substitutions += [
    ("%python_of_runtime", loads_runtime),
    ("%python", "/usr/bin/python3"),
    ("%numera_import", "numera compile --emit mlir --stage import -o -"),
    ("%clang", os.path.join(config.llvm_bindir, "clang")),
    ("%examples", os.path.join(config.numera_source_root, "examples")),
    ("%build", config.numera_build_root),
    ("%runtime", os.path.join(config.numera_build_root, "lib", "libnumera_rt.so")),
    ("%emulated", f"env LD_LIBRARY_PATH={emulation} PATH={emulated_path}"),
    ("%include", os.path.join(config.numera_source_root, "include")),
]

# The data beside a development checkout; the suite passes without it.
shared = os.path.join(config.numera_source_root, os.pardir, "shared", "data")
if os.path.isdir(shared):
    config.available_features.add("shared-data")
    config.substitutions.append(("%shared", os.path.realpath(shared)))
# A Python that has other implementations of scaled formats.
if peers := os.environ.get("NUMERA_PEERS"):
    config.available_features.add("peers")
    config.substitutions.append(("%peers", peers))
# `./dev test` leaves out what takes long: tests that say `REQUIRES: long`.
if os.environ.get("NUMERA_TESTS") == "all":
    config.available_features.add("long")
    config.environment["NUMERA_TESTS"] = "all"
    # What takes minutes says `REQUIRES: turn-N`, N from 0 to 4: in continuous
    # integration (.ci/run) it has its turn at every fifth commit.
    # There lists have a part of their elements (chosen.py).
    turn = os.environ.get("NUMERA_TURN")
    if turn is not None:
        config.environment["NUMERA_TURN"] = turn
    for each in range(5):
        if turn is None or int(turn) % 5 == each or config.numera_mirror:
            config.available_features.add(f"turn-{each}")
# The whole of lists of which the suite has time for a part (chosen.py).
if slow := os.environ.get("NUMERA_SLOW_TESTS"):
    config.environment["NUMERA_SLOW_TESTS"] = slow
if shutil.which("valgrind"):
    config.available_features.add("valgrind")
for tool in ("ptxas", "nvdisasm", "strace", "nvim", "emacs"):
    # Leaks are not looked for in a process that strace watches.
    if shutil.which(tool) and not (tool == "strace" and config.numera_sanitize):
        config.available_features.add(tool)
with open("/proc/cpuinfo", encoding="utf-8") as cpus:
    cpu_features = set(cpus.read().split())
if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= cpu_features:
    config.available_features.add("avx512")
# What runs programs for CPUs with AVX-512 elsewhere (test/Emulation/machines).
if {"avx2", "bmi2", "f16c", "fma"} <= cpu_features:
    config.available_features.add("x86-64-v3")
if shutil.which("nvidia-smi"):
    config.available_features.add("cuda")

# Programs for an emulated machine as well: the other suites (CMakeLists.txt).
if config.numera_mirror:
    mirrors = os.path.join(config.test_source_root, "Emulation")
    sys.path.append(os.path.join(mirrors, "mirror"))
    import mirror  # noqa: E402

    config.name += " on " + config.numera_mirror
    config.test_format = mirror.Format(config.numera_mirror)
    real, path = os.path.join(tools, "numera"), config.environment["PATH"]
    if config.numera_mirror == "nvptx":
        config.available_features.add("mirror")
        config.environment["LD_LIBRARY_PATH"] = emulation
        config.environment["NUMERA_MIRRORED"] = real
        path = emulated_path
    else:
        config.environment["NUMERA_REAL"] = real
        config.environment["NUMERA_MIRROR_MACHINE"] = config.numera_mirror
        config.unsupported = config.numera_mirror == "avx512" and "x86-64-v3" not in config.available_features
    config.environment["PATH"] = os.pathsep.join(
        [os.path.join(mirrors, mirror.FOLDERS[config.numera_mirror]), path])
    config.test_source_root = os.path.join(config.test_source_root, "Execution")
    config.test_exec_root = os.path.join(config.test_exec_root,
                                         config.numera_mirror)
