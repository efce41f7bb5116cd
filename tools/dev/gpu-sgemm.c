/* SPDX-License-Identifier: MIT
 *
 * What cuBLAS takes for C = A * B: gpu-sgemm SIZE f32|bf16|f16|f8E4M3FN, in f32
 * without TF32, else with sums in f32 by tensor cores (f8E4M3FN by cuBLASLt,
 * with results in bf16). Prints the least milliseconds of a few. The libraries
 * are looked for when it runs: where one is missing it says so, and ends
 * with 1.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *Handle;

static void *library(const char *const *names) {
  for (; *names; ++names) {
    void *found = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    if (found)
      return found;
  }
  return NULL;
}

static void fail(const char *what, int result) {
  fprintf(stderr, "gpu-sgemm: error: %s (%d)\n", what, result);
  exit(1);
}

/* Calls a function of a library; 0 is success in both. */
#define CALL(from, name, types, ...)                                           \
  do {                                                                         \
    int(*function) types = (int(*) types)dlsym(from, name);                    \
    int result = function ? function(__VA_ARGS__) : -1;                        \
    if (result != 0)                                                           \
      fail(name, result);                                                      \
  } while (0)

/* cudaDataType and cublasComputeType_t */
enum { R32F = 0, R16F = 2, R16BF = 14, R8E4M3 = 28, Compute32F = 68 };

static int kindOf(const char *type) {
  static const struct {
    const char *name;
    int kind;
  } kinds[] = {
      {"f32", R32F}, {"f16", R16F}, {"bf16", R16BF}, {"f8E4M3FN", R8E4M3}};
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(type, kinds[i].name) == 0)
      return kinds[i].kind;
  fail("a type that is not f32, bf16, f16 or f8E4M3FN", 0);
  return -1;
}

/* Numbers of all signs and fractions, of magnitudes from 0.5 to 2: what a GPU's
 * clock allows depends on the bits that change. */
static uint32_t *draw(int kind, size_t words) {
  uint32_t drawnBits = kind == R32F    ? 0x80ffffff
                       : kind == R16F  ? 0x87ff87ff
                       : kind == R16BF ? 0x80ff80ff
                                       : 0x8f8f8f8f;
  uint32_t set = kind == R32F    ? 0x3f000000
                 : kind == R16F  ? 0x38003800
                 : kind == R16BF ? 0x3f003f00
                                 : 0x30303030;
  uint32_t *drawn = malloc(words * sizeof *drawn);
  uint64_t state = 1;
  if (!drawn)
    fail("out of memory", 0);
  for (size_t i = 0; i < words; ++i) { /* Knuth's MMIX */
    state = state * 6364136223846793005u + 1442695040888963407u;
    drawn[i] = ((uint32_t)(state >> 32) & drawnBits) | set;
  }
  return drawn;
}

static const float one = 1, zero = 0;

/* One product of f32, bf16 or f16. */
static void multiply(void *cublas, Handle handle, int kind, int size,
                     const uint64_t *matrices) {
  if (kind == R32F)
    CALL(cublas, "cublasSgemm_v2",
         (Handle, int, int, int, int, int, const float *, uint64_t, int,
          uint64_t, int, const float *, uint64_t, int),
         handle, 0, 0, size, size, size, &one, matrices[0], size, matrices[1],
         size, &zero, matrices[2], size);
  else /* CUBLAS_GEMM_DEFAULT */
    CALL(cublas, "cublasGemmEx",
         (Handle, int, int, int, int, int, const float *, uint64_t, int, int,
          uint64_t, int, int, const float *, uint64_t, int, int, int, int),
         handle, 0, 0, size, size, size, &one, matrices[0], kind, size,
         matrices[1], kind, size, &zero, matrices[2], kind, size, Compute32F,
         -1);
}

