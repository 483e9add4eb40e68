//===- InstructionsTest.cpp - one instruction at a time, on a GPU ---------===//
//
// Runs the kernels that azulejo-gpu-instructions left in the folder
// AZULEJO_INSTRUCTIONS: every run of every case of the table, each array
// between redzones, everything compared exactly.
//
// A wrong barrier makes a kernel hang and a wrong address loses the device, so
// several processes share the work and someone watches them (shards.py). After
// a loss this program ends with 3: in its context nothing works any more.
//
// Without a GPU of compute capability 9.0 the tests are skipped; if there is
// none at all, AZULEJO_REQUIRE_GPU=1 makes that a failure.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/CudaDriver.h"
#include "tests/gpu/instructions/Case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <unistd.h>

namespace azulejo::gputest {
namespace {

constexpr int64_t kRedzone = 1024; ///< keeps the alignment of the allocation
constexpr unsigned char kMark = 0xA5;

const std::vector<Case> &table() {
  static const std::vector<Case> *cases =
      new std::vector<Case>(instructionCases());
  return *cases;
}

/// What a bundle says of a kernel.
struct Entry {
  std::string symbol;
  int64_t threads = 0, sharedBytes = 0;
};

std::string folder() {
  const char *path = std::getenv("AZULEJO_INSTRUCTIONS");
  return path ? path : "instructions";
}

const std::map<std::string, Entry> &manifest() {
  static const auto *entries = [] {
    auto *read = new std::map<std::string, Entry>;
    std::ifstream file(folder() + "/instructions.txt");
    std::string name;
    Entry entry;
    while (file >> name >> entry.symbol >> entry.threads >> entry.sharedBytes)
      (*read)[name] = entry;
    return read;
  }();
  return *entries;
}

const Result<std::unique_ptr<CudaDriver>> &driver() {
  static const auto *opened =
      new Result<std::unique_ptr<CudaDriver>>(CudaDriver::open());
  return *opened;
}

/// An array of a case in device memory, between redzones.
class DeviceArray {
public:
  DeviceArray(CudaDriver &driver, const Array &array)
      : driver(driver), bytes(array.count * dtypeBytes(array.dtype)) {}
  ~DeviceArray() {
    if (start)
      driver.free(start);
  }
  DeviceArray(DeviceArray &&other)
      : driver(other.driver), bytes(other.bytes),
        start(std::exchange(other.start, 0)) {}

  Status write(const Bytes &content) {
    if (!start) {
      Result<DevicePointer> pointer = driver.allocate(bytes + 2 * kRedzone);
      if (!pointer)
        return pointer.error();
      start = *pointer;
    }
    Bytes all(bytes + 2 * kRedzone, kMark);
    std::copy(content.begin(), content.end(), all.begin() + kRedzone);
    return driver.upload(start, all.data(), all.size());
  }
  /// The content; `clean` says whether the redzones are as they were.
  Result<Bytes> read(bool &clean) {
    Bytes all(bytes + 2 * kRedzone);
    if (Status s = driver.download(all.data(), start, all.size()); !s)
      return s.error();
    clean = true;
    for (int64_t i = 0; i < kRedzone; ++i)
      clean &= all[i] == kMark && all[all.size() - 1 - i] == kMark;
    return Bytes(all.begin() + kRedzone, all.end() - kRedzone);
  }
  DevicePointer address() const { return start + kRedzone; }

private:
  CudaDriver &driver;
  int64_t bytes;
  DevicePointer start = 0;
};

bool same(double x, double y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}

/// The first differences, in words; empty if there are none.
std::string differences(const Launch &run, size_t number, const Array &array,
                        const Bytes &found) {
  constexpr int kShown = 6;
  const Bytes &expected = run.after[number];
  int64_t wrong = 0;
  std::ostringstream text;
  auto word = [&](double value) {
    std::string meaning = run.meaning ? run.meaning(number, value) : "";
    std::ostringstream plain;
    plain << value;
    return meaning.empty() ? plain.str() : meaning;
  };
  for (int64_t i = 0; i < array.count; ++i) {
    double want = array.at(expected, i), got = array.at(found, i);
    if (same(want, got) || ++wrong > kShown)
      continue;
    text << "  " << array.name << "(" << i / array.columns << ", "
         << i % array.columns << "): expected " << word(want) << ", found "
         << word(got) << "\n";
  }
  if (wrong == 0)
    return "";
  return run.name + ": " + std::to_string(wrong) + " of " +
         std::to_string(array.count) + " elements of " + array.name +
         " are wrong\n" + text.str();
}

class Instruction : public testing::TestWithParam<size_t> {
protected:
  void SetUp() override {
    if (!driver()) {
      const char *required = std::getenv("AZULEJO_REQUIRE_GPU");
      if (required && std::strcmp(required, "1") == 0)
        FAIL() << driver().error().str();
      GTEST_SKIP() << driver().error().str();
    }
    if ((*driver())->capability() != 90)
      GTEST_SKIP() << "these instructions exist on compute capability 9.0 "
                      "alone, the device has "
                   << (*driver())->capability();
  }

  const Case &theCase() const { return table()[GetParam()]; }

