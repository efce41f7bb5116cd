/* SPDX-License-Identifier: MIT
 *
 * A C program with Numera in it: formats, a compilation, calls, files, errors.
 * Its argument is a folder to write to.
 */
#include "numera-c/Numera.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a program that was compiled earlier relies on. */
_Static_assert(sizeof(NumeraFormatInfo) == 20, "");
_Static_assert(offsetof(NumeraFormatInfo, has_arithmetic) == 12, "");
_Static_assert(sizeof(numera_tensor) == 24 + 8 * NUMERA_MAX_RANK, "");
_Static_assert(offsetof(numera_tensor, shape) == 24, "");
_Static_assert(offsetof(numera_options, stream) == 48, "");
_Static_assert(sizeof(numera_options) == 88, "");
_Static_assert(offsetof(numera_options, workspace) == 32, "");
_Static_assert(NUMERA_F32 == 1 && NUMERA_BOOL == 11, "");
_Static_assert(NUMERA_F16 == 12 && NUMERA_BF16 == 13, "");
_Static_assert(NUMERA_U128 == 14 && NUMERA_U256 == 15, "");

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* The call failed, and said so in one line with these words in it. */
#define EXPECT_ERROR(call, words)                                              \
  do {                                                                         \
    char *error = NULL;                                                        \
    EXPECT(!(call));                                                           \
    EXPECT(error && strstr(error, words) && !strchr(error, '\n'));             \
    if (error && !strstr(error, words))                                        \
      fprintf(stderr, "found: %s\n", error);                                   \
    numeraStringFree(error);                                                   \
  } while (0)

#define EXPECT_STRING(call, expected)                                          \
  do {                                                                         \
    char *error = NULL, *text = call;                                          \
    EXPECT(text && strcmp(text, expected) == 0);                               \
    if (!text || strcmp(text, expected))                                       \
      fprintf(stderr, "found: %s\n", text ? text : error);                     \
    numeraStringFree(text);                                                    \
    numeraStringFree(error);                                                   \
  } while (0)

static const char model[] =
    "func.func @axpy(%a: tensor<?xf32>, %x: tensor<?xf32>, %y: tensor<?xf32>)"
    "    -> tensor<?xf32> {\n"
    "  %p = arith.mulf %a, %x : tensor<?xf32>\n"
    "  %s = arith.addf %p, %y : tensor<?xf32>\n"
    "  return %s : tensor<?xf32>\n"
    "}\n";

static numera_tensor vector(float *data, int64_t length) {
  numera_tensor tensor = {.data = data,
                          .capacity = (uint64_t)length * sizeof(float),
                          .dtype = NUMERA_F32,
                          .rank = 1,
                          .shape = {length}};
  return tensor;
}

