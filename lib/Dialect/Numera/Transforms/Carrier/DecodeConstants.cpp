// SPDX-License-Identifier: MIT

#include "DecodeConstants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace numera {

/// What all that uses the argument decodes it by; null where something does
/// not.
static DecodeOp decodingOf(BlockArgument argument) {
  DecodeOp found;
  for (Operation *user : argument.getUsers()) {
    auto decode = dyn_cast<DecodeOp>(user);
    if (!decode || (found && (found->getAttrs() != decode->getAttrs() ||
                              found.getType() != decode.getType())))
      return {};
    found = decode;
  }
  return found;
}

/// The numbers of the codes.
static DenseElementsAttr decoded(DenseIntElementsAttr codes, DecodeOp decode) {
  Format format = decode.getFormat().getFormat();
  auto type = cast<FloatType>(decode.getType());
  auto numbers = llvm::map_to_vector(codes, [&](const APInt &code) {
    unsigned width = type.getWidth();
    APInt bits(width, format.getFamily().decodeToCarrier(format, width,
                                                         code.getZExtValue()));
    return APFloat(type.getFloatSemantics(), bits);
  });
  return DenseElementsAttr::get(codes.getType().clone(type), numbers);
}

static void decodeConstants(linalg::GenericOp generic) {
  constexpr int64_t most = int64_t(1) << 14;
  OpBuilder builder(generic);
  for (OpOperand *input : generic.getDpsInputOperands()) {
    BlockArgument argument = generic.getMatchingBlockArgument(input);
    DecodeOp decode = decodingOf(argument);
    DenseIntElementsAttr codes;
    if (!decode || decode.getFormat().getFormat().isOpaque() ||
        !matchPattern(input->get(), m_Constant(&codes)) ||
        codes.getNumElements() > most)
      continue;
    input->set(arith::ConstantOp::create(builder, decode.getLoc(),
                                         decoded(codes, decode)));
    argument.setType(decode.getType());
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
  }
}

void decodeConstants(Operation *root) {
  root->walk([](linalg::GenericOp generic) {
    if (generic.hasPureTensorSemantics())
      decodeConstants(generic);
  });
}

} // namespace numera
