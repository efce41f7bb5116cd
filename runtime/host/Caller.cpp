// SPDX-License-Identifier: MIT
//
// What a function that runs has to do with its caller. It is part of every
// program.

#include "CallContext.h"

using namespace numera::host;

extern "C" void numera::host::numera_host_fail(const char *message) {
  CallContext *running = CallContext::current();
  running->message = message;
  longjmp(running->escape.value, 1);
}

extern "C" void numera::host::numera_host_copy_with(CopyResult *copy) {
  CallContext::current()->copy = copy;
}

extern "C" void *numera::host::numera_host_stream() {
  const numera_options *options = CallContext::current()->options;
  return options ? options->stream : nullptr;
}

extern "C" void numera::host::numera_host_show_row(uint32_t row, int64_t count,
                                                   int32_t dtype, void *value,
                                                   void *own,
                                                   int32_t referenceDtype,
                                                   void *reference) {
  const numera_options *options = CallContext::current()->options;
  if (!options || !options->show_row)
    return;
  auto tensor = [&](void *data, int32_t dtype) {
    numera_tensor made = {};
    made.data = data;
    made.capacity = uint64_t(count) * sizeOfDType(dtype);
    made.dtype = dtype;
    made.rank = 1;
    made.shape[0] = count;
    return made;
  };
  const numera_tensor tensors[] = {tensor(value, dtype), tensor(own, dtype),
                                   tensor(reference, referenceDtype)};
  options->show_row(options->show_row_context, row, tensors);
}
