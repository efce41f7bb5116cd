// SPDX-License-Identifier: MIT
//
// The names of IEEE P3109's formats: p3109_k<K>p<P>, then s(igned) or
// u(nsigned), then e(xtended, with infinities) or f(inite). K bits (3 to 16),
// precision P (1 to K - 1; unsigned, to K).

#ifndef NUMERA_LIB_REGISTRY_FORMATS_P3109_H
#define NUMERA_LIB_REGISTRY_FORMATS_P3109_H

#include "numera/Numerics/Formats/Float.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace numera {

/// True for a name that is meant to be one of P3109.
bool isP3109Name(llvm::StringRef name);
/// The format of such a name; false, with a message, if it names none.
bool parseP3109Name(llvm::StringRef name, FloatFormat &f, std::string &error);
/// The name of a format; empty for one that P3109 does not have.
std::string p3109NameOf(const FloatFormat &f);

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_FORMATS_P3109_H
