// SPDX-License-Identifier: MIT
//
// Reads a configuration (docs/Configuration.md) into a registry. The sections
// are read in the order formats, libraries, lowerings, policy, wherever they
// stand. The first error ends the reading, with one line that names its
// position.

#ifndef NUMERA_LIB_REGISTRY_CONFIGURATION_CONFIGURATIONREADER_H
#define NUMERA_LIB_REGISTRY_CONFIGURATION_CONFIGURATIONREADER_H

#include "Keys.h"
#include "Yaml.h"
#include "numera/Registry/Formats/Words.h"
#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace numera {

/// A key of a library with two words, and the C types that each stands for.
struct LibraryChoice {
  const char *key;
  const char *usual, *usualTypes;
  const char *special, *specialTypes;
};

class ConfigurationReader {
public:
  ConfigurationReader(YamlFile &file, llvm::StringRef directory, bool isBuiltin,
                      RegistryEntries &registry)
      : file(file), directory(directory), isBuiltin(isBuiltin),
        registry(registry) {}

  bool read(const YamlNode &root);

private:
  using Names = llvm::ArrayRef<llvm::StringRef>;

  bool readFormats(const YamlNode &section);
  bool readChanges(const YamlNode &section, std::vector<Parameter> &parameters,
                   std::vector<const YamlNode *> &nodes);
  bool readFormat(const YamlNode &entry);
  bool readEquivalent(const YamlNode &entry, const Format &format,
                      Format &equivalent);
  bool readProofs(const YamlNode &entry, RegistryEntries::NamedFormat &named);
  bool readAccumulatorName(const YamlNode &entry,
                           RegistryEntries::NamedFormat &named);
  bool readCarrier(const YamlNode &entry, RegistryEntries::NamedFormat &named);
  bool readFallback(const YamlNode &value, Format &format);
  bool readOpaque(const YamlNode &entry, RegistryEntries::NamedFormat &named);
  bool readDerived(const YamlNode &entry, RegistryEntries::NamedFormat &named);
  bool readIdentities(const YamlNode &entry,
                      RegistryEntries::NamedFormat &named);
  static bool isScaledFamily(const YamlNode &entry);
  bool readPartOfScaled(const YamlNode &entry, llvm::StringRef key,
                        Format (*lookup)(FormatLookup, llvm::StringRef,
                                         std::string &),
                        Format &format);
  bool readScaled(const YamlNode &entry);
  bool readStorage(const YamlNode &value, bool &isPacked);
  bool readPositive(const YamlNode &value, llvm::StringRef key, float &number);
  bool checkNewName(const YamlNode &entry);
  const FormatFamily *readFamily(const YamlNode &entry);

  bool readLibraries(const YamlNode &section);
  bool readLibrary(const YamlNode &entry);
  bool readFiles(const YamlNode &entry, Library &library);
  /// Files of one folder, or `!` and those that are not meant.
  bool readPattern(const YamlNode &path, Library &library);
  bool readCompilation(const YamlNode &entry, Library &library);
  bool readDefines(const YamlNode &entry, Library &library);
  bool readWideCodes(const YamlNode &entry, Library &library);
  bool readChoice(const YamlNode &entry, const LibraryChoice &choice,
                  bool &isSpecial);

