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

/// Runs a program whose last output has a row of numbers for each of `rows`,
/// once over the input. Its other outputs must have the bits of `expected`.
llvm::Expected<Statistics>
collectStatistics(const Executable &executable, DataSet &data,
                  numera_options options, llvm::ArrayRef<FlagCounts> rows,
                  const std::vector<host::Array> &expected,
                  const Registry &registry);

/// Tables, a line an operation and a line a tensor.
void printStatistics(const Statistics &statistics, llvm::raw_ostream &stream);

/// Runs a program that hands over the collector's rows, or has them as its last
/// outputs, once over the input. Its other outputs must have the bits of
/// `expected`.
llvm::Error collectLayers(const Executable &executable, DataSet &data,
                          numera_options options, LayerCollector &layers,
                          const std::vector<host::Array> &expected);

/// The same where nothing else measures the model: gives its outputs, and the
/// seconds that it takes with its layers.
llvm::Error executeWithLayers(const Executable &executable, DataSet &data,
                              numera_options options, LayerCollector &layers,
                              Measured &out);

/// A table, a line a layer.
void printLayers(const LayerCollector &layers, llvm::raw_ostream &stream);

} // namespace numera

#endif // NUMERA_TOOLS_RUN_STATISTICS_H
