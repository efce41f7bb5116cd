// SPDX-License-Identifier: MIT
//
// A file, of lines:
//
//   numera proof 2
//   subject add of my as posit<16,1>
//   verdict equal                               or: other
//   inputs 4294967296
//   except 8000 7f800000 7fc00000               code, result, the equivalent's
//   nan 7e01 fe01 7e00                          the same of two NaNs
//   nans many                                   more than these
//   file DIGITS PATH                            for each that was loaded
//   sum DIGITS                                  of the lines above, and its key

#include "ProofCache.h"
#include "Support/Process.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace numera;

static constexpr StringLiteral recordHeader = "numera proof 2";

ProofCache::ProofCache(raw_ostream &warnings)
    : warnings(warnings), folder(cacheFolder("proofs"), "", ".proof") {}

static std::optional<ProofException> parseException(StringRef text) {
  ProofException exception;
  SmallVector<StringRef, 3> numbers;
  text.split(numbers, ' ');
  if (numbers.size() != 3 || numbers[0].getAsInteger(16, exception.operands) ||
      numbers[1].getAsInteger(16, exception.result) ||
      numbers[2].getAsInteger(16, exception.expected))
    return std::nullopt;
  return exception;
}

/// Nothing where a file has changed.
static std::optional<ProofRecord> parse(StringRef lines) {
  ProofRecord record;
  SmallVector<StringRef> each;
  lines.split(each, '\n', -1, /*KeepEmpty=*/false);
  if (each.empty() || each.front() != recordHeader)
    return std::nullopt;
  for (StringRef line : drop_begin(each)) {
    auto [key, value] = line.split(' ');
    if (key == "subject") {
      record.subject = value.str();
    } else if (key == "verdict") {
      record.holds = value == "equal";
    } else if (key == "inputs") {
      if (value.getAsInteger(10, record.inputs))
        return std::nullopt;
    } else if (key == "except" || key == "nan") {
      std::optional<ProofException> exception = parseException(value);
      if (!exception)
        return std::nullopt;
      (key == "nan" ? record.nans : record.exceptions).push_back(*exception);
    } else if (key == "nans") {
      record.hasManyNaNs = true;
    } else if (key == "file") {
      auto [digits, path] = value.split(' ');
      Expected<std::string> now = fingerprintOfFile(path);
      if (!now) {
        consumeError(now.takeError());
        return std::nullopt;
      }
      if (*now != digits)
        return std::nullopt;
      record.files.push_back(path.str());
    }
  }
  return record;
}

std::optional<ProofRecord> ProofCache::find(const Fingerprint &about) const {
  Expected<std::unique_ptr<MemoryBuffer>> lines = folder.find(about.digits());
  if (!lines) {
    warnings << "numera: warning: " << toString(lines.takeError())
             << "; remove it\n";
    return std::nullopt;
  }
  return *lines ? parse((*lines)->getBuffer()) : std::nullopt;
}

void ProofCache::keep(const Fingerprint &about, const ProofRecord &record) {
  if (!isUsable)
    return;
  std::string lines;
  raw_string_ostream stream(lines);
  stream << recordHeader << "\nsubject " << record.subject << "\nverdict "
         << (record.holds ? "equal" : "other") << "\ninputs " << record.inputs
         << '\n';
  auto list = [&](StringRef key, ArrayRef<ProofException> exceptions) {
    for (const ProofException &each : exceptions)
      stream << key << ' ' << utohexstr(each.operands, true) << ' '
             << utohexstr(each.result, true) << ' '
             << utohexstr(each.expected, true) << '\n';
  };
  list("except", record.exceptions);
  list("nan", record.nans);
  if (record.hasManyNaNs)
    stream << "nans many\n";
  for (const std::string &file : record.files) {
    Expected<std::string> digits = fingerprintOfFile(file);
    if (!digits) // a temporary one of its own
      return consumeError(digits.takeError());
    stream << "file " << *digits << ' ' << file << '\n';
  }
  if (Error error = folder.keep(about.digits(), lines)) {
    isUsable = false;
    warnings << "numera: warning: proofs cannot be kept for the next run: "
             << toString(std::move(error)) << '\n';
  }
}
