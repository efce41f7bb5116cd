# SPDX-License-Identifier: MIT
"""``python -m numera``, which pip installs as ``numera``."""

import sys

try:
    from numera.study._command import main
except KeyboardInterrupt:
    print("numera: interrupted", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main(program="python -m numera"))
