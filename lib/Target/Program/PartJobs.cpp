// SPDX-License-Identifier: MIT

#include "PartJobs.h"
#include "Codegen/Compiled.h"
#include "Codegen/Machines.h"
#include "Finish.h"
#include "numera/Target/Support/Cancel.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"

using namespace llvm;
using namespace numera;

static PartJobs::Object compile(MemoryBufferRef bitcode, const KernelForm &form,
                                const std::string &symbol,
                                const CPUOptions &options, unsigned version) {
  LLVMContext context;
  context.setDiagnosticHandlerCallBack(reportErrors);
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(bitcode, context);
  if (!module)
    return module.takeError();
  Expected<Machines> machines = createMachines(options);
  if (!machines)
    return machines.takeError();
  KernelPart part{std::move(*module), form, symbol};
  if (Error error = finishPart(part, *machines->versions[version].machine,
                               {.optimizer = {.level = options.optimization}}))
    return std::move(error);
  return generateObject(*part.module, *machines->baseline);
}

PartJobs::~PartJobs() {
  isGivenUp = true;
  if (pool)
    pool->wait();
  // Where the rest of the program failed, nobody asks.
  for (std::optional<Object> &object : objects)
    if (object && !*object)
      consumeError(object->takeError());
}

size_t PartJobs::start(unique_function<Object()> make) {
  if (!pool)
    pool.emplace(hardware_concurrency());
  std::optional<Object> &object = objects.emplace_back();
  // The pool's tasks are copied.
  auto shared = std::make_shared<unique_function<Object()>>(std::move(make));
  pool->async([this, &object, shared] {
    askToCancel(
        [](void *jobs) {
          return int(static_cast<PartJobs *>(jobs)->isGivenUp);
        },
        this);
    object.emplace(isGivenUp ? Object(cancelled()) : (*shared)());
    std::lock_guard lock(mutex);
    ++done;
    finished.notify_one();
  });
  return objects.size() - 1;
}

size_t PartJobs::start(const KernelPart &part, unsigned version) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(*part.module, stream);
  return start([this, version, bytes = std::move(bytes), form = part.form,
                symbol = part.symbol] {
    return compile({StringRef(bytes.data(), bytes.size()), symbol}, form,
                   symbol, options, version);
  });
}

Error PartJobs::wait() {
  std::unique_lock lock(mutex);
  while (!finished.wait_for(lock, std::chrono::milliseconds(20),
                            [this] { return done == objects.size(); })) {
    lock.unlock();
    if (isCancelled()) {
      isGivenUp = true;
      return cancelled();
    }
    lock.lock();
  }
  return Error::success();
}
