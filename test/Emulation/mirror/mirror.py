# SPDX-License-Identifier: MIT
"""Tests of the CPU, once more with programs for an emulated machine: their own
commands, with a `numera` in front of the real one, and their own expected bits.

That for the GPU (beside this file) names the target. Not in its list are those that
have lines of their own for the GPU (bfloat-instruction, cpus, deinterleave,
library-bfloat, signed-codes, threads), or a test of it (status-flags, flag-counts:
nvptx-status-flags; scaled: nvptx-scaled; onnx-nodes, which is one); what is never
run (aarch64, cpu-instructions: code for other machines; reference-self: no program
at all); what looks at a program from outside (valgrind: its memory on the host), or
needs what is not here (scaled-peers: other packages); plugin, which installs
Numera, and compiles a model for the GPU without running it; and products, since
functions on whole matrices are a CPU's, and nvptx refuses them by name.

Those for 64-bit Arm and for AVX-512 (../machines) run a program on both machines and
compare. In their lists is what runs a program without a library in machine code; not
the test windows, whose steps on f32 give the machine's NaN, on Arm, nor
subnormal-products, which names CPUs itself. In continuous
integration a tenth of each list has its turn, whatever turn these tests have of
themselves (test/lit.cfg.py).
"""
import os
import pathlib

import lit.formats
import lit.Test

GPU = """
    accumulator bfloat16 carriers changes contraction-kernel conv-transpose
    datatypes derived destinations dynamic-shapes einsum equivalent exceptions
    feed-forward fourier functions grid-sample half identities library-tables memref
    mixed non-max-suppression onnx-casts onnx-quantize output-as own-names packed
    promotion proofs proofs-programs quire quire-products recurrent
    reference-fashion reference-mnist reference-sums rounding rules
    scaled-arithmetic scaled-contractions scaled-opaque scaled-parts stagnation
    stochastic tables template-library tosa two-libraries vector-variants vectors
""".split()


ARM = """
    accumulator affine-grid arith-math average-pool bfloat16 canonical-codes carriers
    changes col2im computed-shapes computed-values contraction-kernel conv-transpose
    deform-conv derived dynamic-shapes einsum equivalent exceptions flex-attention
    float-types fourier functions grid-sample hardmax identities layers library-ends
    library-tables linear-attention loops max-unpool memref mixed negative-padding
    one-result onnx-casts onnx-quantize opaque-accumulator output-as own-names packed
    proofs proofs-programs quire quire-products recurrent reference-fashion
    reference-mnist reference-sums registered-step roi-align rounding rules rules-mnist
    scalars scaled scaled-arithmetic scaled-machine scaled-opaque scaled-parts
    scaling-casts sequences signed-codes small-integers stagnation tables
    template-library to-integers tosa training-steps two-libraries unique vectors wide
""".split()
# What is more than that of x86, and what computes by its instructions alone. Others
# call programs themselves, or run nothing that arrays go through.
AVX512 = ARM + """
    attention-masks windows channels-last feed-forward finish flag-loops flag-tables
    integer-sums max-roi-pool non-max-suppression open-sizes padded products
    scaled-contractions short-sums softplus unsigned vector-steps
    vector-variants
""".split()
FOLDERS = {"nvptx": "mirror", "arm": "machines", "avx512": "machines"}


def tests_of(machine):
    tests = {"nvptx": GPU, "arm": ARM, "avx512": AVX512}[machine]
    turn = os.environ.get("NUMERA_TURN")
    return set(tests if turn is None else tests[int(turn) % 10::10])


class Format(lit.formats.ShTest):
    """A test fails as well if none of its commands ran for the machine."""

    def __init__(self, machine):
        super().__init__(execute_external=True)
        self.machine, self.tests = machine, tests_of(machine)

    def getTestsInDirectory(self, suite, path, lit_config, local_config):
        for test in super().getTestsInDirectory(suite, path, lit_config, local_config):
            if pathlib.Path(test.path_in_suite[-1]).stem in self.tests:
                yield test

    def execute(self, test, lit_config):
        log = pathlib.Path(test.getExecPath() + ".log")
        os.makedirs(log.parent, exist_ok=True)
        log.write_text("", encoding="utf-8")
        test.config.environment["NUMERA_MIRROR_LOG"] = str(log)
        result = super().execute(test, lit_config)
        if result.code == lit.Test.PASS and not log.read_text(encoding="utf-8"):
            return lit.Test.Result(lit.Test.FAIL, f"ran nothing on {self.machine}\n")
        return result
