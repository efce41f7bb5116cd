// SPDX-License-Identifier: MIT

#include "Judge.h"
#include "ProofCache.h"
#include "ProofRun.h"
#include "numera/Target/Proofs.h"

#include "llvm/ADT/STLExtras.h"
#include <thread>

using namespace llvm;

namespace numera {

using namespace check;

/// What the proof of an operation is kept under.
static Fingerprint fingerprintOf(Fingerprint base, const Registry &registry,
                                 const ProofSubject &subject) {
  for (const Checked *checked : {&subject.own, &subject.meant}) {
    base.add(registry.suggest(keyOf(*checked)));
    for (const CastType &type : checked->operands)
      base.add(uint64_t(type.isSigned));
    base.add(uint64_t(checked->result.isSigned));
    base.add(uint64_t(checked->rounding.pack()));
  }
  return base;
}

/// The formats whose lowerings decide what programs compute of the subjects:
/// an opaque one, and what it is equivalent to.
static Expected<Fingerprint> fingerprintOf(const Registry &registry,
                                           const Format &format) {
  return numera::fingerprintOf(registry,
                               {format, registry.equivalentOf(format)});
}

static bool isEqual(const ProofSlot &slot, const ProofSubject &subject) {
  return slot.outcome == Outcome::Finished && slot.differs == nowhere &&
         slot.unsteady == nowhere && !slot.isRefused &&
         slot.done == subject.inputs();
}

namespace {

/// The operations of one format, from the cache or by running them.
class Prover {
public:
  Prover(const Registry &registry, const Format &format, ProofCache &cache,
         std::vector<ProofSubject> all)
      : registry(registry), format(format), cache(cache),
        subjects(std::move(all)) {}

  /// Finds what is in the cache.
  Error look() {
    Expected<Fingerprint> found = fingerprintOf(registry, format);
    if (!found)
      return found.takeError();
    base = *found;
    for (const ProofSubject &subject : subjects)
      known.push_back(cache.find(fingerprintOf(base, registry, subject)));
    return Error::success();
  }

  bool isProven(size_t i) const { return known[i] && known[i]->holds; }

  /// Runs those of which nothing is known, or with `again` all that are not
  /// proven.
  Error run(const Options &options, bool again,
            function_ref<void(size_t, const ProofSlot &)> finished,
            function_ref<void(uint64_t, uint64_t)> progress) {
    std::vector<ProofSubject> open;
    std::vector<size_t> places;
    uint64_t inputs = 0;
    for (size_t i = 0; i < subjects.size(); ++i)
      if (!known[i] || (again && !known[i]->holds)) {
        open.push_back(subjects[i]);
        places.push_back(i);
        inputs += subjects[i].inputs();
      }
    if (open.empty())
      return Error::success();
    ProofRun run(registry, open, options);
    auto finish = [&](size_t k) {
      ProofRecord record;
      record.subject = describe(registry, open[k].own) + " as " +
                       registry.equivalentOf(format).spelling();
      record.holds = isEqual(run.slot(k), open[k]);
      record.inputs = run.slot(k).done;
      record.files = run.loadedFiles();
      cache.keep(fingerprintOf(base, registry, open[k]), record);
      known[places[k]] = record;
      finished(places[k], run.slot(k));
    };
    return run.run(finish, [&](uint64_t done) { progress(done, inputs); });
  }

