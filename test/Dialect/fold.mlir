// SPDX-License-Identifier: MIT
// Clauses: R6 A11.
// RUN: numera-opt %s --numera-simplify | FileCheck %s

// Expected values were computed in rational and 80-digit decimal arithmetic by
// a program that shares no code with Numera.

!posit16 = !numera.num<posit<16, 2>>
!posit32 = !numera.num<posit<32, 2>>
!f16 = !numera.num<float<5, 10>>
!f8E4M3FN = !numera.num<float<4, 3, fn>>
!f8E5M2 = !numera.num<float<5, 2>>
!f6E2M3FN = !numera.num<float<2, 3, finite>>

// CHECK-LABEL: @arithmetic_is_rounded_once
func.func @arithmetic_is_rounded_once()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  %three = numera.constant 3.0 : !posit16
  // CHECK-DAG: %[[TENTH:.*]] = numera.constant 0.100006103515625 : !posit16
  %tenth = numera.constant 0.1 : !posit16
  // CHECK-DAG: %[[ADD:.*]] = numera.constant 0.20001220703125 : !posit16
  %add = numera.add %tenth, %tenth : !posit16
  // CHECK-DAG: %[[SUB:.*]] = numera.constant 0.89990234375 : !posit16
  %sub = numera.sub %one, %tenth : !posit16
  // CHECK-DAG: %[[MUL:.*]] = numera.constant 0.01000213623046875 : !posit16
  %mul = numera.mul %tenth, %tenth : !posit16
  // CHECK-DAG: %[[DIV:.*]] = numera.constant 0.3333740234375 : !posit16
  %div = numera.div %one, %three : !posit16
  // CHECK: return %[[TENTH]], %[[ADD]], %[[SUB]], %[[MUL]], %[[DIV]]
  return %tenth, %add, %sub, %mul, %div
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// The product, 2^-11 (1 - 2^-20), is just under half the last place of z; rounded
// to f16 it is that half, a tie that goes to the even neighbour.
// CHECK-LABEL: @a_step_rounds_once_or_its_product_as_well
func.func @a_step_rounds_once_or_its_product_as_well() -> (!f16, !f16, !f16) {
  %x = numera.constant 1.0009765625 : !f16
  %y = numera.constant 0.000487804412841796875 : !f16
  // CHECK-DAG: %[[ONCE:.*]] = numera.constant 1.0009765625 : !f16
  %fma = numera.fma %x, %y, %x : !f16
  %once = numera.mac %x, %y, %x : !f16
  // CHECK-DAG: %[[TWICE:.*]] = numera.constant 1.001953125 : !f16
  %twice = numera.mac %x, %y, %x {product = #numera.format<float<5, 10>>} : !f16
  // CHECK: return %[[ONCE]], %[[ONCE]], %[[TWICE]]
  return %fma, %once, %twice : !f16, !f16, !f16
}

// The neighbours of 1/3 are 0.333251953125 (even) and 0.3333740234375.
// CHECK-LABEL: @the_rounding_of_the_operation_goes_first
func.func @the_rounding_of_the_operation_goes_first()
    -> (!posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  %three = numera.constant 3.0 : !posit16
  // CHECK-DAG: %[[HIGH:.*]] = numera.constant 0.3333740234375 : !posit16
  // CHECK-DAG: %[[LOW:.*]] = numera.constant 0.333251953125 : !posit16
  %up = numera.div %one, %three {rounding = #numera.rounding<up>} : !posit16
  %down = numera.div %one, %three {rounding = #numera.rounding<down>} : !posit16
  %odd = numera.div %one, %three {rounding = #numera.rounding<"to-odd">} : !posit16
  // CHECK: return %[[HIGH]], %[[LOW]], %[[HIGH]]
  return %up, %down, %odd : !posit16, !posit16, !posit16
}

// CHECK-LABEL: @roots_and_powers
func.func @roots_and_powers() -> (!posit16, !posit16, !posit16, !posit16) {
  %two = numera.constant 2.0 : !posit16
  %half = numera.constant 0.5 : !posit16
  // CHECK-DAG: %[[SQRT:.*]] = numera.constant 1.4140625 : !posit16
  // CHECK-DAG: %[[RSQRT:.*]] = numera.constant 0.70703125 : !posit16
  %sqrt = numera.sqrt %two : !posit16
  %rsqrt = numera.rsqrt %two : !posit16
  %exp2 = numera.exp2 %half : !posit16
  %pow = numera.pow %two, %half : !posit16
  // CHECK: return %[[SQRT]], %[[RSQRT]], %[[SQRT]], %[[SQRT]]
  return %sqrt, %rsqrt, %exp2, %pow : !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @exponentials_and_logarithms
func.func @exponentials_and_logarithms()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  %three = numera.constant 3.0 : !posit16
  %tenth = numera.constant 0.1 : !posit16
  // CHECK-DAG: %[[EXP:.*]] = numera.constant 2.71875 : !posit16
  %exp = numera.exp %one : !posit16
  // CHECK-DAG: %[[EXPM1:.*]] = numera.constant 0.10516357421875 : !posit16
  %expm1 = numera.expm1 %tenth : !posit16
  // CHECK-DAG: %[[LOG:.*]] = numera.constant 1.0986328125 : !posit16
  %log = numera.log %three : !posit16
  // CHECK-DAG: %[[LOG2:.*]] = numera.constant 1.5849609375 : !posit16
  %log2 = numera.log2 %three : !posit16
  // CHECK-DAG: %[[LOG1P:.*]] = numera.constant 0.095306396484375 : !posit16
  %log1p = numera.log1p %tenth : !posit16
  // CHECK: return %[[EXP]], %[[EXPM1]], %[[LOG]], %[[LOG2]], %[[LOG1P]]
  return %exp, %expm1, %log, %log2, %log1p
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @other_elementary_functions
func.func @other_elementary_functions()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  // CHECK-DAG: %[[SIN:.*]] = numera.constant 0.841552734375 : !posit16
  %sin = numera.sin %one : !posit16
  // CHECK-DAG: %[[COS:.*]] = numera.constant 0.540283203125 : !posit16
  %cos = numera.cos %one : !posit16
  // CHECK-DAG: %[[TANH:.*]] = numera.constant 0.761474609375 : !posit16
  %tanh = numera.tanh %one : !posit16
  // CHECK-DAG: %[[ERF:.*]] = numera.constant 0.8427734375 : !posit16
  %erf = numera.erf %one : !posit16
  // CHECK-DAG: %[[SIGMOID:.*]] = numera.constant 0.73095703125 : !posit16
  %sigmoid = numera.sigmoid %one : !posit16
  // CHECK: return %[[SIN]], %[[COS]], %[[TANH]], %[[ERF]], %[[SIGMOID]]
  return %sin, %cos, %tanh, %erf, %sigmoid
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @trigonometric_functions_and_inverses
func.func @trigonometric_functions_and_inverses()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  %half = numera.constant 0.5 : !posit16
  %minus_three = numera.constant -3.0 : !posit16
  // CHECK-DAG: %[[TAN:.*]] = numera.constant 1.5576171875 : !posit16
  %tan = numera.tan %one : !posit16
  // CHECK-DAG: %[[ASIN:.*]] = numera.constant 0.523681640625 : !posit16
  %asin = numera.asin %half : !posit16
  // CHECK-DAG: %[[ACOS:.*]] = numera.constant 1.04736328125 : !posit16
  %acos = numera.acos %half : !posit16
  // CHECK-DAG: %[[ATAN:.*]] = numera.constant 0.785400390625 : !posit16
  %atan = numera.atan %one : !posit16
  // CHECK-DAG: %[[ATAN2:.*]] = numera.constant 2.8203125 : !posit16
  %atan2 = numera.atan2 %one, %minus_three : !posit16
  // CHECK: return %[[TAN]], %[[ASIN]], %[[ACOS]], %[[ATAN]], %[[ATAN2]]
  return %tan, %asin, %acos, %atan, %atan2
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @hyperbolic_functions_and_inverses
func.func @hyperbolic_functions_and_inverses()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %one = numera.constant 1.0 : !posit16
  %half = numera.constant 0.5 : !posit16
  %three = numera.constant 3.0 : !posit16
  // CHECK-DAG: %[[SINH:.*]] = numera.constant 1.17529296875 : !posit16
  %sinh = numera.sinh %one : !posit16
  // CHECK-DAG: %[[COSH:.*]] = numera.constant 1.54296875 : !posit16
  %cosh = numera.cosh %one : !posit16
  // CHECK-DAG: %[[ASINH:.*]] = numera.constant 0.88134765625 : !posit16
  %asinh = numera.asinh %one : !posit16
  // CHECK-DAG: %[[ACOSH:.*]] = numera.constant 1.7626953125 : !posit16
  %acosh = numera.acosh %three : !posit16
  // CHECK-DAG: %[[ATANH:.*]] = numera.constant 0.54931640625 : !posit16
  %atanh = numera.atanh %half : !posit16
  // CHECK: return %[[SINH]], %[[COSH]], %[[ASINH]], %[[ACOSH]], %[[ATANH]]
  return %sinh, %cosh, %asinh, %acosh, %atanh
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @roots_logarithms_and_signs
func.func @roots_logarithms_and_signs()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %half = numera.constant 0.5 : !posit16
  %three = numera.constant 3.0 : !posit16
  %minus_one = numera.constant -1.0 : !posit16
  // CHECK-DAG: %[[CBRT:.*]] = numera.constant 1.4423828125 : !posit16
  %cbrt = numera.cbrt %three : !posit16
  // CHECK-DAG: %[[LOG10:.*]] = numera.constant 0.4771728515625 : !posit16
  %log10 = numera.log10 %three : !posit16
  // CHECK-DAG: %[[ERFC:.*]] = numera.constant 0.4794921875 : !posit16
  %erfc = numera.erfc %half : !posit16
  // CHECK-DAG: %[[HYPOT:.*]] = numera.constant 3.162109375 : !posit16
  %hypot = numera.hypot %three, %minus_one : !posit16
  // CHECK-DAG: %[[COPYSIGN:.*]] = numera.constant -3.0 : !posit16
  %copysign = numera.copysign %three, %minus_one : !posit16
  // CHECK: return %[[CBRT]], %[[LOG10]], %[[ERFC]], %[[HYPOT]], %[[COPYSIGN]]
  return %cbrt, %log10, %erfc, %hypot, %copysign
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @integral_values
func.func @integral_values()
    -> (!posit16, !posit16, !posit16, !posit16, !posit16) {
  %x = numera.constant -2.5 : !posit16
  // CHECK-DAG: %[[THREE:.*]] = numera.constant -3.0 : !posit16
  // CHECK-DAG: %[[TWO:.*]] = numera.constant -2.0 : !posit16
  %floor = numera.floor %x : !posit16
  %ceil = numera.ceil %x : !posit16
  %trunc = numera.trunc %x : !posit16
  %round = numera.round %x : !posit16
  %even = numera.roundeven %x : !posit16
  // CHECK: return %[[THREE]], %[[TWO]], %[[TWO]], %[[THREE]], %[[TWO]]
  return %floor, %ceil, %trunc, %round, %even
    : !posit16, !posit16, !posit16, !posit16, !posit16
}

// CHECK-LABEL: @the_remainder_has_the_sign_of_the_dividend
// CHECK: %[[R:.*]] = numera.constant 0.75 : !posit16
// CHECK: return %[[R]]
func.func @the_remainder_has_the_sign_of_the_dividend() -> !posit16 {
  %x = numera.constant 5.75 : !posit16
  %y = numera.constant -2.5 : !posit16
  %rem = numera.rem %x, %y : !posit16
  return %rem : !posit16
}

// CHECK-LABEL: @negation_of_NaR_is_NaR
// CHECK: %[[NAR:.*]] = numera.constant code 0x8000 : !posit16
// CHECK: return %[[NAR]]
func.func @negation_of_NaR_is_NaR() -> !posit16 {
  %nar = numera.constant code 0x8000 : !posit16
  %neg = numera.neg %nar : !posit16
  return %neg : !posit16
}

// CHECK-LABEL: @min_and_max_give_NaN_where_minnum_and_maxnum_give_the_number
func.func @min_and_max_give_NaN_where_minnum_and_maxnum_give_the_number()
    -> (!f16, !f16, !f16, !f16) {
  // CHECK-DAG: %[[ONE:.*]] = numera.constant 1.0 : !f16
  // CHECK-DAG: %[[NAN:.*]] = numera.constant code 0x7e00 : !f16
  %one = numera.constant 1.0 : !f16
  %nan = numera.constant code 0xFE01 : !f16
  %min = numera.min %one, %nan : !f16
  %max = numera.max %nan, %one : !f16
  %minnum = numera.minnum %one, %nan : !f16
  %maxnum = numera.maxnum %nan, %one : !f16
  // CHECK: return %[[NAN]], %[[NAN]], %[[ONE]], %[[ONE]]
  return %min, %max, %minnum, %maxnum : !f16, !f16, !f16, !f16
}

// CHECK-LABEL: @min_and_max_order_the_zeros
func.func @min_and_max_order_the_zeros() -> (!f16, !f16, !f16) {
  // CHECK-DAG: %[[PLUS:.*]] = numera.constant 0.0 : !f16
  // CHECK-DAG: %[[MINUS:.*]] = numera.constant -0.0 : !f16
  %plus = numera.constant 0.0 : !f16
  %minus = numera.constant -0.0 : !f16
  %min = numera.min %plus, %minus : !f16
  %max = numera.max %minus, %plus : !f16
  %abs = numera.abs %minus : !f16
  // CHECK: return %[[MINUS]], %[[PLUS]], %[[PLUS]]
  return %min, %max, %abs : !f16, !f16, !f16
}

// CHECK-LABEL: @NaN_is_unordered_and_NaR_is_below_all
// CHECK-DAG: %[[TRUE:.*]] = arith.constant true
// CHECK-DAG: %[[FALSE:.*]] = arith.constant false
// CHECK: return %[[FALSE]], %[[TRUE]], %[[TRUE]], %[[TRUE]], %[[FALSE]], %[[TRUE]]
func.func @NaN_is_unordered_and_NaR_is_below_all()
    -> (i1, i1, i1, i1, i1, i1) {
  %nan = numera.constant code 0x7E00 : !f16
  %nar = numera.constant code 0x8000 : !posit16
  %low = numera.constant -1.0e30 : !posit16
  %0 = numera.cmp oeq, %nan, %nan : !f16
  %1 = numera.cmp uno, %nan, %nan : !f16
  %2 = numera.cmp oeq, %nar, %nar : !posit16
  %3 = numera.cmp olt, %nar, %low : !posit16
  %4 = numera.cmp uno, %nar, %low : !posit16
  %5 = numera.isnan %nar : !posit16
  return %0, %1, %2, %3, %4, %5 : i1, i1, i1, i1, i1, i1
}

// CHECK-LABEL: @overflow_follows_the_format
func.func @overflow_follows_the_format() -> (!f8E5M2, !f8E4M3FN, !posit16) {
  // CHECK-DAG: %[[INF:.*]] = numera.constant code 0x7c : !f8E5M2
  %0 = numera.constant 57344.0 : !f8E5M2
  %inf = numera.add %0, %0 : !f8E5M2
  // CHECK-DAG: %[[LARGEST:.*]] = numera.constant 448.0 : !f8E4M3FN
  %1 = numera.constant -448.0 : !f8E4M3FN
  %2 = numera.constant 2.0 : !f8E4M3FN
  %3 = numera.mul %1, %2 : !f8E4M3FN
  %largest = numera.neg %3 : !f8E4M3FN
  // CHECK-DAG: %[[MAXPOS:.*]] = numera.constant 72057594037927936.0 : !posit16
  %4 = numera.constant 1.0e16 : !posit16
  %maxpos = numera.mul %4, %4 : !posit16
  // CHECK: return %[[INF]], %[[LARGEST]], %[[MAXPOS]]
  return %inf, %largest, %maxpos : !f8E5M2, !f8E4M3FN, !posit16
}

// CHECK-LABEL: @a_format_without_NaN_divides_by_zero
func.func @a_format_without_NaN_divides_by_zero() -> (!f6E2M3FN, !f6E2M3FN) {
  %zero = numera.constant 0.0 : !f6E2M3FN
  %one = numera.constant 1.0 : !f6E2M3FN
  // CHECK-DAG: %[[LARGEST:.*]] = numera.constant 7.5 : !f6E2M3FN
  // CHECK-DAG: %[[ZERO:.*]] = numera.constant 0.0 : !f6E2M3FN
  %0 = numera.div %one, %zero : !f6E2M3FN
  %1 = numera.div %zero, %zero : !f6E2M3FN
  // CHECK: return %[[LARGEST]], %[[ZERO]]
  return %0, %1 : !f6E2M3FN, !f6E2M3FN
}

// CHECK-LABEL: @casts_round_once
func.func @casts_round_once() -> (!f16, !f8E4M3FN, f32, !posit16) {
  // 1 + 2^-11 + 2^-20 is above the tie between 1 and 1 + 2^-10.
  %x = arith.constant 1.00048923492431640625 : f32
  // CHECK-DAG: %[[F16:.*]] = numera.constant 1.0009765625 : !f16
  %0 = numera.cast %x : f32 to !f16
  // CHECK-DAG: %[[F8:.*]] = numera.constant 0.34375 : !f8E4M3FN
  %third = numera.constant 0.333 : !posit16
  %1 = numera.cast %third : !posit16 to !f8E4M3FN
  // CHECK-DAG: %[[F32:.*]] = arith.constant 0.333007813 : f32
  %2 = numera.cast %third : !posit16 to f32
  // CHECK-DAG: %[[NAR:.*]] = numera.constant code 0x8000 : !posit16
  %inf = arith.constant 0x7F800000 : f32
  %3 = numera.cast %inf : f32 to !posit16
  // CHECK: return %[[F16]], %[[F8]], %[[F32]], %[[NAR]]
  return %0, %1, %2, %3 : !f16, !f8E4M3FN, f32, !posit16
}

// CHECK-LABEL: @casts_to_integers_truncate_saturate_and_take_NaN_to_zero
// CHECK-DAG: %[[M2:.*]] = arith.constant -2 : i8
// CHECK-DAG: %[[MAX:.*]] = arith.constant 127 : i8
// CHECK-DAG: %[[UMAX:.*]] = arith.constant -1 : i8
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK: return %[[M2]], %[[MAX]], %[[UMAX]], %[[ZERO]], %[[ZERO]]
func.func @casts_to_integers_truncate_saturate_and_take_NaN_to_zero()
    -> (i8, i8, i8, i8, i8) {
  %x = numera.constant -2.75 : !posit16
  %large = numera.constant 1000.0 : !posit16
  %nar = numera.constant code 0x8000 : !posit16
  %0 = numera.cast %x : !posit16 to i8
  %1 = numera.cast %large : !posit16 to i8
  %2 = numera.cast unsigned %large : !posit16 to i8
  %3 = numera.cast unsigned %x : !posit16 to i8
  %4 = numera.cast %nar : !posit16 to i8
  return %0, %1, %2, %3, %4 : i8, i8, i8, i8, i8
}

// CHECK-LABEL: @casts_from_integers_round_once
func.func @casts_from_integers_round_once() -> (!f16, !f16, f32) {
  %x = arith.constant -1 : i8
  // CHECK-DAG: %[[SIGNED:.*]] = numera.constant -1.0 : !f16
  %0 = numera.cast %x : i8 to !f16
  // CHECK-DAG: %[[UNSIGNED:.*]] = numera.constant 255.0 : !f16
  %1 = numera.cast unsigned %x : i8 to !f16
  // 2^24 + 1 is a tie.
  // CHECK-DAG: %[[F32:.*]] = arith.constant 0x4B800000 : f32
  %y = arith.constant 16777217 : i32
  %2 = numera.cast %y : i32 to f32
  // CHECK: return %[[SIGNED]], %[[UNSIGNED]], %[[F32]]
  return %0, %1, %2 : !f16, !f16, f32
}

// CHECK-LABEL: @elements_fold_one_by_one
// CHECK: %[[R:.*]] = numera.constant codes dense<[18432, 19456]> : tensor<2xi16> as tensor<2x!posit16>
// CHECK: return %[[R]]
func.func @elements_fold_one_by_one() -> tensor<2x!posit16> {
  %x = numera.constant codes dense<[0x4000, 0x4400]> : tensor<2xi16>
       as tensor<2x!posit16> // 1, 1.5
  %y = numera.add %x, %x : tensor<2x!posit16> // 2, 3
  return %y : tensor<2x!posit16>
}

// CHECK-LABEL: @a_literal_rounds_once
func.func @a_literal_rounds_once() -> (!posit32, !f16) {
  // CHECK-DAG: %[[TENTH:.*]] = numera.constant 0.10000000009313226 : !posit32
  %0 = numera.constant 0.1 : !posit32
  // 1 + 2^-11 + 2^-60: through f64 it would be a tie, and 1.
  // CHECK-DAG: %[[ABOVE:.*]] = numera.constant 1.0009765625 : !f16
  %1 = numera.constant 1.000488281250000000867361737988403547 : !f16
  // CHECK: return %[[TENTH]], %[[ABOVE]]
  return %0, %1 : !posit32, !f16
}
