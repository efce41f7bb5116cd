/* SPDX-License-Identifier: MIT
 *
 * Clauses: D11.
 * Conversions of arrays from C. Values are held against numeraFormatEncode and
 * Decode, which go through no compiled program; arrays with strides against
 * the same elements without gaps, for every layout that a list of strides can
 * say.
 */
#include "numera-c/Numera.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

#define EXPECT_ERROR(call, words)                                              \
  do {                                                                         \
    char *error = NULL;                                                        \
    EXPECT(!(call));                                                           \
    EXPECT(error && strstr(error, words) && !strchr(error, '\n'));             \
    if (error && !strstr(error, words))                                        \
      fprintf(stderr, "found: %s\n", error);                                   \
    numeraStringFree(error);                                                   \
  } while (0)

static const NumeraRegistry *registry;

static NumeraCast *create(const char *from, const char *through, const char *to,
                          const char *const *options) {
  char *error = NULL;
  NumeraCast *cast =
      numeraCastCreate(registry, from, through, to, options, &error);
  if (!cast) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
  return cast;
}

static void run(const NumeraCast *cast, int32_t rank, const int64_t *shape,
                const void *from, const int64_t *from_strides, void *to,
                const int64_t *to_strides, const numera_options *options) {
  char *error = NULL;
  EXPECT(numeraCastRun(cast, rank, shape, from, from_strides, to, to_strides,
                       options, &error));
  if (error)
    fprintf(stderr, "%s\n", error);
  numeraStringFree(error);
}

/* Every code of 16 bits, as f32 and back, and f32 values in between. */
static void testValues(const char *format) {
  enum { codes = 1 << 16 };
  static uint64_t wide[codes];
  static double numbers[codes];
  static uint16_t narrow[codes], encoded[codes];
  static float values[codes], between[codes], rounded[codes];
  static double doubles[codes];
  for (int i = 0; i < codes; ++i)
    wide[i] = narrow[i] = (uint16_t)i;
  EXPECT(numeraFormatDecode(registry, format, wide, numbers, codes, NULL));
  const int64_t shape[] = {codes};

  NumeraCast *decode = create(format, NULL, "f32", NULL);
  run(decode, 1, shape, narrow, NULL, values, NULL, NULL);
  NumeraCast *decode64 = create(format, NULL, "f64", NULL);
  run(decode64, 1, shape, narrow, NULL, doubles, NULL, NULL);
  for (int i = 0; i < codes; ++i) {
    EXPECT(memcmp(&doubles[i], &numbers[i], 8) == 0);
    EXPECT((double)values[i] == numbers[i] || isnan(values[i]));
    between[i] = values[i] * 1.0013f;
    numbers[i] = between[i];
  }
  EXPECT(numeraFormatEncode(registry, format, numbers, wide, codes, NULL));
  NumeraCast *encode = create("f32", NULL, format, NULL);
  run(encode, 1, shape, between, NULL, encoded, NULL, NULL);
  NumeraCast *quantize = create("f32", format, "f32", NULL);
  run(quantize, 1, shape, between, NULL, rounded, NULL, NULL);
  run(decode, 1, shape, encoded, NULL, values, NULL, NULL);
  for (int i = 0; i < codes; ++i)
    EXPECT(encoded[i] == wide[i]);
  EXPECT(memcmp(rounded, values, sizeof values) == 0);
  numeraCastDestroy(decode);
  numeraCastDestroy(decode64);
  numeraCastDestroy(encode);
  numeraCastDestroy(quantize);
}

/* One conversion through all layouts of a shape: each stride as it is, turned
 * around, or spread, dimensions in each order; against the same elements one
 * after the other. */
enum { most = 3 * 1500 * 2 * 8 * 27 };
static char input[most], output[most], dense[most], expected[most];

static int64_t layout(int rank, const int64_t *shape, const int *order,
                      int which, int64_t size, int64_t *strides) {
  int64_t stride = size, first = 0;
  for (int i = 0; i < rank; ++i, which /= 3) {
    int d = order[i];
    strides[d] = which % 3 == 1 ? -stride : stride;
    if (which % 3 == 2)
      strides[d] = stride = stride * 3;
    if (strides[d] < 0)
      first -= strides[d] * (shape[d] - 1);
    stride *= shape[d];
  }
  return first;
}

static int64_t offsetOf(int64_t i, int rank, const int64_t *shape,
                        const int64_t *strides) {
  int64_t offset = 0;
  for (int d = rank; d-- > 0; i /= shape[d])
    offset += i % shape[d] * strides[d];
  return offset;
}

