//===- DeviceTest.cpp - streams, threads, recordings, large sizes ---------===//
//
// What an engine does with an executable on a GPU, through the public headers.
// Part of the conformance program, so that one binary tests everything there.
// Without a GPU these tests are skipped, all but those that a CPU can do.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"
#include "tests/conformance/Skips.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

using namespace azulejo;
using conformance::TestDevice;

namespace {

#define ASSERT_GOOD(status)                                                    \
  do {                                                                         \
    azulejo::Status good = (status);                                           \
    ASSERT_TRUE(good.ok()) << good.error().str();                              \
  } while (false)

template <typename T> T must(Result<T> result) {
  if (result)
    return *std::move(result);
  if (result.error().code == ErrorCode::Unsupported)
    conformance::endSkippedFor(result.error());
  ADD_FAILURE() << result.error().str();
  throw std::runtime_error(result.error().str());
}

Device device() {
  const char *name = std::getenv("AZULEJO_TEST_DEVICE");
  return must(Device::open(name && *name ? name : "cpu"));
}

bool onGpu() { return TestDevice::current().isGpu(); }

Executable compiled(const Graph &graph, const Device &device) {
  CompileOptions options;
  options.cache.mode = CacheMode::Off;
  Executable made = must(compile(graph, device, options));
  conformance::recordCompiled();
  if (!TestDevice::current().canRun())
    conformance::endSkippedRun();
  return made;
}

/// y = softmax(x) over rows of f32.
Graph softmaxGraph(DType dtype = f32, int64_t lanes = 33) {
  Graph g;
  Dim rows = g.dim("M", 0, 1 << 22);
  g.output("y", g.softmax(g.input("x", {rows, lanes}, dtype)));
  return g;
}

constexpr int64_t kLanes = 33;

/// A row-dependent input whose softmax is known in double.
std::vector<float> inputOf(int64_t rows, int seed) {
  std::vector<float> x(static_cast<size_t>(rows * kLanes));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(0.37f * float(i % 1009) + float(seed));
  return x;
}

void expectSoftmax(const std::vector<float> &x, const std::vector<float> &y,
                   const std::string &what) {
  for (size_t first = 0; first < x.size(); first += kLanes) {
    double total = 0;
    for (int64_t i = 0; i < kLanes; ++i)
      total += std::exp(double(x[first + i]));
    for (int64_t i = 0; i < kLanes; ++i)
      ASSERT_NEAR(y[first + i], std::exp(double(x[first + i])) / total, 1e-6)
          << what << ", element " << first + i;
  }
}

/// The memory of one run of the softmax.
struct Lane {
  int64_t rows;
  int64_t shape[2];
  Buffer x, y, workspace;

  Lane(const Executable &program, const Device &place, int64_t rows)
      : rows(rows), shape{rows, kLanes},
        x(must(Buffer::create(place, bytes()))),
        y(must(Buffer::create(place, bytes()))),
        workspace(must(Buffer::create(
            place, must(program.workspaceSize({{"M", rows}}))))) {}
  size_t bytes() const { return static_cast<size_t>(rows * kLanes) * 4; }
  std::vector<TensorView> bindings() const {
    return {{x.data(), f32, shape}, {y.data(), f32, shape}};
  }
  Status run(const Executable &program, void *stream) const {
    return program.run({.handle = stream}, bindings(),
                       {workspace.data(), workspace.size()});
  }
  Status put(const std::vector<float> &values, void *stream) {
    if (Status poisoned = y.fill(0xff, stream); !poisoned)
      return poisoned;
    return x.write(values.data(), bytes(), 0, stream);
  }
  Status get(std::vector<float> &values, void *stream) const {
    values.resize(static_cast<size_t>(rows * kLanes));
    return y.read(values.data(), bytes(), 0, stream);
  }
};

TEST(DeviceRun, TheDefaultStreamWillDo) {
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  Lane lane(program, place, 100);
  std::vector<float> x = inputOf(100, 1), y;
  ASSERT_GOOD(lane.put(x, nullptr));
  ASSERT_GOOD(lane.run(program, nullptr));
  ASSERT_GOOD(lane.get(y, nullptr));
  expectSoftmax(x, y, "default stream");
}

TEST(DeviceRun, TwoStreamsShareAnExecutable) {
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  std::vector<DeviceStream> streams;
  std::vector<Lane> lanes;
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < 2; ++i) {
    streams.push_back(must(DeviceStream::create(place)));
    lanes.emplace_back(program, place, 4001 + i);
    inputs.push_back(inputOf(4001 + i, i));
    ASSERT_GOOD(lanes[i].put(inputs[i], streams[i].handle()));
  }
  for (int repeat = 0; repeat < 50; ++repeat)
    for (int i = 0; i < 2; ++i)
      ASSERT_GOOD(lanes[i].run(program, streams[i].handle()));
  for (int i = 0; i < 2; ++i) {
    std::vector<float> y;
    ASSERT_GOOD(lanes[i].get(y, streams[i].handle()));
    expectSoftmax(inputs[i], y, "stream " + std::to_string(i));
  }
}

