// SPDX-License-Identifier: MIT

#include "CodeCache.h"
#include "Support/Process.h"
#include "numera/Target/Support/Cancel.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <chrono>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace numera;

/// The names that LLVM's pruning takes for those of a cache.
static constexpr StringLiteral prefix = "llvmcache-";
static constexpr uint64_t usualMebibytes = 256;

// ---- which compiler this is

namespace {
/// The object of this process that `address` lies in, and its build's number.
struct BuildId {
  uintptr_t address;
  std::string digits;
};
} // namespace

/// The note NT_GNU_BUILD_ID of a segment of notes.
static StringRef buildIdIn(StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    memcpy(&header, notes.data(), sizeof header);
    size_t name = alignTo<4>(header.n_namesz);
    size_t size = sizeof header + name + alignTo<4>(header.n_descsz);
    if (size > notes.size())
      return "";
    if (header.n_type == NT_GNU_BUILD_ID &&
        notes.substr(sizeof header, header.n_namesz) == StringRef("GNU\0", 4))
      return notes.substr(sizeof header + name, header.n_descsz);
    notes = notes.drop_front(size);
  }
  return "";
}

static int visit(dl_phdr_info *object, size_t, void *data) {
  auto &wanted = *static_cast<BuildId *>(data);
  ArrayRef<ElfW(Phdr)> segments(object->dlpi_phdr, object->dlpi_phnum);
  auto begin = [&](const ElfW(Phdr) & segment) {
    return uintptr_t(object->dlpi_addr + segment.p_vaddr);
  };
  if (none_of(segments, [&](const ElfW(Phdr) & segment) {
        return segment.p_type == PT_LOAD && wanted.address >= begin(segment) &&
               wanted.address - begin(segment) < segment.p_memsz;
      }))
    return 0;
  for (const ElfW(Phdr) &segment : segments)
    if (segment.p_type == PT_NOTE) {
      StringRef notes(reinterpret_cast<const char *>(begin(segment)),
                      segment.p_memsz);
      if (StringRef id = buildIdIn(notes); !id.empty())
        wanted.digits = id.str();
    }
  return 1;
}

/// That of the object that has a function; empty where the linker was not asked
/// to leave one.
template <typename Function> static std::string buildIdOf(Function *function) {
  BuildId wanted{reinterpret_cast<uintptr_t>(function), ""};
  dl_iterate_phdr(visit, &wanted);
  return wanted.digits;
}

// ---- the files

std::string CodeCache::placeOf(StringRef place) {
  std::optional<std::string> chosen;
  if (place.empty() && (chosen = sys::Process::GetEnv("NUMERA_CODE_CACHE")))
    place = *chosen;
  if (place == "off")
    return "";
  return place.empty() ? cacheFolder("code") : place.str();
}

CodeCache::CodeCache(StringRef place)
    : folder(placeOf(place), prefix.str(), "") {
  std::string own = buildIdOf(CodeCache::placeOf),
              llvm = buildIdOf(WriteBitcodeToFile),
              mlir = buildIdOf(mlir::verify);
  isUsed =
      !folder.path().empty() && !own.empty() && !llvm.empty() && !mlir.empty();
  compiler.add("numera code 2").add(own).add(llvm).add(mlir);
  compiler.add(gnu_get_libc_version());
}

std::unique_ptr<MemoryBuffer> CodeCache::find(StringRef part) const {
  Expected<std::unique_ptr<MemoryBuffer>> object = folder.find(part);
  if (!object) {
    consumeError(object.takeError());
    return nullptr;
  }
  int file;
  if (*object && !sys::fs::openFileForReadWrite(folder.pathOf(part), file,
                                                sys::fs::CD_OpenExisting,
                                                sys::fs::OF_None)) {
    // The last use decides what goes: not all systems note when a file is read.
    (void)sys::fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now());
    sys::Process::SafelyCloseFileDescriptor(file);
  }
  return std::move(*object);
}

void CodeCache::keep(StringRef part, StringRef object) const {
  if (Error error = folder.keep(part, object))
    return consumeError(std::move(error));
  CachePruningPolicy policy;
  // To look through a folder takes longer than to write a file.
  policy.Interval = std::chrono::minutes(1);
  policy.Expiration = std::chrono::hours(0); // none
  policy.MaxSizeBytes = capacity();
  pruneCache(folder.path(), policy);
}

uint64_t CodeCache::capacity() {
  uint64_t mebibytes = usualMebibytes;
  if (auto size = sys::Process::GetEnv("NUMERA_CODE_CACHE_SIZE"))
    if (StringRef(*size).getAsInteger(10, mebibytes))
      mebibytes = usualMebibytes;
  return std::max(mebibytes, uint64_t{1}) << 20;
}

// ---- one at a time

/// There are few files, so that they do not add up; a process that ends leaves
/// its lock.
CodeCache::Lock::Lock(const CodeCache &cache, StringRef part) {
  using namespace std::chrono_literals;
  const std::string &folder = cache.folder.path();
  if (sys::fs::create_directories(folder, /*IgnoreExisting=*/true,
                                  sys::fs::owner_all))
    return;
  SmallString<128> path(folder);
  sys::path::append(path, part.take_front(2) + ".lock");
  file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  auto end = std::chrono::steady_clock::now() + 1min;
  while (file >= 0 && flock(file, LOCK_EX | LOCK_NB)) {
    if ((errno == EWOULDBLOCK || errno == EINTR) &&
        std::chrono::steady_clock::now() < end && !isCancelled()) {
      std::this_thread::sleep_for(5ms);
      continue;
    }
    close(file);
    file = -1;
  }
}

CodeCache::Lock::~Lock() {
  if (file < 0)
    return;
  // A process that was forked meanwhile has the file open as well.
  flock(file, LOCK_UN);
  close(file);
}

// ---- what goes into a part

void numera::addTo(Fingerprint &part, const Module &module) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(module, stream);
  part.add(StringRef(bytes.data(), bytes.size()));
}

void numera::addTo(Fingerprint &part, const TargetMachine &machine) {
  part.add(machine.getTargetTriple().str())
      .add(machine.getTargetCPU())
      .add(machine.getTargetFeatureString())
      .add(uint64_t(machine.getOptLevel()));
}
