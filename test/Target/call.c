/* SPDX-License-Identifier: MIT
 *
 * A C program that calls a compiled function: two numbers to add, in posit16,
 * on the command line. posit_add.h comes from the compiler, beside the .so.
 */
#include "posit_add.h"

#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  if (count != 3)
    return 2;
  uint16_t x = (uint16_t)strtoul(words[1], NULL, 16);
  uint16_t y = (uint16_t)strtoul(words[2], NULL, 16);
  const numera_tensor inputs[2] = {
      {.data = &x, .dtype = NUMERA_U16, .rank = 1, .shape = {1}},
      {.data = &y, .dtype = NUMERA_U16, .rank = 1, .shape = {1}}};
  numera_tensor output = {0};
  numera_options options = NUMERA_OPTIONS;
  char error[256];
  if (f(inputs, 2, &output, 1, &options, error, sizeof error) != 0) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  printf("%04x\n", *(uint16_t *)output.data);
  free(output.data);
  return 0;
}
