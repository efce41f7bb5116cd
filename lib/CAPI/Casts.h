// SPDX-License-Identifier: MIT
//
// Programs that convert arrays, as text, and those of a registry that were
// compiled.

#ifndef NUMERA_LIB_CAPI_CASTS_H
#define NUMERA_LIB_CAPI_CASTS_H

#include "numera/Registry/Registry.h"
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

struct NumeraProgram;

namespace numera {

struct CompileOptions;

/// A conversion: elements of `from` are rounded to `through` first, if there is
/// one, then to `to`.
struct CastFormats {
  Format from, through, to;

  /// True if an element's place decides how it is rounded.
  bool draws() const;
  /// MLIR with a function @cast on arrays of one dimension. One that draws
  /// takes the index of the first element, an i64, as well.
  std::string text() const;
};

/// Looks up three names or spellings, of which `through` may be null; what the
/// options say of rounding and overflow is for `through`, else for `to`.
/// nullopt with a line in `error`.
std::optional<CastFormats> readCast(const Registry &registry, const char *from,
                                    const char *through, const char *to,
                                    const CompileOptions &options,
                                    std::string &error);

/// Conversions that were compiled, by their text; the oldest go when there are
/// many. Threads may use it at a time.
class CastCache {
public:
  using Cast = std::shared_ptr<const NumeraProgram>;

  /// Null: it is not there.
  Cast find(const std::string &key) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = casts.find(key);
    return found == casts.end() ? nullptr : found->second;
  }
  /// Keeps the first one of a key.
  Cast keep(const std::string &key, Cast cast) {
    std::lock_guard<std::mutex> lock(mutex);
    auto [place, isNew] = casts.try_emplace(key, std::move(cast));
    Cast kept = place->second;
    if (isNew)
      byAge.push_back(key);
    if (byAge.size() > most) {
      casts.erase(byAge.front());
      byAge.pop_front();
    }
    return kept;
  }
  /// Formats may mean something else from now on.
  void clear() {
    std::lock_guard<std::mutex> lock(mutex);
    casts.clear();
    byAge.clear();
  }

private:
  static constexpr size_t most = 512;
  std::mutex mutex;
  std::deque<std::string> byAge;
  std::map<std::string, Cast> casts;
};

} // namespace numera

#endif // NUMERA_LIB_CAPI_CASTS_H
