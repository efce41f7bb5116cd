/* SPDX-License-Identifier: MIT
 *
 * Numera from C, for embedding and for bindings of other languages: load number
 * formats, compile models, run them on buffers. The library is libNumeraC.so.
 *
 * The interface is stable: functions are only added, structs start with their
 * size and only grow, and what is optional is named by strings, the options of
 * `numera compile` (docs/CommandLine.md).
 *
 * Errors. A function that can fail takes `char **error` last. On failure it
 * returns 0 or NULL and sets *error, unless `error` is NULL, to one line of
 * text that says what was found and what to do; free it with numeraStringFree.
 * On success *error is NULL. A pointer is NULL only where it says so.
 *
 * Threads. A registry is filled by one thread; afterwards any number may use
 * it. Programs may be called from several threads at a time.
 */
#ifndef NUMERA_C_NUMERA_H
#define NUMERA_C_NUMERA_H

#include "numera/Runtime/numera.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NUMERA_C_API __attribute__((visibility("default")))

/** The version of this interface: grows when functions are added. */
#define NUMERA_C_VERSION 4

/** Formats, libraries and lowerings. */
typedef struct NumeraRegistry NumeraRegistry;
/** A compiled model. */
typedef struct NumeraProgram NumeraProgram;
/** A compiled conversion of arrays. */
typedef struct NumeraCast NumeraCast;
/** How far the layers of a function were from f32. */
typedef struct NumeraLayers NumeraLayers;

/** NUMERA_C_VERSION of the library, which may be newer than the header. */
NUMERA_C_API int numeraApiVersion(void);
/** Numera's version, as "0.1.0". */
NUMERA_C_API const char *numeraVersion(void);
NUMERA_C_API void numeraStringFree(char *text);

/* ---- formats --------------------------------------------------------------
 */

/** A registry with the built-in formats. */
NUMERA_C_API NumeraRegistry *numeraRegistryCreate(void);
/** Programs that were compiled with it live on. */
NUMERA_C_API void numeraRegistryDestroy(NumeraRegistry *registry);
/** Adds what a configuration file has; after a failure, nothing of it. */
NUMERA_C_API int numeraRegistryLoadFile(NumeraRegistry *registry,
                                        const char *path, char **error);
/**
 * The same for YAML in memory. `name` stands in messages; relative paths of
 * libraries start at `directory`.
 */
NUMERA_C_API int numeraRegistryLoadText(NumeraRegistry *registry,
                                        const char *yaml, const char *name,
                                        const char *directory, char **error);
/**
 * Adds the family of formats of a plugin to the whole process, before formats
 * are looked up and while no other thread uses Numera.
 */
NUMERA_C_API int numeraLoadPlugin(const char *path, char **error);

/** What a format is. Set `size` before the call. */
typedef struct NumeraFormatInfo {
  uint32_t size;          /**< sizeof(NumeraFormatInfo) */
  uint32_t width;         /**< bits of a value */
  uint32_t storage;       /**< bits of the integer that stores it: 8 to 64 */
  int32_t has_arithmetic; /**< 0: only a library knows its values (opaque) */
  int32_t carrier; /**< 32 or 64: the least of f32 and f64 that has all of its
                      values; 0: neither has */
} NumeraFormatInfo;

/** `format` is a name or a spelling: "posit16", "float<5,7>". */
NUMERA_C_API int numeraFormatDescribe(const NumeraRegistry *registry,
                                      const char *format,
                                      NumeraFormatInfo *info, char **error);
/** The canonical spelling; free it with numeraStringFree. */
NUMERA_C_API char *numeraFormatSpelling(const NumeraRegistry *registry,
                                        const char *format, char **error);
/**
 * What matrix products and sums add up in where nobody says, as the option
 * accumulate names it: "f32", "quire"; free it with numeraStringFree.
 */
NUMERA_C_API char *numeraFormatAccumulator(const NumeraRegistry *registry,
                                           const char *format, char **error);
/**
 * The MLIR type of a tensor with `rank` dimensions of any size, of a format or
 * a scaled one. Blocks lie along `axis`; without blocks each index of it has a
 * scale, and with -1 there is one scale. Free it with numeraStringFree.
 */
NUMERA_C_API char *numeraTensorType(const NumeraRegistry *registry,
                                    const char *format, int32_t rank,
                                    int32_t axis, char **error);
/** The codes of `count` values, each rounded once, as the format rounds. */
NUMERA_C_API int numeraFormatEncode(const NumeraRegistry *registry,
                                    const char *format, const double *values,
                                    uint64_t *codes, size_t count,
                                    char **error);
/** The values of `count` codes, rounded to nearest where f64 has no such one.
 */
NUMERA_C_API int numeraFormatDecode(const NumeraRegistry *registry,
                                    const char *format, const uint64_t *codes,
                                    double *values, size_t count, char **error);

/**
 * The formats of a registry, JSON as `numera formats --json` prints it. This
 * and the next two are freed with numeraStringFree.
 */
NUMERA_C_API char *numeraFormatList(const NumeraRegistry *registry,
                                    char **error);
