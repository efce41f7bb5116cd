// SPDX-License-Identifier: MIT
//
// Control flow for BatchAnalysis: branches, loops and calls.

#include "BatchAnalysis.h"

using namespace mlir;

namespace numera {

/// Joins to each place its other one; true if one has changed.
static bool joinEach(MutableArrayRef<BatchPlace> places,
                     ArrayRef<BatchPlace> others) {
  bool changes = false;
  for (auto [place, other] : llvm::zip_equal(places, others)) {
    BatchPlace before = std::exchange(place, join(place, other));
    changes |= place != before;
  }
  return changes;
}

void BatchAnalysis::visitBranch(Operation *branch) {
  Places results(branch->getNumResults());
  for (Region &region : branch->getRegions())
    for (Block &block : region) {
      visit(block);
      joinEach(results, placesOf(block.getTerminator()->getOperands()));
    }
  assign(branch->getResults(), results);
}

// A place only ever grows: three steps from nothing to unknown, and each may
// wait for another.

void BatchAnalysis::visitLoop(scf::ForOp loop) {
  Places places = placesOf(loop.getInitArgs());
  for (size_t i = 0; i <= 3 * places.size(); ++i) {
    assign(loop.getRegionIterArgs(), places);
    visit(*loop.getBody());
    if (!joinEach(places, placesOf(loop.getYieldedValues())))
      break;
  }
  assign(loop.getResults(), places);
}

void BatchAnalysis::visitLoop(scf::WhileOp loop) {
  Places places = placesOf(loop.getInits()), passed(loop.getNumResults());
  for (size_t i = 0; i <= 3 * (places.size() + passed.size()); ++i) {
    assign(loop.getBeforeArguments(), places);
    visit(*loop.getBeforeBody());
    bool changes = joinEach(passed, placesOf(loop.getConditionOp().getArgs()));
    assign(loop.getAfterArguments(), passed);
    visit(*loop.getAfterBody());
    changes |= joinEach(places, placesOf(loop.getYieldOp().getResults()));
    if (!changes)
      break;
  }
  assign(loop.getResults(), passed);
}

void BatchAnalysis::visitCall(func::CallOp call) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return;
  assign(call.getResults(), analyse(callee, placesOf(call.getOperands())));
}

BlockArgument BatchAnalysis::argumentOf(func::FuncOp function) const {
  for (BlockArgument argument : function.getArguments()) {
    BatchPlace place = placeOf(argument);
    if (place.isKnown() && place.outer != 0)
      return argument;
  }
  return {};
}

} // namespace numera
