// SPDX-License-Identifier: MIT
//
// What MLIR says of a model, in one line.

#ifndef NUMERA_LIB_TARGET_DRIVER_ONELINE_H
#define NUMERA_LIB_TARGET_DRIVER_ONELINE_H

#include "mlir/IR/Diagnostics.h"
#include "numera/Dialect/Numera/IR/Numera.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace numera {

/// Prints the first error of its lifetime in one line, `place: error: …`; with
/// `warned`, warnings as well that do not stand in it yet.
class OneLine {
public:
  OneLine(mlir::MLIRContext &context, llvm::raw_ostream &errors,
          llvm::StringSet<> *warned = nullptr)
      : handler(&context,
                [this, &errors, warned](mlir::Diagnostic &diagnostic) {
                  mlir::DiagnosticSeverity severity = diagnostic.getSeverity();
                  if (severity == mlir::DiagnosticSeverity::Warning && warned) {
                    std::string line = lineOf(diagnostic, "warning");
                    if (warned->insert(line).second)
                      errors << line;
                  }
                  if (severity != mlir::DiagnosticSeverity::Error || printed)
                    return;
                  printed = true;
                  errors << lineOf(diagnostic, "error");
                }) {}
  bool anyPrinted() const { return printed; }

private:
  static std::string lineOf(mlir::Diagnostic &diagnostic,
                            llvm::StringRef severity) {
    std::string place = placeOf(diagnostic.getLocation());
    std::string text = nodeOf(diagnostic.getLocation()) + textOf(diagnostic);
    for (char &c : text)
      c = c == '\n' ? ' ' : c;
    return (place.empty() ? "" : place + ": ") + severity.str() + ": " + text +
           "\n";
  }
  /// Without MLIR's advice on dialects that are not registered, which is for
  /// tools that only print what they read.
  static std::string textOf(mlir::Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    size_t advice = text.find(". If this is intended");
    bool isUnknown = advice != std::string::npos ||
                     llvm::StringRef(text).starts_with("Dialect `");
    if (!isUnknown)
      return text;
    return llvm::StringRef(text).substr(0, advice).rtrim().str() +
           "; numera import converts StableHLO and models of PyTorch";
  }
  static mlir::FileLineColLoc fileOf(mlir::Location location) {
    mlir::FileLineColLoc found;
    location->walk([&](mlir::Location inner) {
      found = mlir::dyn_cast<mlir::FileLineColLoc>(inner);
      return found ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
    });
    return found;
  }
  static std::string placeOf(mlir::Location location) {
    mlir::FileLineColLoc file = fileOf(location);
    if (!file)
      return "";
    std::string place = file.getFilename().str();
    if (file.getLine() != 0)
      place += ":" + std::to_string(file.getLine()) + ":" +
               std::to_string(file.getColumn());
    return place;
  }
  /// `at 'scores': `, the node or tensor of a model whose file has no lines.
  static std::string nodeOf(mlir::Location location) {
    mlir::FileLineColLoc file = fileOf(location);
    std::string name = nodeNameOf(location);
    return name.empty() || !file || file.getLine() != 0 ? ""
                                                        : "at '" + name + "': ";
  }

  bool printed = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace numera

#endif // NUMERA_LIB_TARGET_DRIVER_ONELINE_H
