// SPDX-License-Identifier: MIT
//
// A library may round a sum as it likes, but these laws must hold:
//
//   each element is made of its row and its column alone, so that it is the
//     product of these, whatever the shape and whatever was computed before
//   a sum of no products is zero
//   a row of zeros and one 1 chooses a row of the other matrix, and a column
//     a column
//   sums of small integers that the formats hold, in any order, are exact

#include "ProductLaws.h"
#include "Sandbox.h"

#include "numera/Registry/Lowerings/Derivation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace numera::check {

namespace {

struct Shape {
  int64_t m, n, k;
};

/// Small ones, vectors, and ones that are no multiple of what a function blocks
/// by.
constexpr Shape shapes[] = {{1, 1, 1},    {2, 3, 4}, {5, 7, 3},  {1, 64, 9},
                            {64, 1, 9},   {9, 9, 1}, {3, 5, 64}, {33, 17, 65},
                            {16, 16, 16}, {2, 3, 4}};

std::string print(const Shape &shape) {
  return formatv("{0} x {1}, {2} term{3}", shape.m, shape.n, shape.k,
                 shape.k == 1 ? "" : "s")
      .str();
}

struct ProductLaw {
  StringLiteral name;
  enum { Alone, Empty, Chosen, Exact } kind;
};
constexpr ProductLaw productLaws[] = {
    {"each element by itself", ProductLaw::Alone},
    {"no products are zero", ProductLaw::Empty},
    {"a 1 chooses row or column", ProductLaw::Chosen},
    {"sums of small integers", ProductLaw::Exact}};

/// What a child finds, where the parent sees it.
struct Found {
  Pulse pulse;
  Shape shape; ///< of the call under way
  uint64_t tried, wrong;
  char message[256]; ///< of the first fault
  bool isRefused;    ///< the program would not run
  char refusal[256]; ///< why
};

using Codes = std::vector<uint64_t>;

/// In a child: one law.
class Trial {
public:
  Trial(const Program &program, const Checked &product, ArrayRef<Checked> casts,
        Found &found)
      : product(product), found(found), entry(program.entry("product")),
        signature(program.find("product")) {
    for (auto [i, cast] : enumerate(casts)) {
      callers.emplace_back();
      if (cast.operands.front().format != cast.result.format)
        callers.back().emplace(program, i, cast);
    }
  }

