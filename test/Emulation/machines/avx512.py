# SPDX-License-Identifier: MIT
"""Programs for CPUs with AVX-512, run on one without. The program is `numera`'s LLVM IR,
as it is after all optimisations. LLVM makes code for AVX2 of its vectors; a call of a
function of avx512.c stands in place of each intrinsic that AVX2 does not have, and of
fused operations in binary16."""

import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
# What this machine runs, and what LLVM is to take the program for.
HOST = "x86-64-v3"
DECLARATION = re.compile(
    r"^declare (?P<result>.+?) @(?P<name>llvm\.(?:x86\.avx512\w*\.[\w.]+|fma\.(?:v\d+)?f16))"
    r"\((?P<arguments>.*)\).*$", re.MULTILINE)
VERSIONS = re.compile(r"(@versions = private constant .*?\{ ptr @[\w.]+, i64 )-?\d+")
FEATURES = re.compile(r'"target-cpu"="[^"]*"|"(?:target-features|tune-cpu|prefer-vector-width)"="[^"]*"')


def wrapper(found):
    """A function that stores its arguments and calls that of avx512.c."""
    name = found["name"].replace(".", "_")
    types = re.findall(r"(<[^>]*>|\w+)(?: [^,]*)?(?:, |$)", found["arguments"])
    parameters = ", ".join(f"{text} %x{i}" for i, text in enumerate(types))
    lines = [f"declare void @{name}({', '.join(['ptr'] * (len(types) + 1))})",
             f"define internal {found['result']} @emulated.{name}({parameters}) noinline {{",
             f"  %out = alloca {found['result']}, align 64"]
    for i, text in enumerate(types):
        lines += [f"  %p{i} = alloca {text}, align 64", f"  store {text} %x{i}, ptr %p{i}, align 64"]
    pointers = ", ".join(["ptr %out", *(f"ptr %p{i}" for i in range(len(types)))])
    lines += [f"  call void @{name}({pointers})",
              f"  %result = load {found['result']}, ptr %out, align 64",
              f"  ret {found['result']} %result", "}"]
    return "\n".join(lines)


def lower(text):
    """The IR without AVX-512, and the names of what is emulated in it."""
    names = []

    def replace(found):
        names.append(found["name"])
        return wrapper(found)

    text = DECLARATION.sub(replace, text)
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"@{re.escape(name)}(?=\()", f"@emulated.{name.replace('.', '_')}", text)
    # A call checks that the CPU has the instructions; here it asks for none.
    text = VERSIONS.sub(r"\g<1>0", text)
    return FEATURES.sub(lambda found: f'"target-cpu"="{HOST}"' if "target-cpu" in found[0] else "", text), names


def compile_object(source, target):
    """An object of the IR in the file SOURCE; what LLVM said, if it failed."""
    text, _ = lower(source.read_text(encoding="utf-8"))
    lowered = source.with_suffix(".lowered.ll")
    lowered.write_text(text, encoding="utf-8")
    done = subprocess.run(["llc", "-O1", f"-mcpu={HOST}", "-relocation-model=pic", "-filetype=obj", str(lowered), "-o", str(target)],
                          stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""
