// SPDX-License-Identifier: MIT
//
// Loops that end by a condition have no induction variable. Random bits need
// one (docs/Semantics/Stochastic.md, D7).

#include "Retype.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace numera {

scf::WhileOp withTurn(scf::WhileOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, b.getI64Type(), value);
  };
  SmallVector<Value> inits(loop.getInits());
  inits.push_back(number(0));
  SmallVector<Type> types(loop.getResultTypes());
  types.push_back(b.getI64Type());
  auto counted = scf::WhileOp::create(b, loc, types, inits);
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  counted.getBefore().takeBody(loop.getBefore());
  counted.getAfter().takeBody(loop.getAfter());
  for (Region *region : counted.getRegions())
    region->addArgument(b.getI64Type(), loc);
  counted.getConditionOp().getArgsMutable().append(
      counted.getBeforeArguments().back());
  scf::YieldOp yield = counted.getYieldOp();
  b.setInsertionPoint(yield);
  Value next = arith::AddIOp::create(b, loc, counted.getAfterArguments().back(),
                                     number(1));
  yield.getResultsMutable().append(next);
  loop.replaceAllUsesWith(counted.getResults().drop_back());
  loop.erase();
  return counted;
}

Region *regionAround(Operation *op, Operation *ancestor) {
  Region *region = op->getParentRegion();
  while (region->getParentOp() != ancestor)
    region = region->getParentRegion();
  return region;
}

} // namespace numera
