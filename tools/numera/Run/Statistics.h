// SPDX-License-Identifier: MIT
//
// `numera run --stats`: how often the operations of a model overflowed,
// underflowed, were invalid or divided by zero, and what its scaled tensors
// were like (docs/Semantics/StatusFlags.md), and how far its layers are from
// f32 (docs/Semantics/LayerErrors.md).

#ifndef NUMERA_TOOLS_RUN_STATISTICS_H
#define NUMERA_TOOLS_RUN_STATISTICS_H

#include "DataSet.h"
#include "Execute.h"
#include "numera/Target/Driver/LayerErrors.h"
#include "numera/Target/Driver/Statistics.h"

namespace numera {

/// What takes the results of a program behind the model's: first one of counts,
/// then rows of layers, unless the program hands these over. Null: the program
/// has none.
struct Observers {
  StatisticsCollector *counts = nullptr;
  LayerCollector *layers = nullptr;
};

/// Runs a program once over the input: gives the model's outputs, and the
/// seconds that it takes with what is observed.
llvm::Error observe(const Executable &executable, DataSet &data,
                    numera_options options, llvm::StringRef label,
                    const Observers &observers, Measured &out);
/// The same where another program has given the outputs: an error if they have
/// other bits.
llvm::Error observe(const Executable &executable, DataSet &data,
                    numera_options options, llvm::StringRef label,
                    const Observers &observers,
                    const std::vector<host::Array> &expected);

/// Tables, a line an operation and a line a tensor.
void printStatistics(const Statistics &statistics, llvm::raw_ostream &stream);

/// A table, a line a layer.
void printLayers(const LayerCollector &layers, llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_STATISTICS_H
