//===- StreamCopy.cpp - how fast this machine copies ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "bench/peers/StreamCopy.h"

#include <algorithm>
#include <cstring>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace azulejo::bench {

static void plainCopy(void *to, const void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
}

#if defined(__x86_64__)
__attribute__((target("avx"))) static void streamAvx(void *to, const void *from,
                                                     size_t bytes) {
  auto *target = static_cast<__m256i *>(to);
  auto *source = static_cast<const __m256i *>(from);
  for (size_t i = 0; i < bytes / 32; i += 2) {
    __m256i low = _mm256_load_si256(source + i);
    __m256i high = _mm256_load_si256(source + i + 1);
    _mm256_stream_si256(target + i, low);
    _mm256_stream_si256(target + i + 1, high);
  }
  _mm_sfence();
}

__attribute__((target("avx512f"))) static void
streamAvx512(void *to, const void *from, size_t bytes) {
  auto *target = static_cast<__m512i *>(to);
  auto *source = static_cast<const __m512i *>(from);
  for (size_t i = 0; i < bytes / 64; ++i)
    _mm512_stream_si512(target + i, _mm512_load_si512(source + i));
  _mm_sfence();
}
#endif

std::vector<CopyKind> copyKinds() {
  std::vector<CopyKind> kinds{{"memcpy", plainCopy}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx"))
    kinds.push_back({"stream_avx", streamAvx});
  if (__builtin_cpu_supports("avx512f"))
    kinds.push_back({"stream_avx512", streamAvx512});
#endif
  return kinds;
}

void copyOn(int threads, const CopyKind &kind, void *to, const void *from,
            size_t bytes) {
  // Parts are whole pages, so that no two threads share one.
  constexpr size_t kPage = 4096;
  size_t pages = (bytes + kPage - 1) / kPage;
  auto part = [&](int thread) {
    size_t begin = pages * size_t(thread) / size_t(threads) * kPage;
    size_t end =
        std::min(bytes, pages * size_t(thread + 1) / size_t(threads) * kPage);
    kind.copy(static_cast<char *>(to) + begin,
              static_cast<const char *>(from) + begin, end - begin);
  };
  std::vector<std::thread> helpers;
  for (int thread = 1; thread < threads; ++thread)
    helpers.emplace_back(part, thread);
  part(0);
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace azulejo::bench
