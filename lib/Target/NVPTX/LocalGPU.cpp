// SPDX-License-Identifier: MIT

#include "numera/Target/NVPTX/LocalGPU.h"
#include "Codegen/Tuning.h"

#include <dlfcn.h>

using namespace numera;

namespace {

/// What is asked for, by the names and numbers of cuda.h.
struct Driver {
  enum Attribute { Multiprocessors = 16, Major = 75, Minor = 76 };

  int (*initialise)(unsigned);
  int (*contextDevice)(int *device);
  int (*deviceGet)(int *device, int ordinal);
  int (*deviceName)(char *name, int length, int device);
  int (*deviceAttribute)(int *value, int attribute, int device);

  explicit Driver(void *library) {
    find(library, initialise, "cuInit");
    find(library, contextDevice, "cuCtxGetDevice");
    find(library, deviceGet, "cuDeviceGet");
    find(library, deviceName, "cuDeviceGetName");
    find(library, deviceAttribute, "cuDeviceGetAttribute");
  }

  /// 0 where it is not known.
  unsigned attribute(Attribute attribute, int device) const {
    int value = 0;
    if (!deviceAttribute || deviceAttribute(&value, attribute, device) != 0)
      return 0;
    return value > 0 ? unsigned(value) : 0;
  }

private:
  template <typename Function>
  static void find(void *library, Function &function, const char *name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

} // namespace

LocalGPU numera::findLocalGPU(bool startsDriver) {
  LocalGPU gpu;
  // It stays: a driver that was initialised is not unloaded.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL |
                                             (startsDriver ? 0 : RTLD_NOLOAD));
  if (!library)
    return gpu;
  gpu.hasDriver = true;
  Driver driver(library);
  int device = 0;
  int status = !driver.initialise || !driver.deviceGet ? -1
               : startsDriver                          ? driver.initialise(0)
                                                       : 0;
  bool hasContext =
      status == 0 && driver.contextDevice && driver.contextDevice(&device) == 0;
  if (status == 0 && !hasContext)
    status = driver.deviceGet(&device, 0);
  if (status != 0) {
    gpu.status = status;
    return gpu;
  }
  char name[128] = "";
  if (driver.deviceName && driver.deviceName(name, sizeof name, device) == 0)
    gpu.name = name;
  gpu.version = driver.attribute(Driver::Major, device) * 10 +
                driver.attribute(Driver::Minor, device);
  gpu.processors = driver.attribute(Driver::Multiprocessors, device);
  return gpu;
}

unsigned numera::processorsFor(llvm::StringRef gpu, bool startsDriver) {
  LocalGPU local = findLocalGPU(startsDriver);
  // The driver compiles a program's PTX for later GPUs, but for names such as
  // sm_90a.
  bool runs = gpu.ends_with("a") ? local.version == versionOf(gpu)
                                 : local.version >= versionOf(gpu);
  return runs ? local.processors : 0;
}