static void testFormats(NumeraRegistry *registry) {
  char *error = NULL;
  NumeraFormatInfo info = {.size = sizeof info};
  EXPECT(numeraFormatDescribe(registry, "posit<12,1>", &info, &error));
  EXPECT(error == NULL);
  EXPECT(info.width == 12 && info.storage == 16 && info.has_arithmetic);
  EXPECT(info.carrier == 32);
  EXPECT(numeraFormatDescribe(registry, "posit32", &info, &error));
  EXPECT(info.carrier == 64);
  EXPECT(numeraFormatDescribe(registry, "posit<64,2>", &info, &error));
  EXPECT(info.carrier == 0);
  /* An older program's struct is shorter; nothing behind it is touched. */
  NumeraFormatInfo old = {.size = 8, .storage = 77};
  EXPECT(numeraFormatDescribe(registry, "posit<12,1>", &old, NULL));
  EXPECT(old.size == 8 && old.width == 12 && old.storage == 77);

  EXPECT(numeraRegistryLoadText(
      registry,
      "formats:\n  e5m7: {family: float, exponent: 5, mantissa: 7}\n"
      "  mine: {family: opaque, bits: 9}\n",
      "text", ".", &error));
  char *spelling = numeraFormatSpelling(registry, "e5m7", &error);
  EXPECT(spelling && strcmp(spelling, "float<5,7>") == 0);
  numeraStringFree(spelling);

  EXPECT_STRING(numeraFormatAccumulator(registry, "posit16", &error), "f32");
  EXPECT_STRING(numeraFormatAccumulator(registry, "fixed<3,4>", &error),
                "quire");
  EXPECT_STRING(numeraTensorType(registry, "f32", 0, -1, &error),
                "tensor<f32>");
  EXPECT_STRING(numeraTensorType(registry, "posit16", 2, -1, &error),
                "tensor<?x?x!numera.num<posit<16,2>>>");
  EXPECT_STRING(
      numeraTensorType(registry, "float<5,7,bias=-3,random-bits=8,stochastic>",
                       0, -1, &error),
      "tensor<!numera.num<float<5,7,bias=-3,stochastic,\"random-bits=8\">>>");
  EXPECT_STRING(numeraTensorType(registry, "mine", 1, -1, &error),
                "tensor<?x!numera.num<opaque<\"mine\", 9>>>");
  EXPECT_STRING(numeraTensorType(registry, "nvfp4", 2, 1, &error),
                "tensor<?x?x!numera.num<float<2,1,finite>>, "
                "#numera.scaling<\"absmax\", float<4,3,fn>, axis = 1, "
                "block = 16, tensor>>");
  EXPECT_ERROR(numeraTensorType(registry, "mxfp8", 2, -1, &error),
               "blocks of 'mxfp8' lie along an axis; none is named");
  EXPECT_ERROR(numeraTensorType(registry, "mxfp9", 2, 1, &error), "mxfp9");
  EXPECT_ERROR(numeraTensorType(registry, "f32", 2, 2, &error),
               "rank 2 with the axis 2");

  const double values[] = {1.0, -0.1, 3.0e5, NAN};
  uint64_t codes[4];
  double back[4];
  EXPECT(numeraFormatEncode(registry, "bf16", values, codes, 4, &error));
  EXPECT(codes[0] == 0x3f80 && codes[1] == 0xbdcd && codes[3] == 0x7fc0);
  EXPECT(numeraFormatDecode(registry, "bf16", codes, back, 4, &error));
  EXPECT(back[0] == 1.0 && back[1] == -0x1.9ap-4 && isnan(back[3]));

  EXPECT_ERROR(numeraFormatSpelling(registry, "posit61", &error),
               "did you mean");
  EXPECT_ERROR(numeraFormatEncode(registry, "mine", values, codes, 4, &error),
               "opaque");
  codes[0] = 0x10000;
  EXPECT_ERROR(numeraFormatDecode(registry, "bf16", codes, back, 1, &error),
               "16");
  EXPECT_ERROR(numeraRegistryLoadFile(registry, "nowhere.yaml", &error),
               "nowhere.yaml");
  EXPECT_ERROR(numeraRegistryLoadText(registry,
                                      "formats:\n  x: {family: floot}\n",
                                      "text", ".", &error),
               "text:2:");
  EXPECT_ERROR(numeraLoadPlugin("nowhere.so", &error), "does not exist");
  EXPECT_ERROR(numeraLoadPlugin("/dev/null", &error), "cannot be loaded");
}

/* The text has these words; frees it. */
#define EXPECT_TEXT(call, words)                                               \
  do {                                                                         \
    char *text = (call);                                                       \
    EXPECT(text && strstr(text, words));                                       \
    numeraStringFree(text);                                                    \
  } while (0)

static void testDescriptions(NumeraRegistry *registry) {
  char *error = NULL;
  EXPECT_TEXT(numeraFormatList(registry, &error), "\"name\": \"e5m7\"");
  EXPECT_TEXT(numeraFormatFacts(registry, "f8E4M3FN", &error),
              "\"largest\": \"0x1.cp+8\"");
  EXPECT_TEXT(numeraFormatFacts(registry, "mxfp8", &error), "\"block\": 32");
  EXPECT_TEXT(numeraFormatFacts(registry, "mine", &error),
              "\"kind\": \"missing\"");
  EXPECT_TEXT(numeraFormatTable(registry, "posit8", &error),
              "{\"code\": \"0x40\", \"value\": \"0x1p+0\"");
  const char *const drawn[] = {"rounding=stochastic", "random-bits=8", NULL};
  EXPECT_TEXT(numeraFormatVariant(registry, "e5m7", drawn, &error),
              "float<5,7,stochastic,random-bits=8>");
  EXPECT(error == NULL);

  EXPECT_ERROR(numeraFormatFacts(registry, "posit61", &error), "did you mean");
  EXPECT_ERROR(numeraFormatFacts(registry, "block<posit16>", &error), "block");
  EXPECT_ERROR(numeraFormatTable(registry, "f32", &error), "at most 16");
  EXPECT_ERROR(numeraFormatTable(registry, "mine", &error), "opaque");
  const char *const wrap[] = {"overflow=wrap", NULL};
  EXPECT_ERROR(numeraFormatVariant(registry, "posit16", wrap, &error),
               "does not go with posit<16,2>");
}

