// SPDX-License-Identifier: MIT

#include "Fingerprint.h"
#include "LibraryFile.h"
#include "Support/Embedded.h"
#include "numera/Registry/Formats/Plugin.h"
#include "numera/Target/Interface/Metadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"

#include <gnu/libc-version.h>

using namespace llvm;
using namespace numera;

Expected<std::string> numera::fingerprintOfFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read '" + path +
                             "': " + buffer.getError().message());
  return Fingerprint().add((*buffer)->getBuffer()).digits();
}

namespace {

class Describer {
public:
  Describer(const Registry &registry, ArrayRef<Format> formats)
      : registry(registry), formats(formats) {}

  Expected<Fingerprint> run() {
    whole.add("numera proofs, 2").add(version());
    addArithmetic();
    for (const Format &format : formats)
      addFormat(format);
    bool isAny = false; // a symbol may be any library's
    for (const Lowering &lowering : registry.lowerings())
      if (isInvolved(lowering)) {
        addLowering(lowering);
        isAny |= lowering.library.empty();
        used.insert(lowering.library);
      }
    for (const Library &library : registry.libraries())
      if (isAny || used.contains(library.name))
        if (Error error = addLibrary(library))
          return std::move(error);
    return whole;
  }

private:
  /// Of these formats, or of built-in ones alone: what is derived computes in
  /// those.
  bool isInvolved(const Lowering &lowering) const {
    auto isOpaque = [](const Format &format) {
      return format && format.isOpaque();
    };
    return is_contained(formats, lowering.result) ||
           any_of(lowering.operands,
                  [&](const Format &operand) {
                    return is_contained(formats, operand);
                  }) ||
           (!isOpaque(lowering.result) && none_of(lowering.operands, isOpaque));
  }

  void addArithmetic() {
    whole.add(embeddedRuntime().getBuffer());
    for (const Plugin *plugin : loadedPlugins())
      whole.add(plugin->cpuBitcode);
    whole.add(LLVM_VERSION_STRING)
        .add(sys::getHostCPUName())
        .add(gnu_get_libc_version());
  }

  void addFormat(const Format &format) {
    whole.add(format.spelling());
    const Registry::NamedFormat *entry = registry.entryOf(format);
    if (!entry || !format.isOpaque())
      return;
    for (const Format &other : {entry->equivalent, entry->carrier})
      whole.add(other ? other.spelling() : "");
    whole.add(uint64_t(entry->embedsInCarrier)).add(entry->derived);
    const Identities &identities = entry->identities;
    for (const std::optional<APInt> &code :
         {identities.zero, identities.one, identities.lowest,
          identities.highest, identities.nan})
      whole.add(uint64_t(code.has_value()))
          .add(code ? code->getZExtValue()
                    : 0); // no proofs are of wide formats
  }

  void addLowering(const Lowering &lowering) {
    whole.add(registry.suggest(lowering)).add(lowering.symbol);
    whole.add(lowering.library).add(lowering.carried);
    whole.add(uint64_t(lowering.getRoundingMode().pack()));
    whole.add(lowering.equivalent ? lowering.equivalent.spelling() : "");
    if (lowering.vector)
      whole.add(lowering.vector->symbol).add(lowering.vector->lanes);
  }

  Error addLibrary(const Library &library) {
    whole.add(library.name).add(uint64_t(library.passesBits));
    whole.add(uint64_t(library.hasSignedCodes));
    for (const std::vector<std::string> *words :
         {&library.defines, &library.flags, &library.links})
      for (const std::string &word : *words)
        whole.add(word);
    whole.add(library.standard);
    for (StringRef path : library.paths) {
      if (!isMachineCode(path))
        continue;
      Expected<std::string> code = fingerprintOfFile(path);
      if (!code)
        return code.takeError();
      whole.add(*code);
    }
    if (library.bitcode) {
      whole.add(*library.bitcode);
      return Error::success();
    }
    if (all_of(library.paths, isMachineCode))
      return Error::success();
    LLVMContext context;
    Expected<LibraryFile> file = LibraryFile::open(library, context);
    if (!file)
      return file.takeError();
    whole.add(file->bitcode());
    return Error::success();
  }

  const Registry &registry;
  ArrayRef<Format> formats;
  Fingerprint whole;
  StringSet<> used;
};

} // namespace

Expected<Fingerprint> numera::fingerprintOf(const Registry &registry,
                                            ArrayRef<Format> formats) {
  return Describer(registry, formats).run();
}
