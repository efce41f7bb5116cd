// SPDX-License-Identifier: MIT
//
// What every operation of the dialect can say about its formats.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERAINTERFACES
#define NUMERA_DIALECT_NUMERA_IR_NUMERAINTERFACES

include "mlir/IR/Interfaces.td"

def Numera_FormatOpInterface : OpInterface<"FormatOpInterface"> {
  let cppNamespace = "::numera";
  let description = [{
    An elementwise operation on formats, in either form. On values, the types
    name the formats. On storage, attributes name them.
  }];
  let methods = [
    InterfaceMethod<"The operation as the registry knows it.",
      "::numera::OpKind", "getFormatOperation", (ins), [{}], [{
        return *::numera::operationFromName(
            $_op->getName().stripDialect());
      }]>,
    InterfaceMethod<[{
        The result's element: a format or, of a cast, an integer. Of `cmp` and
        `isnan`, whose result is i1: the operands' format.
      }],
      "::numera::ElementKind", "getResultElement", (ins), [{}], [{
        return ::numera::detail::resultElement($_op.getOperation());
      }]>,
    InterfaceMethod<"An operand's element: a format or, of a cast, an integer.",
      "::numera::ElementKind", "getOperandElement", (ins "unsigned":$index),
      [{}], [{
        return ::numera::detail::operandElement($_op.getOperation(), index);
      }]>,
    InterfaceMethod<[{
        How the operation is evaluated: by its own attributes, else by the
        change that its format makes to it, else as the result's format says. Of
        a `mac`: the rules of its sum.
      }],
      "::numera::OperationRules", "getRules", (ins), [{}], [{
        return ::numera::detail::rulesOf($_op.getOperation());
      }]>,
    InterfaceMethod<"The rounding of getRules().",
      "::numera::RoundingMode", "getRoundingMode", (ins), [{}], [{
        return ::numera::detail::rulesOf($_op.getOperation()).rounding;
      }]>,
    InterfaceMethod<[{
        The format that the result is encoded in: its own, with the overflow
        rule of getRules().
      }],
      "::numera::Format", "getEncoding", (ins), [{}], [{
        return ::numera::detail::rulesOf($_op.getOperation()).encoding;
      }]>,
    InterfaceMethod<"How many operands have a format: all but `random`.",
      "unsigned", "getFormatOperandCount", (ins), [{}], [{
        return ::numera::operandCount($_op.getFormatOperation());
      }]>,
    InterfaceMethod<[{
        The operand `random`, from which a stochastic rounding draws; null where
        there is none.
      }],
      "::mlir::Value", "getRandomOperand", (ins), [{}], [{
        unsigned place = $_op.getFormatOperandCount();
        return $_op->getNumOperands() > place ? $_op->getOperand(place)
                                              : ::mlir::Value();
      }]>,
    InterfaceMethod<[{
        True if the operation rounds, and stochastically: it needs the operand
        `random`.
      }],
      "bool", "drawsRandom", (ins), [{}], [{
        return ::numera::detail::drawsRandom($_op.getOperation());
      }]>
  ];
  let verify = [{ return ::numera::detail::verifyFormatOp($_op); }];
  let verifyWithRegions = 0;
}

def Numera_QuireOpInterface : OpInterface<"QuireOpInterface"> {
  let cppNamespace = "::numera";
  let description = [{
    An operation that takes a quire, in either form. On values, the quire's type
    names the format. On storage, the attribute `format` does.
  }];
  let methods = [
    InterfaceMethod<"The quire that is added to or read.",
      "::mlir::Value", "getQuire", (ins)>,
    InterfaceMethod<"The format whose values it sums.",
      "::numera::Format", "getQuireFormat", (ins), [{}], [{
        return ::numera::detail::quireFormat($_op.getOperation());
      }]>,
    InterfaceMethod<"True if the result is a quire.",
      "bool", "isAccumulation", (ins), [{}], [{
        return ::numera::detail::isAccumulation($_op.getOperation());
      }]>
  ];
  let verify = [{ return ::numera::detail::verifyQuireOp($_op); }];
  let verifyWithRegions = 0;
}

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERAINTERFACES
