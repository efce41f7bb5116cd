/* SPDX-License-Identifier: MIT
 *
 * Compiles a model in posit16, runs it, and prints the result.
 */
#include <numera-c/Numera.h>

#include <stdio.h>
#include <stdlib.h>

static const char model[] = "func.func @third(%x: tensor<?xf32>, %y: "
                            "tensor<?xf32>) -> tensor<?xf32> {\n"
                            "  %z = arith.divf %x, %y : tensor<?xf32>\n"
                            "  return %z : tensor<?xf32>\n"
                            "}\n";

int main(void) {
  char *error = NULL;
  NumeraRegistry *registry = numeraRegistryCreate();
  const char *const options[] = {"format=posit16", NULL};
  NumeraProgram *program =
      numeraCompileText(registry, model, "model", options, &error);
  if (!program) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  float x[] = {1, 2}, y[] = {3, 4};
  numera_tensor inputs[] = {
      {.data = x, .dtype = NUMERA_F32, .rank = 1, .shape = {2}},
      {.data = y, .dtype = NUMERA_F32, .rank = 1, .shape = {2}}};
  numera_tensor output = {0};
  if (!numeraProgramRun(program, NULL, inputs, 2, &output, 1, NULL, &error)) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  const float *result = output.data;
  printf("%a %a\n", result[0], result[1]);
  free(output.data);
  numeraProgramDestroy(program);
  numeraRegistryDestroy(registry);
  return 0;
}
