//===- MockKernels.cpp - what launches do on a mock device ----------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/cuda/MockParts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace azulejo::runtime::cuda;

namespace azulejo::mock {

bool isOpaque(const ModuleTag &module) {
  return std::strncmp(module.text,
                      "\x7f"
                      "ELF",
                      4) == 0;
}

/// How often `word` is in the function's parameters; -1 if there is no such
/// function.
static int countInParameters(const FunctionTag &function, const char *word) {
  char head[160] = ".entry ";
  std::strncat(head, function.name, 128);
  std::strcat(head, "(");
  const char *at = std::strstr(function.module->text, head);
  if (!at)
    return -1;
  const char *end = std::strchr(at, ')');
  int count = 0;
  while ((at = std::strstr(at, word)) && at < end) {
    ++count;
    at += std::strlen(word);
  }
  return count;
}

int parametersOf(const FunctionTag &function) {
  return countInParameters(function, ".param");
}

int mapsOf(const FunctionTag &function) {
  return std::max(0, countInParameters(function, ".b8"));
}

namespace {

/// Number after `key` in the module's text, or `otherwise`.
double numberIn(const ModuleTag &module, const char *key, double otherwise) {
  const char *at = std::strstr(module.text, key);
  return at ? std::atof(at + std::strlen(key)) : otherwise;
}
bool says(const ModuleTag &module, const char *words) {
  return std::strstr(module.text, words) != nullptr;
}

bool inAllocation(int64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Allocation &slot : allocations)
    if (slot.start &&
        static_cast<size_t>(address - reinterpret_cast<int64_t>(slot.start)) <
            slot.bytes)
      return true;
  return false;
}

/// Compiled PTX, of which the mock reads no instruction: kernels of one input
/// and one output of two dimensions double what they get. Comments in the text
/// make them behave otherwise: "mock trap=700", "mock endless", "mock us=40",
/// "mock wrong", "mock over", "mock under", "mock nothing", "mock input",
/// "mock random", "mock bit".
void executeCompiled(const MockLaunch &launch, const ModuleTag &module,
                     StreamTag *stream) {
  now = now + numberIn(module, "mock us=", 5) / 1e3;
  if (isOpaque(module))
    return;
  if (says(module, "mock endless") && stream)
    stream->hung = true;
  if (int code = static_cast<int>(numberIn(module, "mock trap=", 0)))
    state.devices[module.context->device].poison = code;
  if (launch.argCount != 5 || !inAllocation(launch.args[0]) ||
      !inAllocation(launch.args[2]) || says(module, "mock nothing"))
    return;
  auto *x = reinterpret_cast<float *>(launch.args[0]);
  auto *y = reinterpret_cast<float *>(launch.args[2]);
  int64_t count = launch.args[1] * launch.args[4];
  for (int64_t i = 0; i < count; ++i)
    y[i] = 2 * x[i];
  static float last = 1;
  if (says(module, "mock wrong"))
    y[count / 2] += 1;
  if (says(module, "mock bit"))
    y[count / 2] = std::nextafter(y[count / 2], 0.0f);
  if (says(module, "mock random"))
    y[count / 2] *= 1 + (last *= -1) * 1e-6f;
  if (says(module, "mock over"))
    reinterpret_cast<char *>(y + count)[0] = 0;
  if (says(module, "mock under"))
    reinterpret_cast<char *>(y)[-1] = 0;
  if (says(module, "mock input"))
    x[count - 1] += 1;
}

float floatAt(const void *data, int64_t kind, int64_t i) {
  if (kind == 0)
    return static_cast<const float *>(data)[i];
  uint16_t half = static_cast<const uint16_t *>(data)[i];
  if (kind == 1) {
    _Float16 value;
    std::memcpy(&value, &half, 2);
    return static_cast<float>(value);
  }
  uint32_t bits = uint32_t(half) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// The tuner's own kernels, as autotune/measure/CheckKernels.h defines them.
bool executeCheck(const MockLaunch &launch) {
  auto pointer = [&](int arg) {
    return reinterpret_cast<unsigned char *>(launch.args[arg]);
  };
  auto number = [&](int arg) {
    double value;
    std::memcpy(&value, &launch.args[arg], 8);
    return value;
  };
  if (std::strcmp(launch.kernel, "azulejo_check_bytes") == 0) {
    auto *result = reinterpret_cast<uint64_t *>(launch.args[4]);
    for (int64_t i = 0; i < launch.args[3]; ++i) {
      auto wanted = pointer(1) ? pointer(1)[i]
                               : static_cast<unsigned char>(launch.args[2]);
      if (pointer(0)[i] == wanted)
        continue;
      auto at = static_cast<uint64_t>(i);
      ++result[0];
      result[1] = at < result[1] ? at : result[1];
      result[2] = at + 1 > result[2] ? at + 1 : result[2];
    }
    return true;
  }
  if (std::strcmp(launch.kernel, "azulejo_check_floats") == 0) {
    auto *result = reinterpret_cast<uint64_t *>(launch.args[6]);
    auto *sums = reinterpret_cast<double *>(launch.args[6]) + 2;
    for (int64_t i = 0; i < launch.args[3]; ++i) {
      double a = floatAt(pointer(0), launch.args[2], i),
             e = floatAt(pointer(1), launch.args[2], i);
      bool fine = std::isfinite(a) == std::isfinite(e);
      if (fine && std::isfinite(e)) {
        sums[0] += (a - e) * (a - e);
        sums[1] += e * e;
        fine =
            std::fabs(a - e) <= number(4) * std::fmax(std::fabs(e), number(5));
      }
      if (fine)
        continue;
      ++result[0];
      auto at = static_cast<uint64_t>(i);
      result[1] = at < result[1] ? at : result[1];
    }
    return true;
  }
  if (std::strcmp(launch.kernel, "azulejo_probe_clock") != 0)
    return false;
  auto *result = reinterpret_cast<int64_t *>(launch.args[0]);
  result[1] = launch.args[1];
  result[0] = static_cast<int64_t>(static_cast<double>(launch.args[1]) * 1.5);
  return true;
}

} // namespace

int mostThreads(const FunctionTag &function) {
  if (isOpaque(*function.module))
    return 512;
  return static_cast<int>(numberIn(*function.module, ".reqntid ", 512));
}

/// y[i, j] = 2 x[i, j]; arguments are x, its stride, y, its stride, columns.
void execute(const MockLaunch &launch, const ModuleTag &module,
             StreamTag *stream) {
  if (executeCheck(launch))
    return;
  if (std::strcmp(launch.kernel, "twice") != 0)
    return executeCompiled(launch, module, stream);
  auto *x = reinterpret_cast<const float *>(launch.args[0]);
  auto *y = reinterpret_cast<float *>(launch.args[2]);
  for (int64_t row = 0; row < launch.grid[0]; ++row)
    for (int64_t j = 0; j < launch.args[4]; ++j)
      y[row * launch.args[3] + j] = 2 * x[row * launch.args[1] + j];
}

} // namespace azulejo::mock
