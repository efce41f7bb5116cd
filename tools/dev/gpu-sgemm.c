/* SPDX-License-Identifier: MIT
 *
 * What cuBLAS takes for C = A * B: gpu-sgemm SIZE f32|bf16|f16, in f32 without
 * TF32, else with sums in f32 by tensor cores. Prints the least milliseconds of
 * a few. Both libraries are looked for when it runs: where one is missing it
 * says so, and ends with 1.
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

int main(int count, char **words) {
  static const char *const drivers[] = {"libcuda.so.1", NULL};
  static const char *const blas[] = {"libcublas.so.13", "libcublas.so.12",
                                     "libcublas.so.11", "libcublas.so", NULL};
  int size = count > 1 ? atoi(words[1]) : 4096;
  const char *type = count > 2 ? words[2] : "f32";
  int isF32 = strcmp(type, "f32") == 0, isBF16 = strcmp(type, "bf16") == 0;
  if (!isF32 && !isBF16 && strcmp(type, "f16") != 0)
    fail("a type that is not f32, bf16 or f16", 0);
  int kind = isBF16 ? 14 : 2; /* cudaDataType: CUDA_R_16BF, CUDA_R_16F */
  void *cuda = library(drivers), *cublas = library(blas);
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
  for (int i = 0; i < 3; ++i) {
    CALL(cuda, "cuMemAlloc_v2", (uint64_t *, size_t), &matrices[i], bytes);
    CALL(cuda, "cuMemsetD32_v2", (uint64_t, unsigned, size_t), matrices[i],
         0x3f8ccccdu, bytes / sizeof(float));
  }
  CALL(cuda, "cuEventCreate", (Handle *, unsigned), &begin, 0);
  CALL(cuda, "cuEventCreate", (Handle *, unsigned), &end, 0);
  CALL(cublas, "cublasCreate_v2", (Handle *), &handle);
  CALL(cublas, "cublasSetMathMode", (Handle, int), handle,
       isF32 ? 2 /* pedantic */ : 0);
  float one = 1, zero = 0, least = 1e30f;
  for (int i = 0; i < 10; ++i) {
    float milliseconds = 0;
    CALL(cuda, "cuEventRecord", (Handle, Handle), begin, NULL);
    if (isF32)
      CALL(cublas, "cublasSgemm_v2",
           (Handle, int, int, int, int, int, const float *, uint64_t, int,
            uint64_t, int, const float *, uint64_t, int),
           handle, 0, 0, size, size, size, &one, matrices[0], size, matrices[1],
           size, &zero, matrices[2], size);
    else /* CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT */
      CALL(cublas, "cublasGemmEx",
           (Handle, int, int, int, int, int, const float *, uint64_t, int, int,
            uint64_t, int, int, const float *, uint64_t, int, int, int, int),
           handle, 0, 0, size, size, size, &one, matrices[0], kind, size,
           matrices[1], kind, size, &zero, matrices[2], kind, size, 68, -1);
    CALL(cuda, "cuEventRecord", (Handle, Handle), end, NULL);
    CALL(cuda, "cuEventSynchronize", (Handle), end);
    CALL(cuda, "cuEventElapsedTime", (float *, Handle, Handle), &milliseconds,
         begin, end);
    least = milliseconds < least ? milliseconds : least;
  }
  printf("%g\n", least);
  return 0;
}
