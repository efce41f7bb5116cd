//===- External.cpp - Elements in another file ----------------------------===//
// SPDX-License-Identifier: MIT
//===----------------------------------------------------------------------===//
#include "External.h"
#include "numera/Import/ONNX.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <climits>
#include <google/protobuf/stubs/logging.h>
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
  // A pipe would wait for someone who writes to it.
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(*file, status);
  if (!error && !llvm::sys::fs::is_regular_file(status))
    error = std::make_error_code(std::errc::invalid_argument);
  if (error) {
    (void)report("cannot read its external data in " + quote(place.file) +
                 ": " + error.message());
    return nullptr;
  }
  uint64_t size = status.getSize();
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

// ---- which files those are

namespace {
/// Visits all tensors of a model, at any depth.
class Files {
public:
  explicit Files(StringRef folder) : folder(folder) {}

  bool add(const onnx::GraphProto &graph) {
    return all(graph.initializer()) && all(graph.sparse_initializer()) &&
           all(graph.node());
  }
  bool add(const onnx::FunctionProto &function) { return all(function.node()); }
  template <typename List> bool all(const List &list) {
    return llvm::all_of(list, [&](const auto &each) { return add(each); });
  }

  std::map<std::string, std::string> found;

private:
  bool add(const onnx::NodeProto &node) { return all(node.attribute()); }
  bool add(const onnx::AttributeProto &attribute) {
    return add(attribute.t()) && add(attribute.sparse_tensor()) &&
           add(attribute.g()) && all(attribute.tensors()) &&
           all(attribute.sparse_tensors()) && all(attribute.graphs());
  }
  bool add(const onnx::SparseTensorProto &tensor) {
    return add(tensor.values()) && add(tensor.indices());
  }
  bool add(const onnx::TensorProto &tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL)
      return true;
    numera::importer::Place place;
    auto silent = [](const Twine &) { return failure(); };
    if (failed(numera::importer::readPlace(tensor, place, silent)))
      return false;
    std::optional<std::string> file =
        numera::importer::within(folder, place.file);
    if (file)
      found[place.file] = std::move(*file);
    return file.has_value();
  }

  StringRef folder;
};
} // namespace

std::optional<std::map<std::string, std::string>>
numera::externalFilesOf(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return std::nullopt;
  // Most models have none: the key of an entry of `external_data` would be in
  // them as it is.
  StringRef bytes = (*buffer)->getBuffer();
  Files files(llvm::sys::path::parent_path(path));
  if (!bytes.contains("location"))
    return files.found;
  google::protobuf::LogSilencer silence;
  onnx::ModelProto model;
  if (bytes.size() > INT_MAX ||
      !model.ParseFromArray(bytes.data(), int(bytes.size())) ||
      !files.add(model.graph()) || !files.all(model.functions()))
    return std::nullopt;
  return files.found;
}
