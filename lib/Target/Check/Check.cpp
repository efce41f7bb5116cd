// SPDX-License-Identifier: MIT
//
// Runs the parts of a check, as many at a time as there are threads.

#include "numera/Target/Check/Check.h"
#include "Job.h"
#include "ProductLaws.h"

#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace numera::check {

uint64_t Result::mismatches() const {
  uint64_t count = 0;
  for (const Tally &tally : faults)
    count += tally.count;
  return count;
}

void noteRefusal(StringRef message, Result &result) {
  auto [function, why] = message.split(": ");
  result.finding = (why.empty() ? function : why).str();
  result.faults[size_t(Fault::Law)].count = 1;
}

uint64_t Report::tried() const {
  uint64_t count = 0;
  for (const Result &result : results)
    count += result.tried;
  for (const Result &result : laws)
    count += result.tried;
  return count;
}

uint64_t Report::bad() const {
  auto isBad = [](const Result &result) { return !result.isGood(); };
  return uint64_t(count_if(results, isBad) + count_if(laws, isBad));
}

namespace {

/// Operations of one program: enough to share the cost of starting a compiler,
/// few enough for several processes to have some.
constexpr size_t mostItems = 40;

std::vector<Job> makeJobs(const Registry &registry, const Twins &twins,
                          const Options &options, ArrayRef<Checked> operations,
                          ArrayRef<Law> laws,
                          const std::map<Role, Checked> &roles,
                          bool hasReference) {
  std::vector<Job> jobs;
  size_t slots = 0;
  auto begin = [&]() -> Job & {
    Job &job = jobs.emplace_back(registry, twins, options, roles);
    job.firstSlot = slots;
    return job;
  };
  size_t share = std::max<size_t>(
      1, std::min(mostItems,
                  (operations.size() + options.threads - 1) / options.threads));
  for (const Checked &checked : operations) {
    if (jobs.empty() || jobs.back().items.size() == share)
      begin();
    // What a rounding in a carrier should be, laws say; what a product of
    // matrices should be, nobody.
    jobs.back().items.push_back(
        {checked, nullptr,
         hasReference && !checked.rounded && !isProduct(checked.operation)});
    ++slots;
  }
  if (!laws.empty())
    begin();
  for (const Law &law : laws)
    jobs.back().items.push_back({law.shape, &law, true});
  return jobs;
}

/// What a source does before its functions are called has no clock of its own:
/// the compiler is behind the same door.
constexpr std::chrono::seconds mostForLoading(120);

struct RunningJob {
  pid_t child;
  const Job *job;
  std::chrono::steady_clock::time_point since =
      std::chrono::steady_clock::now();

  bool isLate() const {
    return std::chrono::steady_clock::now() - since > mostForLoading;
  }
};

/// Runs the jobs in children; the first that could not do its work is the
/// error.
Error runJobs(ArrayRef<Job> jobs, Shared<Slot> &slots, unsigned threads,
              function_ref<void()> tick) {
  std::vector<RunningJob> running;
  Error error = Error::success();
  const Job *next = jobs.begin();
  while (next != jobs.end() || !running.empty()) {
    while (next != jobs.end() && running.size() < threads && !error) {
      const Job &job = *next++;
      pid_t child = startChild([&] { job.run(slots); }, /*isQuiet=*/true);
      if (child < 0)
        error = createStringError("cannot start a process");
      else
        running.push_back({child, &job});
    }
    if (error)
      next = jobs.end();
    erase_if(running, [&](const RunningJob &entry) {
      int status = 0, signal = 0;
      const Slot &first = slots[entry.job->firstSlot];
      bool isStuck = !first.total && !first.isRefused && entry.isLate();
      if (isStuck)
        kill(entry.child, SIGKILL);
      if (waitpid(entry.child, &status, isStuck ? 0 : WNOHANG) != entry.child)
        return false;
      Outcome outcome = outcomeOf(status, signal);
      if (error)
        return true;
      if (isStuck)
        error = createStringError("a library did not return while it was "
                                  "loaded");
      else if (first.isRefused && !first.total)
        error = createStringError(Twine(first.message));
      else if (outcome == Outcome::Crashed)
        error =
            createStringError(Twine("a library crashed while it was loaded (") +
                              strsignal(signal) + ")");
      else if (outcome == Outcome::Exited)
        error = createStringError(
            "a library ended the process while it was loaded");
      return true;
    });
    tick();
    usleep(1000);
  }
  return error;
}

Result resultOf(const Item &item, const Slot &slot) {
  Result result;
  result.checked = item.checked;
  if (item.law)
    result.law = item.law->name;
  result.hasReference = item.hasReference;
  result.outcome = slot.outcome;
  result.signal = slot.signal;
  result.isLocated = slot.isLocated;
  result.culprit = slot.culprit;
  result.tried = slot.done;
  copy(slot.faults, result.faults.begin());
  result.otherNaN = slot.otherNaN;
  result.nanoseconds = slot.nanoseconds;
  if (slot.isRefused)
    noteRefusal(slot.message, result);
  return result;
}

} // namespace

Expected<Report> checkFormat(const Registry &registry, const Format &format,
                             const Options &options,
                             function_ref<void(uint64_t, uint64_t)> progress) {
  Expected<Cases> cases = findCases(registry, format, options);
  if (!cases)
    return cases.takeError();
  Report report;
  report.format = format;
  report.meaning = registry.equivalentOf(format);
  report.missing = std::move(cases->missing);

  std::map<Role, Checked> roles;
  std::vector<Law> laws;
  const Lowering *roundTo = registry.findRoundTo(format, numera::Target::CPU);
  const Registry::NamedFormat *entry = registry.entryOf(format);
  if (!report.meaning || roundTo || entry)
    roles = rolesOf(cases->operations,
                    roundTo ? roundTo->operands.front() : Format());
  if (!report.meaning)
    laws = lawsOf(format, roles,
                  registry.exactCarrierOf(format) == formatF32() &&
                      roles.count(Role::To) && roles.count(Role::From));
  if (entry)
    append_range(laws, identityLaws(format, entry->identities, roles));
  if (roundTo)
    append_range(laws, carrierLaws(*roundTo, roles));
  Twins twins(registry);
  std::vector<Job> jobs = makeJobs(registry, twins, options, cases->operations,
                                   laws, roles, bool(report.meaning));
  size_t count = cases->operations.size() + laws.size();
  Shared<Slot> slots(std::max<size_t>(count, 1));
  if (!slots)
    return createStringError("no memory for the check");
  auto tick = [&] {
    uint64_t done = 0;
    for (size_t i = 0; i < count; ++i)
      done += slots[i].outcome != Outcome::NotRun;
    progress(done, count);
  };
  if (Error error = runJobs(jobs, slots, options.threads, tick))
    return std::move(error);
  for (const Job &job : jobs)
    for (auto [i, item] : enumerate(job.items)) {
      const Slot &slot = slots[job.firstSlot + i];
      (item.law ? report.laws : report.results).push_back(resultOf(item, slot));
    }
  for (const Checked &checked : cases->operations) {
    if (!isProduct(checked.operation) &&
        checked.operation != OpKind::AccumulatorMac)
      continue;
    Expected<std::vector<Result>> found =
        checkProduct(registry, checked, options);
    if (!found)
      return found.takeError();
    append_range(report.laws, std::move(*found));
  }
  return report;
}

} // namespace numera::check
