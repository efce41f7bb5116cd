// SPDX-License-Identifier: MIT

#include "numera/Registry/Registry.h"
#include "Configuration/Builtin.h"
#include "Configuration/ConfigurationReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace numera;
using llvm::StringRef;

/// Reads a file of the schema into `registry`, which keeps what it was if the
/// file has a fault.
static bool readInto(Registry &registry, StringRef text, StringRef name,
                     StringRef directory, bool isBuiltin,
                     llvm::raw_ostream &errors) {
  YamlFile file(text, name, errors);
  YamlNode root;
  if (!file.parse(root))
    return false;
  Registry read = registry;
  if (!ConfigurationReader(file, directory, isBuiltin, read).read(root))
    return false;
  registry = std::move(read);
  return true;
}

Registry::Registry() {
  // RegistryTest checks that the built-in files have no faults.
  for (const BuiltinFile &file : builtinFiles())
    readInto(*this, file.text, file.name, "", /*isBuiltin=*/true,
             llvm::nulls());
}

bool Registry::load(StringRef path, llvm::raw_ostream &errors) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    errors << path << ":1:1: error: the file cannot be read ("
           << StringRef(buffer.getError().message()).lower()
           << "), expected a configuration\n";
    return false;
  }
  return loadText((*buffer)->getBuffer(), path,
                  llvm::sys::path::parent_path(path), errors);
}

bool Registry::loadText(StringRef text, StringRef name, StringRef directory,
                        llvm::raw_ostream &errors) {
  return readInto(*this, text, name, directory, /*isBuiltin=*/false, errors);
}