  bool readLowerings(const YamlNode &section);
  bool readLowering(const YamlNode &entry);
  bool readOperation(const YamlNode &entry, Lowering &lowering);
  bool readRoundTo(const YamlNode &entry, Lowering &lowering);
  bool checkWide(const YamlNode &entry, const Lowering &lowering);
  bool readProduct(const YamlNode &entry, const Lowering &lowering);
  bool readPartsOfFormats(const YamlNode &formats);
  bool readIdentityFunctions(const YamlNode &section,
                             const RegistryEntries::NamedFormat &named);
  bool readPart(const YamlNode &section, const YamlNode &value, OpKind part,
                const Format &format);
  bool readAccumulator(const YamlNode &section,
                       RegistryEntries::NamedFormat &named);
  bool checkCarrier(const YamlNode &entry, const Lowering &lowering);
  bool readCarried(const YamlNode &entry, Lowering &lowering);
  bool readCast(const YamlNode &entry, Lowering &lowering);
  bool readOperands(const YamlNode &entry, Lowering &lowering);
  bool readMixedOperands(const YamlNode &entry, Lowering &lowering);
  bool readPredicate(const YamlNode &entry, Lowering &lowering);
  bool readRounding(const YamlNode &entry, Lowering &lowering);
  bool checkChanges(const YamlNode &entry, const Lowering &lowering);
  bool readTarget(const YamlNode &entry, Lowering &lowering);
  bool readLibraryOf(const YamlNode &entry, Lowering &lowering);
  bool readVector(const YamlNode &entry, Lowering &lowering);
  bool readLanes(const YamlNode &entry, Lowering &lowering);
  bool readFunctionName(const YamlNode &mapping, llvm::StringRef what,
                        std::string &symbol);

  bool readPolicy(const YamlNode &section);
  bool readReplaced(const YamlNode &value);
  bool readRoleFormat(const YamlNode &value, Role &role);
  bool readScale(const YamlNode &value, const Format &scale, Role &role);
  bool readRoles(const YamlNode &section);
  /// One word for all roles, or a mapping of roles to words.
  bool readOfRoles(const YamlNode &node,
                   llvm::function_ref<bool(const YamlNode &value,
                                           llvm::StringRef name, Role &role)>
                       readOne);
  bool readRoleStorage(const YamlNode &storage);
  bool readRoleAxis(const YamlNode &axis);
  bool readScales(const YamlNode &section);
  bool readZeroPoints(const YamlNode &section);
  bool readAccumulate(const YamlNode &value, Policy::Accumulate &accumulate,
                      Format &accumulator);
  bool readRules(const YamlNode &section);
  bool readRule(const YamlNode &entry);
  bool readMatch(const YamlNode &value, Policy::Rule &rule);
  bool readPattern(const YamlNode &value, std::string &pattern);

  /// `node` is a mapping of known keys, none twice. `what` names the mapping in
  /// messages.
  bool checkKeys(const YamlNode &node, llvm::StringRef what, Names known);
  /// `equivalent: float<8,7>` in a mapping of one line has a key `7>`.
  /// So has `{family:float}` one without a value.
  bool checkQuotes(const YamlNode &item);
  bool failWithoutSpace(llvm::StringRef text, llvm::SMLoc place);
  bool expectMapping(const YamlNode &node, llvm::StringRef what);
  bool expectScalar(const YamlNode &node);
  /// Reads the scalar at `key` of a mapping, or each of a list of them; true
  /// where there is none.
  bool readEach(const YamlNode &mapping, llvm::StringRef key,
                llvm::function_ref<bool(const YamlNode &)> readOne);
  /// A path as it is from here.
  std::string resolve(llvm::StringRef path) const;
  /// The scalar at `key` of a mapping; null, with a message, if it is missing.
  const YamlNode *requireScalar(const YamlNode &mapping, llvm::StringRef key,
                                llvm::StringRef what);
  /// A name or a spelling.
  bool readFormatReference(const YamlNode &value, Format &format);
  bool readCastType(const YamlNode &value, CastType &type);

  YamlFile &file;
  llvm::StringRef directory;
  bool isBuiltin;
  RegistryEntries &registry;
  std::vector<llvm::StringRef> scaledNames; ///< of the section `formats`
  bool scalesDefault = false; ///< of the policy: `default` is what is scaled
  Format fallback; ///< of opaque formats that name none; null: they have none
};

} // namespace numera

#endif // NUMERA_LIB_REGISTRY_CONFIGURATION_CONFIGURATIONREADER_H
