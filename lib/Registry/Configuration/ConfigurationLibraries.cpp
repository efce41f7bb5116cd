// SPDX-License-Identifier: MIT
//
// The section `libraries`.

#include "ConfigurationReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

using namespace numera;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef extensions[] = {".c",  ".cc", ".cpp", ".cxx", ".bc",
                                           ".ll", ".a",  ".o",   ".so"};

bool numera::isLibrarySource(StringRef path) {
  return llvm::is_contained({".c", ".cc", ".cpp", ".cxx"},
                            llvm::sys::path::extension(path));
}

bool numera::isMachineCode(StringRef path) {
  return llvm::is_contained({".a", ".o"}, llvm::sys::path::extension(path)) ||
         isSharedObject(path);
}

bool numera::isSharedObject(StringRef path) {
  StringRef name = llvm::sys::path::filename(path);
  size_t end = name.rfind(".so");
  return end != StringRef::npos && end != 0 &&
         (name.size() == end + 3 || name[end + 3] == '.') &&
         name.find_first_not_of(".0123456789", end + 3) == StringRef::npos;
}

std::string Library::files() const {
  return paths.size() == 1 ? paths.front()
                           : paths.front() + " and " +
                                 std::to_string(paths.size() - 1) + " more";
}

bool ConfigurationReader::readLibraries(const YamlNode &section) {
  if (!expectMapping(section, "'libraries'"))
    return false;
  return llvm::all_of(
      section.items, [&](const YamlNode &entry) { return readLibrary(entry); });
}

/// How functions take and return f32 and f64.
static constexpr LibraryChoice floatsOfLibrary = {
    "floats", "machine", "float and double", "bits",
    "uint32_t and uint64_t, or structs of them"};
/// What C type of a code's width functions take and return.
static constexpr LibraryChoice codesOfLibrary = {
    "codes", "unsigned", "uint8_t to uint64_t", "signed", "int8_t to int64_t"};

bool ConfigurationReader::readLibrary(const YamlNode &entry) {
  if (const Library *other = registry.findLibrary(entry.key))
    return file.fail(entry.keyPlace, "library '" + Twine(entry.key) +
                                         "' is already defined at " +
                                         other->location +
                                         ", choose another name");
  if (!checkKeys(entry, "a library", keys::library))
    return false;
  if (!entry.find("path"))
    return file.fail(entry.keyPlace, "'path' is missing, library '" +
                                         Twine(entry.key) + "' needs it");
  Library library;
  library.name = entry.key;
  library.location = file.location(entry.keyPlace);
  if (!readFiles(entry, library) || !readCompilation(entry, library) ||
      !readChoice(entry, floatsOfLibrary, library.passesBits) ||
      !readChoice(entry, codesOfLibrary, library.hasSignedCodes) ||
      !readWideCodes(entry, library))
    return false;
  registry.libs.push_back(std::move(library));
  return true;
}

bool ConfigurationReader::readEach(
    const YamlNode &mapping, StringRef key,
    llvm::function_ref<bool(const YamlNode &)> readOne) {
  const YamlNode *value = mapping.find(key);
  if (!value)
    return true;
  if (!value->isSequence())
    return expectScalar(*value) && readOne(*value);
  return llvm::all_of(value->items, [&](const YamlNode &item) {
    return item.isScalar()
               ? readOne(item)
               : file.fail(item.place, "'" + key + "' holds " +
                                           item.kindName() +
                                           ", expected words or numbers");
  });
}

std::string ConfigurationReader::resolve(StringRef path) const {
  if (!llvm::sys::path::is_relative(path))
    return path.str();
  llvm::SmallString<128> full(directory);
  llvm::sys::path::append(full, path);
  return full.str().str();
}

bool ConfigurationReader::readFiles(const YamlNode &entry, Library &library) {
  if (const YamlNode *path = entry.find("path");
      path->isSequence() && path->items.empty())
    return file.fail(path->place, "'path' is empty, expected files");
  return readEach(entry, "path",
                  [&](const YamlNode &path) {
                    std::string full = resolve(path.text);
                    if (llvm::sys::fs::is_directory(full))
                      return file.fail(path.place,
                                       "the library file '" + Twine(path.text) +
                                           "' is a folder, expected a file");
                    StringRef extension = llvm::sys::path::extension(path.text);
                    if (!llvm::is_contained(extensions, extension) &&
                        !isSharedObject(path.text))
                      return file.fail(path.place,
                                       "the library file '" + Twine(path.text) +
                                           "' has the extension '" + extension +
                                           "', expected " + listed(extensions));
                    if (llvm::sys::fs::exists(full)) {
                      library.paths.push_back(std::move(full));
                      return true;
                    }
                    if (StringRef name = path.text;
                        name.starts_with("!") ||
                        name.find_first_of("*?[{") != StringRef::npos)
                      return readPattern(path, library);
                    return file.fail(path.place, "there is no library file '" +
                                                     Twine(path.text) +
                                                     "', tried '" + full + "'");
                  }) &&
         (!library.paths.empty() ||
          file.fail(entry.find("path")->place,
                    "no file is left of library '" + Twine(entry.key) +
                        "', expected patterns that leave some"));
}

