// SPDX-License-Identifier: MIT

#include "ProofRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace numera::check {

using Clock = std::chrono::steady_clock;

/// Every so many parts are run a second time: what a function gives may depend
/// on more than its operands.
static constexpr uint64_t partsToRepeat = 16;

std::vector<ProofException> Differences::sorted() const {
  uint32_t size = std::min(count.load(), mostExceptions);
  std::vector<ProofException> all(kept, kept + size);
  sort(all, [](const ProofException &a, const ProofException &b) {
    return a.operands < b.operands;
  });
  return all;
}

Operands operandsOf(const ProofSubject &subject, uint64_t index) {
  Operands operands{};
  unsigned shift = subject.bits;
  for (auto [j, type] : enumerate(subject.own.operands)) {
    shift -= widthOf(type);
    operands[j] = index >> shift & ~uint64_t{0} >> (64 - widthOf(type));
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

namespace {

/// Operands side by side in memory, as programs take them.
class Part {
public:
  explicit Part(const ProofSubject &subject) : subject(subject) {
    for (const CastType &type : subject.own.operands)
      columns.emplace_back(proofPart * storageBits(type) / 8);
  }

  void fill(uint64_t begin, uint64_t size) {
    count = size;
    unsigned shift = subject.bits;
    for (auto [column, type] : zip_equal(columns, subject.own.operands)) {
      shift -= widthOf(type);
      uint64_t mask = ~uint64_t{0} >> (64 - widthOf(type));
      auto write = [&]<typename T>(T) {
        auto *codes = reinterpret_cast<T *>(column.data());
        for (uint64_t k = 0; k < size; ++k)
          codes[k] = T((begin + k) >> shift & mask);
      };
      switch (storageBits(type)) {
      case 8:
        write(uint8_t());
        break;
      case 16:
        write(uint16_t());
        break;
      default:
        write(uint32_t());
      }
    }
  }

  const ProofSubject &subject;
  std::vector<std::vector<char>> columns;
  uint64_t count = 0;
};

/// Which results are both NaNs.
class SameNaNs {
public:
  explicit SameNaNs(const ProofSubject &subject)
      : format(subject.meant.result.format) {
    if (!format || format.width() > 16)
      return;
    for (uint64_t code = 0; code < uint64_t{1} << format.width(); ++code)
      codes.push_back(isNaN(code));
  }

  bool areBoth(uint64_t x, uint64_t y) const {
    if (!format)
      return false;
    return codes.empty() ? isNaN(x) && isNaN(y) : codes[x] && codes[y];
  }

private:
  bool isNaN(uint64_t code) const {
    return format.getFamily().decode(format, code).isNaN();
  }

  Format format;
  std::vector<char> codes; ///< of a short format, by code
};

/// A function of a program, called on parts.
class Side {
public:
  Side(const Program &program, size_t i, const Checked &checked)
      : resultBytes(storageBits(checked.result) / 8) {
    std::string name = "operation_" + std::to_string(i);
    entry = program.entry(name);
    signature = program.find(name);
    results.resize(proofPart * resultBytes);
  }

  bool call(Part &part, char *message, size_t size) {
    std::array<numera_tensor, 3> operands{};
    for (auto [j, column] : enumerate(part.columns))
      operands[j] = describe(column, part.count, signature->inputs[j].dtype,
                             column.size() / proofPart);
    numera_tensor result =
        describe(results, part.count, signature->outputs[0].dtype, resultBytes);
    numera_options options = NUMERA_OPTIONS;
    options.threads = 1;
    return entry(operands.data(), part.columns.size(), &result, 1, &options,
                 message, size) == 0;
  }

  uint64_t result(uint64_t k) const {
    uint64_t bits = 0;
    std::memcpy(&bits, results.data() + k * resultBytes, resultBytes);
    return bits;
  }

  /// Calls `found` with each place below `count` at which the other has another
  /// result, until it returns false.
  void differences(const Side &other, uint64_t count,
                   function_ref<bool(uint64_t)> found) const {
    if (!std::memcmp(results.data(), other.results.data(), count * resultBytes))
      return;
    for (uint64_t k = 0; k < count; ++k)
      if (result(k) != other.result(k) && !found(k))
        return;
  }

private:
  static numera_tensor describe(std::vector<char> &bytes, uint64_t count,
                                numera_dtype dtype, size_t size) {
    numera_tensor tensor{};
    tensor.data = bytes.data();
    tensor.capacity = count * size;
    tensor.dtype = dtype;
    tensor.rank = 1;
    tensor.shape[0] = int64_t(count);
    return tensor;
  }

  numera_entry *entry;
  const FunctionSignature *signature;
  size_t resultBytes;
  std::vector<char> results;
};

} // namespace

/// Sets `place` to `value` if that is less; true if it did.
static bool lower(std::atomic<uint64_t> &place, uint64_t value) {
  uint64_t before = place;
  while (value < before)
    if (place.compare_exchange_weak(before, value))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The children of an operation
//===----------------------------------------------------------------------===//

/// In a child: parts that nobody has taken, in ascending order, up to the first
/// that differs.
void ProofRun::work(const Program &own, const Program &meant, size_t i,
                    Pulse &pulse, std::atomic<uint64_t> &at) {
  const ProofSubject &subject = subjects[i];
  ProofSlot &slot = slots[i];
  Part part(subject);
  Side function(own, i, subject.own), again = function,
                                      reference(meant, i, subject.meant);
  SameNaNs nans(subject);
  uint64_t nanoseconds = 0;
  auto call = [&](Side &side) {
    ++pulse.calls;
    pulse.isCalling = true;
    bool isDone = side.call(part, slot.message, sizeof slot.message);
    pulse.isCalling = false;
    slot.isRefused |= !isDone;
    return isDone;
  };
  auto isRefuted = [&] { return slot.numbers.count > allowanceOf(subject); };
  auto isBehind = [&] {
    return at >= subject.inputs() || at >= slot.unsteady ||
           (isRefuted() && at >= slot.numbers.first);
  };
  // False: the others are of no interest.
  auto note = [&](uint64_t k) {
    uint64_t got = function.result(k), expected = reference.result(k);
    bool areNaNs = nans.areBoth(got, expected);
    Differences &kind = areNaNs ? slot.nans : slot.numbers;
    if (kind.count <= mostExceptions) {
      uint32_t place = kind.count++;
      if (place < mostExceptions)
        kind.kept[place] = {at + k, got, expected};
    }
    if (lower(kind.first, at + k)) {
      kind.got = got;
      kind.expected = expected;
    }
    return areNaNs || !isRefuted();
  };
  for (;;) {
    at = slot.next.fetch_add(proofPart);
    if (isBehind())
      break;
    part.fill(at, std::min(proofPart, subject.inputs() - at));
    auto begin = Clock::now();
    if (!call(function))
      break;
    nanoseconds +=
        uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                     Clock::now() - begin)
                     .count());
    if (!call(reference))
      break;
    bool differs = false;
    function.differences(reference, part.count, [&](uint64_t k) {
      return !(differs =
                   !nans.areBoth(function.result(k), reference.result(k)));
    });
    if (differs || at / proofPart % partsToRepeat == 0) {
      if (!call(again))
        break;
      bool isSteady = true;
      function.differences(again, part.count, [&](uint64_t k) {
        if (lower(slot.unsteady, at + k)) {
          slot.got = again.result(k);
          slot.before = function.result(k);
        }
        return isSteady = false;
      });
      if (!isSteady)
        break;
    }
    function.differences(reference, part.count, note);
    slot.done += part.count;
  }
  slot.nanoseconds += nanoseconds;
}

/// Which operands the call was about: one at a time, and again by themselves.
void ProofRun::locate(const Program &own, const Program &meant, size_t i,
                      uint64_t begin) {
  const ProofSubject &subject = subjects[i];
  ProofSlot &slot = slots[i];
  Shared<std::atomic<uint64_t>> at(1);
  Pulse *pulse = nullptr;
  Shared<Pulse> pulses(1);
  if (!at || !pulses)
    return;
  pulse = &pulses[0];
  auto endsAlike = [&](uint64_t from, uint64_t to) {
    int signal = 0;
    auto body = [&] {
      Part part(subject);
      Side function(own, i, subject.own);
      for (at[0] = from; at[0] < to; ++at[0]) {
        part.fill(at[0], 1);
        ++pulse->calls;
        pulse->isCalling = true;
        function.call(part, nullptr, 0);
        pulse->isCalling = false;
      }
    };
    return runSandboxed(body, *pulse, options.timeLimit, signal) ==
           slot.outcome;
  };
  if (!endsAlike(begin, std::min(begin + proofPart, subject.inputs())))
    return;
  slot.culprit = at[0];
  slot.isLocated = true;
}

void ProofRun::tryAll(const Program &own, const Program &meant, size_t i) {
  struct Worker {
    pid_t child;
    uint64_t calls;
    Clock::time_point since;
  };
  ProofSlot &slot = slots[i];
  Shared<Pulse> pulses(options.threads);
  Shared<std::atomic<uint64_t>> places(options.threads);
  if (!pulses || !places)
    return;
  std::vector<Worker> workers;
  for (unsigned w = 0; w < options.threads; ++w)
    workers.push_back(
        {startChild([&] { work(own, meant, i, pulses[w], places[w]); },
                    /*isQuiet=*/true),
         0, Clock::now()});
  slot.outcome = Outcome::Finished;
  uint64_t failedAt = nowhere;
  auto fail = [&](Outcome outcome, int signal, unsigned w) {
    if (slot.outcome == Outcome::Finished) {
      slot.outcome = outcome;
      slot.signal = signal;
      failedAt = places[w];
    }
    for (const Worker &worker : workers)
      if (worker.child > 0)
        kill(worker.child, SIGKILL);
  };
  auto isRunning = [](const Worker &worker) { return worker.child > 0; };
  while (any_of(workers, isRunning)) {
    for (auto [w, worker] : enumerate(workers)) {
      int status = 0, signal = 0;
      if (!isRunning(worker))
        continue;
      if (waitpid(worker.child, &status, WNOHANG) == worker.child) {
        worker.child = 0;
        Outcome outcome = outcomeOf(status, signal);
        if (outcome != Outcome::Finished)
          fail(outcome, signal, w);
        continue;
      }
      Pulse &pulse = pulses[w];
      if (!pulse.isCalling || pulse.calls != worker.calls) {
        worker.calls = pulse.calls;
        worker.since = Clock::now();
      } else if (std::chrono::duration<double>(Clock::now() - worker.since)
                     .count() > options.timeLimit) {
        fail(Outcome::TimedOut, 0, w);
      }
    }
    usleep(500);
  }
  if (failedAt != nowhere)
    locate(own, meant, i, failedAt);
}

//===----------------------------------------------------------------------===//
// The child that has the library
//===----------------------------------------------------------------------===//

/// Files whose code this process has.
static StringSet<> mappedFiles() {
  StringSet<> files;
  ErrorOr<std::unique_ptr<MemoryBuffer>> maps =
      MemoryBuffer::getFileAsStream("/proc/self/maps");
  if (!maps)
    return files;
  SmallVector<StringRef> lines;
  (*maps)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (size_t path = line.find(" /"); path != StringRef::npos)
      files.insert(line.drop_front(path + 1));
  return files;
}

void ProofRun::conduct() {
  auto refuse = [&](Error error) {
    std::snprintf(slots[0].message, sizeof slots[0].message, "%s",
                  toString(std::move(error)).c_str());
    slots[0].isRefused = true;
  };
  std::vector<Checked> ours, theirs;
  for (const ProofSubject &subject : subjects) {
    ours.push_back(subject.own);
    theirs.push_back(subject.meant);
  }
  Expected<std::unique_ptr<Program>> meant = compileOperations(twins, theirs);
  if (!meant)
    return refuse(meant.takeError());
  StringSet<> before = mappedFiles();
  Expected<std::unique_ptr<Program>> own = compileOperations(twins, ours);
  if (!own)
    return refuse(own.takeError());
  StringSet<> after = mappedFiles();
  std::string loaded;
  for (StringRef file : after.keys())
    if (!before.contains(file))
      loaded += (file + "\n").str();
  std::snprintf(files[0].text, sizeof files[0].text, "%s", loaded.c_str());
  for (size_t i = 0; i < subjects.size(); ++i) {
    for (std::atomic<uint64_t> *place :
         {&slots[i].numbers.first, &slots[i].nans.first, &slots[i].unsteady})
      *place = nowhere;
    tryAll(**own, **meant, i);
    slots[i].isFinished = true;
  }
}

std::vector<std::string> ProofRun::loadedFiles() {
  SmallVector<StringRef> lines;
  StringRef(files[0].text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<std::string> paths(lines.begin(), lines.end());
  sort(paths);
  return paths;
}

Error ProofRun::run(function_ref<void(size_t)> finished,
                    function_ref<void(uint64_t)> progress) {
  if (!slots || !files)
    return createStringError("no memory for the proofs");
  pid_t child = startChild([&] { conduct(); }, /*isQuiet=*/true);
  if (child < 0)
    return createStringError("cannot start a process");
  size_t next = 0;
  int status = 0, signal = 0;
  for (bool isDone = false; !isDone;) {
    isDone = waitpid(child, &status, WNOHANG) == child;
    uint64_t done = 0;
    for (; next < subjects.size() && slots[next].isFinished; ++next)
      finished(next);
    for (size_t i = 0; i < subjects.size(); ++i)
      done += i < next ? subjects[i].inputs() : slots[i].done.load();
    progress(done);
    if (!isDone)
      usleep(2000);
  }
  if (next == 0 && slots[0].isRefused)
    return createStringError(Twine(slots[0].message));
  switch (outcomeOf(status, signal)) {
  case Outcome::Crashed:
    return createStringError(Twine("a library crashed while it was loaded (") +
                             strsignal(signal) + ")");
  case Outcome::Finished:
    return Error::success();
  default:
    return createStringError("a library ended the process while it was loaded");
  }
}

} // namespace numera::check
