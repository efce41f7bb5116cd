// SPDX-License-Identifier: MIT

#include "Job.h"
#include "Inputs.h"
#include "Judge.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <cstdio>

using namespace llvm;

namespace numera::check {

/// Inputs of a call: no multiple of any vector's length, so that the rest of a
/// vectorised loop runs as well.
static constexpr uint64_t chunk = 4093;

static void note(Tally &tally, const Example &example) {
  if (tally.count++ == 0)
    tally.first = example;
}

namespace {

/// Runs the inputs [begin, end) of one item in calls of `step` inputs, in the
/// child that may crash.
class Runner {
public:
  Runner(const Registry &registry, const Item &item, const Options &options,
         Slot &slot)
      : item(item), slot(slot), inputs(registry, item.checked, options) {
    slot.total = inputs.size();
  }

  const Inputs &all() const { return inputs; }

  void run(uint64_t begin, uint64_t end, uint64_t step,
           function_ref<bool(const Columns &, uint64_t)> part) {
    Columns columns(item.checked.operands.size());
    for (uint64_t at = begin; at < end; at += step) {
      uint64_t count = std::min(step, end - at);
      for (auto &column : columns)
        column.resize(count);
      for (uint64_t k = 0; k < count; ++k) {
        Operands operands = inputs.at(at + k);
        for (size_t j = 0; j < columns.size(); ++j)
          columns[j][k] = operands[j];
      }
      slot.at = at;
      slot.size = count;
      if (!part(columns, count))
        return;
      slot.done += count;
    }
  }

private:
  const Item &item;
  Slot &slot;
  Inputs inputs;
};

} // namespace

static Operands operandsAt(const Columns &columns, size_t k) {
  Operands operands{};
  for (size_t j = 0; j < columns.size(); ++j)
    operands[j] = columns[j][k];
  return operands;
}

/// A call, timed from outside; false where the program refuses.
static bool callTimed(Caller &caller, const Columns &columns,
                      std::vector<uint64_t> &results, Slot &slot) {
  std::string message;
  ++slot.pulse.calls;
  slot.pulse.isCalling = true;
  bool isDone = caller.call(columns, results, message);
  slot.pulse.isCalling = false;
  if (!isDone) {
    slot.isRefused = true;
    std::snprintf(slot.message, sizeof slot.message, "%s", message.c_str());
  }
  return isDone;
}

static void judgeOperation(const Judge &judge, const Columns &columns,
                           const std::vector<uint64_t> &results, Slot &slot) {
  for (size_t k = 0; k < results.size(); ++k) {
    Example example{operandsAt(columns, k), results[k], 0};
    Fault fault{};
    Judge::Verdict verdict =
        judge.judge(example.operands, example.got, fault, example.expected);
    // What lies below those bits may be wrong as well.
    if (verdict == Judge::Verdict::Wrong && fault == Fault::HighBits) {
      note(slot.faults[size_t(fault)], example);
      example.got = example.expected;
      verdict =
          judge.judge(example.operands, example.got, fault, example.expected);
    }
    switch (verdict) {
    case Judge::Verdict::Right:
      break;
    case Judge::Verdict::OtherNaN:
      note(slot.otherNaN, example);
      break;
    case Judge::Verdict::Wrong:
      note(slot.faults[size_t(fault)], example);
      break;
    }
  }
}

static void judgeLaw(const Law &law, const Columns &columns,
                     const Columns &sides, const std::map<Role, Checked> &roles,
                     CallRole call, Slot &slot) {
  bool isTruth = !law.shape.result.format;
  std::vector<bool> nans(sides[0].size()), leftNaNs(nans), rightNaNs(nans);
  if (law.comparesNaNs) {
    isTruth = false;
  } else if (isTruth) {
    for (const std::vector<uint64_t> &column : columns)
      for (auto [i, isNaN] : enumerate(findNaNs(column, roles, call)))
        nans[i] = nans[i] || isNaN;
  } else {
    leftNaNs = findNaNs(sides[0], roles, call);
    rightNaNs = findNaNs(sides[1], roles, call);
  }
  for (size_t k = 0; k < sides[0].size(); ++k) {
    uint64_t left = sides[0][k], right = sides[1][k];
    // Of NaNs, no relation need hold.
    bool isExcused =
        isTruth ? nans[k] && left <= right : leftNaNs[k] && rightNaNs[k];
    if (left != right && !isExcused)
      note(slot.faults[size_t(Fault::Law)],
           {operandsAt(columns, k), left, right});
  }
}

/// Notes what an element takes in a call on many, the median of some calls: the
/// first ones are slower, and others may be disturbed.
void Job::measure(Caller &caller, const Columns &columns, Slot &slot) const {
  constexpr size_t runs = 9;
  std::array<double, runs> seconds{};
  std::vector<uint64_t> results;
  for (double &each : seconds) {
    if (!callTimed(caller, columns, results, slot))
      return;
    each = caller.seconds();
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  slot.nanoseconds = 1e9 * seconds[runs / 2] / double(columns[0].size());
}

void Job::runAll(const Program &program, size_t i, Slot &slot, uint64_t begin,
                 uint64_t end, uint64_t step) const {
  const Item &item = items[i];
  Runner runner(registry, item, options, slot);
  end = std::min(end, runner.all().size());
  std::vector<uint64_t> results, again;
  if (!item.law) {
    Caller caller(program, i, item.checked);
    Judge judge(registry, item.checked);
    return runner.run(begin, end, step, [&](const Columns &in, uint64_t) {
      if (!callTimed(caller, in, results, slot))
        return false;
      // What a library computes may depend on more than its operands.
      if (item.checked.lowering) {
        if (!callTimed(caller, in, again, slot))
          return false;
        for (size_t k = 0; k < results.size(); ++k)
          if (results[k] != again[k])
            note(slot.faults[size_t(Fault::Unsteady)],
                 {operandsAt(in, k), again[k], results[k]});
      }
      judgeOperation(judge, in, results, slot);
      // Where all are tried, any; else values at random, which come last.
      bool isFull = step != 1 && in[0].size() == step;
      bool isLast = slot.at == 0 || slot.at + 2 * step > end;
      if (item.checked.lowering && isFull && isLast)
        measure(caller, in, slot);
      return true;
    });
  }
  std::map<Role, Caller> callers;
  size_t function = 0;
  for (const auto &[role, checked] : roles)
    callers.emplace(role, Caller(program, function++, checked));
  bool isRefused = false;
  auto call = [&](Role role, const Columns &columns) {
    std::vector<uint64_t> out;
    isRefused |= !callTimed(callers.at(role), columns, out, slot);
    out.resize(columns[0].size());
    // As programs do; what is above the width is the operation's own fault.
    for (uint64_t &bits : out)
      bits &= ~uint64_t{0} >> (64 - widthOf(roles.at(role).result));
    return out;
  };
  runner.run(begin, end, step, [&](const Columns &in, uint64_t) {
    Columns sides;
    item.law->sides(in, call, sides);
    judgeLaw(*item.law, in, sides, roles, call, slot);
    return !isRefused;
  });
}

void Job::runItem(const Program &program, size_t i, Slot &slot) const {
  slot.outcome =
      runSandboxed([&] { runAll(program, i, slot, 0, ~uint64_t{0}, chunk); },
                   slot.pulse, options.timeLimit, slot.signal);
  if (slot.outcome != Outcome::Crashed && slot.outcome != Outcome::Exited &&
      slot.outcome != Outcome::TimedOut)
    return;
  // The operands: those at which the same ends the same way, one at a time, and
  // again by themselves.
  uint64_t begin = slot.at, end = begin + slot.size;
  Shared<Slot> copy(1);
  if (!copy)
    return;
  auto endsAlike = [&](uint64_t from, uint64_t to) {
    int signal = 0;
    return runSandboxed([&] { runAll(program, i, copy[0], from, to, 1); },
                        copy[0].pulse, options.timeLimit,
                        signal) == slot.outcome;
  };
  if (!endsAlike(begin, end))
    return;
  uint64_t at = copy[0].at;
  if (slot.outcome != Outcome::TimedOut && !endsAlike(at, at + 1))
    return;
  slot.isLocated = true;
  slot.culprit.operands = Inputs(registry, items[i].checked, options).at(at);
}

void Job::run(Shared<Slot> &slots) const {
  std::vector<Checked> functions;
  for (const Item &item : items)
    if (!item.law)
      functions.push_back(item.checked);
  // Laws have a job of their own, whose program has the roles' functions.
  if (functions.empty())
    for (const auto &[role, checked] : roles)
      functions.push_back(checked);
  Expected<std::unique_ptr<Program>> program =
      compileOperations(twins, functions);
  if (!program) {
    Slot &slot = slots[firstSlot];
    std::snprintf(slot.message, sizeof slot.message, "%s",
                  toString(program.takeError()).c_str());
    slot.isRefused = true;
    return;
  }
  for (size_t i = 0; i < items.size(); ++i)
    runItem(**program, i, slots[firstSlot + i]);
}

} // namespace numera::check
