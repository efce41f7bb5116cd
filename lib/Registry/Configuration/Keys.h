// SPDX-License-Identifier: MIT
//
// The keys of each mapping of a configuration. The reader accepts these, and
// the JSON Schema (Schema.cpp) lists them.

#ifndef NUMERA_LIB_REGISTRY_CONFIGURATION_KEYS_H
#define NUMERA_LIB_REGISTRY_CONFIGURATION_KEYS_H

#include "llvm/ADT/StringRef.h"

namespace numera::keys {

using llvm::StringRef;

inline constexpr StringRef configuration[] = {
    "formats", "libraries", "lowerings", "policy", "fallback"};

/// Of a change of an operation, `operations: {mul: {rounding: up}}`.
inline constexpr StringRef change[] = {"rounding", "random-bits", "overflow",
                                       "truncate-operands"};
inline constexpr StringRef opaque[] = {"bits",       "carrier",    "fallback",
                                       "derive",     "proofs",     "identities",
                                       "equivalent", "accumulator"};
inline constexpr StringRef accumulator[] = {"name", "storage", "init",   "mac",
                                            "add",  "round",   "library"};
inline constexpr StringRef identities[] = {"zero",    "one", "lowest",
                                           "highest", "nan", "library"};
inline constexpr StringRef block[] = {"family",  "element",   "size",
                                      "scale",   "rule",      "tensor-scale",
                                      "storage", "full-scale"};
inline constexpr StringRef scaled[] = {"family", "element", "scale",
                                       "rule",   "storage", "full-scale"};

inline constexpr StringRef library[] = {"path",     "include", "defines",
                                        "standard", "flags",   "link",
                                        "floats",   "codes",   "wide-codes"};
/// In the order of WideCodes.
inline constexpr StringRef wideCodes[] = {"pointers", "doubles", "integers",
                                          "float128"};

inline constexpr StringRef lowering[] = {
    "op",      "format",    "from",       "to",        "operands",
    "result",  "predicate", "rounding",   "target",    "call",
    "library", "vector",    "operations", "equivalent"};
inline constexpr StringRef vector[] = {"call", "lanes"};
inline constexpr StringRef predicates[] = {
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};

inline constexpr StringRef roles[] = {"weights", "activations", "outputs"};
inline constexpr StringRef policy[] = {
    "default", "accumulate", "axis",       "weights", "activations",
    "outputs", "replace",    "rules",      "scale",   "scale-format",
    "scales",  "storage",    "zero-points"};
inline constexpr StringRef rule[] = {"match",   "format",      "accumulate",
                                     "weights", "activations", "outputs"};
inline constexpr StringRef match[] = {"op", "name"};

} // namespace numera::keys

#endif // NUMERA_LIB_REGISTRY_CONFIGURATION_KEYS_H