/* How often a compilation may ask, and how often it has. */
struct Patience {
  int most, asked;
};

static int runsOut(void *context) {
  struct Patience *patience = context;
  return ++patience->asked > patience->most;
}

/* A compilation that is given up at any of its questions says so. */
static void testInterrupts(NumeraRegistry *registry) {
  char *error = NULL;
  const char *const options[] = {"format=bf16", "code-cache=off", NULL};
  struct Patience endless = {1 << 30, 0};
  numeraSetInterrupt(runsOut, &endless);
  NumeraProgram *whole =
      numeraCompileText(registry, model, "axpy.mlir", options, &error);
  EXPECT(whole && endless.asked > 20);
  numeraProgramDestroy(whole);
  for (int most = 0; most < endless.asked; most += 1 + endless.asked / 40) {
    struct Patience patience = {most, 0};
    numeraSetInterrupt(runsOut, &patience);
    EXPECT_ERROR(
        numeraCompileText(registry, model, "axpy.mlir", options, &error),
        "interrupted");
    EXPECT(patience.asked == most + 1);
    EXPECT_ERROR(numeraCompileTextToFile(registry, model, "axpy.mlir", options,
                                         "obj", "/dev/null", &error),
                 "interrupted");
    EXPECT(patience.asked == most + 1);
  }
  numeraSetInterrupt(NULL, NULL);
  whole = numeraCompileText(registry, model, "axpy.mlir", options, &error);
  EXPECT(whole);
  numeraProgramDestroy(whole);
}

