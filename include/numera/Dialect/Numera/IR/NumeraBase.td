// SPDX-License-Identifier: MIT
//
// The dialect, its attribute and its type.

#ifndef NUMERA_DIALECT_NUMERA_IR_NUMERABASE
#define NUMERA_DIALECT_NUMERA_IR_NUMERABASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/DataLayoutInterfaces.td"

def Numera_Dialect : Dialect {
  let name = "numera";
  let cppNamespace = "::numera";
  let summary = "Arithmetic in number formats that no hardware has";
  let description = [{
    Only operations of this dialect give a value of a format a meaning. To every
    other operation it is an opaque bit pattern, a *code*, of the format's
    storage width. Every operation decodes its operands, computes the exact
    result and rounds it once to the result's format.

    The builtin types `f32` and `f64` are formats like the others. Their NaNs
    are canonical wherever bits are visible. Each operation has one definition
    and two forms:

    * on values: operands and results are `!numera.num<…>`, `f32` or `f64`, and
      the types name the formats;
    * on storage, after `numera-lower-types`: every `!numera.num` has become its
      storage integer. The attribute `format` (with `operand_formats` if
      operands differ from it) names the formats of the integers.

    An operation rounds stochastically if its format or its attribute `rounding`
    says so. It then has a last operand `random`: an i32, or a vector or tensor
    of i32 of the result's shape, whose lowest bits are the random bits. No
    other operation has this operand.
  }];
  let hasCanonicalizer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"]; // of flags
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// The registry of this context: the built-in one unless another was set.
    const ::numera::Registry &getRegistry() const { return *registry; }
    /// Replaces it; to be called before any IR is parsed or built.
    void setRegistry(std::shared_ptr<const ::numera::Registry> newRegistry) {
      registry = std::move(newRegistry);
    }
  private:
    std::shared_ptr<const ::numera::Registry> registry;
    void registerAliases();
  public:
  }];
}

def Numera_FormatAttr : AttrDef<Numera_Dialect, "Format"> {
  let mnemonic = "format";
  let summary = "name a number format";
  let description = [{
    A format by its canonical spelling, for example
    `#numera.format<posit<16, 2>>` or `#numera.format<opaque<"mybf16", 16>>`.
    The registry's families validate it.
  }];
  let parameters = (ins AttrParameter<"::numera::Format", "the format">:$format);
  let hasCustomAssemblyFormat = 1;
}

