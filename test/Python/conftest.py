# SPDX-License-Identifier: MIT
"""What all tests of the package begin with."""

import signal

# A shell that starts a command in the background has it ignore interrupts, and
# tests of interrupts would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