TEST(DeviceRun, EightThreadsShareAnExecutable) {
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  std::vector<std::string> failures(8);
  std::vector<std::vector<float>> outputs(8);
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      auto work = [&]() -> Status {
        Result<DeviceStream> stream = DeviceStream::create(place);
        if (!stream)
          return stream.error();
        Lane lane(program, place, 500 + number);
        for (int repeat = 0; repeat < 40; ++repeat) {
          if (Status s = lane.put(inputOf(500 + number, number + repeat),
                                  stream->handle());
              !s)
            return s;
          if (Status s = lane.run(program, stream->handle()); !s)
            return s;
          if (Status s = lane.get(outputs[number], stream->handle()); !s)
            return s;
        }
        return {};
      };
      if (Status status = work(); !status)
        failures[number] = status.error().str();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int number = 0; number < 8; ++number) {
    EXPECT_EQ(failures[number], "");
    if (failures[number].empty())
      expectSoftmax(inputOf(500 + number, number + 39), outputs[number],
                    "thread " + std::to_string(number));
  }
}

TEST(DeviceRun, ARecordingIsReplayedOnNewData) {
  if (!onGpu())
    GTEST_SKIP() << "a CPU cannot record";
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  DeviceStream stream = must(DeviceStream::create(place));
  Lane lane(program, place, 777);
  ASSERT_GOOD(Recording::begin(place, stream.handle()));
  ASSERT_GOOD(lane.run(program, stream.handle()));
  Recording recording = must(Recording::end(place, stream.handle()));
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<float> x = inputOf(777, repeat), y;
    ASSERT_GOOD(lane.put(x, stream.handle()));
    ASSERT_GOOD(recording.replay(stream.handle()));
    ASSERT_GOOD(lane.get(y, stream.handle()));
    expectSoftmax(x, y, "replay " + std::to_string(repeat));
  }
}

TEST(DeviceRun, MoreBlocksThanTheNarrowGridAxesHold) {
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  for (int64_t rows : {65535, 65536, 300001}) {
    Lane lane(program, place, rows);
    std::vector<float> x = inputOf(rows, 3), y;
    ASSERT_GOOD(lane.put(x, nullptr));
    ASSERT_GOOD(lane.run(program, nullptr));
    ASSERT_GOOD(lane.get(y, nullptr));
    expectSoftmax(x, y, std::to_string(rows) + " rows");
  }
}

TEST(DeviceRun, ARunOfNothing) {
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  Lane lane(program, place, 0);
  ASSERT_GOOD(lane.run(program, nullptr));
  ASSERT_GOOD(place.synchronize());
}

TEST(DeviceRun, AHostPointerIsRefusedWhenPointersAreChecked) {
  if (!onGpu())
    GTEST_SKIP() << "a CPU runs on host pointers";
  Device place = device();
  Executable program = compiled(softmaxGraph(), place);
  Lane lane(program, place, 5);
  std::vector<float> host(5 * kLanes);
  std::vector<TensorView> bindings = lane.bindings();
  bindings[0] = {host.data(), f32, lane.shape};
  Status status = program.run({.checkPointers = true}, bindings,
                              {lane.workspace.data(), lane.workspace.size()});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(status.error().hint, "");
  ASSERT_GOOD(place.synchronize()); // nothing was started
}

