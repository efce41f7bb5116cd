// SPDX-License-Identifier: MIT
//
// `numera new`: a folder with a format of one's own that works as it is. Its
// files are those of Skeleton/, with the name put in.

#include "Commands.h"
#include "Support/CommandLine.h"

#include "numera/Registry/Registry.h"
#include "numera/Target/Support/TextFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace numera;

namespace {
struct SkeletonFile {
  StringRef name, text;
};
} // namespace

static constexpr StringLiteral nameMark = "@NAME@";

static const SkeletonFile skeleton[] = {
#include "Skeleton.inc"
};

static std::string withName(StringRef text, StringRef name) {
  std::string result;
  for (;;) {
    auto [before, after] = text.split(nameMark);
    result += before;
    if (before.size() == text.size())
      return result;
    result += name;
    text = after;
  }
}

/// What is wrong with a name for a new format; empty: nothing.
static std::string checkName(StringRef name) {
  if (!isFormatName(name))
    return "'" + name.str() +
           "' is not a valid format name, expected letters, digits and '_', no "
           "digit first";
  if (name == "numera" || name.starts_with("numera_"))
    return "functions of '" + name.str() +
           "' would have names of the runtime, choose another name";
  std::string unknown;
  Registry registry;
  if (registry.lookupFormat(name, unknown) ||
      registry.lookupScaledFormat(name, unknown) || integerFromName(name) ||
      findFamily(name) ||
      is_contained({"same", "quire", "block", "scaled"}, name))
    return "'" + name.str() + "' is built in, choose another name";
  return "";
}

static Error writeSkeleton(StringRef folder, StringRef name) {
  for (const SkeletonFile &file : skeleton) {
    SmallString<128> path(folder);
    sys::path::append(path,
                      file.name == "format.c" ? name + ".c" : Twine(file.name));
    if (Error error = writeTextFile(path, withName(file.text, name)))
      return error;
  }
  return Error::success();
}

int numera::newCommand(ArrayRef<const char *> arguments) {
  std::string folder;
  CommandLine line(
      "new NAME [-o FOLDER]",
      "Writes a folder with a number format of your own: C source, "
      "the YAML file that\nregisters it, a program and a test. It "
      "works as it is.");
  line.add({"o", "FOLDER", "the folder to make (default: NAME)", &folder});
  if (std::optional<int> status = line.parse(arguments))
    return *status;
  if (line.positional().size() != 1)
    return fail("expected one name, as in numera new myfloat, found " +
                Twine(line.positional().size()));
  const std::string &name = line.positional()[0];
  if (std::string wrong = checkName(name); !wrong.empty())
    return fail(wrong);
  if (folder.empty())
    folder = name;
  if (sys::fs::exists(folder))
    return fail("'" + folder + "' exists already, choose another with -o");
  // Under another name until it is whole.
  std::string partial = folder + ".partial";
  std::error_code code = sys::fs::create_directories(partial);
  if (code)
    return fail("cannot make '" + folder + "': " + code.message());
  Error error = writeSkeleton(partial, name);
  if (!error)
    error = errorCodeToError(sys::fs::rename(partial, folder));
  if (error) {
    sys::fs::remove_directories(partial);
    return fail("cannot write '" + folder + "': " + toString(std::move(error)));
  }
  outs() << folder << ": try\n  sh " << folder << "/test.sh\n";
  return 0;
}
