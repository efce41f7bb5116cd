// SPDX-License-Identifier: MIT

#include "Libraries/OpenLibraries.h"
#include "LibraryExamination.h"
#include "numera/Target/Libraries/Examine/Libraries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;
using namespace numera;

/// `place: message` as `place: error: message`.
static void report(Error error, const Registry &registry,
                   StringRef loweringPlace, StringSet<> &reported,
                   raw_ostream &errors) {
  std::string text = toString(std::move(error));
  if (!reported.insert(text).second)
    return;
  StringRef message = text;
  std::string place;
  auto take = [&](StringRef candidate) {
    if (place.empty() && message.consume_front((candidate + ": ").str()))
      place = candidate.str();
  };
  take(loweringPlace);
  for (const Library &library : registry.libraries())
    take(library.location);
  errors << (place.empty() ? "" : place + ": ") << "error: " << message << '\n';
}

bool numera::openLibraries(Registry &registry, raw_ostream &errors,
                           std::vector<std::string> *misfits) {
  LLVMContext context;
  OpenLibraries libraries(registry, context);
  StringSet<> reported;
  for (const Library &library : registry.libraries()) {
    Expected<LibraryFile &> file = libraries.open(library);
    if (Error error = file ? tryToLoad(*file) : file.takeError())
      report(std::move(error), registry, "", reported, errors);
  }
  if (!reported.empty())
    return false;
  for (const Lowering &lowering : registry.lowerings()) {
    Expected<LibraryFile &> file = libraries.find(lowering);
    if (file)
      continue;
    report(file.takeError(), registry, lowering.location, reported, errors);
    if (misfits)
      misfits->push_back(lowering.location);
  }
  if (!reported.empty() && !misfits)
    return false;
  for (const Library &library : registry.libraries()) {
    LibraryFile &file = cantFail(libraries.open(library));
    if (file.module)
      registry.keepBitcode(library.name,
                           std::make_shared<std::string>(file.bitcode()));
  }
  return examineLibraries(registry, errors,
                          misfits ? ArrayRef<std::string>(*misfits)
                                  : ArrayRef<std::string>());
}

bool numera::examineLibraries(Registry &registry, raw_ostream &errors,
                              ArrayRef<std::string> misfits) {
  std::vector<const Lowering *> identities, roundings;
  for (const Lowering &lowering : registry.lowerings()) {
    if (is_contained(misfits, lowering.location))
      continue;
    if (isIdentity(lowering.operation))
      identities.push_back(&lowering);
    if (lowering.equivalent && lowering.target != numera::Target::NVPTX)
      roundings.push_back(&lowering);
  }
  StringSet<> reported;
  auto check = [&](Error error, const Lowering &lowering) {
    if (error)
      report(std::move(error), registry, lowering.location, reported, errors);
  };
  if (!identities.empty())
    check(findIdentities(registry, identities), *identities.front());
  ProofCache cache(errors);
  for (const Lowering *rounding : roundings)
    check(proveRounding(registry, *rounding, cache), *rounding);
  return reported.empty();
}
