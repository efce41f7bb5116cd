// SPDX-License-Identifier: MIT
//
// A user's function may crash, hang or write to wrong addresses. So it runs in
// a child process, on a copy of the program that has only
//
//   void driver_0(ptr results): the function at every place, in order
//
// and returns results in shared memory. If a child ends early, the next one
// continues after the function that ended it.

#include "LibraryRun.h"
#include "Codegen/JIT.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace numera;

static constexpr unsigned mostSeconds = 10;

//===----------------------------------------------------------------------===//
// The drivers
//===----------------------------------------------------------------------===//

/// The operands at a place of the table.
static SmallVector<Value *> codesAt(IRBuilder<> &builder, Value *place,
                                    ArrayRef<unsigned> operandBits) {
  SmallVector<Value *> codes;
  unsigned shift = sum_of(operandBits);
  for (unsigned bits : operandBits) {
    shift -= bits;
    Value *code =
        builder.CreateAnd(builder.CreateLShr(place, shift), (1u << bits) - 1);
    codes.push_back(builder.CreateTrunc(code, builder.getInt8Ty()));
  }
  return codes;
}

static void addDriver(Module &module, Function &function, const LibraryRun &run,
                      const Twine &name) {
  LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  auto *driver = Function::Create(
      FunctionType::get(builder.getVoidTy(), builder.getPtrTy(), false),
      GlobalValue::ExternalLinkage, name, module);
  auto *entry = BasicBlock::Create(context, "entry", driver);
  auto *body = BasicBlock::Create(context, "body", driver);
  auto *end = BasicBlock::Create(context, "end", driver);
  builder.SetInsertPoint(entry);
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  PHINode *place = builder.CreatePHI(builder.getInt32Ty(), 2);
  CallInst *call =
      builder.CreateCall(&function, codesAt(builder, place, run.operandBits));
  // With operands extended as the function has them.
  call->setAttributes(function.getAttributes().removeFnAttributes(context));
  builder.CreateStore(
      call, builder.CreateGEP(call->getType(), driver->getArg(0), place));
  Value *next = builder.CreateAdd(place, builder.getInt32(1));
  place->addIncoming(builder.getInt32(0), entry);
  place->addIncoming(next, body);
  Value *isLast = builder.CreateICmpEQ(next, builder.getInt32(run.places()));
  builder.CreateCondBr(isLast, end, body);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

/// Drops what the drivers do not need.
static void dropUnused(Module &module) {
  bool changed = true;
  auto drop = [&](auto &&values) {
    for (auto &value : make_early_inc_range(values)) {
      value.removeDeadConstantUsers();
      if (value.hasExternalLinkage() || !value.use_empty())
        continue;
      value.eraseFromParent();
      changed = true;
    }
  };
  while (changed) {
    changed = false;
    drop(module.functions());
    drop(module.globals());
    drop(module.aliases());
  }
}

static std::unique_ptr<Module> driversOf(const Module &original,
                                         ArrayRef<LibraryRun> runs) {
  ValueToValueMapTy map;
  std::unique_ptr<Module> module = CloneModule(original, map);
  for (GlobalVariable &variable : make_early_inc_range(module->globals()))
    if (variable.getName().starts_with("llvm."))
      variable.eraseFromParent();
  for (GlobalValue &value : module->global_values())
    if (!value.isDeclaration())
      value.setLinkage(GlobalValue::InternalLinkage);
  for (auto [i, run] : enumerate(runs))
    addDriver(*module, *cast<Function>(map[run.function]), run,
              "driver_" + Twine(i));
  dropUnused(*module);
  return module;
}

//===----------------------------------------------------------------------===//
// The child
//===----------------------------------------------------------------------===//

namespace {
/// What the child leaves behind: of each run a state, and its results twice.
class SharedResults {
public:
  explicit SharedResults(ArrayRef<LibraryRun> runs) : runs(runs) {
    size = runs.size() * sizeof(State);
    for (const LibraryRun &run : runs) {
      places.push_back(size);
      size += 2 * alignTo<64>(run.bytes());
    }
    void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memory = mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
  }
  ~SharedResults() {
    if (memory)
      munmap(memory, size);
  }
  SharedResults(const SharedResults &) = delete;
  SharedResults &operator=(const SharedResults &) = delete;

  enum class State : unsigned char { Waiting, Started, Done };
  bool isMapped() const { return memory != nullptr; }
  volatile State &state(size_t run) {
    return reinterpret_cast<State *>(memory)[run];
  }
  char *results(size_t run, unsigned pass) {
    return memory + places[run] + pass * alignTo<64>(runs[run].bytes());
  }
  /// What both passes agree on.
  StringRef agreed(size_t run) {
    StringRef first(results(run, 0), runs[run].bytes());
    StringRef second(results(run, 1), runs[run].bytes());
    return state(run) == State::Done && first == second ? first : StringRef();
  }

private:
  ArrayRef<LibraryRun> runs;
  SmallVector<size_t> places;
  size_t size;
  char *memory;
};
} // namespace

using State = SharedResults::State;

static void runDrivers(Compiled &program, ArrayRef<LibraryRun> runs,
                       size_t first, SharedResults &results) {
  auto jit = load(program);
  if (!jit)
    return consumeError(jit.takeError());
  for (size_t i = 0; i < runs.size(); ++i) {
    auto driver = (*jit)->lookup("driver_" + std::to_string(i));
    if (!driver)
      return consumeError(driver.takeError());
    auto *fill = driver->toPtr<void (*)(char *)>();
    results.state(first + i) = State::Started;
    for (unsigned pass : {0, 1})
      fill(results.results(first + i, pass));
    results.state(first + i) = State::Done;
  }
}

/// Nothing is seen of what a function does, and it ends when we do.
static void becomeQuiet(pid_t parent, unsigned mostSeconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(0);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGALRM})
    std::signal(signal, SIG_DFL);
  int null = open("/dev/null", O_RDWR);
  for (int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    dup2(null, file);
  alarm(mostSeconds);
}

