// SPDX-License-Identifier: MIT
//
// Graphs: what their nodes do, which here is done in the order in which they
// were added. A device may do at once what does not depend on each other: that
// each node depends on the one before is asked for.

#ifndef NUMERA_TEST_EMULATION_GRAPH_H
#define NUMERA_TEST_EMULATION_GRAPH_H

#include "Memory.h"

#include <functional>

#define EXPORT extern "C" __attribute__((visibility("default"))) int

namespace {

struct Graph {
  unsigned long long context; ///< its id
  std::vector<std::function<int()>> steps;

  /// A node is its number, from 1.
  int add(uintptr_t *node, const uintptr_t *before, size_t count,
          std::function<int()> step) {
    if (count != (steps.empty() ? 0 : 1) || (count && *before != steps.size()))
      return invalidValue;
    steps.push_back(std::move(step));
    *node = steps.size();
    return success;
  }
};

/// CUDA_MEMCPY3D.
struct CopySide {
  size_t x, y, z, level;
  int type; ///< CU_MEMORYTYPE_HOST 1, CU_MEMORYTYPE_DEVICE 2
  void *host;
  uint64_t device;
  void *array, *reserved;
  size_t pitch, height;

  void *place() const {
    return type == 1 ? host : reinterpret_cast<void *>(device);
  }
};
struct CopyParameters {
  CopySide from, to;
  size_t bytes, height, depth;
};

/// Memory that is not page-locked is read and written when the graph is
/// launched, where a call's own is gone.
std::map<uintptr_t, size_t> &pageLocked = *new std::map<uintptr_t, size_t>;
bool isPageLocked(const void *data, size_t size) {
  std::lock_guard guard(lock);
  auto at = reinterpret_cast<uintptr_t>(data);
  auto next = pageLocked.upper_bound(at);
  return next != pageLocked.begin() &&
         at + size <= std::prev(next)->first + std::prev(next)->second;
}

bool isSide(const CopySide &side, size_t bytes) {
  bool isRow = !side.x && !side.y && !side.z && !side.level && !side.array &&
               !side.reserved && side.pitch >= bytes && side.height >= 1;
  return isRow &&
         (side.type == 2 ? isOnDevice(side.device, bytes)
                         : side.type == 1 && isPageLocked(side.host, bytes));
}

} // namespace

EXPORT cuGraphCreate(Graph **graph, unsigned flags) {
  if (!current())
    return invalidContext;
  *graph = new Graph{current()->id, {}};
  countAlive("graphs", 1);
  return flags ? invalidValue : success;
}
EXPORT cuGraphAddMemcpyNode(uintptr_t *node, Graph *graph,
                            const uintptr_t *before, size_t count,
                            const CopyParameters *copy, Context *context) {
  if (context != current() || context->id != graph->context)
    return invalidContext;
  if (copy->height != 1 || copy->depth != 1 ||
      !isSide(copy->from, copy->bytes) || !isSide(copy->to, copy->bytes))
    return invalidValue;
  return graph->add(node, before, count, [copy = *copy] {
    bool isThere = isSide(copy.from, copy.bytes) && isSide(copy.to, copy.bytes);
    if (isThere)
      std::memmove(copy.to.place(), copy.from.place(), copy.bytes);
    return isThere ? success : invalidValue;
  });
}
EXPORT cuGraphInstantiateWithFlags(Graph **made, Graph *graph,
                                   unsigned long long) {
  if (getenv("NUMERA_EMULATED_NO_GRAPHS"))
    return notSupported;
  *made = new Graph(*graph);
  countAlive("launchable graphs", 1);
  return success;
}
EXPORT cuGraphDestroy(Graph *graph) { return destroy(graph, "graphs"); }
EXPORT cuGraphExecDestroy(Graph *graph) {
  return destroy(graph, "launchable graphs");
}
EXPORT cuGraphLaunch(Graph *graph, void *) {
  if (!current() || graph->context != current()->id)
    return invalidContext;
  countAlive("graph launches", 1);
  for (const auto &step : graph->steps)
    if (int result = step())
      return result;
  return success;
}

#endif // NUMERA_TEST_EMULATION_GRAPH_H
