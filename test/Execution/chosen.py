# SPDX-License-Identifier: MIT
"""How much of a list a test takes: all of it where NUMERA_SLOW_TESTS is set
(check-numera-slow), what `./dev test all` has time for where NUMERA_TESTS is
`all`, and else a quarter of that, for the quick suite. In continuous integration
that quarter, and a fifth of the others by turn (NUMERA_TURN; test/lit.cfg.py)."""
import os

IS_SLOW = "NUMERA_SLOW_TESTS" in os.environ
IS_LONG = IS_SLOW or os.environ.get("NUMERA_TESTS") == "all"
# With programs for the emulated GPU (Emulation/mirror), which takes its time.
IS_MIRRORED = "NUMERA_MIRRORED" in os.environ
TURN = os.environ.get("NUMERA_TURN")


def chosen(whole, long=slice(None), mirrored=slice(None), quick=slice(None, None, 4)):
    """The slice `long` of a list: `quick` of it in the quick suite, and
    `mirrored` of it on the emulated GPU."""
    if IS_SLOW:
        return whole
    part = whole[long]
    if IS_MIRRORED:
        return part[mirrored]
    if not IS_LONG:
        return part[quick]
    if TURN is None:
        return part
    always = range(len(part))[quick]
    return [each for index, each in enumerate(part)
            if index in always or index % 5 == int(TURN) % 5]
