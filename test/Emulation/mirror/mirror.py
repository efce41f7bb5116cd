# SPDX-License-Identifier: MIT
"""Tests of the CPU, once more with programs for the emulated GPU: their own
commands, with a `numera` in front of the real one that names the target (beside
this file), and their own expected bits.

Not in the list are those that have lines of their own for the GPU
(bfloat-instruction, cpus, deinterleave, library-bfloat, signed-codes, threads),
or a test of it (status-flags, flag-counts: nvptx-status-flags; scaled: nvptx-scaled;
onnx-nodes, which is one); what is never run (aarch64, cpu-instructions: code for other machines;
reference-self: no program at all); what looks at a program from outside
(valgrind: its memory on the host), or needs what is not here (scaled-peers:
other packages); plugin, which installs Numera, and compiles a model for the GPU
without running it; and products, since functions on whole matrices are a CPU's,
and nvptx refuses them by name.
"""
import os
import pathlib

import lit.formats
import lit.Test

TESTS = set("""
    accumulator bfloat16 carriers changes contraction-kernel conv-transpose
    datatypes derived destinations dynamic-shapes einsum equivalent exceptions
    feed-forward fourier functions grid-sample half identities library-tables memref
    mixed non-max-suppression onnx-casts onnx-quantize output-as own-names packed
    promotion proofs proofs-programs quire quire-products recurrent
    reference-fashion reference-mnist reference-sums rounding rules
    scaled-arithmetic scaled-contractions scaled-opaque scaled-parts stagnation
    stochastic tables template-library tosa two-libraries vector-variants vectors
""".split())


class Format(lit.formats.ShTest):
    """A test fails as well if none of its commands ran for the GPU."""

    def __init__(self):
        super().__init__(execute_external=True)

    def getTestsInDirectory(self, suite, path, lit_config, local_config):
        for test in super().getTestsInDirectory(suite, path, lit_config, local_config):
            if pathlib.Path(test.path_in_suite[-1]).stem in TESTS:
                yield test

    def execute(self, test, lit_config):
        log = pathlib.Path(test.getExecPath() + ".log")
        os.makedirs(log.parent, exist_ok=True)
        log.write_text("", encoding="utf-8")
        test.config.environment["NUMERA_MIRROR_LOG"] = str(log)
        result = super().execute(test, lit_config)
        if result.code == lit.Test.PASS and not log.read_text(encoding="utf-8"):
            return lit.Test.Result(lit.Test.FAIL, "ran nothing for the GPU\n")
        return result
