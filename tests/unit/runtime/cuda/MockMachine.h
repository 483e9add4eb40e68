//===- MockMachine.h - a machine with mock GPUs -----------------*- C++ -*-===//
//
// Every object is a machine of its own: it loads a copy of the mock driver, so
// that what one test does to its driver is unknown to the next.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKMACHINE_H
#define AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKMACHINE_H

#include "runtime/cuda/CudaBackend.h"
#include "tests/unit/runtime/cuda/MockCuda.h"

#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

// The build says where the mock is.
#ifndef AZULEJO_MOCK_CUDA
#define AZULEJO_MOCK_CUDA "mock.so"
#endif
#ifndef AZULEJO_MOCK_CUDA_OLD
#define AZULEJO_MOCK_CUDA_OLD "old.so" // without cuLaunchKernel
#define AZULEJO_MOCK_CUDA_12 "12.so"   // without what is optional
#endif

namespace azulejo::mock {

class MockMachine {
public:
  explicit MockMachine(const char *library = AZULEJO_MOCK_CUDA) {
    static int count = 0;
    path = std::filesystem::temp_directory_path() /
           ("azulejo-mock-" + std::to_string(getpid()) + "-" +
            std::to_string(count++) + ".so");
    std::filesystem::copy_file(
        library, path, std::filesystem::copy_options::overwrite_existing);
    void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    auto find = reinterpret_cast<MockCudaFn>(dlsym(handle, kMockSymbol));
    state = find();
  }
  ~MockMachine() { std::filesystem::remove(path); }

  MockState *operator->() const { return state; }
  const std::string library() const { return path.string(); }

  std::shared_ptr<runtime::cuda::CudaDevice> device(int ordinal = 0) {
    auto driver = runtime::cuda::Driver::open(library());
    EXPECT_TRUE(driver) << driver.error().str();
    auto device = runtime::cuda::CudaDevice::open(*driver, ordinal);
    EXPECT_TRUE(device) << device.error().str();
    return *device;
  }

private:
  std::filesystem::path path;
  MockState *state = nullptr;
};

/// "ok", or the code and the rule of an error.
template <typename T> std::string outcome(const Result<T> &result) {
  return result.ok() ? "ok"
                     : std::string(errorCodeName(result.error().code)) + " " +
                           result.error().rule;
}

} // namespace azulejo::mock

#endif // AZULEJO_TESTS_UNIT_RUNTIME_CUDA_MOCKMACHINE_H
