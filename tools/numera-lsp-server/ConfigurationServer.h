// SPDX-License-Identifier: MIT

#ifndef NUMERA_TOOLS_LSP_SERVER_CONFIGURATIONSERVER_H
#define NUMERA_TOOLS_LSP_SERVER_CONFIGURATIONSERVER_H

#include "llvm/Support/LSP/Transport.h"

namespace numera {

/// Serves an editor that has configurations open (docs/Configuration.md), until
/// it says `exit`: the error of a text as it is typed, and what can stand at a
/// place. Returns the process's status.
int serveConfigurations(llvm::lsp::JSONTransport &transport);

} // namespace numera

#endif // NUMERA_TOOLS_LSP_SERVER_CONFIGURATIONSERVER_H