  void run(const ProductLaw &law) {
    for (const Shape &shape : shapes) {
      switch (law.kind) {
      case ProductLaw::Alone:
        alone(shape);
        break;
      case ProductLaw::Empty:
        empty(shape);
        break;
      case ProductLaw::Chosen:
        chosen(shape, /*isLeft=*/true);
        chosen(shape, /*isLeft=*/false);
        break;
      case ProductLaw::Exact:
        exact(shape);
        break;
      }
      if (found.isRefused)
        return;
    }
  }

private:
  uint64_t draw() { // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }

  Codes anyCodes(const CastType &type, int64_t count) {
    Codes codes(static_cast<size_t>(count));
    for (uint64_t &code : codes)
      code = draw() & ~uint64_t{0} >> (64 - widthOf(type));
    return codes;
  }

  /// The product; empty where the program refuses.
  Codes multiply(const Shape &shape, const Codes &a, const Codes &b) {
    auto [m, n, k] = shape;
    found.shape = shape;
    unsigned sizes[] = {storageBits(product.operands[0]) / 8,
                        storageBits(product.operands[1]) / 8,
                        storageBits(product.result) / 8};
    auto store = [](const Codes &codes, unsigned size) {
      std::vector<char> bytes(codes.size() * size);
      for (auto [i, code] : enumerate(codes))
        std::memcpy(bytes.data() + i * size, &code, size);
      return bytes;
    };
    std::vector<char> left = store(a, sizes[0]), right = store(b, sizes[1]);
    // What is not written is something else in each call.
    std::vector<char> result(size_t(m * n) * sizes[2], char(draw()));
    auto describe = [](std::vector<char> &of, numera_dtype dtype, int64_t rows,
                       int64_t columns) {
      numera_tensor tensor{};
      tensor.data = of.data();
      tensor.capacity = of.size();
      tensor.dtype = dtype;
      tensor.rank = 2;
      tensor.shape[0] = rows;
      tensor.shape[1] = columns;
      return tensor;
    };
    numera_tensor operands[] = {
        describe(left, signature->inputs[0].dtype, m, k),
        describe(right, signature->inputs[1].dtype, k, n)};
    numera_tensor output = describe(result, signature->outputs[0].dtype, m, n);
    numera_options options = NUMERA_OPTIONS;
    options.threads = 1;
    ++found.pulse.calls;
    found.pulse.isCalling = true;
    found.isRefused |= entry(operands, 2, &output, 1, &options, found.refusal,
                             sizeof found.refusal) != 0;
    found.pulse.isCalling = false;
    Codes codes;
    for (int64_t i = 0; i < m * n && !found.isRefused; ++i) {
      uint64_t code = 0;
      std::memcpy(&code, result.data() + i * sizes[2], sizes[2]);
      codes.push_back(code);
    }
    return codes;
  }

  void fault(const Shape &shape, const Twine &message) {
    if (found.wrong++ == 0)
      std::snprintf(found.message, sizeof found.message, "%s: %s",
                    print(shape).c_str(), message.str().c_str());
  }
  static std::string element(int64_t i, int64_t j, const Twine &what) {
    return formatv("element ({0}, {1}) is {2}", i, j, what).str();
  }
  static std::string hex(uint64_t code) { return formatv("{0:x}", code).str(); }

  void alone(const Shape &shape) {
    auto [m, n, k] = shape;
    Codes a = anyCodes(product.operands[0], m * k),
          b = anyCodes(product.operands[1], k * n);
    Codes whole = multiply(shape, a, b), again = multiply(shape, a, b);
    for (int64_t place = 0; place < m * n && !found.isRefused; ++place) {
      int64_t i = place / n, j = place % n;
      ++found.tried;
      if (whole[size_t(place)] != again[size_t(place)]) {
        fault(shape, element(i, j, hex(again[size_t(place)])) + ", before " +
                         hex(whole[size_t(place)]));
        continue;
      }
      // Of large ones the corners, and some others.
      if (m * n > 64 && place % 37 && place + 1 != m * n)
        continue;
      Codes row(a.begin() + i * k, a.begin() + (i + 1) * k), column;
      for (int64_t l = 0; l < k; ++l)
        column.push_back(b[size_t(l * n + j)]);
      Codes one = multiply({1, 1, k}, row, column);
      if (!found.isRefused && one[0] != whole[size_t(place)])
        fault(shape, element(i, j, hex(whole[size_t(place)])) +
                         ", its row times its column is " + hex(one[0]));
    }
  }

  // ---- laws on numbers

  Codes cast(size_t place, const Codes &codes) {
    if (!callers[place])
      return codes;
    Codes results;
    std::string message;
    ++found.pulse.calls;
    found.pulse.isCalling = true;
    if (!callers[place]->call({codes}, results, message)) {
      std::snprintf(found.refusal, sizeof found.refusal, "%s", message.c_str());
      found.isRefused = true;
    }
    found.pulse.isCalling = false;
    results.resize(codes.size());
    return results;
  }
  static Codes bitsOf(ArrayRef<float> numbers) {
    Codes codes;
    for (float number : numbers)
      codes.push_back(bit_cast<uint32_t>(number));
    return codes;
  }
  Codes encode(unsigned operand, ArrayRef<float> numbers) {
    return cast(operand, bitsOf(numbers));
  }
  std::vector<float> decode(const Codes &codes) {
    std::vector<float> numbers;
    for (uint64_t bits : cast(2, codes))
      numbers.push_back(bit_cast<float>(uint32_t(bits)));
    return numbers;
  }

  /// How far integers go that operands and results all have.
  int64_t mostInteger(int64_t most) {
    for (int64_t i = 1; i <= most; ++i) {
      auto number = float(i);
      bool isThere = all_of(ArrayRef<unsigned>{0, 1, 2}, [&](unsigned role) {
        return isExact(role, number) && isExact(role, -number);
      });
      if (!isThere)
        return i - 1;
    }
    return most;
  }
  /// A number survives the cast to the format of a role and back.
  bool isExact(unsigned role, float number) {
    Codes there = cast(role == 2 ? 5 : role, bitsOf(number));
    Codes back = cast(role == 2 ? 2 : 3 + role, there);
    return bit_cast<float>(uint32_t(back[0])) == number;
  }

  void compare(const Shape &shape, const Codes &codes,
               ArrayRef<float> expected) {
    std::vector<float> numbers = decode(codes);
    for (auto [place, number] : enumerate(numbers)) {
      ++found.tried;
      if (number != expected[place] && !found.isRefused)
        fault(shape, element(int64_t(place) / shape.n, int64_t(place) % shape.n,
                             formatv("{0}", number)) +
                         formatv(", expected {0}", expected[place]));
    }
  }

  void empty(const Shape &shape) {
    Codes none = multiply({shape.m, shape.n, 0}, {}, {});
    if (!found.isRefused)
      compare({shape.m, shape.n, 0}, none,
              std::vector<float>(none.size(), 0.0f));
  }

  void multiplyNumbers(const Shape &shape, ArrayRef<float> a,
                       ArrayRef<float> b) {
    std::vector<float> expected(size_t(shape.m * shape.n));
    for (int64_t i = 0; i < shape.m; ++i)
      for (int64_t j = 0; j < shape.n; ++j)
        for (int64_t l = 0; l < shape.k; ++l)
          expected[size_t(i * shape.n + j)] +=
              a[size_t(i * shape.k + l)] * b[size_t(l * shape.n + j)];
    Codes codes = multiply(shape, encode(0, a), encode(1, b));
    if (!found.isRefused)
      compare(shape, codes, expected);
  }

  void chosen(const Shape &shape, bool isLeft) {
    auto [m, n, k] = shape;
    int64_t most = mostInteger(7);
    if (most == 0)
      return;
    std::vector<float> a(size_t(m * k)), b(size_t(k * n));
    for (float &number : isLeft ? b : a)
      number = float(int64_t(draw() % uint64_t(2 * most + 1)) - most);
    if (isLeft)
      for (int64_t i = 0; i < m; ++i)
        a[size_t(i * k) + draw() % uint64_t(k)] = 1;
    else
      for (int64_t j = 0; j < n; ++j)
        b[draw() % uint64_t(k) * size_t(n) + size_t(j)] = 1;
    multiplyNumbers(shape, a, b);
  }

  /// As many products of ones as the largest sum allows.
  void exact(const Shape &shape) {
    auto [m, n, k] = shape;
    int64_t most = mostInteger(k);
    std::vector<float> a(size_t(m * k)), b(size_t(k * n));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t left = most; left > 0; --left)
        a[size_t(i * k) + draw() % uint64_t(k)] = draw() & 1 ? 1.0f : -1.0f;
    for (float &number : b)
      number = most == 0 ? 0.0f : draw() & 1 ? 1.0f : -1.0f;
    multiplyNumbers(shape, a, b);
  }

