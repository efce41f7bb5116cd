// SPDX-License-Identifier: MIT

#include "TileShapes.h"

using namespace mlir;

namespace numera {

namespace {
/// What a tile costs for each sum, compared with the largest: the smaller it
/// is, the more often elements are read.
struct Candidate {
  TileShape shape;
  double cost;
};
constexpr Candidate large = {{128, 128}, 1}, square = {{64, 64}, 1.25},
                    flat = {{16, 256}, 1.5};
} // namespace

/// How many processors the GPUs of an architecture have that are in data
/// centres; of others, those of the last one before.
static int64_t processorsOf(StringRef gpu) {
  struct Known {
    unsigned version;
    int64_t processors;
  };
  // T4, A100, A40, AGX Orin, L40S, H100 and H200, B200, RTX PRO 6000: NVIDIA's
  // data sheets.
  constexpr Known table[] = {{75, 40},  {80, 108}, {86, 84},   {87, 16},
                             {89, 142}, {90, 132}, {100, 148}, {120, 188}};
  int64_t processors = table[0].processors;
  for (const Known &known : table)
    if (known.version <= gpuVersion(gpu))
      processors = known.processors;
  return processors;
}

/// The tile with which all blocks are done first, if the GPU's processors do
/// one block after the other: large tiles read less, small ones leave fewer
/// places empty and give all processors something to do. Bits do not depend on
/// it.
TileShape TileShape::of(linalg::GenericOp generic,
                        const PackedContraction &contraction,
                        const TensorFactors &tensor, bool isBrief,
                        StringRef gpu, unsigned processors) {
  if (contraction.quireStep)
    return {16, 16};
  if (!isa<FloatType>(contraction.carrier) && !isBrief)
    return {32, 32};
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  std::optional<int64_t> height = extentOf(ranges, contraction.rows);
  std::optional<int64_t> width = extentOf(ranges, contraction.columns);
  if (!height || !width)
    return square.shape;
  int64_t batch = extentOf(ranges, contraction.batch).value_or(1);
  int64_t count = processors ? processors : processorsOf(gpu);
  auto timeOf = [&](const Candidate &tile) {
    int64_t blocks = llvm::divideCeil(*height, tile.shape.rows) *
                     llvm::divideCeil(*width, tile.shape.columns) * batch;
    return double(llvm::divideCeil(blocks, count)) *
           double(tile.shape.rows * tile.shape.columns) * tile.cost;
  };
  SmallVector<Candidate> candidates = {square};
  // Its panels of 64 bits would be more than the 48 KiB of shared memory that a
  // block has without asking.
  if (!tensor && contraction.carrier.getIntOrFloatBitWidth() <= 32)
    candidates.push_back(flat);
  // Steps of many instructions, unrolled for so many sums, would not fit into
  // the cache of instructions.
  if (tensor || isBrief)
    candidates.push_back(large);
  return llvm::min_element(candidates,
                           [&](const Candidate &a, const Candidate &b) {
                             return timeOf(a) < timeOf(b);
                           })
      ->shape;
}

namespace {

/// One side of a contraction.
struct Side {
  ArrayRef<unsigned> lanes; ///< rows or columns
  StaticAccess access;
  int64_t bytes;   ///< of an element
  int64_t fetched; ///< elements at once by a thread
};

/// True if the loops together go through consecutive elements, as many as
/// `fetched` divides.
bool isRun(const Side &side, ArrayRef<unsigned> loops,
           ArrayRef<int64_t> ranges) {
  int64_t next = 1;
  for (unsigned loop : llvm::reverse(loops)) {
    if (ShapedType::isDynamic(ranges[loop]) ||
        (ranges[loop] != 1 && side.access.strides[loop] != next))
      return false;
    next *= ranges[loop];
  }
  return next > 0 && next % side.fetched == 0;
}

/// True if what is fetched at once lies at a multiple of its size, 16 bytes at
/// most; `run` are the loops that go through it.
bool isAligned(const Side &side, ArrayRef<unsigned> run,
               ArrayRef<int64_t> ranges) {
  int64_t unit = std::min<int64_t>(16, side.fetched * side.bytes);
  auto isMultiple = [&](int64_t distance) {
    return !ShapedType::isDynamic(distance) &&
           distance * side.bytes % unit == 0;
  };
  if (!isMultiple(side.access.offset))
    return false;
  for (auto [loop, stride] : llvm::enumerate(side.access.strides))
    if (!llvm::is_contained(run, loop) && ranges[loop] != 1 &&
        !isMultiple(stride))
      return false;
  return true;
}

} // namespace

/// True if consecutive steps have consecutive elements, and lanes have not.
static bool runsAlongSteps(const Side &side,
                           const PackedContraction &contraction) {
  auto goesAlong = [&](ArrayRef<unsigned> loops) {
    return !loops.empty() && side.access.strides[loops.back()] == 1;
  };
  return goesAlong(contraction.steps) && !goesAlong(side.lanes);
}

/// The bits of kernel::Layout.
static int32_t pack(const Side &side, const PackedContraction &contraction,
                    ArrayRef<int64_t> ranges, bool isValue) {
  enum { Value = 16, AlongSteps = 32, Contiguous = 64 };
  bool alongSteps = runsAlongSteps(side, contraction);
  ArrayRef<unsigned> loops = alongSteps ? contraction.steps : side.lanes;
  bool contiguous = side.fetched > 1 && isRun(side, loops, ranges) &&
                    isAligned(side, loops, ranges);
  return static_cast<int32_t>(side.bytes) | (isValue ? Value : 0) |
         (alongSteps ? AlongSteps : 0) | (contiguous ? Contiguous : 0);
}

/// Elements that a thread fetches at once: of a slab of kernel::slabSteps
/// steps, shared out to the threads of a block. For tensor cores a slab has
/// kernel::slabBytes of each lane: 16 bytes of one, or a word of several lanes.
static int64_t fetchedAtOnce(const TensorFactors &tensor, bool alongSteps,
                             int64_t width) {
  return tensor && alongSteps ? 128 / tensor.bits : width / 16;
}

std::array<int32_t, 2> layoutsOf(const ContractionWork &work,
                                 const TileShape &shape,
                                 const TensorFactors &tensor) {
  linalg::GenericOp generic = work.generic;
  const PackedContraction &contraction = work.contraction;
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  auto layoutOf = [&](unsigned input, ArrayRef<unsigned> lanes, int64_t width) {
    OpOperand &operand = generic->getOpOperand(input);
    Type storage = cast<MemRefType>(operand.get().getType()).getElementType();
    Side side = {lanes, staticAccessOf(generic, operand),
                 storage.getIntOrFloatBitWidth() / 8, 0};
    side.fetched =
        fetchedAtOnce(tensor, runsAlongSteps(side, contraction), width);
    ContractionKinds kinds(generic, contraction);
    bool isRow = input == contraction.rowsInput;
    const StoredKind &kind = isRow ? kinds.row : kinds.column;
    bool isValue = storage == contraction.carrier && kind.kind == kinds.value;
    if (tensor)
      isValue =
          haveSameCodes(kind.kind.format, isRow ? tensor.row : tensor.column) &&
          side.bytes * 8 == tensor.bits;
    return pack(side, contraction, ranges, isValue);
  };
  return {
      layoutOf(contraction.rowsInput, contraction.rows, shape.rows),
      layoutOf(contraction.columnsInput, contraction.columns, shape.columns)};
}

} // namespace numera