  const Registry &registry;
  Format format;
  ProofCache &cache;
  std::vector<ProofSubject> subjects;
  std::vector<std::optional<ProofRecord>> known;
  Fingerprint base;
};

} // namespace

void loadProofs(Registry &registry, raw_ostream &warnings) {
  registry.dropProofs(); // of functions that other ones may stand before now
  ProofCache cache(warnings);
  std::vector<Lowering> proven;
  for (const Registry::NamedFormat &named : registry.formats()) {
    if (named.proofs == Registry::NamedFormat::Proofs::Off)
      continue;
    std::vector<ProofSubject> subjects =
        proofSubjects(registry, named.format, 32);
    if (subjects.empty())
      continue;
    Prover prover(registry, named.format, cache, std::move(subjects));
    // A library that cannot be read has an error of its own when it is called.
    if (Error error = prover.look()) {
      consumeError(std::move(error));
      continue;
    }
    // What takes no time is tried now.
    if (named.format.width() <= 8) {
      Options options;
      options.threads = std::max(1u, std::thread::hardware_concurrency());
      options.timeLimit = 1;
      Prover now(registry, named.format, cache,
                 proofSubjects(registry, named.format, 16));
      consumeError(now.look());
      consumeError(now.run(
          options, /*again=*/false, [](size_t, const ProofSlot &) {},
          [](uint64_t, uint64_t) {}));
      for (size_t i = 0; i < now.subjects.size(); ++i)
        if (now.isProven(i))
          proven.push_back(now.subjects[i].key());
    }
    for (size_t i = 0; i < prover.subjects.size(); ++i)
      if (prover.isProven(i))
        proven.push_back(prover.subjects[i].key());
  }
  for (Lowering &key : proven)
    registry.keepProof(std::move(key));
}

namespace check {

/// In the words of a check.
static Result resultOf(const Registry &registry, const ProofSubject &subject,
                       const ProofSlot &slot) {
  Result result;
  result.checked = subject.own;
  result.isProof = true;
  result.outcome = slot.outcome;
  result.signal = slot.signal;
  result.tried = slot.done;
  if (slot.done >= proofPart) // fewer are the cost of the calls
    result.nanoseconds = double(slot.nanoseconds) / double(slot.done);
  result.isLocated = slot.isLocated;
  result.culprit.operands = operandsOf(subject, slot.culprit);
  auto note = [&](Fault fault, uint64_t place) {
    result.faults[size_t(fault)] = {
        1, {operandsOf(subject, place), slot.got, slot.expected}};
  };
  if (slot.unsteady != nowhere) {
    note(Fault::Unsteady, slot.unsteady);
  } else if (slot.differs != nowhere) {
    Fault fault{};
    uint64_t expected = 0;
    Operands operands = operandsOf(subject, slot.differs);
    auto verdict =
        Judge(registry, subject.own).judge(operands, slot.got, fault, expected);
    note(verdict == Judge::Verdict::Right ? Fault::OtherCode : fault,
         slot.differs);
  }
  return result;
}

Expected<Report> proveFormat(const Registry &registry, const Format &format,
                             const Options &options, raw_ostream &warnings,
                             function_ref<void(uint64_t, uint64_t)> progress) {
  Report report;
  report.format = format;
  report.meaning = registry.equivalentOf(format);
  ProofCache cache(warnings);
  std::vector<ProofSubject> subjects =
      proofSubjects(registry, format, 32, &report.untried);
  // What is made of functions may be made of one that cannot be called.
  erase_if(subjects, [&](const ProofSubject &subject) {
    const Lowering *lowering = subject.own.lowering;
    return !options.misfits.empty() &&
           (!lowering || is_contained(options.misfits, lowering->location));
  });
  Prover prover(registry, format, cache, std::move(subjects));
  if (Error error = prover.look())
    return std::move(error);
  for (const ProofSubject &subject : prover.subjects) {
    Result &result = report.results.emplace_back();
    result.checked = subject.own;
    result.isProof = true;
  }
  for (size_t i = 0; i < prover.subjects.size(); ++i)
    if (prover.isProven(i)) {
      report.results[i].wasProven = true;
      report.results[i].outcome = Outcome::Finished;
      report.results[i].tried = prover.known[i]->inputs;
    }
  if (Error error = prover.run(
          options, /*again=*/true,
          [&](size_t i, const ProofSlot &slot) {
            report.results[i] = resultOf(registry, prover.subjects[i], slot);
          },
          progress))
    return std::move(error);
  return report;
}

} // namespace check

} // namespace numera