static void testLayouts(const NumeraCast *cast, const int64_t *shape,
                        int64_t fromSize, int64_t toSize, uint32_t threads) {
  static const int orders[][3] = {{2, 1, 0}, {0, 1, 2}, {1, 2, 0}};
  int64_t count = shape[0] * shape[1] * shape[2];
  numera_options options = NUMERA_OPTIONS;
  options.seed = 5;
  options.threads = threads;
  for (int64_t i = 0; i < count * fromSize; ++i)
    dense[i] = (char)(i * 2654435761u >> 13);
  for (int64_t i = 0; fromSize >= 4 && i < count; ++i) {
    float number = (float)(i % 991) * 0.37f - 100;
    double wide = number;
    memcpy(dense + i * fromSize, fromSize == 4 ? (void *)&number : &wide,
           (size_t)fromSize);
  }
  run(cast, 1, &count, dense, NULL, expected, NULL, &options);
  for (int in = 0; in < 81; ++in)
    for (int out = 0; out < 81; out += in % 5 + 1) {
      int64_t from[3], to[3];
      int64_t a = layout(3, shape, orders[in % 3], in / 3, fromSize, from);
      int64_t b = layout(3, shape, orders[out % 3], out / 3, toSize, to);
      /* Addresses that are no multiples of anything. */
      a += in % 2;
      b += out % 2;
      for (int64_t i = 0; i < count; ++i)
        memcpy(input + a + offsetOf(i, 3, shape, from), dense + i * fromSize,
               (size_t)fromSize);
      run(cast, 3, shape, input + a, from, output + b, to, &options);
      int differ = 0;
      for (int64_t i = 0; i < count; ++i)
        differ += memcmp(output + b + offsetOf(i, 3, shape, to),
                         expected + i * toSize, (size_t)toSize) != 0;
      EXPECT(differ == 0);
    }
}

static void testStrides(void) {
  static const char *const stochastic[] = {"rounding=stochastic", NULL};
  const int64_t small[] = {3, 5, 7}, rows[] = {2, 3, 1500};
  NumeraCast *cast = create("f32", NULL, "f8E4M3FN", NULL);
  testLayouts(cast, small, 4, 1, 1);
  testLayouts(cast, rows, 4, 1, 1);
  numeraCastDestroy(cast);
  cast = create("posit16", NULL, "f64", NULL);
  testLayouts(cast, small, 2, 8, 1);
  numeraCastDestroy(cast);
  cast = create("f64", "bf16", "f64", stochastic);
  testLayouts(cast, small, 8, 8, 1);
  testLayouts(cast, rows, 8, 8, 1);
  numeraCastDestroy(cast);
}

/* Long enough for several threads; every other element, backwards. */
static void testThreads(void) {
  static const char *const stochastic[] = {"rounding=stochastic", NULL};
  const int64_t count = 1 << 20, from_stride = -8, to_stride = 8;
  float *x = malloc((size_t)count * 8), *y = calloc((size_t)count, 8);
  float *one = malloc((size_t)count * 4);
  assert(x && y && one);
  for (int64_t i = 0; i < 2 * count; ++i)
    x[i] = (float)i / 3;
  NumeraCast *cast = create("f32", "bf16", "f32", stochastic);
  numera_options options = NUMERA_OPTIONS;
  options.seed = 9;
  options.threads = 1;
  float *last = x + 2 * count - 1;
  run(cast, 1, &count, last, &from_stride, one, NULL, &options);
  options.threads = 3;
  run(cast, 1, &count, last, &from_stride, y, &to_stride, &options);
  int64_t differ = 0;
  for (int64_t i = 0; i < count; ++i)
    differ += y[2 * i] != one[i] || y[2 * i + 1] != 0;
  EXPECT(differ == 0);
  /* In place, all of it. */
  for (int64_t i = 0; i < count; ++i)
    y[i] = last[-2 * i];
  run(cast, 1, &count, y, NULL, y, NULL, &options);
  EXPECT(memcmp(y, one, (size_t)count * 4) == 0);
  numeraCastDestroy(cast);
  free(x);
  free(y);
  free(one);
}

static void testOverlap(void) {
  NumeraCast *cast = create("f32", "posit8", "f32", NULL);
  static float x[9000], whole[9000], y[9000];
  for (int i = 0; i < 9000; ++i)
    x[i] = (float)i * 1.37f;
  const int64_t all = 9000, part = 8990, step[] = {-4};
  run(cast, 1, &all, x, NULL, whole, NULL, NULL);
  memcpy(y, x, sizeof x); /* ten further on */
  run(cast, 1, &part, y, NULL, y + 10, NULL, NULL);
  EXPECT(memcmp(y + 10, whole, 8990 * sizeof *y) == 0);
  memcpy(y, x, sizeof x); /* ten before */
  run(cast, 1, &part, y + 10, NULL, y, NULL, NULL);
  EXPECT(memcmp(y, whole + 10, 8990 * sizeof *y) == 0);
  memcpy(y, x, sizeof x); /* turned around */
  run(cast, 1, &all, y + 8999, step, y, NULL, NULL);
  int differ = 0;
  for (int i = 0; i < 9000; ++i)
    differ += y[i] != whole[8999 - i];
  EXPECT(differ == 0);
  numeraCastDestroy(cast);
  /* Codes where the numbers were. */
  cast = create("f32", NULL, "posit16", NULL);
  static uint16_t codes[9000];
  run(cast, 1, &all, x, NULL, codes, NULL, NULL);
  run(cast, 1, &all, x, NULL, x, NULL, NULL);
  EXPECT(memcmp(x, codes, sizeof codes) == 0);
  numeraCastDestroy(cast);
}