/// A word of Registry/Formats/Words.h, as the enumerator that it stands for.
class Numera_WordAttr<string name, string word> : AttrDef<Numera_Dialect, name> {
  let mnemonic = word;
  let parameters = (ins "::numera::" # name:$value);
  let hasCustomAssemblyFormat = 1;
  let returnType = "::numera::" # name;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall =
      "::numera::" # name # "Attr::get($_builder.getContext(), $0)";
}

def Numera_RoundingAttr : Numera_WordAttr<"Rounding", "rounding"> {
  let summary = "name a rounding mode";
  let description = [{
    For example `#numera.rounding<up>`: one of `"nearest-even"`,
    `"nearest-away"`, `"nearest-zero"`, `"toward-zero"`, `up`, `down`,
    `"to-odd"` and `stochastic` (docs/Semantics/Rounding.md).
  }];
}

def Numera_OverflowAttr : Numera_WordAttr<"Overflow", "overflow"> {
  let summary = "name an overflow rule";
  let description = [{
    For example `#numera.overflow<saturate>`: one of `infinity`, `saturate`,
    `propagate` and `wrap`.
  }];
}

def Numera_ScalingAttr
    : AttrDef<Numera_Dialect, "Scaling",
              [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "scaling";
  let summary = "describe how the elements of a tensor share scales";
  let description = [{
    The encoding of a scaled tensor: its elements are numbers of a format, and
    groups of them share scales (docs/Semantics/Scaling.md). The encoding has
    the rule and the format of the scales. These follow where they apply: the
    axis, and the number of elements of a block along it; `tensor`, if the
    scales of blocks are relative to one scale of the tensor; `full`, the number
    to which the largest element is scaled, if that is not the element format's
    own; and `packed`, if elements are stored without gaps (`numera.pack`).

    ```mlir
    // A power of two for 32 neighbours in a row.
    #mx = #numera.scaling<floor, float<8, 0, fnu>, axis = 1, block = 32>
    // One f32 for each column; one f32.
    #column = #numera.scaling<range, float<8, 23>, axis = 1>
    #tensor = #numera.scaling<range, float<8, 23>>
    !mxfp8 = tensor<64x128x!numera.num<float<4, 3, fn>>, #mx>
    ```

    Operations that read such a tensor read values: elements times scales.
  }];
  let parameters = (ins
    AttrParameter<"::numera::Scaling", "how scales are made">:$scaling,
    AttrParameter<"int64_t", "the axis; -1 if all elements share a scale">:$axis);
  let hasCustomAssemblyFormat = 1;
}

def Numera_PackedAttr
    : AttrDef<Numera_Dialect, "Packed",
              [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "packed";
  let summary = "mark a tensor whose codes are stored without gaps";
  let description = [{
    The encoding of a tensor whose elements take as many bits in memory as a
    code of their format has. Only `numera.pack` and `numera.unpack` make and
    read such tensors. Functions take and return them as bytes.

    ```mlir
    !weights = tensor<64x32x!numera.num<float<2, 1, finite>>, #numera.packed>
    ```
  }];
}

def Numera_CodesAttr : AttrDef<Numera_Dialect, "Codes"> {
  let mnemonic = "codes";
  let summary = "hold the codes of a constant while operations are folded";
  let description = [{
    The result of folding a `numera.constant` of many elements: the constant's
    attribute, wrapped so that other dialects do not mistake the codes for
    values of the constant's type. No operation holds this attribute.
  }];
  let parameters = (ins AttrParameter<"::mlir::Attribute", "the codes">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Numera_NumType : TypeDef<Numera_Dialect, "Num", [
    MemRefElementTypeInterface, VectorElementTypeInterface,
    DeclareTypeInterfaceMethods<DataLayoutTypeInterface,
                                ["getTypeSizeInBits", "getABIAlignment"]>]> {
  let mnemonic = "num";
  let summary = "hold a value of a number format";
  let description = [{
    A value of the format that the parameter spells, for example
    `!numera.num<float<5, 7>>`. In memory it is the smallest of i8, i16, i32 and
    i64 that holds the format; an opaque format may also take i128 or i256. The bits above the format's width are zero; every
    lowering ensures this and may rely on it. The type may be an element of
    tensors, memrefs and vectors. It is not a builtin float, because upstream
    folders would compute on it with the wrong semantics.
  }];
  let parameters = (ins TypeParameter<"::numera::Format", "the format">:$format);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The integer that stores a value.
    ::mlir::IntegerType getStorageType() const;
  }];
}

def Numera_QuireType : TypeDef<Numera_Dialect, "Quire", [
    MemRefElementTypeInterface,
    DeclareTypeInterfaceMethods<DataLayoutTypeInterface,
                                ["getTypeSizeInBits", "getABIAlignment"]>]> {
  let mnemonic = "quire";
  let summary = "hold an exact sum of products of a format's values";
  let description = [{
    The quire of the format that the parameter spells, for example
    `!numera.quire<posit<16, 2>>`: a fixed-point number wide enough that no sum
    of the format's values and products is rounded (docs/Semantics/Quire.md). In
    memory it is an integer of whole 64-bit words. The type may be an element of
    tensors and memrefs. A format whose quire would have more than 4352 bits has
    none.
  }];
  let parameters = (ins TypeParameter<"::numera::Format", "the format">:$format);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The integer that stores a quire: its words, the least first.
    ::mlir::IntegerType getStorageType() const;
  }];
}

// Casts also take integers of any width to 64.
def Numera_Castable
    : TypeOrValueSemanticsContainer<
          AnyTypeOf<[Numera_NumType, F32, F64, I1, I8, I16, I32, I64],
                    "number of a format or integer">, "castable">;

// The bits that a stochastic rounding draws from.
def Numera_RandomLike : TypeOrValueSemanticsContainer<I32, "i32-like">;

def Numera_StorageAttr : AnyAttrOf<[Numera_FormatAttr, TypeAttr],
                                   "format, or type of an integer">;

#endif // NUMERA_DIALECT_NUMERA_IR_NUMERABASE
