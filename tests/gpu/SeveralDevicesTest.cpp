//===- SeveralDevicesTest.cpp - two GPUs in one process -------------------===//
//
// Whose memory, whose stream, whose context: what the mock driver promises of
// two devices is asked of two real ones. Skipped where there are fewer, unless
// AZULEJO_REQUIRE_GPUS=1 makes that a failure.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Driver.h"
#include "tests/gpu/HandKernels.h"
#include "tests/gpu/RuntimeFixture.h"

#include <thread>

using namespace azulejo;
using namespace azulejo::gputest;
namespace cuda = azulejo::runtime::cuda;

namespace {

/// A device, and the plan `twice` on it.
struct Side {
  Device device;
  Executable twice;
};

class SeveralDevices : public testing::Test {
protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) {
      Result<Device> device = Device::open("cuda:" + std::to_string(i));
      if (!device)
        return lacks(device.error());
      Result<Executable> plan =
          Executable::load(plan::serialize(handPlan("twice")), &*device);
      ASSERT_TRUE(plan) << plan.error().str();
      sides.push_back({*std::move(device), *std::move(plan)});
    }
    const char *library = std::getenv("AZULEJO_CUDA_LIBRARY");
    auto opened = cuda::Driver::open(library ? library : "");
    ASSERT_TRUE(opened) << opened.error().str();
    driver = *opened;
  }

  void lacks(const Error &error) {
    const char *required = std::getenv("AZULEJO_REQUIRE_GPUS");
    if (required && std::strcmp(required, "1") == 0)
      FAIL() << error.str();
    GTEST_SKIP() << "two GPUs are needed: " << error.str();
  }

  cuda::Context current() const {
    cuda::Context context = nullptr;
    EXPECT_EQ(driver->api().ctxGetCurrent(&context), 0);
    return context;
  }

  std::vector<Side> sides;
  std::shared_ptr<const cuda::Driver> driver;
};

} // namespace

TEST_F(SeveralDevices, EachRunsItsOwn) {
  for (const Side &side : sides) {
    Lane lane(side.device, side.twice, 100);
    Status status = lane.run(true);
    ASSERT_TRUE(status) << status.error().str();
    lane.expectDoubled();
  }
}

TEST_F(SeveralDevices, ThreadsTakeThemInTurns) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Lane a(sides[0].device, sides[0].twice, 50 + t),
          b(sides[1].device, sides[1].twice, 90 + t);
      for (int i = 0; i < 200; ++i)
        for (const Lane *lane : {&a, &b}) {
          Status status = lane->run(i % 4 == 0);
          ASSERT_TRUE(status) << status.error().str();
        }
      a.expectDoubled();
      b.expectDoubled();
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(SeveralDevices, MemoryOfTheOtherIsRefused) {
  Lane here(sides[0].device, sides[0].twice, 16),
      there(sides[1].device, sides[1].twice, 16);
  TensorView x(here.x.data(), f32, here.shape),
      y(here.y.data(), f32, here.shape),
      foreign(there.x.data(), f32, there.shape);
  Stream checked{here.stream.handle(), nullptr, true};
  Status status = sides[0].twice.run(checked, {foreign, y}, {});
  ASSERT_EQ(outcome(status), "InvalidArgument run.memory");
  EXPECT_NE(status.error().message.find("cuda:1"), std::string::npos)
      << status.error().str();
  EXPECT_NE(status.error().hint, "");
  EXPECT_EQ(outcome(sides[0].twice.run(checked, {x, foreign}, {})),
            "InvalidArgument run.memory");
  // Nothing was started, and what is right runs as before.
  ASSERT_TRUE(here.run(true));
  ASSERT_TRUE(there.run(true));
  here.expectDoubled();
  there.expectDoubled();
}

TEST_F(SeveralDevices, AStreamOfTheOtherIsRefused) {
  Lane here(sides[0].device, sides[0].twice, 16);
  Result<DeviceStream> foreign = DeviceStream::create(sides[1].device);
  ASSERT_TRUE(foreign) << foreign.error().str();
  TensorView x(here.x.data(), f32, here.shape),
      y(here.y.data(), f32, here.shape);
  Status status =
      sides[0].twice.run({foreign->handle(), nullptr, true}, {x, y}, {});
  ASSERT_EQ(outcome(status), "InvalidArgument run.stream");
  EXPECT_NE(status.error().hint, "");
  ASSERT_TRUE(here.run(true));
  here.expectDoubled();
}

// Whatever is current on a thread stays so, and no call takes it for its own.
TEST_F(SeveralDevices, ContextsAreNotMixed) {
  const cuda::CudaApi &api = driver->api();
  cuda::Context before = current();
  for (int own = 0; own < 2; ++own) {
    cuda::Context context = nullptr;
    ASSERT_EQ(api.primaryCtxRetain(&context, own), 0);
    ASSERT_EQ(api.ctxPushCurrent(context), 0);
    for (const Side &side : sides) {
      Lane lane(side.device, side.twice, 33);
      for (bool check : {false, true}) {
        Status status = lane.run(check);
        EXPECT_TRUE(status) << status.error().str();
      }
      lane.expectDoubled();
      EXPECT_EQ(current(), context) << own << " and " << side.device.name();
    }
    cuda::Context popped = nullptr;
    EXPECT_EQ(api.ctxPopCurrent(&popped), 0);
    EXPECT_EQ(popped, context);
    EXPECT_EQ(api.primaryCtxRelease(own), 0);
  }
  EXPECT_EQ(current(), before);
}

// What tuning finds is kept by silicon: equal models share it, others do not.
TEST_F(SeveralDevices, KeysFollowTheSilicon) {
  std::string facts[2], models[2];
  auto field = [](const std::string &text, const std::string &name) {
    size_t at = text.find("\"" + name + "\":");
    return at == std::string::npos
               ? std::string()
               : text.substr(at, text.find_first_of(",}", at) - at);
  };
  for (int i = 0; i < 2; ++i) {
    Result<std::string> text = sides[static_cast<size_t>(i)].device.describe();
    ASSERT_TRUE(text) << text.error().str();
    facts[i] = field(*text, "silicon");
    models[i] = field(*text, "label");
    ASSERT_NE(facts[i], "") << *text;
  }
  EXPECT_EQ(facts[0] == facts[1], models[0] == models[1])
      << models[0] << " " << facts[0] << ", " << models[1] << " " << facts[1];
}
