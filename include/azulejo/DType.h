//===- DType.h - element types ----------------------------------*- C++ -*-===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_DTYPE_H
#define AZULEJO_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace azulejo {
inline namespace v0 {

/// Element types. The numbers are part of the C ABI and of saved plans.
/// i1 is stored as one byte holding 0 or 1. i8 and the fp8 types are storage
/// types: they parse, verify and cast, but no arithmetic is defined on them.
/// f64 exists only in the reference evaluator.
enum class DType : uint8_t {
  F32 = 0,
  F16 = 1,
  BF16 = 2,
  F64 = 3,
  I1 = 4,
  I8 = 5,
  I32 = 6,
  I64 = 7,
  F8E4M3 = 8,
  F8E5M2 = 9,
};

inline constexpr int kDTypeCount = 10;

/// Bytes of one element in memory.
constexpr int64_t dtypeBytes(DType dtype) {
  constexpr int64_t bytes[kDTypeCount] = {4, 2, 2, 8, 1, 1, 4, 8, 1, 1};
  return bytes[static_cast<int>(dtype)];
}

/// The stable spelling: "f32", "bf16", "f8e4m3", ...
constexpr std::string_view dtypeName(DType dtype) {
  constexpr std::string_view names[kDTypeCount] = {
      "f32", "f16", "bf16", "f64",    "i1",
      "i8",  "i32", "i64",  "f8e4m3", "f8e5m2"};
  return names[static_cast<int>(dtype)];
}

/// The inverse of dtypeName.
constexpr std::optional<DType> parseDType(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtypeName(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

constexpr bool isFloat(DType dtype) {
  return dtype <= DType::F64 || dtype >= DType::F8E4M3;
}

} // namespace v0
} // namespace azulejo

#endif // AZULEJO_DTYPE_H
