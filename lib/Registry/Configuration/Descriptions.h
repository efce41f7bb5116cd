// SPDX-License-Identifier: MIT
//
// What the keys of a configuration mean, for the JSON Schema, which editors
// show: docs/Configuration.md, each in a phrase.

#ifndef NUMERA_LIB_REGISTRY_CONFIGURATION_DESCRIPTIONS_H
#define NUMERA_LIB_REGISTRY_CONFIGURATION_DESCRIPTIONS_H

#include "llvm/ADT/StringRef.h"

namespace numera {

struct Description {
  llvm::StringRef mapping; ///< where the key is; empty: in any mapping
  llvm::StringRef key, text;
};

inline constexpr Description descriptions[] = {
    {"configuration", "formats", "formats by their names"},
    {"configuration", "libraries", "C, C++, bitcode or machine code by a name"},
    {"configuration", "lowerings", "functions of libraries for operations"},
    {"configuration", "policy", "how a model is rewritten"},
    {"configuration", "fallback",
     "the type that computes what opaque formats have no function for"},

    // Formats. Those of families first, of all formats with arithmetic after.
    {"", "family", "what kind of format it is"},
    {"float", "exponent", "bits of the exponent"},
    {"float", "mantissa", "bits of the fraction"},
    {"float", "bias", "what is subtracted from a stored exponent"},
    {"float", "specials", "which codes are infinities and NaNs"},
    {"float", "infinities", "whether there are infinities"},
    {"float", "subnormals", "whether there are subnormal numbers"},
    {"float", "signed", "whether there is a sign bit"},
    {"posit", "bits", "bits of a code"},
    {"posit", "es", "bits of the exponent"},
    {"takum", "bits", "bits of a code"},
    {"fixed", "integer", "bits before the point, without the sign"},
    {"fixed", "fraction", "bits behind the point"},
    {"fixed", "signed", "whether there is a sign bit"},
    {"lns", "integer", "bits of the logarithm before the point"},
    {"lns", "fraction", "bits of the logarithm behind the point"},
    {"", "rounding", "the rounding mode"},
    {"", "random-bits", "random bits of stochastic rounding"},
    {"", "overflow", "what becomes of numbers that are too large"},
    {"", "operations", "changes of single operations"},
    {"", "truncate-operands",
     "low bits of the operands' significands that are cleared first"},

    {"opaque", "bits", "bits of a code"},
    {"opaque", "carrier", "the type that holds its values between operations"},
    {"opaque", "fallback", "the type that computes what has no function"},
    {"opaque", "derive", "operations that are made of others"},
    {"opaque", "proofs",
     "whether functions that are proven equal to a built-in format's are "
     "replaced by these"},
    {"opaque", "equivalent", "the format that has the same codes and values"},
    {"opaque", "identities", "codes of numbers, or functions that return them"},
    {"opaque", "accumulator", "a library's sums of products"},
    {"identities", "zero", "the code of 0"},
    {"identities", "one", "the code of 1"},
    {"identities", "lowest", "the code of the least number"},
    {"identities", "highest", "the code of the greatest number"},
    {"identities", "nan", "the code of NaN"},
    {"accumulator", "name", "its name for 'accumulate'"},
    {"accumulator", "storage", "its size in bytes"},
    {"accumulator", "init", "the function that starts an empty sum"},
    {"accumulator", "mac", "the function that adds a product"},
    {"accumulator", "add", "the function that adds a value"},
    {"accumulator", "round", "the function that returns the sum"},
    {"", "library", "the library that defines the functions"},

    {"", "element", "the format of an element"},
    {"", "size", "elements of a block"},
    {"", "scale", "the format of a scale"},
    {"", "rule", "how a scale follows from the elements"},
    {"", "tensor-scale", "whether the tensor has a scale beside its blocks'"},
    {"", "full-scale", "the number that the greatest element becomes"},
    {"", "storage", "whether codes are stored without gaps"},

    {"library", "path", "its files"},
    {"library", "include", "folders of headers"},
    {"library", "defines", "macros, a mapping or a list of NAME=value"},
    {"library", "standard", "the standard of the language, as c11 or c++17"},
    {"library", "flags", "further flags of clang"},
    {"library", "link", "libraries of the system, as m"},
    {"library", "floats", "how functions take and return f32 and f64"},
    {"library", "codes", "the C type of codes"},
    {"library", "wide-codes",
     "how functions take and return codes of more than 64 bits"},

    {"lowering", "op", "the operation"},
    {"lowering", "format", "the format of operands and result"},
    {"lowering", "from", "the format or integer that a cast reads"},
    {"lowering", "to", "the format or integer that a cast gives"},
    {"lowering", "operands", "the formats of the operands"},
    {"lowering", "result", "the format of the result"},
    {"lowering", "predicate", "the comparison of a cmp"},
    {"lowering", "target", "the kind of processor, or * for all"},
    {"lowering", "call", "the function"},
    {"lowering", "vector", "a function that does the same for many codes"},
    {"lowering", "operations",
     "operations whose functions end in this rounding"},
    {"lowering", "equivalent", "the format whose rounding it is"},
    {"vector", "call", "the function"},
    {"vector", "lanes", "codes that it takes; without it, any number"},

    {"policy", "default", "the model's format"},
    {"", "accumulate",
     "what contractions add up in: a format, same, quire or tensorcore"},
    {"policy", "axis", "the axis along which blocks lie"},
    {"", "weights", "for constant operands of contractions"},
    {"", "activations", "for other operands of contractions"},
    {"", "outputs", "for results of contractions"},
    {"policy", "replace", "the float types of a model that are replaced"},
    {"policy", "rules", "other formats for some operations"},
    {"policy", "scale",
     "how the format is scaled: none, per-tensor, per-channel or block(N)"},
    {"policy", "scale-format", "the format of these scales"},
    {"policy", "scales", "scales that are known, by the names of operands"},
    {"policy", "zero-points", "the elements that stand for 0, as 'scales'"},
    {"rule", "match", "the operations that it is for, by name or operator"},
    {"rule", "format", "the format that they compute in"},
    {"match", "op", "a pattern of operators"},
    {"match", "name", "a pattern of names"},
};

/// Empty: there is none, as for keys of plugins.
inline llvm::StringRef descriptionOf(llvm::StringRef mapping,
                                     llvm::StringRef key) {
  llvm::StringRef found;
  for (const Description &each : descriptions)
    if (each.key == key) {
      if (each.mapping == mapping)
        return each.text;
      if (each.mapping.empty())
        found = each.text;
    }
  return found;
}

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_CONFIGURATION_DESCRIPTIONS_H
