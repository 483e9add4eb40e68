//===- Host.cpp - the CPU that this process runs on -----------------------===//
//
// A CPUID bit says that the silicon has an instruction set; XCR0 says that the
// operating system saves its registers. Both must agree, or code that uses it
// would fault (or lose state) inside a hypervisor that masks one of them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "ir/target/TargetDesc.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace azulejo::target {

#if defined(__x86_64__)
namespace {
struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
} // namespace

static Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
  if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx))
    return {};
  return r;
}

static uint64_t enabledState() {
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

static void addFeature(TargetDesc &desc, const char *name) {
  if (!desc.features.empty())
    desc.features += ',';
  desc.features += '+';
  desc.features += name;
}

static void describeFeatures(TargetDesc &desc) {
  auto bit = [](uint32_t word, int index) { return (word >> index & 1) != 0; };
  desc.arch = "x86-64";
  desc.vectorBytes = 16;
  desc.vectorRegisters = 16;
  desc.hasFma = false;
  Registers basic = cpuid(1, 0), extended = cpuid(7, 0), more = cpuid(7, 1);
  bool osxsave = bit(basic.ecx, 27);
  uint64_t state = osxsave ? enabledState() : 0;
  bool ymm = (state & 0x6) == 0x6;   // SSE and AVX state
  bool zmm = (state & 0xe6) == 0xe6; // and opmask, ZMM_Hi256, Hi16_ZMM
  bool avx2 = ymm && bit(basic.ecx, 28) && bit(extended.ebx, 5);
  if (avx2) {
    desc.vectorBytes = 32;
    addFeature(desc, "avx2");
    if (bit(basic.ecx, 12)) {
      addFeature(desc, "fma");
      desc.hasFma = true;
    }
    if (bit(basic.ecx, 29))
      addFeature(desc, "f16c");
  }
  if (bit(extended.ebx, 3))
    addFeature(desc, "bmi");
  if (bit(extended.ebx, 8))
    addFeature(desc, "bmi2");
  // The 512-bit path needs all four of what Skylake-SP introduced; a CPU with
  // a part of them (Knights Landing) runs the AVX2 path.
  bool avx512 = avx2 && desc.hasFma && zmm && bit(extended.ebx, 16) &&
                bit(extended.ebx, 31) && bit(extended.ebx, 30) &&
                bit(extended.ebx, 17);
  if (!avx512)
    return;
  desc.vectorBytes = 64;
  desc.vectorRegisters = 32;
  for (const char *name : {"avx512f", "avx512vl", "avx512bw", "avx512dq"})
    addFeature(desc, name);
  if (bit(more.eax, 5))
    addFeature(desc, "avx512bf16");
}
#elif defined(__aarch64__)
// Advanced SIMD and FMA are part of the base architecture.
static void describeFeatures(TargetDesc &desc) {
  desc.arch = "aarch64";
  desc.features = "+neon";
  desc.vectorBytes = 16;
  desc.vectorRegisters = 32;
}
#else
#error "azulejo runs on x86-64 and aarch64"
#endif

/// CPUs that this process may use: a container or taskset narrows them.
static int64_t usableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  // More CPUs than cpu_set_t holds: the count that is online is the next best.
  return std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
}

/// Bytes of one cache as the kernel lists it ("32768K"), or 0. sysconf counts
/// all last-level caches of a many-chiplet part together, of which one thread
/// can use only its own.
static int64_t listedCacheBytes(int level) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" +
                         std::to_string(index) + "/";
    int found = 0;
    std::string type, size;
    if (!(std::ifstream(folder + "level") >> found) || found != level ||
        !(std::ifstream(folder + "type") >> type) || type == "Instruction" ||
        !(std::ifstream(folder + "size") >> size))
      continue;
    char *end = nullptr;
    int64_t number = std::strtoll(size.c_str(), &end, 10);
    int64_t unit = *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
    return number > 0 && number < (int64_t{1} << 40) ? number * unit : 0;
  }
  return 0;
}

/// Kernels that hide the topology report 0 or -1.
static int64_t cacheBytes(int level, int name, int64_t otherwise) {
  if (int64_t listed = listedCacheBytes(level))
    return listed;
  int64_t bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

static TargetDesc describeHost() {
  TargetDesc desc;
  desc.name = "cpu";
  desc.label = "this machine's CPU";
  desc.kind = Kind::Cpu;
  describeFeatures(desc);
  desc.units = usableThreads();
  desc.smemPerBlock = cacheBytes(1, _SC_LEVEL1_DCACHE_SIZE, 32 << 10);
  desc.l2Bytes = cacheBytes(2, _SC_LEVEL2_CACHE_SIZE, 512 << 10);
  desc.l3Bytes = cacheBytes(3, _SC_LEVEL3_CACHE_SIZE, 0);
  // The machine does not report rates. These are round figures (10 GB/s per
  // thread up to 100; two vector pipes at 3 GHz), nominal until measured.
  double threads = static_cast<double>(desc.units);
  desc.memoryGBs = std::min(100.0, 10 * threads);
  desc.f32Tflops = threads * 3e-3 * 2 * (desc.hasFma ? 2 : 1) *
                   static_cast<double>(desc.vectorBytes / 4);
  desc.f16Tflops = desc.f32Tflops;
  desc.launchUs = 5;
  return desc;
}

const TargetDesc &hostTarget() {
  static const TargetDesc host = describeHost();
  return host;
}

} // namespace azulejo::target
