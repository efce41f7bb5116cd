// SPDX-License-Identifier: MIT

#include "ByteArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "numera/Dialect/Numera/IR/Numera.h"

using namespace mlir;

namespace numera {

namespace {

class ByteBuilder {
public:
  ByteBuilder(OpBuilder &builder, Location loc, const ByteProgram &program,
              Value x, Value y)
      : builder(builder), loc(loc), program(program), operands{x, y} {}

  Value build() {
    for (const ByteProgram::Step &step : program.getSteps())
      values.push_back(build(step));
    return values.back();
  }

private:
  Value build(const ByteProgram::Step &step);
  Value constant(uint8_t value);
  Value lookup(Value place, const ByteProgram::Table &table);
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  }

  OpBuilder &builder;
  Location loc;
  const ByteProgram &program;
  Value operands[2];
  SmallVector<Value, 48> values;
};

} // namespace

Value ByteBuilder::constant(uint8_t value) {
  Type type = operands[0].getType();
  TypedAttr attribute = builder.getI8IntegerAttr(static_cast<int8_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, Attribute(attribute));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value ByteBuilder::lookup(Value place, const ByteProgram::Table &table) {
  auto type = RankedTensorType::get(static_cast<int64_t>(table.size()),
                                    builder.getI8Type());
  auto elements = DenseElementsAttr::get(type, ArrayRef<uint8_t>(table));
  return LookupOp::create(builder, loc, place.getType(), ValueRange(place),
                          elements);
}

Value ByteBuilder::build(const ByteProgram::Step &step) {
  Value x, y;
  if (!values.empty()) {
    x = values[step.operands[0]];
    y = values[step.operands[1]];
  }
  using Kind = ByteProgram::Kind;
  switch (step.kind) {
  case Kind::Operand:
    return operands[step.constant];
  case Kind::Constant:
    return constant(step.constant);
  case Kind::Lookup:
    return lookup(x, program.getTables()[step.table]);
  case Kind::And:
  case Kind::Both:
    return arith::AndIOp::create(builder, loc, x, y);
  case Kind::Or:
  case Kind::Either:
    return arith::OrIOp::create(builder, loc, x, y);
  case Kind::Xor:
    return arith::XOrIOp::create(builder, loc, x, y);
  case Kind::Add:
    return arith::AddIOp::create(builder, loc, x, y);
  case Kind::Sub:
    return arith::SubIOp::create(builder, loc, x, y);
  case Kind::SubFloor: // LLVM knows it as one operation
    return arith::SubIOp::create(builder, loc,
                                 arith::MaxUIOp::create(builder, loc, x, y), y);
  case Kind::Min:
    return arith::MinUIOp::create(builder, loc, x, y);
  case Kind::Max:
    return arith::MaxUIOp::create(builder, loc, x, y);
  case Kind::Shift:
    return arith::ShLIOp::create(builder, loc, x, constant(step.constant));
  case Kind::Negative:
    return compare(arith::CmpIPredicate::slt, x, constant(0));
  case Kind::Equal:
    return compare(arith::CmpIPredicate::eq, x, y);
  case Kind::Below:
    return compare(arith::CmpIPredicate::ult, x, y);
  case Kind::Select:
    return arith::SelectOp::create(builder, loc, x, y,
                                   values[step.operands[2]]);
  }
  llvm_unreachable("a kind of step");
}

Value buildBytes(OpBuilder &builder, Location loc, const ByteProgram &program,
                 Value x, Value y) {
  return ByteBuilder(builder, loc, program, x, y).build();
}

} // namespace numera