/// Offsets beyond 2^31 elements, and beyond 2^32 bytes.
TEST(DeviceRun, TensorsOfMoreThan2To31Elements) {
  if (!onGpu())
    GTEST_SKIP() << "takes a CPU minutes";
  constexpr int64_t lanes = 1024, rows = (int64_t{1} << 21) + 3;
  static_assert(lanes * rows > int64_t{1} << 31);
  constexpr size_t rowBytes = lanes * 2;
  Device place = device();
  Executable program = compiled(softmaxGraph(f16, lanes), place);
  Result<Buffer> x = Buffer::create(place, rows * rowBytes);
  Result<Buffer> y = Buffer::create(place, rows * rowBytes);
  for (const Result<Buffer> *made : {&x, &y})
    if (!*made && made->error().code == ErrorCode::OutOfMemory)
      GTEST_SKIP() << "the device has no 9 GB to spare";
  ASSERT_TRUE(x && y);
  // Zeros everywhere but in three rows, whose first element is 10.
  ASSERT_GOOD(x->fill(0));
  ASSERT_GOOD(y->fill(0xff));
  const uint16_t ten = 0x4900;
  std::vector<int64_t> marked{0, (int64_t{1} << 21) + 1, rows - 1};
  for (int64_t row : marked)
    ASSERT_GOOD(x->write(&ten, 2, row * rowBytes));
  const int64_t shape[] = {rows, lanes};
  std::vector<TensorView> bindings{{x->data(), f16, shape},
                                   {y->data(), f16, shape}};
  Buffer workspace =
      must(Buffer::create(place, must(program.workspaceSize(bindings))));
  ASSERT_GOOD(program.run({}, bindings, {workspace.data(), workspace.size()}));
  const double total = std::exp(10.0) + lanes - 1;
  for (int64_t row :
       {int64_t{0}, int64_t{1}, (int64_t{1} << 20) - 1, int64_t{1} << 20,
        int64_t{1} << 21, (int64_t{1} << 21) + 1, rows - 1}) {
    uint16_t got[2];
    ASSERT_GOOD(y->read(got, sizeof got, row * rowBytes));
    bool high = std::find(marked.begin(), marked.end(), row) != marked.end();
    auto half = [](uint16_t bits) {
      return std::ldexp(double((bits & 0x3ff) + (bits >> 10 ? 1024 : 0)),
                        std::max(bits >> 10, 1) - 25);
    };
    double first = high ? std::exp(10.0) / total : 1.0 / lanes,
           second = high ? 1 / total : 1.0 / lanes;
    EXPECT_NEAR(half(got[0]), first, first * 2e-3) << "row " << row;
    EXPECT_NEAR(half(got[1]), second, second * 2e-3 + 6e-8) << "row " << row;
  }
}

// Plans and tuning results are kept by silicon, so that one of several equal
// GPUs tunes for all of them.
TEST(DeviceRun, EqualGpusShareWhatWasTuned) {
  const char *required = std::getenv("AZULEJO_REQUIRE_GPUS");
  bool twoRequired = required && std::string(required) == "1";
  if (!TestDevice::current().canRun() || !onGpu()) {
    ASSERT_FALSE(twoRequired) << "the device under test is no GPU that is here";
    GTEST_SKIP() << "needs two GPUs, and the device under test is none";
  }
  Device first = must(Device::open("cuda:0"));
  Result<Device> other = Device::open("cuda:1");
  if (!other) {
    ASSERT_FALSE(twoRequired) << other.error().str();
    GTEST_SKIP() << "needs two GPUs: " << other.error().str();
  }
  auto silicon = [](const Device &one) {
    std::string facts = must(one.describe());
    size_t at = facts.find("\"silicon\"");
    return facts.substr(at, facts.find('}', at) - at);
  };
  if (silicon(first) != silicon(*other))
    GTEST_SKIP() << "only GPUs of one model share what was tuned";
  std::string folder = testing::TempDir() + "azulejo-gpus-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  CompileOptions options;
  options.tune = std::chrono::seconds(2);
  options.cache = {CacheMode::ReadWrite, folder, {}};
  std::vector<float> x = inputOf(40, 3), y;
  for (const Device *place : {&first, &*other}) {
    Executable program = must(compile(softmaxGraph(), *place, options));
    conformance::recordCompiled();
    EXPECT_EQ(program.fromCache(), place != &first);
    Lane lane(program, *place, 40);
    DeviceStream stream = must(DeviceStream::create(*place));
    ASSERT_GOOD(lane.put(x, stream.handle()));
    ASSERT_GOOD(lane.run(program, stream.handle()));
    ASSERT_GOOD(lane.get(y, stream.handle()));
    expectSoftmax(x, y, place->name());
  }
  std::filesystem::remove_all(folder);
}

} // namespace
