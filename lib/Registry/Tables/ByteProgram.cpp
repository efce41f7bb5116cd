// SPDX-License-Identifier: MIT

#include "FloatBytes.h"
#include "numera/Registry/Formats/FormatFamily.h"

#include <algorithm>

using namespace numera;

ByteProgram::Value ByteProgram::lookup(Value place, const Table &table) {
  auto known = std::find(tables.begin(), tables.end(), table);
  auto number = static_cast<unsigned>(known - tables.begin());
  if (known == tables.end())
    tables.push_back(table);
  return append({Kind::Lookup, {place}, 0, number});
}

uint8_t ByteProgram::run(uint8_t x, uint8_t y) const {
  constexpr size_t most = 64;
  uint8_t values[most] = {};
  size_t count = std::min(steps.size(), most);
  for (size_t i = 0; i < count; ++i) {
    const Step &step = steps[i];
    uint8_t a = values[step.operands[0]], b = values[step.operands[1]];
    auto evaluate = [&]() -> unsigned {
      switch (step.kind) {
      case Kind::Operand:
        return step.constant == 0 ? x : y;
      case Kind::Constant:
        return step.constant;
      case Kind::Lookup:
        return tables[step.table][a & (tables[step.table].size() - 1)];
      case Kind::And:
      case Kind::Both:
        return a & b;
      case Kind::Or:
      case Kind::Either:
        return a | b;
      case Kind::Xor:
        return a ^ b;
      case Kind::Add:
        return a + b;
      case Kind::Sub:
        return a - b;
      case Kind::SubFloor:
        return a > b ? a - b : 0;
      case Kind::Min:
        return std::min(a, b);
      case Kind::Max:
        return std::max(a, b);
      case Kind::Shift:
        return a << step.constant;
      case Kind::Negative:
        return a >> 7;
      case Kind::Equal:
        return a == b;
      case Kind::Below:
        return a < b;
      case Kind::Select:
        return a ? b : values[step.operands[2]];
      }
      return 0;
    };
    values[i] = static_cast<uint8_t>(evaluate());
  }
  return values[count - 1];
}

bool ByteProgram::computes(std::span<const uint8_t> results) const {
  constexpr unsigned most = 64;
  if (steps.empty() || steps.size() > most)
    return false;
  for (unsigned x = 0; x < 256; ++x)
    for (unsigned y = 0; y < 256; ++y)
      if (run(static_cast<uint8_t>(x), static_cast<uint8_t>(y)) !=
          results[256 * x + y])
        return false;
  return true;
}

std::optional<ByteProgram>
numera::byteProgramOf(OpKind operation, const Format &format,
                      llvm::function_ref<std::vector<uint8_t>()> results) {
  std::optional<FloatFormat> f = format.getFamily().asFloat(format);
  if (!f || !hasBytePrograms(*f))
    return std::nullopt;
  switch (operation) {
  case OpKind::Mul:
  case OpKind::Div:
    return productOnBytes(*f, operation, results());
  case OpKind::Add:
  case OpKind::Sub:
    return sumOnBytes(*f, operation, results());
  default:
    return std::nullopt;
  }
}