  const Checked &product;
  Found &found;
  numera_entry *entry;
  const FunctionSignature *signature;
  std::vector<std::optional<Caller>> callers;
  uint64_t state = 0x9e3779b97f4a7c15;
};

/// The casts that laws on numbers need: f32 to both operands, the result to
/// f32, both operands to f32 and f32 to the result. Fewer: there are not all.
std::vector<Checked> castsOf(const Registry &registry, const Checked &product) {
  std::vector<Checked> casts;
  CastType f32;
  f32.format = formatF32();
  auto add = [&](const CastType &from, const CastType &to) {
    Checked cast;
    cast.operation = OpKind::Cast;
    cast.operands = {from};
    cast.result = to;
    cast.rounding = keyOf(cast).getOwnRoundingMode();
    bool isThere =
        from.format == to.format ||
        provisionOf(registry, keyOf(cast)).kind != Provision::Kind::Missing;
    if (isThere && !cast.drawsRandom())
      casts.push_back(std::move(cast));
  };
  add(f32, product.operands[0]);
  add(f32, product.operands[1]);
  add(product.result, f32);
  add(product.operands[0], f32);
  add(product.operands[1], f32);
  add(f32, product.result);
  return casts;
}

} // namespace

Expected<std::vector<Result>> checkProduct(const Registry &registry,
                                           const Checked &product,
                                           const Options &options) {
  std::vector<Checked> casts = castsOf(registry, product);
  bool knowsNumbers = casts.size() == 6;
  if (!knowsNumbers)
    casts.clear();
  Shared<Found> found(std::size(productLaws));
  Shared<Outcome> outcomes(std::size(productLaws));
  Shared<int> signals(std::size(productLaws));
  if (!found || !outcomes || !signals)
    return createStringError("no memory for the check");
  // Machine code is loaded where it can do no harm.
  int signal = 0;
  Pulse loading{};
  Outcome loaded = runSandboxed(
      [&] {
        auto program = compileProduct(registry, product, casts);
        if (!program) {
          std::snprintf(found[0].refusal, sizeof found[0].refusal, "%s",
                        toString(program.takeError()).c_str());
          found[0].isRefused = true;
          return;
        }
        for (auto [i, law] : enumerate(productLaws))
          if (knowsNumbers || law.kind == ProductLaw::Alone)
            outcomes[i] = runSandboxed(
                [&] { Trial(**program, product, casts, found[i]).run(law); },
                found[i].pulse, options.timeLimit, signals[i]);
      },
      loading, options.timeLimit, signal);
  if (loaded != Outcome::Finished)
    return createStringError("a library crashed while it was loaded");
  std::vector<Result> results;
  if (outcomes[0] == Outcome::NotRun && found[0].isRefused)
    return createStringError(Twine(found[0].refusal));
  for (auto [i, law] : enumerate(productLaws)) {
    Found &one = found[i];
    if (!knowsNumbers && law.kind != ProductLaw::Alone)
      continue;
    Result &result = results.emplace_back();
    result.checked = product;
    result.law = product.operation == OpKind::AccumulatorMac
                     ? "accumulator"
                     : nameOf(product.operation).str();
    result.law += ", " + law.name.str();
    result.outcome = outcomes[i];
    result.signal = signals[i];
    result.tried = one.tried;
    result.place = print(one.shape);
    result.faults[size_t(Fault::Law)].count = one.wrong;
    if (one.wrong)
      result.finding = one.message;
    if (one.isRefused)
      noteRefusal(one.refusal, result);
  }
  return results;
}

} // namespace numera::check
