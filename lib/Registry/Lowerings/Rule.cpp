// SPDX-License-Identifier: MIT
//
// The words of a policy, and the matching of its rules.

#include "numera/Registry/Lowerings/RegistryEntries.h"
#include "llvm/ADT/StringSwitch.h"

using namespace numera;
using llvm::StringRef;

/// `*` stands for any characters, `?` for one. Where characters after a star do
/// not fit, the star takes one more of them.
static bool isMatch(StringRef pattern, StringRef text) {
  size_t p = 0, t = 0;
  size_t star = StringRef::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != StringRef::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

Policy::Accumulate Policy::accumulateFromName(StringRef name) {
  return llvm::StringSwitch<Accumulate>(name)
      .Case("same", Accumulate::Same)
      .Case("quire", Accumulate::Quire)
      .Case("tensorcore", Accumulate::TensorCore)
      .Default(Accumulate::Default);
}

bool Policy::Rule::matches(StringRef name, StringRef operatorName) const {
  if (!this->name.empty() && !isMatch(this->name, name))
    return false;
  if (operation.empty())
    return true;
  std::string wanted = StringRef(operation).lower();
  std::string whole = operatorName.lower();
  return isMatch(wanted, whole) ||
         isMatch(wanted, StringRef(whole).split('.').second);
}

std::string Policy::Rule::pattern() const {
  if (operation.empty())
    return name;
  return "op " + operation + (name.empty() ? "" : ", name " + name);
}
