// SPDX-License-Identifier: MIT

#include "Casts.h"
#include "Types.h"
#include "numera/Target/Driver/Compiler.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace numera;

// ---- formats ---------------------------------------------------------------

static bool isStochastic(const Format &format) {
  return format && format.getRounding() == Rounding::Stochastic;
}
bool CastFormats::draws() const {
  return isStochastic(through) || isStochastic(to);
}

std::optional<CastFormats> numera::readCast(const Registry &registry,
                                            const char *from,
                                            const char *through, const char *to,
                                            const CompileOptions &options,
                                            std::string &error) {
  CastFormats cast;
  auto lookup = [&](const char *name, Format &format) {
    if (name)
      format = registry.lookupFormat(name, error);
    return !name || format;
  };
  if (!lookup(from, cast.from) || !lookup(through, cast.through) ||
      !lookup(to, cast.to) ||
      !withOptions(options, through ? cast.through : cast.to, error))
    return std::nullopt;
  return cast;
}

// ---- the program -----------------------------------------------------------

namespace {
/// Writes the casts of one element, or of all.
class Casts {
public:
  Casts(const CastFormats &formats, bool areTensors)
      : formats(formats), areTensors(areTensors) {}

  std::string text() {
    Format last = formats.from;
    for (const Format &next : {formats.through, formats.to}) {
      // From a format to itself a cast changes NaNs and infinities alone,
      // which is what the caller asks for with a rule of overflow.
      if (!next)
        continue;
      cast(last, next);
      last = next;
    }
    return body;
  }
  std::string result() const { return formatv("%v{0}", count); }

private:
  void cast(const Format &operand, const Format &format) {
    std::string random;
    if (isStochastic(format)) {
      int id = ++ids;
      body += formatv("    %d{0} = numera.random %seed, %step, %sample, %index "
                      "id {0} bits {1}\n",
                      id, format.getRandomBits());
      random = formatv(" random %d{0}", id);
    }
    body += formatv("    %v{0} = numera.cast %v{1}{2} : {3} to {4}\n",
                    count + 1, count, random, type(operand), type(format));
    ++count;
  }
  std::string type(const Format &format) const {
    return areTensors ? tensorType(format, 1) : elementType(format);
  }

  const CastFormats &formats;
  const bool areTensors;
  std::string body;
  int count = 0, ids = 0;
};
} // namespace

std::string CastFormats::text() const {
  std::string from = elementType(this->from), to = elementType(this->to);
  Casts casts(*this, !draws());
  std::string body = casts.text();
  if (!draws())
    return formatv(R"(func.func @cast(%v0: tensor<?x{0}>) -> tensor<?x{1}> {
{2}  return {3} : tensor<?x{1}>
}
)",
                   from, to, body, casts.result());
  return formatv(R"(#one = affine_map<(i) -> (i)>
func.func @cast(%x: tensor<?x{0}>, %first: i64, %seed: i64, %step: i64,
                %sample: i64) -> tensor<?x{1}> attributes {{numera.draws} {
  %zero = arith.constant 0 : index
  %size = tensor.dim %x, %zero : tensor<?x{0}>
  %empty = tensor.empty(%size) : tensor<?x{1}>
  %result = linalg.generic {{indexing_maps = [#one, #one],
                            iterator_types = ["parallel"]}
      ins(%x : tensor<?x{0}>) outs(%empty : tensor<?x{1}>) {
  ^bb0(%v0: {0}, %old: {1}):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i64
    %index = arith.addi %place, %first : i64
{2}    linalg.yield {3} : {1}
  } -> tensor<?x{1}>
  return %result : tensor<?x{1}>
}
)",
                 from, to, body, casts.result());
}
