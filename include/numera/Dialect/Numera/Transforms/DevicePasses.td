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
    The counterpart of `numera-contract` for GPUs.

    *Requires:* linalg on memrefs, types lowered.
    *Before:* a `linalg.generic` whose body is one `numera.mac` or
    `numera.quire_mac`: matrix products and convolutions, with any strides and
    dilation, batches and groups.
    *After:* a `gpu.launch_func` of a kernel in `gpu.module @kernels` that calls
    `numera.contraction.<i>`. The declaration of that function has the
    attributes `numera.kernel` (the carrier: the type that the kernel computes
    in) and `numera.tile` (rows by columns of a block's tile). Beside it stand
    its hooks, functions in operations of `numera` that the kernel calls:
    `.fetch_row` and `.fetch_column` read an element, `.row` and `.column`
    decode it, `.row_layout` and `.column_layout` describe the layout of
    elements, `.load` and `.store` move a sum, and `.step` is the `numera.mac`.
    The back end links runtime/kernels/device with them. Sums in quires have a
    hook `.mac` on codes. A fill of the sums before the contraction is removed,
    as on the CPU.

    | carrier | tiles |
    |---|---|
    | f32, one instruction a step | 128x128, or what leaves fewer places empty: 64x64, 16x256 |
    | f32 and f64 else | 64x64, 16x256 |
    | codes of f16, and from sm_80 on of bf16, each product and sum rounded | as f32 with one instruction a step |
    | codes else | 32x32 |
    | quires | 16x16 |
    | factors of tensor cores | 128x128, 64x64 |

    A `numera.mac` with `tensorcore` uses the matrix instructions of `gpu`:
    those of a warp (`mma.sync`), or of a warpgroup (`wgmma`, only on sm_90a).
    `numera.kernel` says which instructions these are and how wide the factors
    are. `numera.tile` has the format of the factors behind the size. Factors of
    f8E4M3FN and f8E5M2 are used as they are from sm_89 on. All others are cast
    to the first of f16 and bf16 that holds them exactly. Sums are in f32.

    If every product and sum is rounded to f16 or bf16 as the built-in formats
    define it, a step is an instruction of `gpu` on two codes in one register.
    There is no `.step`, `numera.kernel` is `pairs`, and `numera.tile` has the
    format's name behind the size.

    Products with a vector and depthwise convolutions are left to
    `numera-kernels`.

    *Fails when* the configuration registers a `matmul` or a `dot` for the
    formats of a contraction, because these are functions of the CPU whose bits
    differ, or when tensor cores are requested for factors that they cannot
    hold.

    For example,

    ```mlir
    // numera-opt --numera-tile-contractions --canonicalize --cse
    #row = affine_map<(i, j, k) -> (i, k)>
    #column = affine_map<(i, j, k) -> (k, j)>
    #sum = affine_map<(i, j, k) -> (i, j)>
    #posit16 = #numera.format<posit<16, 2>>
    #f32 = #numera.format<float<8, 23>>
    func.func @f(%a: memref<8x16xi16>, %b: memref<16x32xi16>,
                 %c: memref<8x32xf32>) {
      linalg.generic {
          indexing_maps = [#row, #column, #sum],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : memref<8x16xi16>, memref<16x32xi16>)
          outs(%c : memref<8x32xf32>) {
      ^bb0(%x: i16, %y: i16, %s: f32):
        %0 = numera.mac %x, %y, %s {
            format = #f32, operand_formats = [#posit16, #posit16, #f32]}
            : (i16, i16, f32) -> f32
        linalg.yield %0 : f32
      }
      return
    }
    ```

    becomes

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%arg0: memref<8x16xi16>, %arg1: memref<16x32xi16>, %arg2: memref<8x32xf32>) {
        // …
        gpu.launch_func  @kernels::@contraction_0 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(…) …
        return
      }
      gpu.module @kernels {
        gpu.func @contraction_0(…) kernel attributes {known_block_size = array<i32: 256, 1, 1>, …} {
          // …
          llvm.call @numera.contraction.0(%arg0, %arg1, %arg2, %0, %2, …) : …
          gpu.return
        }
        // …
        llvm.func @numera.contraction.0.row(%arg0: i64) -> f32 … {
          %0 = llvm.trunc %arg0 : i64 to i16
          %1 = numera.cast %0 {…, operand_formats = [#numera.format<posit<16, 2>>]} : i16 to f32
          llvm.return %1 : f32
        }
        // …
        llvm.func @numera.contraction.0.step(%arg0: f32, %arg1: f32, %arg2: f32) -> f32 … {
          %0 = numera.mac %arg1, %arg2, %arg0 {format = #numera.format<float<8, 23>>} : f32
          llvm.return %0 : f32
        }
        llvm.func @numera.contraction.0(…) attributes {numera.kernel = "f32", numera.tile = "64x64"}
      }
    }
    ```
  }];
  let options = [Option<"gpu", "gpu", "std::string", /*default=*/"\"sm_80\"",
                        "the GPU to compile for">,
                 Option<"processors", "processors", "unsigned", /*default=*/"0",
                        "the multiprocessors that tiles are chosen for; 0: "
                        "those that GPUs of the architecture have">];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
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
    `gpu.launch_func` of a kernel in `gpu.module @kernels`. A thread computes
    one element of the result. It runs the loops of a reduction in written
    order, so the bits are those of the CPU. For a short elementwise operation
    on contiguous elements of 1 or 2 bytes, a thread computes as many elements
    as 16 bytes hold, reads them all at once, and writes them at once. A failed
    assertion in a kernel ends its thread and stores the assertion's number
    where the kernel's last argument points, a word of the call
    (`numera_cuda_failure`).

    For example,

    ```mlir
    // numera-opt --numera-kernels --canonicalize --cse
    #posit16 = #numera.format<posit<16, 2>>
    func.func @f(%x: memref<1000x3xi16>, %y: memref<1000xi16>) {
      linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : memref<1000x3xi16>) outs(%y : memref<1000xi16>) {
      ^bb0(%a: i16, %sum: i16):
        %0 = numera.add %sum, %a {format = #posit16} : i16
        linalg.yield %0 : i16
      }
      return
    }
    ```

    becomes

    ```mlir
    module attributes {gpu.container_module} {
      func.func @f(%arg0: memref<1000x3xi16>, %arg1: memref<1000xi16>) {
        // …
        gpu.launch_func  @kernels::@f blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1000x3xi16>, %arg1 : memref<1000xi16>)
        return
      }
      gpu.module @kernels {
        gpu.func @f(%arg0: memref<1000x3xi16>, %arg1: memref<1000xi16>) kernel … {
          // …
          scf.if %2 {
            %3 = memref.load %arg1[%1] : memref<1000xi16>
            %4 = scf.for %arg2 = %c0 to %c3 step %c1 iter_args(%arg3 = %3) -> (i16) {
              %5 = memref.load %arg0[%1, %arg2] : memref<1000x3xi16>
              %6 = numera.add %arg3, %5 {format = #numera.format<posit<16, 2>>} : i16
              scf.yield %6 : i16
            }
            memref.store %4, %arg1[%1] : memref<1000xi16>
          }
          gpu.return
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::numera::NumeraDialect",
                           "::mlir::LLVM::LLVMDialect",
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
    Runs `numera-lower-ops{target=nvptx}` inside every `gpu.module`, which
    declares the functions that it calls.
    *Ensures:* no operation of `numera` is left in a `gpu.module`.
    *Fails when* an operation has no lowering for nvptx.

    For example,

    ```mlir
    // numera-opt --numera-lower-kernels
    gpu.module @kernels {
      gpu.func @f(%x: i16, %y: memref<i16>) kernel {
        %0 = numera.add %x, %x {format = #numera.format<posit<16, 2>>} : i16
        memref.store %0, %y[] : memref<i16>
        gpu.return
      }
    }
    ```

    becomes

    ```mlir
    gpu.module @kernels {
      llvm.func @numera_posit_add_16(i16 {llvm.zeroext}, i16 {llvm.zeroext}, i32, i32, i32, i32) -> (i16 {llvm.zeroext})
      gpu.func @f(%arg0: i16, %arg1: memref<i16>) kernel {
        %c0_i32 = arith.constant 0 : i32
        %c16_i32 = arith.constant 16 : i32
        %c2_i32 = arith.constant 2 : i32
        %c0_i32_0 = arith.constant 0 : i32
        %0 = llvm.call @numera_posit_add_16(%arg0, %arg0, %c16_i32, %c2_i32, %c0_i32_0, %c0_i32) : (i16, i16, i32, i32, i32, i32) -> i16
        memref.store %0, %arg1[] : memref<i16>
        gpu.return
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def NumeraOffload : Pass<"numera-offload", "::mlir::ModuleOp"> {
  let summary = "lower the functions that launch kernels to the LLVM dialect";
  let description = [{
    *Before:* functions on memrefs, outside of `gpu.module`.
    *After:* the LLVM dialect. All buffers are in device memory: calls of
    `runtime/cuda` allocate, copy and free them. Constants are uploaded once.
    `gpu.launch_func` becomes a call of `numera_cuda_launch`. A load or a store
    outside kernels moves one element between the device and the host.

    For example,

    ```mlir
    // numera-opt --numera-offload --reconcile-unrealized-casts --canonicalize
    module attributes {gpu.container_module} {
      func.func @f(%x: memref<4xi16>) {
        %c1 = arith.constant 1 : index
        %c256 = arith.constant 256 : index
        gpu.launch_func @kernels::@g blocks in (%c1, %c1, %c1)
            threads in (%c256, %c1, %c1) args(%x : memref<4xi16>)
        return
      }
      gpu.module @kernels {
        gpu.func @g(%x: memref<4xi16>) kernel {
          gpu.return
        }
      }
    }
    ```

    becomes

    ```mlir
    module attributes {gpu.container_module} {
      // …
      llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64) {
        // …
        llvm.call @numera_cuda_launch(%3, %2, %6, %6, %6, %5, %4, %8, %22) : …
        llvm.return
      }
      gpu.module @kernels {
        gpu.func @g(%arg0: memref<4xi16>) kernel {
          gpu.return
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // NUMERA_DIALECT_NUMERA_TRANSFORMS_DEVICEPASSES
