#!/bin/sh
# SPDX-License-Identifier: MIT
# Holds the library against formats.yaml's `equivalent`, or against laws, and
# compiles a program for each target. NUMERA names the tool if it is not on PATH.
# Without --library, what the carrier makes of the casts is checked as well: fma
# there rounds twice, and says so.
set -eu
cd "$(dirname "$0")"
numera=${NUMERA:-numera}
"$numera" check --formats formats.yaml --library @NAME@ --draws 100000
"$numera" compile sums.mlir --formats formats.yaml --emit llvm -o - >/dev/null
"$numera" compile sums.mlir --formats formats.yaml --target nvptx --emit ptx -o - >/dev/null
echo "@NAME@: all well"
