//===- External.cpp - Elements in another file ----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "External.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <onnx/onnx_pb.h>

using namespace mlir;
namespace path = llvm::sys::path;

namespace numera::importer {

namespace {
struct Place {
  std::string file;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
} // namespace

static LogicalResult readPlace(const onnx::TensorProto &proto, Place &place,
                               Report report) {
  for (const auto &entry : proto.external_data()) {
    StringRef key = entry.key(), value = entry.value();
    uint64_t number = 0;
    if (key == "location") {
      place.file = value.str();
    } else if (key == "offset" || key == "length") {
      if (value.getAsInteger(10, number))
        return report("the " + key + " of its external data is " +
                      quote(value) + "; expected a number of bytes");
      if (key == "offset")
        place.offset = number;
      else
        place.length = number;
    }
  }
  if (place.file.empty())
    return report("its external data has no location");
  return success();
}

/// The real path of `file`, links followed, if it is below `folder`.
static std::optional<std::string> within(StringRef folder, StringRef file) {
  SmallString<256> root, real, joined(folder);
  path::append(joined, file);
  if (path::is_absolute(file) || llvm::is_contained(file, '\0') ||
      llvm::sys::fs::real_path(folder.empty() ? "." : folder, root))
    return std::nullopt;
  if (llvm::sys::fs::real_path(joined, real)) {
    // A file that is not there is reported by who opens it.
    bool leaves = llvm::is_contained(
        llvm::make_range(path::begin(file), path::end(file)), "..");
    return leaves ? std::nullopt : std::optional(joined.str().str());
  }
  auto [end, rest] = std::mismatch(path::begin(root), path::end(root),
                                   path::begin(real), path::end(real));
  return end == path::end(root) ? std::optional(real.str().str())
                                : std::nullopt;
}

std::unique_ptr<llvm::MemoryBuffer>
readExternal(const onnx::TensorProto &proto, StringRef folder, Report report) {
  Place place;
  if (failed(readPlace(proto, place, report)))
    return nullptr;
  std::optional<std::string> file = within(folder, place.file);
  if (!file) {
    (void)report("its external data is in " + quote(place.file) +
                 ", outside the model's folder");
    return nullptr;
  }
  uint64_t size = 0;
  if (auto error = llvm::sys::fs::file_size(*file, size)) {
    (void)report("cannot read its external data in " + quote(place.file) +
                 ": " + error.message());
    return nullptr;
  }
  uint64_t length =
      place.length.value_or(place.offset <= size ? size - place.offset : 0);
  if (place.offset > size || length > size - place.offset) {
    (void)report("its external data is " + Twine(length) + " bytes at " +
                 Twine(place.offset) + " of " + quote(place.file) +
                 ", which has " + Twine(size));
    return nullptr;
  }
  auto buffer = llvm::MemoryBuffer::getFileSlice(*file, length, place.offset);
  if (!buffer) {
    (void)report("cannot read its external data in " + quote(place.file) +
                 ": " + buffer.getError().message());
    return nullptr;
  }
  return std::move(*buffer);
}

} // namespace numera::importer
