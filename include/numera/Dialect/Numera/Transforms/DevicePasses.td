// SPDX-License-Identifier: MIT
//
// The passes to kernels of a GPU; Passes.td includes them.

#ifndef NUMERA_DIALECT_NUMERA_TRANSFORMS_DEVICEPASSES
#define NUMERA_DIALECT_NUMERA_TRANSFORMS_DEVICEPASSES

include "mlir/Pass/PassBase.td"

def NumeraTileContractions : Pass<"numera-tile-contractions",
                                  "::mlir::ModuleOp"> {
  let summary = "turn contractions into tiled GPU kernels";
  let description = [{
    `numera-contract` for a GPU.
    *Requires:* linalg on memrefs, types lowered.
    *Before:* a `linalg.generic` whose body is one `numera.mac` or
    `numera.quire_mac`: matrix products and convolutions, with any strides and
    dilation, batches and groups.
    *After:* a `gpu.launch_func` of a kernel in `gpu.module @kernels` that calls
    `numera.contraction.<i>`, declared with the attributes `numera.kernel` (the
    carrier) and `numera.tile` (rows by columns of a block's tile), beside its
    hooks: `.fetch_row` and `.fetch_column` read an element, `.row` and
    `.column` decode it, `.row_layout` and `.column_layout` say how elements lie
    to each other, `.load` and `.store` move a sum, `.step` is the `numera.mac`.
    The back end links runtime/kernels/device with them. Sums in quires have
    `.mac` on codes. A fill of the sums in front of it is gone, as on the CPU.

    | carrier | tiles |
    |---|---|
    | f32, one instruction a step | 128x128, or what leaves fewer places empty: 64x64, 16x256 |
    | f32 and f64 else | 64x64, 16x256 |
    | codes of f16, and from sm_80 on of bf16, each product and sum rounded | as f32 with one instruction a step |
    | codes else | 32x32 |
    | quires | 16x16 |
    | factors of tensor cores | 128x128, 64x64 |

    A `numera.mac` with `tensorcore` is left to the matrix instructions of
    `gpu`, which are those of a warp (`mma.sync`) or of a warpgroup (`wgmma`, of
    sm_90a alone): `numera.kernel` says of which and how wide the factors are,
    `numera.tile` what they are. Of f16 and bf16, f8E4M3FN and f8E5M2 (sm_89
    and later) as they are, the first that holds the factors exactly is taken;
    sums are in f32.

    Where every product and sum is rounded to f16 or bf16 as their built-in
    formats say, steps are the instructions of `gpu` on two codes in a register:
    there is no `.step`, `numera.kernel` is `pairs`, and `numera.tile` has the
    format's name behind the size.

    Products with a vector and depthwise convolutions are left to
    `numera-kernels`.
    *Fails when* the configuration registers a `matmul` or a `dot` for the
    formats of a contraction: it is a function of the CPU, with bits of its own;
    when tensor cores are named for factors that they do not take.
  }];
  let options = [Option<"gpu", "gpu", "std::string", /*default=*/"\"sm_80\"",
                        "the GPU whose instructions are asked for">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NumeraKernels : Pass<"numera-kernels", "::mlir::ModuleOp"> {
  let summary = "turn linalg on memrefs into GPU kernels";
  let description = [{
    *Requires:* linalg on memrefs, types lowered.
    *After:* every linalg operation, and every copy of a part of a buffer, is a
    `gpu.launch_func` of a kernel in `gpu.module @kernels`. A thread computes one
    element of the result; it goes through the loops of a reduction in written
    order, so that the bits are those of the CPU. Of a short elementwise operation
    on elements of 1 and 2 bytes that lie in a row, it computes as many as 16
    bytes hold, reads all of them at once, and writes them at once. A failed
    assertion in a kernel ends its thread and leaves the assertion's number where
    its last argument points, a word of the call (`numera_cuda_failure`).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NumeraLowerKernels : Pass<"numera-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "turn operations in GPU kernels into their registered lowerings";
  let description = [{
    `numera-lower-ops{target=nvptx}` inside every `gpu.module`, which declares
    the functions that it calls.
    *Ensures:* no operation of `numera` is left in a `gpu.module`.
    *Fails when* an operation has no lowering for nvptx.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraOffload : Pass<"numera-offload", "::mlir::ModuleOp"> {
  let summary = "lower what launches kernels to the LLVM dialect";
  let description = [{
    *Before:* functions on memrefs, outside of `gpu.module`.
    *After:* the LLVM dialect. All buffers are the device's: they are allocated,
    copied and freed by calls of `runtime/cuda`, constants are uploaded once,
    and `gpu.launch_func` is `numera_cuda_launch`. A load or a store here moves
    one element between the device and the host.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_DEVICEPASSES
