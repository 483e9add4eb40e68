//===- Roofs.cpp - what this machine's CPU can reach ----------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/api/Roofs.h"

#include "ir/target/TargetDesc.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace azulejo::api {

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The shortest of at least three rounds within `seconds`.
template <typename Fn> static double bestOf(double seconds, Fn round) {
  round(); // touches pages, wakes threads
  double best = 0;
  Clock::time_point start = Clock::now();
  for (int i = 0; i < 3 || secondsSince(start) < seconds; ++i) {
    Clock::time_point begin = Clock::now();
    round();
    double taken = secondsSince(begin);
    best = i == 0 ? taken : std::min(best, taken);
  }
  return best;
}

// Enough independent chains to cover the latency of a multiply-add on two
// pipes; the sum goes to `sink` so that no chain is dead.
static constexpr int kChains = 12;
static constexpr int64_t kSteps = 1 << 16;
using FmaLoop = float (*)();

// The chains must live in registers, so their loop must not be one.
#if defined(__clang__)
#define AZULEJO_UNROLL _Pragma("clang loop unroll(full)")
#else
#define AZULEJO_UNROLL _Pragma("GCC unroll 12")
#endif

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static float fmaLoop512() {
  __m512 chain[kChains], factor = _mm512_set1_ps(0.999f),
                         term = _mm512_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i)
    chain[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t step = 0; step < kSteps; ++step)
    AZULEJO_UNROLL
  for (int i = 0; i < kChains; ++i)
    chain[i] = _mm512_fmadd_ps(chain[i], factor, term);
  float lanes[16], sum = 0;
  for (int i = 0; i < kChains; ++i) {
    _mm512_storeu_ps(lanes, chain[i]);
    sum += lanes[0];
  }
  return sum;
}

__attribute__((target("avx2,fma"))) static float fmaLoop256() {
  __m256 chain[kChains], factor = _mm256_set1_ps(0.999f),
                         term = _mm256_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i)
    chain[i] = _mm256_set1_ps(static_cast<float>(i));
  for (int64_t step = 0; step < kSteps; ++step)
    AZULEJO_UNROLL
  for (int i = 0; i < kChains; ++i)
    chain[i] = _mm256_fmadd_ps(chain[i], factor, term);
  float lanes[8], sum = 0;
  for (int i = 0; i < kChains; ++i) {
    _mm256_storeu_ps(lanes, chain[i]);
    sum += lanes[0];
  }
  return sum;
}
#endif

/// Four lanes, which every 64-bit CPU has.
static float fmaLoop128() {
  float chain[kChains][4];
  for (int i = 0; i < kChains; ++i)
    for (int lane = 0; lane < 4; ++lane)
      chain[i][lane] = static_cast<float>(i);
  for (int64_t step = 0; step < kSteps; ++step)
    for (int i = 0; i < kChains; ++i)
      for (int lane = 0; lane < 4; ++lane)
        chain[i][lane] = chain[i][lane] * 0.999f + 0.001f;
  float sum = 0;
  for (int i = 0; i < kChains; ++i)
    sum += chain[i][0];
  return sum;
}

static FmaLoop chooseLoop(int64_t &lanes) {
  const std::string &features = target::hostTarget().features;
  auto has = [&](const char *name) {
    return features.find(name) != std::string::npos;
  };
  lanes = 4;
#if defined(__x86_64__)
  if (has("+avx512f")) {
    lanes = 16;
    return fmaLoop512;
  }
  if (has("+avx2") && has("+fma")) {
    lanes = 8;
    return fmaLoop256;
  }
#endif
  (void)has;
  return fmaLoop128;
}

static double measureFma(runtime::Pool &pool) {
  int64_t lanes = 0;
  struct Work {
    FmaLoop loop;
    std::vector<float> sink;
  } work{chooseLoop(lanes), {}};
  // Several items a worker, so that a late thread does not set the time.
  int64_t items = pool.workers() * int64_t{8};
  work.sink.resize(static_cast<size_t>(items));
  double seconds = bestOf(0.2, [&] {
    pool.parallelFor(
        items,
        [](void *context, int64_t begin, int64_t end, int32_t) {
          auto *work = static_cast<Work *>(context);
          for (int64_t i = begin; i < end; ++i)
            work->sink[static_cast<size_t>(i)] = work->loop();
        },
        &work);
  });
  return static_cast<double>(items * kSteps * kChains * lanes * 2) / seconds /
         1e12;
}

static double measureCopy(runtime::Pool &pool) {
  static constexpr int64_t kChunk = 1 << 20;
  int64_t bytes = std::clamp<int64_t>(2 * target::hostTarget().l3Bytes,
                                      64 * kChunk, 512 * kChunk);
  bytes -= bytes % kChunk;
  struct Work {
    std::vector<char> from, to;
  } work;
  work.from.assign(static_cast<size_t>(bytes), 1);
  work.to.assign(static_cast<size_t>(bytes), 0);
  double seconds = bestOf(0.2, [&] {
    pool.parallelFor(
        bytes / kChunk,
        [](void *context, int64_t begin, int64_t end, int32_t) {
          auto *work = static_cast<Work *>(context);
          std::memcpy(work->to.data() + begin * kChunk,
                      work->from.data() + begin * kChunk,
                      static_cast<size_t>((end - begin) * kChunk));
        },
        &work);
  });
  return 2 * static_cast<double>(bytes) / seconds / 1e9;
}

Roofs measureRoofs(runtime::Pool &pool) {
  Roofs roofs;
  roofs.f32Tflops = measureFma(pool);
  roofs.copyGBs = measureCopy(pool);
  return roofs;
}

} // namespace azulejo::api
