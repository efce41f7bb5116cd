// SPDX-License-Identifier: MIT

#ifndef NUMERA_REGISTRY_CONFIGURATION_SCHEMA_H
#define NUMERA_REGISTRY_CONFIGURATION_SCHEMA_H

#include "llvm/Support/raw_ostream.h"

namespace numera {

/// Prints the JSON Schema of configurations (docs/Configuration.md), for
/// editors. It has the keys that the reader accepts, those of families that
/// plugins registered included. What it cannot express, the reader reports.
void printConfigurationSchema(llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_REGISTRY_CONFIGURATION_SCHEMA_H
