// SPDX-License-Identifier: MIT

#include "Judge.h"
#include "Libraries/ProofCache.h"
#include "ProofRun.h"
#include "numera/Target/Check/Proofs.h"

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

static ProofRecord recordOf(const ProofSubject &subject,
                            const ProofSlot &slot) {
  ProofRecord record;
  record.holds = slot.outcome == Outcome::Finished &&
                 slot.unsteady == nowhere && !slot.isRefused &&
                 slot.done == subject.inputs() &&
                 slot.numbers.count <= allowanceOf(subject);
  record.inputs = slot.done;
  if (!record.holds)
    return record;
  record.exceptions = slot.numbers.sorted();
  record.nans = slot.nans.sorted();
  record.hasManyNaNs = slot.nans.count > allowanceOf(subject);
  if (record.hasManyNaNs) // the first stands for all
    record.nans = {{slot.nans.first, slot.nans.got, slot.nans.expected}};
  return record;
}

/// The codes that programs must tell apart; nothing where there is no proof.
static std::optional<std::vector<ProofException>>
usableExceptions(const ProofRecord &record,
                 Registry::NamedFormat::Proofs rule) {
  if (!record.holds)
    return std::nullopt;
  std::vector<ProofException> all = record.exceptions;
  if (rule == Registry::NamedFormat::Proofs::AnyNaN)
    return all;
  append_range(all, record.nans);
  bool isUsable = !record.hasManyNaNs && all.size() <= mostExceptions;
  return isUsable ? std::optional(all) : std::nullopt;
}

namespace {

/// The operations of one format, from the cache or by running them.
class Prover {
public:
  Prover(const Registry &registry, const Format &format, ProofCache &cache,
         std::vector<ProofSubject> all)
      : registry(registry), format(format),
        rule(registry.entryOf(format)->proofs), cache(cache),
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

  /// What is proven of it.
  std::optional<std::vector<ProofException>> proof(size_t i) const {
    return known[i] ? usableExceptions(*known[i], rule) : std::nullopt;
  }

  /// Adds what is proven.
  void collect(std::vector<Proof> &proofs) const {
    for (size_t i = 0; i < subjects.size(); ++i)
      if (auto exceptions = proof(i)) {
        Proof &added = proofs.emplace_back();
        added.key = subjects[i].key();
        for (const ProofException &each : *exceptions)
          added.exceptions.push_back({each.operands, each.result});
      }
  }

  /// Runs those of which nothing is known, or with `again` all that are not
  /// equal, NaNs apart.
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
      ProofRecord record = recordOf(open[k], run.slot(k));
      record.subject = describe(registry, open[k].own) + " as " +
                       registry.equivalentOf(format).spelling();
      record.files = run.loadedFiles();
      cache.keep(fingerprintOf(base, registry, open[k]), record);
      known[places[k]] = record;
      finished(places[k], run.slot(k));
    };
    return run.run(finish, [&](uint64_t done) { progress(done, inputs); });
  }

  const Registry &registry;
  Format format;
  Registry::NamedFormat::Proofs rule;
  ProofCache &cache;
  std::vector<ProofSubject> subjects;
  std::vector<std::optional<ProofRecord>> known;
  Fingerprint base;
};

} // namespace

void loadProofs(Registry &registry, raw_ostream &warnings) {
  registry.dropProofs(); // of functions that other ones may stand before now
  ProofCache cache(warnings);
  std::vector<Proof> proven;
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
      now.collect(proven);
    }
    prover.collect(proven);
  }
  for (Proof &proof : proven)
    registry.keepProof(std::move(proof));
}

namespace check {

/// What is known, in the words of a check.
static void addRecord(const ProofSubject &subject, const ProofRecord &record,
                      Registry::NamedFormat::Proofs rule, Result &result) {
  auto example = [&](const ProofException &each) {
    return Example{operandsOf(subject, each.operands), each.result,
                   each.expected};
  };
  if (auto exceptions = usableExceptions(record, rule)) {
    for (const ProofException &each : *exceptions)
      result.exceptions.push_back(example(each));
  } else if (record.holds && !record.nans.empty()) {
    result.isEqualButNaNs = true;
    result.faults[size_t(Fault::OtherCode)] = {1, example(record.nans.front())};
  }
}

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
  auto note = [&](Fault fault, uint64_t place, uint64_t got,
                  uint64_t expected) {
    result.faults[size_t(fault)] = {
        1, {operandsOf(subject, place), got, expected}};
  };
  const Differences &numbers = slot.numbers;
  if (slot.isRefused)
    noteRefusal(slot.message, result);
  if (slot.unsteady != nowhere) {
    note(Fault::Unsteady, slot.unsteady, slot.got, slot.before);
  } else if (numbers.count > allowanceOf(subject)) {
    Fault fault{};
    uint64_t expected = 0;
    Operands operands = operandsOf(subject, numbers.first);
    auto verdict = Judge(registry, subject.own)
                       .judge(operands, numbers.got, fault, expected);
    note(verdict == Judge::Verdict::Right ? Fault::OtherCode : fault,
         numbers.first, numbers.got, numbers.expected);
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
    if (prover.known[i] && prover.known[i]->holds) {
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
  for (size_t i = 0; i < prover.subjects.size(); ++i)
    if (prover.known[i])
      addRecord(prover.subjects[i], *prover.known[i], prover.rule,
                report.results[i]);
  return report;
}

} // namespace check

} // namespace numera
