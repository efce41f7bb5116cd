// SPDX-License-Identifier: MIT
//
// Arithmetic of 8-bit formats on bytes: short sequences of integer operations
// and lookups in small tables, without branches, so that they apply to a vector
// of 64 bytes as well. A program is built from the parameters of a format. It
// is correct because it has been run on all 65536 pairs of codes.

#ifndef NUMERA_REGISTRY_TABLES_BYTEPROGRAM_H
#define NUMERA_REGISTRY_TABLES_BYTEPROGRAM_H

#include "numera/Registry/Formats/Format.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace numera {

/// A function of two bytes.
class ByteProgram {
public:
  enum class Kind : uint8_t {
    Operand, ///< the first or the second, by `constant`
    Constant,
    Lookup, ///< in `tables[table]`, by as many low bits as it has places
    And,
    Or,
    Xor,
    Add,      ///< modulo 256
    Sub,      ///< modulo 256
    SubFloor, ///< 0 where the second is larger
    Min,      ///< without sign
    Max,      ///< without sign
    Shift,    ///< left, by `constant`
    Negative, ///< true if the highest bit is set
    Equal,
    Below,  ///< without sign
    Both,   ///< of truths
    Either, ///< of truths
    Select, ///< the second where the first is true, else the third
  };
  /// A step's index, which stands for the step's value.
  using Value = unsigned;
  struct Step {
    Kind kind;
    Value operands[3];
    uint8_t constant;
    unsigned table;
  };
  using Table = std::vector<uint8_t>;

  Value operand(unsigned i) {
    return append({Kind::Operand, {}, static_cast<uint8_t>(i), 0});
  }
  Value constant(unsigned value) {
    return append({Kind::Constant, {}, static_cast<uint8_t>(value), 0});
  }
  /// `table` has 64, 128 or 256 elements.
  Value lookup(Value place, const Table &table);
  Value shift(Value x, unsigned count) {
    return append({Kind::Shift, {x}, static_cast<uint8_t>(count), 0});
  }
  Value operate(Kind kind, Value x, Value y = 0, Value z = 0) {
    return append({kind, {x, y, z}, 0, 0});
  }
  Value select(Value condition, Value then, Value otherwise) {
    return operate(Kind::Select, condition, then, otherwise);
  }

  /// The value of the last step.
  uint8_t run(uint8_t x, uint8_t y) const;
  /// True if `run(x, y)` is `results[256 * x + y]` for all codes.
  bool computes(std::span<const uint8_t> results) const;

  const std::vector<Step> &getSteps() const { return steps; }
  const std::vector<Table> &getTables() const { return tables; }

private:
  Value append(Step step) {
    steps.push_back(step);
    return static_cast<Value>(steps.size() - 1);
  }

  std::vector<Step> steps;
  std::vector<Table> tables;
};

/// A program whose results on all pairs of codes are `results()`, those of the
/// operation in the format; nullopt if none is known. Some floats have one.
std::optional<ByteProgram>
byteProgramOf(OpKind operation, const Format &format,
              llvm::function_ref<std::vector<uint8_t>()> results);

} // namespace numera

#endif // NUMERA_REGISTRY_TABLES_BYTEPROGRAM_H