/**
 * What follows from a format, a scaled one too: JSON as `numera formats NAME
 * --json` prints it (docs/CommandLine.md).
 */
NUMERA_C_API char *numeraFormatFacts(const NumeraRegistry *registry,
                                     const char *format, char **error);
/** Every code of a format of at most 16 bits: `numera formats NAME --table`. */
NUMERA_C_API char *numeraFormatTable(const NumeraRegistry *registry,
                                     const char *format, char **error);
/**
 * The spelling of a format that rounds or overflows in another way: `options`
 * are rounding, random-bits and overflow, as for a compilation.
 */
NUMERA_C_API char *numeraFormatVariant(const NumeraRegistry *registry,
                                       const char *format,
                                       const char *const *options,
                                       char **error);

/* ---- arrays ---------------------------------------------------------------
 */

/**
 * A conversion of arrays from one format to another, each element rounded once:
 * of f32 to codes (from "f32" to "posit16"), of codes to f64. With `through`,
 * which may be NULL, elements are rounded to that format first: from "f32"
 * through "posit16" to "f32" gives the numbers of posit16 as floats.
 *
 * An element is stored as an integer of its format's storage bits, without a
 * sign, one of f32 or f64 as that float, which is the same in memory; integers
 * are fixed<7,0> to fixed<63,0>, or fixed<8,0,unsigned>.
 *
 * options  as for numeraCompileFile: rounding, random-bits and overflow, of
 *          `through` or else of `to`, and cpu. NULL: as the format rounds.
 *
 * It is compiled once for a registry, which keeps it for later calls with the
 * same arguments until more is loaded, and lives on without the registry.
 */
NUMERA_C_API NumeraCast *numeraCastCreate(const NumeraRegistry *registry,
                                          const char *from, const char *through,
                                          const char *to,
                                          const char *const *options,
                                          char **error);
NUMERA_C_API void numeraCastDestroy(NumeraCast *cast);
/**
 * Converts an array of `rank` dimensions, any number of them. Strides are in
 * bytes, of any sign, NULL for an array in row-major order without gaps;
 * addresses need no alignment. The arrays may overlap or be the same one: the
 * result is that of arrays that do not. `options` may be NULL; its threads,
 * seed, step and sample count. An element that is rounded stochastically draws
 * by its index in row-major order, whatever the strides
 * (docs/Semantics/Stochastic.md, D11). Threads may use a cast at the same time.
 */
NUMERA_C_API int numeraCastRun(const NumeraCast *cast, int32_t rank,
                               const int64_t *shape, const void *from,
                               const int64_t *from_strides, void *to,
                               const int64_t *to_strides,
                               const numera_options *options, char **error);

/* ---- programs -------------------------------------------------------------
 */

/**
 * Has what this thread compiles from now on ask `interrupt(context)` between
 * its steps, most of which take tenths of a second at most. A number other than
 * 0 ends the compilation with the error "interrupted"; until the next call of
 * this, it is then not asked again, and nothing is compiled. Null, as at first,
 * for none.
 */
NUMERA_C_API void numeraSetInterrupt(int (*interrupt)(void *context),
                                     void *context);
/**
 * Has the process end with `line` on stderr and exit status 1, and without
 * more, where Numera or LLVM finds no memory. It is kept for as long as the
 * process runs; only the first call counts. Without, the process is aborted.
 */
NUMERA_C_API void numeraEndWithoutMemory(const char *line);
/**
 * Compiles a model, an .onnx or .mlir file, for calls from this process.
 *
 * options  "key=value" strings, the last one NULL; NULL for none. The keys are
 *          format, replace, accumulate, rounding, random-bits, overflow,
 *          seed, output-as, function, safetensors, target (cpu, nvptx), cpu,
 *          optimization, code-cache, gpu and cuda-path, as the options of
 *          `numera compile`, of two of one name the last;
 *          count=flags, for numeraProgramStatistics, with postpone=yes or
 *          counted-rows=0,2, for numeraProgramPostponed, count=rows, for
 *          numeraLayersCreate (target=cpu), or count=layers, for
 *          numeraProgramLayers; and quires=0,2, for functions that return,
 *          behind their results, the quires that these results were rounded
 *          from: i64 with one dimension more, of the words that
 *          docs/Semantics/Quire.md describes.
 */
NUMERA_C_API NumeraProgram *numeraCompileFile(const NumeraRegistry *registry,
                                              const char *model,
                                              const char *const *options,
                                              char **error);
/** The same for MLIR in memory; `name` stands in messages. */
NUMERA_C_API NumeraProgram *
numeraCompileText(const NumeraRegistry *registry, const char *mlir,
                  const char *name, const char *const *options, char **error);
/**
 * Compiles a model into a file, completely or not at all. `emit` is llvm, asm,
 * obj, so or exe; with target=nvptx llvm, ptx, cubin, fatbin, so or exe.
 */
NUMERA_C_API int numeraCompileToFile(const NumeraRegistry *registry,
                                     const char *model,
                                     const char *const *options,
                                     const char *emit, const char *output,
                                     char **error);