static void testShapes(void) {
  NumeraCast *cast = create("f32", NULL, "bf16", NULL);
  float x[64] = {1, 2, 3};
  uint16_t y[64] = {7, 7, 7};
  run(cast, 0, NULL, x, NULL, y, NULL, NULL);
  EXPECT(y[0] == 0x3f80 && y[1] == 7);
  int64_t shape[32], strides[32];
  for (int d = 0; d < 32; ++d) {
    shape[d] = d % 6 == 0 ? 2 : 1;
    strides[d] = 0;
  }
  for (int i = 0; i < 64; ++i)
    x[i] = (float)i;
  run(cast, 32, shape, x, NULL, y, NULL, NULL);
  EXPECT(y[0] == 0 && y[1] == 0x3f80 && y[63] == 0x427c);
  run(cast, 32, shape, x + 3, strides, y, NULL, NULL);
  EXPECT(y[0] == 0x4040 && y[63] == 0x4040);
  const int64_t empty[] = {5, 0, INT64_MAX};
  run(cast, 3, empty, NULL, NULL, NULL, NULL, NULL);
  const int64_t wrong[] = {5, -1}, much[] = {INT64_MAX, 3}, two[] = {2, 32};
  EXPECT_ERROR(numeraCastRun(cast, 2, wrong, x, NULL, y, NULL, NULL, &error),
               "dimension 1 has the size -1, expected 0 or more");
  EXPECT_ERROR(numeraCastRun(cast, 2, much, x, NULL, y, NULL, NULL, &error),
               "more bytes than there can be");
  EXPECT_ERROR(numeraCastRun(cast, -1, much, x, NULL, y, NULL, NULL, &error),
               "rank -1, expected 0 or more");
  EXPECT_ERROR(numeraCastRun(cast, 2, two, x, NULL, y, strides, NULL, &error),
               "dimension 0 of the output has the stride 0; expected elements "
               "with memory of their own");
  EXPECT_ERROR(numeraCastRun(cast, 2, two, NULL, NULL, y, NULL, NULL, &error),
               "the input is NULL");
  numeraCastDestroy(cast);
}

/* What is said of rounding and overflow, integers, and what goes wrong. */
static void testOptions(NumeraRegistry *own) {
  static const char *const up[] = {"rounding=up", "overflow=saturate", NULL};
  NumeraCast *cast = create("f32", "f8E5M2", "f32", up);
  float x[] = {1.01f, -1.01f, 1e9f}, y[3];
  const int64_t three = 3;
  run(cast, 1, &three, x, NULL, y, NULL, NULL);
  EXPECT(y[0] == 1.25f && y[1] == -1.0f && y[2] == 57344.0f);
  numeraCastDestroy(cast);

  cast = create("fixed<31,0>", NULL, "bf16", NULL);
  int32_t whole[] = {-3, 65537, INT32_MIN};
  uint16_t codes[3];
  run(cast, 1, &three, whole, NULL, codes, NULL, NULL);
  EXPECT(codes[0] == 0xc040 && codes[1] == 0x4780 && codes[2] == 0xcf00);
  numeraCastDestroy(cast);

  static const char *const format[] = {"format=bf16", NULL};
  static const char *const wrong[] = {"rounding=upp", NULL};
  EXPECT_ERROR(numeraCastCreate(own, "f32", NULL, "posit61", NULL, &error),
               "did you mean");
  EXPECT_ERROR(numeraCastCreate(own, "f32", "bf16", "f32", format, &error),
               "option 'format' is not for conversions of arrays, expected "
               "rounding, random-bits, overflow or cpu");
  EXPECT_ERROR(numeraCastCreate(own, "f32", "bf16", "f32", wrong, &error),
               "'upp' does not go with float<8,7>");
  EXPECT_ERROR(numeraCastCreate(own, "f32", NULL, "mine", NULL, &error),
               "mine");

  /* Another format of the same name, and an end before the casts'. */
  EXPECT(numeraRegistryLoadText(
      own, "formats:\n  e5m7: {family: float, exponent: 5, mantissa: 7}\n",
      "text", ".", NULL));
  cast = create("f32", NULL, "e5m7", NULL);
  run(cast, 1, &three, x, NULL, codes, NULL, NULL);
  EXPECT(codes[0] == 0x781 && codes[1] == 0x1781);
  numeraRegistryDestroy(own);
  run(cast, 1, &three, x, NULL, codes, NULL, NULL);
  numeraCastDestroy(cast);
}

int main(void) {
  NumeraRegistry *own = numeraRegistryCreate();
  EXPECT(numeraRegistryLoadText(
      own, "formats:\n  mine: {family: opaque, bits: 9}\n", "text", ".", NULL));
  registry = own;
  testValues("bf16");
  testValues("posit16");
  testStrides();
  testThreads();
  testOverlap();
  testShapes();
  testOptions(own);
  return failures != 0;
}
