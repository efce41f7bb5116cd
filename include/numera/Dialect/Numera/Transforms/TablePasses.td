// SPDX-License-Identifier: MIT
//
// The passes that read results from tables; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_TABLEPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_TABLEPASSES

include "mlir/Pass/PassBase.td"

def NumeraComposeTables : Pass<"numera-compose-tables"> {
  let summary = "replace chains of operations on one code by table lookups";
  let description = [{
    *Before:* operations on scalar codes in the bodies of loops on tensors.
    *After:* a result that is a function of one code of at most 16 bits is a
    `numera.lookup` of that code where that is faster than the operations of
    which it is made: x · sigmoid(x), hard swish, scaling by constants. The
    table holds what the operations give one after another, each of them
    rounded. Selections by comparisons may be among them, and status flags, which
    branch where they are computed.

    An operation counts as long as nothing else needs its result, and a chain is
    replaced if the sum is more than the table takes. A table costs what
    [`numera-tabulate`](#numera-tabulate) says; an operation in a chain, whose
    operands stay in registers, .05 (`Codes`), .12 (`Short`) or .32 ns (`Long`),
    and a `Slow` one its own table. A module has at most 16 such tables of 16
    bits.

    Operations that draw random bits, and operations with a registered function,
    are not tabulated.

    For example,

    ```mlir
    // numera-opt --numera-compose-tables
    func.func @f(%x: i8) -> i8 {
      %0 = numera.exp %x {format = #numera.format<float<2, 1, finite>>} : i8
      %1 = numera.mul %x, %0 {format = #numera.format<float<2, 1, finite>>} : i8
      return %1 : i8
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: i8) -> i8 {
      %0 = numera.lookup %arg0 in dense<[0, 2, 5, 7, 7, 7, 7, 7, 8, 8, 9, 8, 8, 8, 8, 8]> : tensor<16xi8> : i8 to i8
      return %0 : i8
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect"];
}

def NumeraTabulate : Pass<"numera-tabulate"> {
  let summary = "replace slow operations on few bits by table lookups";
  let description = [{
    *Before:* an operation on storage integers, scalars or vectors, whose
    operands have at most 16 bits together, not counting constants.
    *After:* `numera.lookup` in a table that holds the operation's result for
    every code, computed by the code that the program would run. A `numera.mac`
    that rounds its product becomes two lookups if both are worth it. Arithmetic
    of two 8-bit floats becomes a choice, by a call of
    `numera_has_byte_lookups`, between the operation and a program of small
    tables and integer operations on bytes with the same result for every pair
    of codes. If no such program is known, the operation stays.

    The choice follows from measured costs (Zen 4, 1 M elements of every code,
    one core, ns an element; CPUs without AVX512_VBMI in brackets):

    | a table | takes |
    |---|---|
    | of 8 bits, results of 8 | 0.02 (0.22); of 7 or 6 bits 0.007 |
    | of 8 bits, results of 16 or 32 | 0.32 to 0.36 (0.23) |
    | of two operands of 8 bits | 0.46 (0.39) |
    | of 16 bits, results of 16 | 0.56 (0.65) |

    | `FormatFamily::effort` | operations | computed | tables |
    |---|---|---|---|
    | `Codes` | neg, abs, min, max, cmp, isnan; add, sub, mul of fixed point | 0.04 to 0.3 | none |
    | `Short` | arithmetic and casts of floats; casts and div of fixed point | 0.2 to 0.5 (0.3 to 1.4) | of 8 bits, results of 8: sqrt, casts, two operands of 4; on bytes: add, sub, mul, div of floats of 8, 0.06 to 0.15 |
    | `Long` | arithmetic and casts of posits; mul, div of lns | 0.5 to 0.7 (0.9 to 1.4) | of operands of 8 bits |
    | `Slow` | functions, rem, integral values; takums; add, sub and casts of lns | 1.3 to 150 | all, up to 128 KiB |

    Operations that draw random bits, casts of their results to f32 or f64, and
    operations with a registered function are not tabulated.

    For example,

    ```mlir
    // numera-opt --numera-tabulate
    func.func @f(%x: i8) -> i8 {
      %0 = numera.exp %x {format = #numera.format<float<2, 1, finite>>} : i8
      return %0 : i8
    }
    ```

    becomes

    ```mlir
    func.func @f(%arg0: i8) -> i8 {
      %0 = numera.lookup %arg0 in dense<[2, 3, 5, 6, 7, 7, 7, 7, 2, 1, 1, 0, 0, 0, 0, 0]> : tensor<16xi8> : i8 to i8
      return %0 : i8
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_TABLEPASSES
