// SPDX-License-Identifier: MIT
//
// Element types of programs, as NumPy and DLPack have them.

#ifndef NUMERA_PYTHON_SRC_ELEMENTTYPES_H
#define NUMERA_PYTHON_SRC_ELEMENTTYPES_H

#include "Binding.h"
#include "numera/Runtime/numera.h"
#include <nanobind/ndarray.h>

namespace numera::python {

/// Number of the element type; 0 if programs have none like it.
inline int32_t dtypeOf(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  if (dtype.lanes != 1)
    return 0;
  switch (Code(dtype.code)) {
  case Code::Float:
    switch (dtype.bits) {
    case 16:
      return NUMERA_F16;
    case 32:
      return NUMERA_F32;
    case 64:
      return NUMERA_F64;
    }
    return 0;
  case Code::Bool:
    return dtype.bits == 8 ? NUMERA_BOOL : 0;
  case Code::Int:
  case Code::UInt: {
    int32_t first = Code(dtype.code) == Code::Int ? NUMERA_I8 : NUMERA_U8;
    switch (dtype.bits) {
    case 8:
      return first;
    case 16:
      return first + 1;
    case 32:
      return first + 2;
    case 64:
      return first + 3;
    }
    return 0;
  }
  default:
    return 0;
  }
}

inline nb::dlpack::dtype dtypeOf(int32_t dtype) {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, unsigned bits) {
    return nb::dlpack::dtype{uint8_t(code), uint8_t(bits), 1};
  };
  switch (dtype) {
  case NUMERA_F16:
    return make(Code::Float, 16);
  case NUMERA_F32:
    return make(Code::Float, 32);
  case NUMERA_F64:
    return make(Code::Float, 64);
  case NUMERA_BOOL:
    return make(Code::Bool, 8);
  case NUMERA_BF16: // NumPy has none
    return make(Code::UInt, 16);
  case NUMERA_U128:
  case NUMERA_U256:
    return make(Code::UInt, 64);
  }
  if (dtype >= NUMERA_U8)
    return make(Code::UInt, 8u << (dtype - NUMERA_U8));
  return make(Code::Int, 8u << (dtype - NUMERA_I8));
}

/// How many integers of 64 bits NumPy lends for one code; 0: the code is lent.
inline int64_t wordsOf(int32_t dtype) {
  return dtype == NUMERA_U128 ? 2 : dtype == NUMERA_U256 ? 4 : 0;
}

/// Bytes of an element; 0 for what programs have not.
inline uint64_t bytesOf(int32_t dtype) {
  switch (dtype) {
  case NUMERA_F32:
    return 4;
  case NUMERA_F64:
    return 8;
  case NUMERA_BOOL:
    return 1;
  case NUMERA_F16:
  case NUMERA_BF16:
    return 2;
  case NUMERA_U128:
    return 16;
  case NUMERA_U256:
    return 32;
  default:
    if (dtype >= NUMERA_I8 && dtype <= NUMERA_I64)
      return uint64_t(1) << (dtype - NUMERA_I8);
    if (dtype >= NUMERA_U8 && dtype <= NUMERA_U64)
      return uint64_t(1) << (dtype - NUMERA_U8);
    return 0;
  }
}

} // namespace numera::python

#endif // NUMERA_PYTHON_SRC_ELEMENTTYPES_H