static void testProgram(NumeraRegistry *registry, const char *folder) {
  char *error = NULL;
  const char *const options[] = {"format=posit16", "cpu=x86-64-v3",
                                 "optimization=1", NULL};
  NumeraProgram *program =
      numeraCompileText(registry, model, "axpy.mlir", options, &error);
  if (!program) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
  EXPECT(numeraProgramFunctionCount(program) == 1);
  EXPECT(strcmp(numeraProgramFunctionName(program, 0), "axpy") == 0);
  EXPECT(numeraProgramFunctionName(program, 1) == NULL);
  EXPECT(strstr(numeraProgramMetadata(program), "\"posit16\""));
  EXPECT(numeraProgramEntry(program, "axpy") ==
         numeraProgramEntry(program, NULL));
  EXPECT(numeraProgramEntry(program, "other") == NULL);

  float a[] = {0.1f, 1e6f, NAN}, x[] = {3, 1e6f, 1}, y[] = {0.3f, -1, 2};
  numera_tensor inputs[] = {vector(a, 3), vector(x, 3), vector(y, 3)};
  numera_tensor output = {0};
  EXPECT(
      numeraProgramRun(program, "axpy", inputs, 3, &output, 1, NULL, &error));
  const float *result = output.data;
  /* 1/10 is 0.099998…, times 3 is 0.29993, and 3/10 is 0.30005. */
  EXPECT(output.rank == 1 && output.shape[0] == 3);
  EXPECT(fabsf(result[0] - 0.6f) < 1e-3f && isnan(result[2]));
  EXPECT(result[1] > 1e11f);
  free(output.data);

  inputs[2].shape[0] = 2;
  EXPECT_ERROR(
      numeraProgramRun(program, NULL, inputs, 3, &output, 1, NULL, &error),
      "shape");
  EXPECT_ERROR(
      numeraProgramRun(program, "other", inputs, 3, &output, 1, NULL, &error),
      "other");
  EXPECT(strcmp(numeraProgramWarnings(program), "") == 0);
  numeraProgramDestroy(program);
  EXPECT_TEXT(numeraPrintText(registry, model, "m", options, "retype", &error),
              "numera.mul");
  EXPECT_ERROR(numeraPrintText(registry, model, "m", options, "last", &error),
               "expected import, retype or lowered");
  EXPECT_ERROR(
      numeraPrintFile(registry, "none.mlir", options, "import", &error),
      "none.mlir");

  const char *const counting[] = {"format=f8E4M3FN", "count=flags", NULL};
  program = numeraCompileText(registry, model, "m", counting, &error);
  EXPECT(program && error == NULL);
  numera_tensor counted[2] = {{0}, {0}};
  float big[] = {448, 1}, one[] = {1, 1};
  numera_tensor numbers[] = {vector(big, 2), vector(big, 2), vector(one, 2)};
  EXPECT(numeraProgramRun(program, NULL, numbers, 3, counted, 2, NULL, &error));
  EXPECT_TEXT(numeraProgramStatistics(program, registry, "axpy",
                                      counted[1].data, &error),
              "\"operation\":\"mul\",\"format\":\"f8E4M3FN\",\"count\":2,"
              "\"overflow\":1,\"underflow\":0");
  EXPECT_ERROR(
      numeraProgramStatistics(program, registry, "f", counted[1].data, &error),
      "counts nothing");
  EXPECT_TEXT(
      numeraProgramStatistics(program, registry, NULL, counted[1].data, &error),
      "\"operation\":\"mul\",\"format\":\"f8E4M3FN\",\"count\":2,");
  char *left = numeraProgramPostponed(program, NULL, counted[1].data, &error);
  EXPECT(left && strcmp(left, "") == 0);
  numeraStringFree(left);
  free(counted[0].data);
  free(counted[1].data);
  numeraProgramDestroy(program);

  // The sum, of which an operand is infinite, is left to another program.
  const char *const postponing[] = {"format=bf16", "count=flags",
                                    "postpone=yes", NULL};
  program = numeraCompileText(registry, model, "m", postponing, &error);
  EXPECT(program && error == NULL);
  float huge[] = {3e38f, 1};
  numera_tensor products[] = {vector(huge, 2), vector(huge, 2), vector(one, 2)};
  counted[0].data = counted[1].data = NULL;
  EXPECT(
      numeraProgramRun(program, NULL, products, 3, counted, 2, NULL, &error));
  EXPECT_TEXT(numeraProgramPostponed(program, "axpy", counted[1].data, &error),
              "4");
  EXPECT_ERROR(numeraProgramPostponed(program, "f", counted[1].data, &error),
               "counts nothing");
  free(counted[0].data);
  free(counted[1].data);
  numeraProgramDestroy(program);

  // The result, and three for each of two layers.
  const char *const showing[] = {"format=f8E4M3FN", "count=layers", NULL};
  program = numeraCompileText(registry, model, "m", showing, &error);
  EXPECT(program && error == NULL);
  numera_tensor shown[7] = {{0}};
  EXPECT(numeraProgramRun(program, NULL, numbers, 3, shown, 7, NULL, &error));
  EXPECT_TEXT(numeraProgramLayers(program, registry, "axpy", shown, 7, &error),
              "\"operation\":\"mulf\",\"format\":\"f8E4M3FN\",\"inputs\":[],"
              "\"count\":2,\"input_sqnr_db\":null");
  EXPECT_ERROR(numeraProgramLayers(program, registry, "f", shown, 7, &error),
               "shows no layers");
  EXPECT_ERROR(numeraProgramLayers(program, registry, NULL, shown, 5, &error),
               "function 'axpy' has 6 results for its layers, found 5");
  for (int i = 0; i < 7; ++i)
    free(shown[i].data);
  EXPECT_ERROR(numeraLayersCreate(program, registry, NULL, 0, &error),
               "function 'axpy' shows no layers; compile it with count=rows");
  numeraProgramDestroy(program);

  // The same in the calls: of two, twice as many elements.
  const char *const calling[] = {"format=f8E4M3FN", "count=rows", NULL};
  program = numeraCompileText(registry, model, "m", calling, &error);
  EXPECT(program && error == NULL);
  NumeraLayers *layers =
      numeraLayersCreate(program, registry, "axpy", 1, &error);
  EXPECT(layers && error == NULL);
  numera_options collecting = NUMERA_OPTIONS;
  numeraLayersCollect(layers, &collecting);
  shown[0].data = NULL;
  for (int i = 0; i < 2; ++i)
    EXPECT(numeraProgramRun(program, NULL, numbers, 3, shown, 1,
                            i ? &collecting : NULL, &error));
  EXPECT_TEXT(numeraLayersPrint(layers),
              "\"operation\":\"mulf\",\"format\":\"f8E4M3FN\",\"inputs\":[],"
              "\"count\":2,\"input_sqnr_db\":null");
  EXPECT(numeraProgramRun(program, NULL, numbers, 3, shown, 1, &collecting,
                          &error));
  EXPECT_TEXT(numeraLayersPrint(layers), "\"count\":4,");
  EXPECT_ERROR(numeraProgramLayers(program, registry, "axpy", shown, 1, &error),
               "shows no layers; compile it with count=layers");
  free(shown[0].data);
  numeraLayersDestroy(layers);
  numeraProgramDestroy(program);
  const char *const elsewhere[] = {"target=nvptx", "count=rows", NULL};
  EXPECT_ERROR(numeraCompileText(registry, model, "m", elsewhere, &error),
               "expected target=cpu");

  const char *const wrong[] = {"fromat=posit16", NULL};
  EXPECT_ERROR(numeraCompileText(registry, model, "m", wrong, &error),
               "did you mean 'format'");
  const char *const unknown[] = {"format=posit61", NULL};
  EXPECT_ERROR(numeraCompileText(registry, model, "m", unknown, &error),
               "posit61");
  const char *const level[] = {"optimization=4", NULL};
  EXPECT_ERROR(numeraCompileText(registry, model, "m", level, &error),
               "0, 1, 2 or 3");
  const char *const target[] = {"target=tpu", NULL};
  EXPECT_ERROR(numeraCompileText(registry, model, "m", target, &error),
               "cpu or nvptx");
  EXPECT_ERROR(numeraCompileText(registry, "func @", "m.mlir", options, &error),
               "m.mlir:1:");
  EXPECT_ERROR(numeraCompileFile(registry, "nowhere.onnx", options, &error),
               "nowhere.onnx");

  /* The same through files. */
  char path[4096], object[4096];
  snprintf(path, sizeof path, "%s/axpy.mlir", folder);
  snprintf(object, sizeof object, "%s/axpy.so", folder);
  FILE *file = fopen(path, "w");
  assert(file);
  fputs(model, file);
  fclose(file);
  EXPECT_ERROR(
      numeraCompileToFile(registry, path, options, "ptx", object, &error),
      "not for --target cpu");
  EXPECT_ERROR(
      numeraCompileToFile(registry, path, options, "bin", object, &error),
      "unknown");
  EXPECT(numeraCompileToFile(registry, path, options, "so", object, &error));
  NumeraProgram *opened = numeraProgramOpen(object, &error);
  EXPECT(opened && numeraProgramEntry(opened, "axpy"));
  numeraProgramDestroy(opened);
  EXPECT_ERROR(numeraProgramOpen(path, &error), "axpy.mlir");
  EXPECT(numeraCompileTextToFile(registry, model, "m", options, "obj", object,
                                 &error));
  EXPECT_ERROR(numeraCompileTextToFile(registry, "func", "m", options, "obj",
                                       object, &error),
               "m:1:");
}

int main(int argc, char **argv) {
  assert(argc == 2);
  EXPECT(numeraApiVersion() == NUMERA_C_VERSION);
  EXPECT(strchr(numeraVersion(), '.'));
  NumeraRegistry *registry = numeraRegistryCreate();
  testFormats(registry);
  testDescriptions(registry);
  testInterrupts(registry);
  testProgram(registry, argv[1]);
  numeraRegistryDestroy(registry);
  return failures != 0;
}
