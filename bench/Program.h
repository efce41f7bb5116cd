// SPDX-License-Identifier: MIT
//
// What is measured: a shared object that `numera compile` wrote, called through
// its C interface; and beside it the same format's operations one at a time, as
// functions of an opaque library, which are also what results are checked with.

#ifndef NUMERA_BENCH_PROGRAM_H
#define NUMERA_BENCH_PROGRAM_H

#include "Row.h"
#include "numera/Runtime/numera.h"

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace numera::bench {

/// A tensor with its memory, aligned to cache lines.
class Array {
public:
  Array(numera_dtype dtype, std::vector<int64_t> shape);

  size_t elements() const { return count; }
  size_t bytes() const { return count * width; }
  size_t elementBytes() const { return width; }
  template <typename T> T *as() { return reinterpret_cast<T *>(memory.get()); }
  /// The integer at a place, zero-extended.
  uint64_t code(size_t index) const;
  void setCode(size_t index, uint64_t code);
  numera_tensor tensor() const;

private:
  struct Free {
    void operator()(std::byte *block) const { std::free(block); }
  };
  numera_dtype dtype;
  std::vector<int64_t> shape;
  size_t width, count;
  std::unique_ptr<std::byte[], Free> memory;
};

/// The type of a tensor of codes of so many bits.
numera_dtype storageType(int64_t bits);

/// A shared object. Libraries stay open until the process ends.
class Library {
public:
  /// Ends the program with a line if the file does not load.
  explicit Library(const std::string &path);
  /// Null if there is none.
  void *find(const char *symbol) const;
  template <typename F> F *function(const char *symbol) const {
    return reinterpret_cast<F *>(find(symbol));
  }

private:
  void *handle;
};

/// The function `run` of a compiled program. Every call writes to the same
/// outputs, whose memory the caller owns.
class Program {
public:
  Program(const std::string &path, std::vector<Array *> inputs,
          std::vector<Array *> outputs, uint32_t threads = 1);
  Program(const std::string &path, std::vector<Array *> inputs, Array &output,
          uint32_t threads = 1)
      : Program(path, std::move(inputs), std::vector{&output}, threads) {}
  /// Ends the program with the function's message if it fails.
  void run();

private:
  numera_entry *entry;
  std::vector<numera_tensor> inputs, outputs;
  numera_options options = NUMERA_OPTIONS;
};

/// The operations of a format, one opaque call each. Codes are zero-extended
/// to 32 bits as arguments, and the upper bits of results mean nothing.
class Scalar {
public:
  using Binary = uint32_t(uint32_t, uint32_t);
  using Encode = uint32_t(float);
  using Decode = float(uint32_t);

  explicit Scalar(const Row &row);
  Binary *binary(const std::string &operation) const;
  uint32_t encode(float value) const { return mask & encodeFunction(value); }
  float decode(uint32_t code) const { return decodeFunction(code); }
  uint32_t masked(uint32_t code) const { return mask & code; }
  const Library &opened() const { return library; }

private:
  Library library;
  uint32_t mask;
  Encode *encodeFunction;
  Decode *decodeFunction;
};

/// Normally distributed numbers.
void fillNormal(Array &array, unsigned seed, float deviation = 1);
/// The same, as codes.
void fillNormal(Array &codes, const Scalar &scalar, unsigned seed,
                float deviation = 1);
/// Codes of which each is as likely as any other.
void fillCodes(Array &codes, int64_t width, unsigned seed);

/// Marks the row as failed with the place and both codes; always false.
bool fail(benchmark::State &state, const Row &row, size_t index, uint64_t got,
          uint64_t expected);

} // namespace numera::bench

#endif // NUMERA_BENCH_PROGRAM_H
