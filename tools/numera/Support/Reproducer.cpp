// SPDX-License-Identifier: MIT
//
// A process that has crashed cannot trust its memory: what the handler needs is
// prepared at the start. It starts `numera` once more, which imports the model
// and writes it, and copies the file where that fails as well.

#include "Reproducer.h"
#include "Limits.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace numera;

namespace {

/// A handler can reach nothing that is not global.
struct Prepared {
  std::string model;    ///< empty: the command has none
  std::string imported; ///< where its copy goes, as MLIR
  std::string copied;   ///< or as it is
  std::vector<std::string> importWords;
  std::vector<char *> importCommand;
  /// The command, up to the model and behind it.
  std::string before, after;
};

/// What the process that imports is called.
constexpr StringLiteral importer = "numera: import of a reproducer";

Prepared prepared;
std::atomic<pid_t> reporter = 0; ///< the thread that failed first
std::atomic<unsigned> programs = 0;

void say(StringRef text, int file = STDERR_FILENO) {
  ssize_t written = write(file, text.data(), text.size());
  (void)written; // there is nobody left to tell
}

/// As a shell reads it.
std::string quoted(StringRef word) {
  if (!word.empty() && llvm::all_of(word, [](char c) {
        return isAlnum(c) || strchr("-_./=:,+%@", c);
      }))
    return word.str();
  std::string text = "'";
  for (char c : word)
    text +=
        c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return text + "'";
}

bool writeImported() {
  // Unlike fork, it waits for no lock: this thread may have failed while it
  // held that of the heap.
  pid_t child = _Fork();
  if (child == 0) {
    alarm(60);
    int null = open("/dev/null", O_RDWR);
    for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      dup2(null, file);
    execv("/proc/self/exe", prepared.importCommand.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool writeCopied() {
  int from = open(prepared.model.c_str(), O_RDONLY | O_CLOEXEC);
  int to = open(prepared.copied.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (from < 0 || to < 0)
    return false;
  char buffer[4096];
  ssize_t count;
  while ((count = read(from, buffer, sizeof buffer)) > 0)
    if (write(to, buffer, size_t(count)) != count)
      return false;
  return count == 0 && close(to) == 0;
}

/// Behind the module, as comments.
void appendTrace() {
  int file = open(prepared.imported.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0)
    return;
  void *frames[64];
  int count = backtrace(frames, int(std::size(frames)));
  for (int i = 0; i < count; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0)
      continue;
    say("// ", file);
    say(info.dli_sname ? info.dli_sname : "?", file);
    say(" in ", file);
    say(info.dli_fname ? info.dli_fname : "?", file);
    say("\n", file);
  }
  close(file);
}

/// The one line; the place of the model is in the middle of the command.
void leave(StringRef why) {
  pid_t nobody = 0, self = gettid();
  if (!reporter.compare_exchange_strong(nobody, self)) {
    // This function has failed itself, or another thread fails as well, and
    // would end the process before the line is out.
    while (nobody != self)
      pause();
    _exit(1);
  }
  StringRef model = prepared.model;
  if (!model.empty()) {
    if (writeImported()) {
      model = prepared.imported;
      appendTrace();
    } else if (writeCopied()) {
      model = prepared.copied;
    }
  }
  say("numera: error: the compiler failed inside (");
  for (char c : why)
    say(c == '\n' ? StringRef(" ") : StringRef(&c, 1));
  say("), which is a fault of Numera; to repeat it: ");
  say(prepared.before);
  say(model);
  say(prepared.after);
  say("\n");
}

void crashed(void *) {
  if (programs != 0)
    return;
  // Whatever waits for ever here, the process ends.
  alarm(100);
  leave("a crash");
  _exit(1);
}

} // namespace

void numera::watchForFailures(ArrayRef<const char *> arguments) {
  StringRef command = arguments.size() > 1 ? arguments[1] : "";
  bool hasModel = is_contained({"compile", "run", "calibrate"}, command);
  std::string *place = &prepared.before;
  *place = "numera";
  // Its own failure is found by us.
  if (!arguments.empty() && arguments[0] == importer)
    return;
  prepared.importWords = {importer.str(), "compile"};
  for (size_t i = 1; i < arguments.size(); ++i) {
    StringRef word = arguments[i];
    StringRef extension = sys::path::extension(word);
    bool isModel = hasModel && prepared.model.empty() && i > 1 &&
                   !word.starts_with("-") &&
                   (extension == ".onnx" || extension == ".mlir") &&
                   StringRef(arguments[i - 1]) != "-o";
    *place += " ";
    if (isModel) {
      prepared.model = word.str();
      place = &prepared.after;
    } else {
      *place += quoted(word);
    }
    // What the names of formats in a module need.
    for (StringRef option : {"--formats", "--load-plugin"})
      if (word == option && i + 1 < arguments.size())
        append_values(prepared.importWords, word.str(), arguments[i + 1]);
      else if (word.starts_with((option + "=").str()))
        prepared.importWords.push_back(word.str());
  }
  if (!prepared.model.empty()) {
    SmallString<128> base;
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, base);
    sys::path::append(base, "numera-" + Twine(getpid()));
    prepared.imported = (base + ".mlir").str();
    prepared.copied = (base + sys::path::extension(prepared.model)).str();
    append_values(prepared.importWords, prepared.model, "--emit", "mlir",
                  "--stage", "import", "-o", prepared.imported);
    for (std::string &word : prepared.importWords)
      prepared.importCommand.push_back(word.data());
    prepared.importCommand.push_back(nullptr);
  }
  void *frame;
  backtrace(&frame, 1); // the first call loads a library
  sys::AddSignalHandler(crashed, nullptr);
  install_fatal_error_handler([](void *, const char *reason, bool) {
    if (StringRef(reason).starts_with("pthread_create failed"))
      endWithoutThread();
    leave(reason);
    _exit(1);
  });
}

void numera::leaveReproducer() { leave("a pass"); }

ProgramRuns::ProgramRuns() { ++programs; }
ProgramRuns::~ProgramRuns() { --programs; }
