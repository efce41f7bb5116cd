// SPDX-License-Identifier: MIT

#include "Fingerprint.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace numera;

Fingerprint &Fingerprint::add(StringRef text) {
  add(uint64_t(text.size()));
  hasher.update(text);
  return *this;
}

Fingerprint &Fingerprint::add(uint64_t number) {
  uint8_t bytes[8];
  for (uint8_t &byte : bytes) {
    byte = uint8_t(number);
    number >>= 8;
  }
  hasher.update(bytes);
  return *this;
}

std::string Fingerprint::digits() const {
  BLAKE3 copy = hasher;
  return toHex(ArrayRef<uint8_t>(copy.final()), /*LowerCase=*/true);
}
