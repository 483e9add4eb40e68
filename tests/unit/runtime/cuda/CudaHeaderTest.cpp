//===- CudaHeaderTest.cpp - our declarations against cuda.h ---------------===//
//
// Where a toolkit's header is present, every function, number and error code
// of Driver.def is compared with it. Nothing runs: a difference is an error of
// this file's compilation.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/CudaApi.h"

#include <gtest/gtest.h>
#include <type_traits>

#if __has_include(<cuda.h>)
// Declares the old forms as well as the new ones, each under its own name.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#endif

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12040
namespace {

namespace ours = azulejo::runtime::cuda;

/// Whether two types are passed in the same way: both pointers, or both
/// integers or enumerations of one size and signedness.
template <typename A, typename B> constexpr bool sameArgument() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using To = std::remove_cv_t<std::remove_pointer_t<A>>;
    using From = std::remove_cv_t<std::remove_pointer_t<B>>;
    // A pointer to a number must be to one of the same size.
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
      return sizeof(To) == sizeof(From);
    else
      return std::is_const_v<std::remove_pointer_t<A>> ==
             std::is_const_v<std::remove_pointer_t<B>>;
  } else {
    return !std::is_pointer_v<A> && !std::is_pointer_v<B> &&
           sizeof(A) == sizeof(B);
  }
}

template <typename A, typename B> struct SameFunction : std::false_type {};
template <typename R, typename... As, typename S, typename... Bs>
struct SameFunction<R (*)(As...), S (*)(Bs...)> : std::bool_constant<[] {
  if constexpr (sizeof...(As) == sizeof...(Bs))
    return sizeof(R) == sizeof(S) && (sameArgument<As, Bs>() && ...);
  else
    return false;
}()> {};

#define AZULEJO_CUDA_FUNCTION(member, symbol, parameters)                      \
  static_assert(                                                               \
      SameFunction<decltype(ours::CudaApi::member), decltype(&::symbol)>());
#define AZULEJO_CUDA_OPTIONAL(member, symbol, parameters)                      \
  static_assert(                                                               \
      SameFunction<decltype(ours::CudaApi::member), decltype(&::symbol)>());
#define AZULEJO_CUDA_CONSTANT(name, symbol, value)                             \
  static_assert(ours::name == static_cast<int>(::symbol));
#define AZULEJO_CUDA_ERROR(symbol, value, code, rule, hint)                    \
  static_assert(value == static_cast<int>(::symbol));
#include "runtime/cuda/Driver.def"

} // namespace

TEST(CudaHeader, AgreesWithTheToolkit) {
  EXPECT_EQ(ours::kLaunchEnd, CU_LAUNCH_PARAM_END);
  EXPECT_EQ(ours::kLaunchBuffer, CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(ours::kLaunchBufferBytes, CU_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_TRUE(ours::isDefaultStream(nullptr));
  EXPECT_TRUE(ours::isDefaultStream(CU_STREAM_LEGACY));
  EXPECT_TRUE(ours::isDefaultStream(CU_STREAM_PER_THREAD));
  EXPECT_EQ(sizeof(ours::TensorMapWords), sizeof(CUtensorMap));
}
#else
TEST(CudaHeader, AgreesWithTheToolkit) {
  GTEST_SKIP() << "no cuda.h of CUDA 12.4 or later on this machine";
}
#endif
