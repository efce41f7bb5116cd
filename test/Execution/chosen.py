# SPDX-License-Identifier: MIT
"""How much of a list a test takes: all of it where NUMERA_SLOW_TESTS is set
(check-numera-slow), else what the quick suite has time for."""
import os

IS_SLOW = "NUMERA_SLOW_TESTS" in os.environ
# With programs for the emulated GPU (nvptx-mirror.test), which takes its time.
IS_MIRRORED = "NUMERA_MIRRORED" in os.environ


def chosen(whole, quick=slice(None), mirrored=slice(None)):
    """The slice `quick` of a list; on the emulated GPU `mirrored` of that."""
    if IS_SLOW:
        return whole
    return whole[quick][mirrored] if IS_MIRRORED else whole[quick]
