// SPDX-License-Identifier: MIT

#include "numera/Dialect/Numera/IR/SharedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "numera/Dialect/Numera/IR/DenseCodes.h"
#include "numera/Dialect/Numera/IR/Numera.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace numera;

namespace {

/// A module with two constants that are one attribute.
class SharedElementsTest : public testing::Test {
protected:
  SharedElementsTest() {
    context.loadDialect<arith::ArithDialect, NumeraDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    std::shared_ptr<char> memory = SharedElements::allocate(4 * sizeof(float));
    std::memcpy(memory.get(), numbers, sizeof numbers);
    bytes = memory;
    OpBuilder builder = OpBuilder::atBlockBegin(module->getBody());
    auto type = RankedTensorType::get({2, 2}, builder.getF32Type());
    constant = SharedElements::of(&context).create(type, std::move(memory));
    for (int i = 0; i < 2; ++i)
      arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                cast<TypedAttr>(Attribute(constant)));
  }
  static SmallVector<Attribute> valuesOf(ModuleOp module) {
    SmallVector<Attribute> values;
    for (auto op : module.getOps<arith::ConstantOp>())
      values.push_back(op.getValue());
    return values;
  }

  const float numbers[4] = {1, -0.0f, 3, 4};
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SharedBytes bytes;
  DenseResourceElementsAttr constant;
};

TEST_F(SharedElementsTest, ReleasesItsBytes) {
  EXPECT_EQ(SharedElements::find(constant), bytes);
  EXPECT_EQ(rawElements(constant).size(), sizeof numbers);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(rawElements(constant).data()) %
                SharedElements::alignment,
            0u);
  SharedElements::release(constant);
  EXPECT_EQ(bytes.use_count(), 1);
  EXPECT_TRUE(rawElements(constant).empty());
  EXPECT_FALSE(SharedElements::find(constant));
  EXPECT_FALSE(denseElements(constant));
  SharedElements::release(constant); // once more is nothing
}

TEST_F(SharedElementsTest, IsReleasedApartInACopy) {
  OwningOpRef<ModuleOp> copy = cloneModule(*module);
  SmallVector<Attribute> values = valuesOf(*copy);
  EXPECT_EQ(values[0], values[1]);
  EXPECT_NE(values[0], Attribute(constant));
  SharedElements::release(constant);
  EXPECT_EQ(SharedElements::find(values[0]), bytes);
  EXPECT_EQ(rawElements(values[0]).data(), bytes.get());
}

TEST_F(SharedElementsTest, BecomesDense) {
  makeElementsDense(*module);
  EXPECT_EQ(bytes.use_count(), 1);
  for (Attribute value : valuesOf(*module)) {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    ASSERT_TRUE(dense);
    EXPECT_EQ(std::memcmp(dense.getRawData().data(), numbers, sizeof numbers),
              0);
  }
}

/// A use of each constant of the module.
static SmallVector<Operation *> useConstants(ModuleOp module) {
  SmallVector<Operation *> users;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  for (auto op : llvm::to_vector(module.getOps<arith::ConstantOp>()))
    users.push_back(arith::NegFOp::create(builder, op.getLoc(), op));
  return users;
}

TEST_F(SharedElementsTest, IsReleasedByTheLastUseOfAllConstants) {
  SmallVector<Operation *> users = useConstants(*module);
  SharedConstants constants;
  constants.find(*module);
  constants.release(users[0]->getOperand(0));
  EXPECT_EQ(SharedElements::find(constant), bytes);
  constants.release(users[0]->getResult(0)); // no constant
  EXPECT_EQ(SharedElements::find(constant), bytes);
  constants.release(users[1]->getOperand(0));
  EXPECT_EQ(bytes.use_count(), 1);
}

TEST_F(SharedElementsTest, KeepsWhatAnotherConstantHas) {
  SmallVector<Operation *> users = useConstants(*module);
  users[0]->erase();
  SharedConstants constants;
  constants.find(*module);
  constants.eraseUnused();
  EXPECT_EQ(valuesOf(*module).size(), 1u);
  EXPECT_EQ(SharedElements::find(constant), bytes);
  users[1]->erase();
  constants.eraseUnused();
  EXPECT_TRUE(valuesOf(*module).empty());
  EXPECT_EQ(bytes.use_count(), 1);
}

TEST_F(SharedElementsTest, BecomesDenseWhereItIsWanted) {
  useConstants(*module);
  SharedConstants constants;
  constants.find(*module);
  arith::ConstantOp first = *module->getOps<arith::ConstantOp>().begin();
  constants.makeDense([&](Operation *op) { return op == first; });
  EXPECT_EQ(SharedElements::find(constant), bytes); // of the second
  EXPECT_TRUE(isa<DenseElementsAttr>(valuesOf(*module)[0]));
  constants.makeDense();
  EXPECT_EQ(bytes.use_count(), 1);
  EXPECT_TRUE(isa<DenseElementsAttr>(valuesOf(*module)[1]));
}

TEST_F(SharedElementsTest, HoldsManyCodes) {
  auto codesOf = [&](int64_t size, int64_t count) {
    auto type = RankedTensorType::get({size}, IntegerType::get(&context, 16));
    DenseCodesBuilder codes(type.getElementType(), count);
    for (int64_t i = 0; i < count; ++i)
      codes.set(i, uint64_t(i) % 1000);
    return codes.buildShared(type);
  };
  constexpr int64_t many = SharedElements::leastBytes / 2;
  ElementsAttr shared = codesOf(many, many);
  EXPECT_TRUE(SharedElements::find(shared));
  EXPECT_EQ(DenseCodes(rawElements(shared), shared.getElementType())[2999],
            999u);
  EXPECT_FALSE(SharedElements::find(codesOf(many - 1, many - 1)));
  // One for all, however many there are.
  for (int64_t size : {int64_t(2), many})
    EXPECT_TRUE(cast<DenseElementsAttr>(codesOf(size, 1)).isSplat());
}

TEST_F(SharedElementsTest, LeavesOthersAlone) {
  Attribute other = DenseElementsAttr::get(
      RankedTensorType::get({2}, Float32Type::get(&context)), {1.0f, 2.0f});
  EXPECT_FALSE(SharedElements::find(other));
  EXPECT_FALSE(SharedElements::find(Attribute()));
  EXPECT_EQ(rawElements(other).size(), 2 * sizeof(float));
  EXPECT_EQ(Attribute(denseElements(other)), other);
  SharedElements::release(other);
  EXPECT_EQ(rawElements(other).size(), 2 * sizeof(float));
}

} // namespace