/** The same of MLIR in memory. */
NUMERA_C_API int numeraCompileTextToFile(const NumeraRegistry *registry,
                                         const char *mlir, const char *name,
                                         const char *const *options,
                                         const char *emit, const char *output,
                                         char **error);
/**
 * A model as MLIR at a stage of its compilation: `import` (f32), `retype` (in
 * the format) or `lowered` (LLVM dialect). Free it with numeraStringFree.
 */
NUMERA_C_API char *numeraPrintFile(const NumeraRegistry *registry,
                                   const char *model,
                                   const char *const *options,
                                   const char *stage, char **error);
/** The same of MLIR in memory. */
NUMERA_C_API char *numeraPrintText(const NumeraRegistry *registry,
                                   const char *mlir, const char *name,
                                   const char *const *options,
                                   const char *stage, char **error);
/** Opens a shared object that Numera wrote. */
NUMERA_C_API NumeraProgram *numeraProgramOpen(const char *path, char **error);
NUMERA_C_API void numeraProgramDestroy(NumeraProgram *program);

/** What numera_metadata (numera/Runtime/numera.h) is of this program, JSON. */
NUMERA_C_API const char *numeraProgramMetadata(const NumeraProgram *program);
/** What the compiler warned of, a line each; empty if nothing. */
NUMERA_C_API const char *numeraProgramWarnings(const NumeraProgram *program);
NUMERA_C_API size_t numeraProgramFunctionCount(const NumeraProgram *program);
/** NULL if there are not so many. Valid as long as the program. */
NUMERA_C_API const char *numeraProgramFunctionName(const NumeraProgram *program,
                                                   size_t index);
/**
 * How a function is called; NULL if there is none of that name. NULL names the
 * first one. Valid as long as the program.
 */
NUMERA_C_API numera_entry *numeraProgramEntry(const NumeraProgram *program,
                                              const char *function);
/**
 * Calls a function, as numera_entry does, with memory of outputs whose `data`
 * is NULL made by malloc. `options` may be NULL.
 */
NUMERA_C_API int numeraProgramRun(const NumeraProgram *program,
                                  const char *function,
                                  const numera_tensor *inputs,
                                  size_t input_count, numera_tensor *outputs,
                                  size_t output_count,
                                  const numera_options *options, char **error);
/**
 * What a function of a program that was compiled with the option count=flags
 * has counted: such a program has one more output, the last one, i64, whose
 * data of one call are `numbers`. JSON, the keys `stats` and `scaled` of
 * `numera run --stats --json` (docs/CommandLine.md); free it with
 * numeraStringFree. A function without anything to count has no more outputs,
 * and is an error here. NULL names the first function, here and below.
 */
NUMERA_C_API char *numeraProgramStatistics(const NumeraProgram *program,
                                           const NumeraRegistry *registry,
                                           const char *function,
                                           const int64_t *numbers,
                                           char **error);
/**
 * The rows that a call left uncounted, "0,2"; empty if none, as for most
 * models. With the option postpone=yes a program only tests what seldom has
 * flags, which costs a fraction of counting it. Where a test fails, `numbers`
 * are -1. A program that is compiled with counted-rows=0,2 in place of
 * postpone=yes counts these rows, in the same places of its `numbers`, when it
 * is called with the same inputs: put its numbers where the first one's are -1,
 * then call numeraProgramStatistics. Free the text with numeraStringFree.
 */
NUMERA_C_API char *numeraProgramPostponed(const NumeraProgram *program,
                                          const char *function,
                                          const int64_t *numbers, char **error);
/**
 * How far the layers of a function are from f32: of a program that was compiled
 * with the option count=layers, whose functions have further outputs for it.
 * `results` are all outputs of one call. JSON, the key `layers` of
 * `numera run --layers --json` (docs/CommandLine.md); free it with
 * numeraStringFree. A function without layers has an empty list.
 */
NUMERA_C_API char *numeraProgramLayers(const NumeraProgram *program,
                                       const NumeraRegistry *registry,
                                       const char *function,
                                       const numera_tensor *results,
                                       size_t result_count, char **error);

/**
 * The same of a program that was compiled with the option count=rows, which has
 * no further outputs: each of its calls hands over what a layer makes when it
 * is made, so that no layer's memory outlives its use. `threads` measure it, 0:
 * as many as there are processors. The program must outlive it.
 */
NUMERA_C_API NumeraLayers *numeraLayersCreate(const NumeraProgram *program,
                                              const NumeraRegistry *registry,
                                              const char *function,
                                              uint32_t threads, char **error);
NUMERA_C_API void numeraLayersDestroy(NumeraLayers *layers);
/**
 * Sets show_row of `options`: what calls of the function with these options
 * hand over is added up, one call at a time.
 */
NUMERA_C_API void numeraLayersCollect(NumeraLayers *layers,
                                      numera_options *options);
/** JSON, as numeraProgramLayers; free it with numeraStringFree. */
NUMERA_C_API char *numeraLayersPrint(const NumeraLayers *layers);

#ifdef __cplusplus
}
#endif

#endif /* NUMERA_C_NUMERA_H */