  /// False if the rest is not worth trying; a lost device ends the process.
  bool succeeded(const Status &status) {
    if (status)
      return true;
    if (status.error().code == ErrorCode::DeviceLost) {
      std::printf("the device was lost: %s\n", status.error().str().c_str());
      std::fflush(nullptr);
      std::_Exit(3);
    }
    ADD_FAILURE() << status.error().str();
    return false;
  }

  Result<Bytes> arguments(const std::vector<DeviceArray> &arrays) {
    Bytes bytes;
    auto append = [&](const void *from, size_t size) {
      const auto *data = static_cast<const unsigned char *>(from);
      bytes.insert(bytes.end(), data, data + size);
    };
    for (const MapSpec &spec : theCase().maps) {
      const Array &array = theCase().arrays[spec.array];
      int64_t size = dtypeBytes(array.dtype);
      TensorMapRequest request;
      request.strides.reserve(spec.sizes.size()); // never null
      request.dtype = array.dtype;
      request.address = arrays[spec.array].address() + spec.first * size;
      for (const MapSpec::Axis &axis : spec.axes()) {
        if (!request.sizes.empty())
          request.strides.push_back(axis.stride * size);
        request.sizes.push_back(axis.size);
      }
      request.box.assign(spec.box.begin(), spec.box.end());
      request.swizzle = spec.swizzle;
      Result<TensorMap> map = (*driver())->tensorMap(request);
      if (!map)
        return map.error();
      append(map->data(), map->size());
    }
    for (const DeviceArray &array : arrays) {
      uint64_t address = array.address();
      append(&address, sizeof address);
    }
    return bytes;
  }

  /// One launch, and whether all is as it should be afterwards.
  bool launch(void *function, const Entry &entry, const Launch &run,
              std::vector<DeviceArray> &arrays) {
    for (size_t i = 0; i < arrays.size(); ++i)
      if (!succeeded(arrays[i].write(run.before[i])))
        return false;
    Result<Bytes> block = arguments(arrays);
    if (!block) {
      ADD_FAILURE() << block.error().str();
      return false;
    }
    if (!succeeded((*driver())->launch(function, theCase().blocks,
                                       entry.threads, entry.sharedBytes, *block,
                                       theCase().maps.size())) ||
        !succeeded((*driver())->synchronize()))
      return false;
    bool right = true;
    for (size_t i = 0; i < arrays.size(); ++i) {
      bool clean = false;
      Result<Bytes> found = arrays[i].read(clean);
      if (!succeeded(found ? Status() : Status(found.error())))
        return false;
      const Array &array = theCase().arrays[i];
      std::string wrong = differences(run, i, array, *found);
      if (!clean)
        wrong += run.name + ": what lies round " + array.name + " changed\n";
      if (!wrong.empty())
        ADD_FAILURE() << wrong;
      right &= wrong.empty();
    }
    return right;
  }
};

/// For a process of its own, whose context is lost then: ends it with 0 if the
/// launch failed. What the kernel prints goes to where GoogleTest looks.
[[noreturn]] void endWithFailure(CudaDriver &driver, void *function,
                                 const Case &c, const Entry &entry,
                                 std::vector<DeviceArray> &arrays,
                                 Bytes block) {
  dup2(STDERR_FILENO, STDOUT_FILENO);
  Status status;
  for (size_t i = 0; status && i < arrays.size(); ++i)
    status = arrays[i].write((*c.beforeFailure)[i]);
  if (!status)
    std::_Exit(2);
  status = driver.launch(function, c.blocks, entry.threads, entry.sharedBytes,
                         block, c.maps.size());
  if (status)
    status = driver.synchronize();
  std::fflush(nullptr);
  std::_Exit(status ? 1 : 0);
}

TEST_P(Instruction, IsExact) {
  auto found = manifest().find(theCase().name);
  ASSERT_NE(found, manifest().end())
      << folder() << " has no " << theCase().name
      << ": make it anew with azulejo-gpu-instructions";
  std::ifstream file(folder() + "/" + theCase().name + ".cubin",
                     std::ios::binary);
  std::string cubin((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  ASSERT_FALSE(cubin.empty()) << theCase().name << " has no code";
  const Entry &entry = found->second;
  Result<void *> function = (*driver())->load(cubin, entry.symbol);
  ASSERT_TRUE(function) << function.error().str();
  std::vector<DeviceArray> arrays;
  for (const Array &array : theCase().arrays)
    arrays.emplace_back(**driver(), array);
  constexpr int kMostFailures = 3;
  int failures = 0;
  std::vector<Launch> runs = theCase().runs();
  ASSERT_FALSE(runs.empty());
  for (const Launch &run : runs)
    if (!launch(*function, entry, run, arrays) && ++failures == kMostFailures)
      break;
  if (!theCase().beforeFailure)
    return;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Result<Bytes> block = arguments(arrays);
  ASSERT_TRUE(block) << block.error().str();
  EXPECT_EXIT(
      endWithFailure(**driver(), *function, theCase(), entry, arrays, *block),
      testing::ExitedWithCode(0), theCase().says);
}

INSTANTIATE_TEST_SUITE_P(Sm90, Instruction,
                         testing::Range<size_t>(0, table().size()),
                         [](const auto &info) {
                           return table()[info.param].entry();
                         });

} // namespace
} // namespace azulejo::gputest