void numera::runInQuietChild(function_ref<void()> body, unsigned mostSeconds) {
  pid_t parent = getpid(), child = fork();
  if (child < 0)
    return;
  if (child == 0) {
    becomeQuiet(parent, mostSeconds);
    body();
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
}

/// Runs in a child all from `first` on, as far as it comes.
static void runInChild(const Module &module, TargetMachine &machine,
                       const std::vector<std::string> &nativeLibraries,
                       ArrayRef<LibraryRun> runs, size_t first,
                       SharedResults &results) {
  auto run = [&] {
    Compiled program;
    program.machine.reset(&machine); // the process ends before it is freed
    program.nativeLibraries = nativeLibraries;
    ArrayRef<LibraryRun> rest = runs.drop_front(first);
    program.module = driversOf(module, rest);
    runDrivers(program, rest, first, results);
    _exit(0);
  };
  runInQuietChild(run, mostSeconds);
}

std::vector<std::string>
numera::runLibraries(const Module &module, TargetMachine &machine,
                     const std::vector<std::string> &nativeLibraries,
                     ArrayRef<LibraryRun> runs) {
  std::vector<std::string> found(runs.size());
  bool runsHere = machine.getTargetTriple().getArch() ==
                  Triple(sys::getProcessTriple()).getArch();
  if (runs.empty() || !runsHere)
    return found;
  SharedResults results(runs);
  if (!results.isMapped())
    return found;
  for (size_t next = 0; next < runs.size();) {
    size_t first = next;
    runInChild(module, machine, nativeLibraries, runs, first, results);
    while (next < runs.size() && results.state(next) != State::Waiting)
      ++next;
    if (next == first) // none could be run
      break;
  }
  for (size_t i = 0; i < runs.size(); ++i)
    found[i] = results.agreed(i).str();
  return found;
}
