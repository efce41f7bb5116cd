/* SPDX-License-Identifier: MIT
 *
 * Calls the function ENTRY of a program that another machine is to run, under
 * an emulator: caller INPUTS OUTPUTS COUNT, the number of outputs. A file is
 * the number of its tensors, and for each its dtype, rank, shape (int64_t) and
 * data.
 */
#include <numera.h>
#include <stdio.h>
#include <stdlib.h>

extern numera_entry ENTRY;

static int64_t sizeOf(const numera_tensor *tensor) {
  static const int64_t bytes[] = {0, 4, 8, 1, 2, 4, 8,  1,
                                  2, 4, 8, 1, 2, 2, 16, 32};
  int64_t size = bytes[tensor->dtype];
  for (int i = 0; i < tensor->rank; ++i)
    size *= tensor->shape[i];
  return size;
}

static int64_t readNumber(FILE *file) {
  int64_t number;
  if (fread(&number, sizeof number, 1, file) != 1)
    exit(2);
  return number;
}

static void writeNumber(int64_t number, FILE *file) {
  fwrite(&number, sizeof number, 1, file);
}

int main(int argc, char **argv) {
  enum { most = 1000 };
  static numera_tensor inputs[most], outputs[most];
  if (argc != 4)
    return 2;
  FILE *file = fopen(argv[1], "rb");
  if (!file)
    return 2;
  int64_t inputCount = readNumber(file), outputCount = atoi(argv[3]);
  for (int64_t i = 0; i < inputCount; ++i) {
    inputs[i].dtype = (int32_t)readNumber(file);
    inputs[i].rank = (int32_t)readNumber(file);
    for (int k = 0; k < inputs[i].rank; ++k)
      inputs[i].shape[k] = readNumber(file);
    size_t size = (size_t)sizeOf(&inputs[i]);
    inputs[i].data = malloc(size + 1);
    if (fread(inputs[i].data, 1, size, file) != size)
      return 2;
  }
  fclose(file);
  char message[500];
  if (ENTRY(inputs, (size_t)inputCount, outputs, (size_t)outputCount, NULL,
            message, sizeof message)) {
    fprintf(stderr, "error: %s\n", message);
    return 1;
  }
  file = fopen(argv[2], "wb");
  if (!file)
    return 2;
  writeNumber(outputCount, file);
  for (int64_t i = 0; i < outputCount; ++i) {
    writeNumber(outputs[i].dtype, file);
    writeNumber(outputs[i].rank, file);
    for (int k = 0; k < outputs[i].rank; ++k)
      writeNumber(outputs[i].shape[k], file);
    fwrite(outputs[i].data, 1, (size_t)sizeOf(&outputs[i]), file);
  }
  return fclose(file) != 0;
}