bool ConfigurationReader::readPattern(const YamlNode &path, Library &library) {
  StringRef text = path.text;
  bool removes = text.consume_front("!");
  std::string full = resolve(text);
  StringRef folder = llvm::sys::path::parent_path(full);
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(
      llvm::sys::path::filename(full), /*MaxSubPatterns=*/1024);
  if (!pattern)
    return file.fail(path.place, "'" + Twine(text) + "' is no pattern: " +
                                     llvm::toString(pattern.takeError()));
  std::error_code error;
  std::vector<std::string> found;
  for (llvm::sys::fs::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error))
    if (pattern->match(llvm::sys::path::filename(it->path())) &&
        !llvm::sys::fs::is_directory(it->path()))
      found.push_back(it->path());
  if (found.empty())
    return file.fail(path.place, "no library file is like '" + Twine(text) +
                                     "', tried the names in '" + folder + "'");
  llvm::sort(found); // a folder has no order
  size_t before = library.paths.size();
  for (std::string &name : found)
    if (removes)
      llvm::erase(library.paths, name);
    else if (!llvm::is_contained(library.paths, name))
      library.paths.push_back(std::move(name));
  if (removes && library.paths.size() == before)
    return file.fail(path.place,
                     "'!" + Twine(text) +
                         "' removes none of the files before it, expected it "
                         "behind the pattern that takes them");
  return true;
}

bool ConfigurationReader::readCompilation(const YamlNode &entry,
                                          Library &library) {
  if (llvm::none_of(library.paths, isLibrarySource))
    for (StringRef key : {"include", "defines", "standard", "flags"})
      if (const YamlNode *extra = entry.find(key))
        return file.fail(extra->keyPlace,
                         "'" + key + "' is for sources, found none: '" +
                             library.paths.front() + "' is compiled already");
  auto readInclude = [&](const YamlNode &folder) {
    std::string full = resolve(folder.text);
    if (!llvm::sys::fs::is_directory(full))
      return file.fail(folder.place, "there is no folder '" +
                                         Twine(folder.text) + "', tried '" +
                                         full + "'");
    library.includes.push_back(std::move(full));
    return true;
  };
  auto readStandard = [&](const YamlNode &standard) {
    library.standard = standard.text;
    return StringRef(standard.text).starts_with("c") ||
           StringRef(standard.text).starts_with("gnu") ||
           file.fail(standard.place,
                     "standard is '" + Twine(standard.text) +
                         "', expected one that clang knows, such as c11 or "
                         "c++20");
  };
  auto append = [](std::vector<std::string> &list) {
    return [&list](const YamlNode &item) {
      list.push_back(item.text);
      return true;
    };
  };
  const YamlNode *standard = entry.find("standard");
  return readEach(entry, "include", readInclude) &&
         readDefines(entry, library) &&
         (!standard || (expectScalar(*standard) && readStandard(*standard))) &&
         readEach(entry, "flags", append(library.flags)) &&
         readEach(entry, "link", append(library.links));
}

/// `{NAME: value, …}`, or a list of `NAME` and `NAME=value`.
bool ConfigurationReader::readDefines(const YamlNode &entry, Library &library) {
  auto add = [&](llvm::SMLoc place, StringRef name, const Twine &value) {
    // A macro's name and the name of a format are the same letters.
    if (!isFormatName(name))
      return file.fail(place, "'" + name +
                                  "' is not a macro, expected letters, digits "
                                  "and '_', no digit first");
    library.defines.push_back((name + value).str());
    return true;
  };
  const YamlNode *defines = entry.find("defines");
  if (!defines || !defines->isMapping())
    return readEach(entry, "defines", [&](const YamlNode &item) {
      auto [name, value] = StringRef(item.text).split('=');
      return add(item.place, name,
                 StringRef(item.text).drop_front(name.size()));
    });
  return llvm::all_of(defines->items, [&](const YamlNode &item) {
    return (item.isNothing() || expectScalar(item)) &&
           add(item.keyPlace, item.key,
               item.isNothing() ? Twine() : "=" + Twine(item.text));
  });
}

bool ConfigurationReader::readChoice(const YamlNode &entry,
                                     const LibraryChoice &choice,
                                     bool &isSpecial) {
  const YamlNode *value = entry.find(choice.key);
  if (!value)
    return true;
  if (!expectScalar(*value))
    return false;
  isSpecial = value->text == choice.special;
  return isSpecial || value->text == choice.usual ||
         file.fail(value->place,
                   Twine(choice.key) + " is '" + value->text + "', expected " +
                       choice.usual + " (" + choice.usualTypes + ") or " +
                       choice.special + " (" + choice.specialTypes + ")");
}

/// `wide-codes: doubles`: how functions in machine code, which does not say it,
/// take and return codes of more than 64 bits.
bool ConfigurationReader::readWideCodes(const YamlNode &entry,
                                        Library &library) {
  const YamlNode *value = entry.find("wide-codes");
  if (!value)
    return true;
  if (!expectScalar(*value))
    return false;
  for (auto [i, word] : llvm::enumerate(keys::wideCodes))
    if (value->text == word) {
      library.wideCodes = WideCodes(i + 1);
      return true;
    }
  return file.fail(value->place, "wide-codes is '" + Twine(value->text) + "'" +
                                     expectation(value->text, keys::wideCodes));
}