/* One of f8E4M3FN: cuBLASLt wants the first factor transposed. */
static Handle description, factors, results;
static void describe(void *blasLt, int size) {
  int transposed = 1; /* CUBLAS_OP_T, as CUBLASLT_MATMUL_DESC_TRANSA */
  uint64_t side = (uint64_t)size;
  CALL(blasLt, "cublasLtMatmulDescCreate", (Handle *, int, int), &description,
       Compute32F, R32F);
  CALL(blasLt, "cublasLtMatmulDescSetAttribute",
       (Handle, int, const void *, size_t), description, 3, &transposed,
       sizeof transposed);
  CALL(blasLt, "cublasLtMatrixLayoutCreate",
       (Handle *, int, uint64_t, uint64_t, int64_t), &factors, R8E4M3, side,
       side, size);
  CALL(blasLt, "cublasLtMatrixLayoutCreate",
       (Handle *, int, uint64_t, uint64_t, int64_t), &results, R16BF, side,
       side, size);
}
static void multiplyBytes(void *blasLt, Handle handle,
                          const uint64_t *matrices) {
  CALL(blasLt, "cublasLtMatmul",
       (Handle, Handle, const float *, uint64_t, Handle, uint64_t, Handle,
        const float *, uint64_t, Handle, uint64_t, Handle, const void *, void *,
        size_t, Handle),
       handle, description, &one, matrices[0], factors, matrices[1], factors,
       &zero, matrices[2], results, matrices[2], results, NULL, NULL, 0, NULL);
}

int main(int count, char **words) {
  static const char *const drivers[] = {"libcuda.so.1", NULL};
  static const char *const names[][5] = {
      {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so",
       NULL},
      {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL}};
  int size = count > 1 ? atoi(words[1]) : 4096;
  int kind = kindOf(count > 2 ? words[2] : "f32"), isByte = kind == R8E4M3;
  void *cuda = library(drivers), *cublas = library(names[isByte]);
  if (!cuda || !cublas)
    fail(cuda ? "no libcublas on this machine" : "no libcuda.so.1", 0);
  int device = 0;
  Handle context, handle, begin, end;
  CALL(cuda, "cuInit", (unsigned), 0);
  CALL(cuda, "cuDeviceGet", (int *, int), &device, 0);
  CALL(cuda, "cuDevicePrimaryCtxRetain", (Handle *, int), &context, device);
  CALL(cuda, "cuCtxSetCurrent", (Handle), context);
  uint64_t matrices[3];
  size_t bytes = (size_t)size * (size_t)size * sizeof(float);
  uint32_t *numbers = draw(kind, bytes / sizeof(uint32_t));
  for (int i = 0; i < 3; ++i) {
    CALL(cuda, "cuMemAlloc_v2", (uint64_t *, size_t), &matrices[i], bytes);
    CALL(cuda, "cuMemcpyHtoD_v2", (uint64_t, const void *, size_t), matrices[i],
         numbers, bytes);
  }
  free(numbers);
  CALL(cuda, "cuEventCreate", (Handle *, unsigned), &begin, 0);
  CALL(cuda, "cuEventCreate", (Handle *, unsigned), &end, 0);
  if (isByte) {
    CALL(cublas, "cublasLtCreate", (Handle *), &handle);
    describe(cublas, size);
  } else {
    CALL(cublas, "cublasCreate_v2", (Handle *), &handle);
    CALL(cublas, "cublasSetMathMode", (Handle, int), handle,
         kind == R32F ? 2 /* pedantic */ : 0);
  }
  float least = 1e30f;
  for (int i = 0; i < 10; ++i) {
    float milliseconds = 0;
    CALL(cuda, "cuEventRecord", (Handle, Handle), begin, NULL);
    if (isByte)
      multiplyBytes(cublas, handle, matrices);
    else
      multiply(cublas, handle, kind, size, matrices);
    CALL(cuda, "cuEventRecord", (Handle, Handle), end, NULL);
    CALL(cuda, "cuEventSynchronize", (Handle), end);
    CALL(cuda, "cuEventElapsedTime", (float *, Handle, Handle), &milliseconds,
         begin, end);
    least = milliseconds < least ? milliseconds : least;
  }
  printf("%g\n", least);
  return 0;
}
