# SPDX-License-Identifier: MIT
"""``python -m numera``, which pip installs as ``numera``."""

import sys

from numera.study._command import main

if __name__ == "__main__":
    sys.exit(main(program="python -m numera"))
