/* SPDX-License-Identifier: MIT
 *
 * The C interface of compiled programs (docs/RuntimeABI.md). A shared object
 * that Numera emits exports, for each function of the model, an entry of type
 * numera_entry, and the string numera_metadata. It needs the C library and
 * nothing else.
 */
#ifndef NUMERA_H
#define NUMERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this interface; "abi" in the metadata. */
#define NUMERA_ABI 1

/** The most dimensions a tensor may have. */
#define NUMERA_MAX_RANK 16

/** Element types. The numbers never change meaning. */
typedef enum numera_dtype {
  NUMERA_F32 = 1,
  NUMERA_F64 = 2,
  NUMERA_I8 = 3,
  NUMERA_I16 = 4,
  NUMERA_I32 = 5,
  NUMERA_I64 = 6,
  NUMERA_U8 = 7,
  NUMERA_U16 = 8,
  NUMERA_U32 = 9,
  NUMERA_U64 = 10,
  NUMERA_BOOL = 11, /**< one byte, 0 or 1 */
  NUMERA_F16 = 12,  /**< binary16 of IEEE 754 */
  NUMERA_BF16 = 13, /**< bfloat16: the upper half of an f32 */
  /** Codes of formats of more than 64 bits, aligned to 16 bytes. */
  NUMERA_U128 = 14,
  NUMERA_U256 = 15 /**< of more than 128 bits */
} numera_dtype;

/** A dense tensor in row-major order. */
typedef struct numera_tensor {
  void *data;
  uint64_t capacity; /**< outputs: bytes at data */
  int32_t dtype;     /**< a numera_dtype */
  int32_t rank;      /**< 0: a scalar */
  int64_t shape[NUMERA_MAX_RANK];
} numera_tensor;

/** How a function runs. Initialise with NUMERA_OPTIONS. */
typedef struct numera_options {
  uint32_t size;    /**< sizeof(numera_options): later fields may be added */
  uint32_t threads; /**< for each call; 0: as many as there are processors */
  uint64_t seed;    /**< of stochastic rounding */
  uint64_t step;    /**< of stochastic rounding: the training step, say */
  uint64_t sample;  /**< index in the data set of the inputs' first row */
  void *workspace;  /**< memory for temporaries, or NULL */
  uint64_t workspace_size; /**< bytes at workspace */
  void *stream; /**< of a program for a GPU: the CUstream to work on, or NULL */
  /** Asked with interrupt_context between loops and between parts of loops, in
   * the thread that calls: not 0 ends the call with the error "interrupted",
   * and memory given for outputs may have a part of the results.
   * Or NULL. It is asked often, and returns. */
  int (*interrupt)(void *interrupt_context);
  void *interrupt_context;
  /** Called in the thread that calls, for each row of a program that shows its
   * layers (numera-c/Numera.h, show-rows), as soon as the row is computed:
   * the layer's tensor, what the layer makes of the reference's inputs, and the
   * reference's tensor, f32 or f64 of one dimension, their elements in one
   * order. They are there until it returns. Or NULL. */
  void (*show_row)(void *show_row_context, uint32_t row,
                   const numera_tensor tensors[3]);
  void *show_row_context;
} numera_options;

#define NUMERA_OPTIONS                                                         \
  {sizeof(numera_options), 0, 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL}

/**
 * A function of a compiled program. Returns 0 on success; else a number that
 * is not 0, with one line in `error` (which may be NULL), and outputs are as
 * they were.
 *
 * inputs   as many as the function takes, shapes and dtypes as it wants
 *          them; `capacity` is not looked at, and the data are not changed.
 * outputs  as many as the function has. For each, `data` is a buffer of
 *          `capacity` bytes to copy the result to, or NULL to be given memory
 *          that the caller frees with free(). dtype, rank and shape are set.
 * options  NULL: the seed given to the compiler, step and sample 0, as many
 *          threads as there are processors. Bits do not depend on threads.
 *
 * The floating-point environment of the caller does not matter and is kept.
 * Threads may call the same function at the same time.
 */
typedef int numera_entry(const numera_tensor *inputs, size_t input_count,
                         numera_tensor *outputs, size_t output_count,
                         const numera_options *options, char *error,
                         size_t error_size);

/**
 * Not defined here: what every shared object exports. JSON, one object:
 * {"abi": 1, "version", "target", "format", "accumulate", "rounding",
 * "overflow", "seed", "functions": [{"name", "symbol", "inputs": [{"name",
 * "dtype", "shape"}], "outputs": […]}]}. A dimension of -1 is dynamic.
 */
extern const char numera_metadata[];

#ifdef __cplusplus
}
#endif

#endif /* NUMERA_H */
