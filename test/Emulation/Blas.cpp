// SPDX-License-Identifier: MIT
//
// cuBLAS without a GPU, for tests of programs that measure it (gpu-sgemm.c): by
// the signatures of cublas_api.h and cublasLt.h, and with their numbers. It
// multiplies nothing, but refuses what NVIDIA's would, and writes the results'
// memory.

#include <cstdint>
#include <cstring>

namespace {

enum : int { success = 0, invalidValue = 7, notSupported = 15 };
enum : int { f32 = 0, f16 = 2, bf16 = 14, e4m3 = 28, compute32F = 68 };

size_t sizeOf(int kind) { return kind == f32 ? 4 : kind == e4m3 ? 1 : 2; }

struct Layout {
  int kind;
  uint64_t rows, columns;
  int64_t leading;
};
struct Description {
  int compute, scale, transposed;
};

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cublasCreate_v2(void **handle) {
  *handle = new int;
  return success;
}
EXPORT cublasSetMathMode(void *, int mode) {
  return mode == 0 || mode == 2 ? success : invalidValue;
}
EXPORT cublasGemmEx(void *, int transA, int transB, int m, int n, int k,
                    const void *alpha, const void *a, int kindA, int ldA,
                    const void *b, int kindB, int ldB, const void *beta,
                    void *c, int kindC, int ldC, int compute, int algorithm) {
  bool isKnown = kindA == f32 || kindA == f16 || kindA == bf16;
  if (!alpha || !beta || !a || !b || !c || transA || transB || ldA < m ||
      ldB < k || ldC < m || algorithm != -1)
    return invalidValue;
  if (!isKnown || kindB != kindA || kindC != kindA || compute != compute32F)
    return notSupported;
  std::memset(c, 0, size_t(ldC) * size_t(n) * sizeOf(kindC));
  return success;
}
EXPORT cublasSgemm_v2(void *handle, int transA, int transB, int m, int n, int k,
                      const float *alpha, const float *a, int ldA,
                      const float *b, int ldB, const float *beta, float *c,
                      int ldC) {
  return cublasGemmEx(handle, transA, transB, m, n, k, alpha, a, f32, ldA, b,
                      f32, ldB, beta, c, f32, ldC, compute32F, -1);
}

EXPORT cublasLtCreate(void **handle) { return cublasCreate_v2(handle); }
EXPORT cublasLtMatmulDescCreate(void **description, int compute, int scale) {
  *description = new Description{compute, scale, 0};
  return compute == compute32F && scale == f32 ? success : notSupported;
}
EXPORT cublasLtMatmulDescSetAttribute(void *description, int attribute,
                                      const void *value, size_t size) {
  int &transposed = static_cast<Description *>(description)->transposed;
  if (attribute != 3 || size != sizeof transposed)
    return invalidValue;
  std::memcpy(&transposed, value, size);
  return success;
}
EXPORT cublasLtMatrixLayoutCreate(void **layout, int kind, uint64_t rows,
                                  uint64_t columns, int64_t leading) {
  *layout = new Layout{kind, rows, columns, leading};
  return success;
}
EXPORT cublasLtMatmul(void *, void *description, const void *alpha,
                      const void *a, void *layoutA, const void *b,
                      void *layoutB, const void *beta, const void *c,
                      void *layoutC, void *d, void *layoutD, const void *,
                      void *, size_t, void *) {
  auto at = [](void *layout) { return *static_cast<Layout *>(layout); };
  if (!alpha || !beta || !a || !b || !c || !d)
    return invalidValue;
  if (static_cast<Description *>(description)->transposed != 1 ||
      at(layoutA).kind != e4m3 || at(layoutB).kind != e4m3 ||
      at(layoutC).kind != bf16 || at(layoutD).kind != bf16)
    return notSupported;
  std::memset(
      d, 0, at(layoutD).columns * uint64_t(at(layoutD).leading) * sizeOf(bf16));
  return success;
}
