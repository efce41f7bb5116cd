// SPDX-License-Identifier: MIT

#include "Program.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <random>

using namespace numera::bench;

static size_t widthOf(numera_dtype dtype) {
  switch (dtype) {
  case NUMERA_U8:
    return 1;
  case NUMERA_U16:
    return 2;
  case NUMERA_F64:
  case NUMERA_U64:
    return 8;
  default:
    return 4;
  }
}

numera_dtype numera::bench::storageType(int64_t bits) {
  return bits == 8 ? NUMERA_U8 : bits == 16 ? NUMERA_U16 : NUMERA_U32;
}

// ---- arrays ----------------------------------------------------------------

Array::Array(numera_dtype dtype, std::vector<int64_t> shape)
    : dtype(dtype), shape(std::move(shape)), width(widthOf(dtype)), count(1) {
  for (int64_t extent : this->shape)
    count *= size_t(extent);
  size_t rounded = (bytes() + 63) / 64 * 64;
  memory.reset(static_cast<std::byte *>(std::aligned_alloc(64, rounded)));
  std::memset(memory.get(), 0, rounded);
}

uint64_t Array::code(size_t index) const {
  uint64_t result = 0;
  std::memcpy(&result, memory.get() + index * width, width);
  return result;
}

void Array::setCode(size_t index, uint64_t code) {
  std::memcpy(memory.get() + index * width, &code, width);
}

numera_tensor Array::tensor() const {
  numera_tensor result = {};
  result.data = memory.get();
  result.capacity = bytes();
  result.dtype = dtype;
  result.rank = int32_t(shape.size());
  for (size_t i = 0; i < shape.size(); ++i)
    result.shape[i] = shape[i];
  return result;
}

// ---- programs --------------------------------------------------------------

Library::Library(const std::string &path)
    : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle)
    return;
  std::fprintf(stderr, "numera-bench: %s\n", dlerror());
  std::exit(1);
}

void *Library::find(const char *symbol) const { return dlsym(handle, symbol); }

Program::Program(const std::string &path, std::vector<Array *> arrays,
                 std::vector<Array *> results, uint32_t threads)
    : entry(Library(path).function<numera_entry>("run")) {
  if (!entry) {
    std::fprintf(stderr, "numera-bench: %s has no function 'run'\n",
                 path.c_str());
    std::exit(1);
  }
  for (const Array *array : arrays)
    inputs.push_back(array->tensor());
  for (const Array *result : results)
    outputs.push_back(result->tensor());
  options.threads = threads;
}

void Program::run() {
  char error[256];
  if (entry(inputs.data(), inputs.size(), outputs.data(), outputs.size(),
            &options, error, sizeof error) == 0)
    return;
  std::fprintf(stderr, "numera-bench: %s\n", error);
  std::exit(1);
}

Scalar::Scalar(const Row &row)
    : library(row.text("scalar")),
      mask(uint32_t((uint64_t(1) << row.number("bits")) - 1)),
      encodeFunction(library.function<Encode>("encode")),
      decodeFunction(library.function<Decode>("decode")) {}

Scalar::Binary *Scalar::binary(const std::string &operation) const {
  return library.function<Binary>(operation.c_str());
}

// ---- data ------------------------------------------------------------------

void numera::bench::fillNormal(Array &array, unsigned seed, float deviation) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, deviation);
  for (size_t i = 0; i < array.elements(); ++i)
    array.as<float>()[i] = normal(engine);
}

void numera::bench::fillNormal(Array &codes, const Scalar &scalar,
                               unsigned seed, float deviation) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, deviation);
  for (size_t i = 0; i < codes.elements(); ++i)
    codes.setCode(i, scalar.encode(normal(engine)));
}

void numera::bench::fillCodes(Array &codes, int64_t width, unsigned seed) {
  std::mt19937_64 engine(seed);
  for (size_t i = 0; i < codes.elements(); ++i)
    codes.setCode(i, engine() >> (64 - width));
}

bool numera::bench::fail(benchmark::State &state, const Row &row, size_t index,
                         uint64_t got, uint64_t expected) {
  char message[160];
  std::snprintf(message, sizeof message,
                "%s: element %zu is 0x%llx; expected 0x%llx",
                row.name().c_str(), index, (unsigned long long)got,
                (unsigned long long)expected);
  state.SkipWithError(message);
  return false;
}
