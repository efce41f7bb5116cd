// SPDX-License-Identifier: MIT
//
// Files that the compiler carries inside itself, so that it needs none beside
// it when it runs.

#ifndef NUMERA_LIB_TARGET_SUPPORT_EMBEDDED_H
#define NUMERA_LIB_TARGET_SUPPORT_EMBEDDED_H

#include "llvm/Support/MemoryBufferRef.h"

namespace numera {

/// The runtime's arithmetic, bitcode for x86-64.
llvm::MemoryBufferRef embeddedRuntime();
/// The same for NVPTX.
llvm::MemoryBufferRef embeddedDeviceRuntime();
/// What launches kernels (runtime/cuda), bitcode for x86-64.
llvm::MemoryBufferRef embeddedLauncher();
/// What stands around functions (runtime/host), bitcode for x86-64.
llvm::MemoryBufferRef embeddedEntry();
/// The same for AArch64.
llvm::MemoryBufferRef embeddedAArch64Entry();
/// The same, a relocatable object for x86-64.
llvm::MemoryBufferRef embeddedEntryObject();
/// A kernel for contractions, of a kind that numera/Runtime/Kernels.def lists
/// for CPUs.
llvm::MemoryBufferRef embeddedKernel(llvm::StringRef wanted);
/// The same for GPUs.
llvm::MemoryBufferRef embeddedDeviceKernel(llvm::StringRef wanted);
/// The main of executables, a relocatable object that needs the other one.
llvm::MemoryBufferRef embeddedMain();
/// The text of numera.h.
llvm::MemoryBufferRef embeddedHeader();

} // namespace numera

#endif // NUMERA_LIB_TARGET_SUPPORT_EMBEDDED_H
