//===- HostCostTest.cpp - what a run costs the host -----------------------===//
//
// A run next to the driver's own launch of the same kernel with the same
// arguments, which is the floor, and next to each other call that a run makes.
// All of them in turns, so that they see the same clocks: rounds of 50 calls,
// which fit any queue, so that none waits for the device. Rows are lines of
// JSON, in nanoseconds per call.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "runtime/cuda/Driver.h"
#include "tests/gpu/RuntimeFixture.h"

#include <algorithm>
#include <dlfcn.h>
#include <functional>
#include <vector>

using namespace azulejo;
using namespace azulejo::gputest;
namespace cuda = azulejo::runtime::cuda;

namespace {

constexpr int kCalls = 50, kRounds = 300;
constexpr unsigned kThreads = 64;

/// A kernel that takes a pointer and a stride of each tensor, and a size, as
/// compiled kernels do, and does nothing.
std::string idleKernel(int tensors) {
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n"
                     ".visible .entry idle(";
  for (int i = 0; i < 2 * tensors + 1; ++i)
    text += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
  return text + ") {\n  ret;\n}\n";
}

plan::Plan idlePlan(int tensors) {
  using plan::Expr;
  plan::Plan plan;
  plan.target = "sm_80";
  plan.producer = "by hand";
  plan.dims = {{"S", 0, int64_t{1} << 31}};
  std::string text = idleKernel(tensors);
  plan.images.push_back({"ptx", "sm_80", "", plan::digestOf(text), text});
  plan::Launch launch;
  launch.kernel = launch.entry = "idle";
  launch.image = 0;
  launch.grid = Expr::dim(0);
  launch.blockThreads = kThreads;
  for (int i = 0; i < tensors; ++i) {
    plan::Buffer buffer;
    buffer.kind =
        i + 1 < tensors ? plan::BufferKind::Input : plan::BufferKind::Output;
    buffer.name = "t" + std::to_string(i);
    buffer.shape = {Expr::dim(0), Expr(8)};
    plan.buffers.push_back(buffer);
    for (auto kind : {plan::Arg::Address, plan::Arg::Stride}) {
      plan::Arg arg;
      arg.kind = kind;
      arg.buffer = i;
      launch.args.push_back(arg);
    }
  }
  plan::Arg size;
  size.kind = plan::Arg::Size;
  size.size = Expr(8);
  launch.args.push_back(size);
  plan.launches.push_back(launch);
  return plan;
}

/// cuLaunchKernelEx and its configuration, of cuda.h 11.8 and later.
struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  cuda::StreamHandle stream;
  void *attributes;
  unsigned attributeCount;
};
using LaunchEx = cuda::Code (*)(const LaunchConfig *, cuda::Function, void **,
                                void **);

/// One kind of call.
struct Call {
  std::string name;
  std::function<bool()> once;
  bool hasContext = true;          ///< current on the thread
  std::vector<double> rounds = {}; ///< ns per call, of each

  double median() {
    auto middle = rounds.begin() + static_cast<long>(rounds.size() / 2);
    std::nth_element(rounds.begin(), middle, rounds.end());
    return *middle;
  }
  void report() {
    std::printf("{\"suite\": \"runtime\", \"case\": \"host_cost/%s\", "
                "\"ns\": %.0f, \"least_ns\": %.0f}\n",
                name.c_str(), median(),
                *std::min_element(rounds.begin(), rounds.end()));
  }
};

/// The driver below the runtime, in the same process and on the same context.
class HostCost : public GpuRuntime {
protected:
  void SetUp() override {
    GpuRuntime::SetUp();
    if (IsSkipped() || HasFatalFailure())
      return;
    const char *library = std::getenv("AZULEJO_CUDA_LIBRARY");
    auto opened = cuda::Driver::open(library ? library : "");
    ASSERT_TRUE(opened) << opened.error().str();
    driver = *opened;
    stream.emplace(*DeviceStream::create(*device));
    for (int i = 0; i < 4; ++i)
      buffers.push_back(*Buffer::create(*device, 256));
    std::string name = device->name();
    size_t colon = name.find(':');
    int ordinal =
        colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1);
    ASSERT_EQ(api().deviceGet(&id, ordinal), 0);
    ASSERT_EQ(api().primaryCtxRetain(&context, id), 0);
    ASSERT_EQ(api().ctxSetCurrent(context), 0);
  }
  void TearDown() override {
    if (!context)
      return;
    api().ctxSetCurrent(nullptr);
    api().primaryCtxRelease(id);
  }

  const cuda::CudaApi &api() const { return driver->api(); }
  cuda::StreamHandle handle() const {
    return static_cast<cuda::StreamHandle>(stream->handle());
  }

  void measure(std::vector<Call> &calls) {
    for (int round = 0; round < kRounds; ++round)
      for (Call &call : calls) {
        bool good =
            api().ctxSetCurrent(call.hasContext ? context : nullptr) == 0;
        Clock::time_point start = Clock::now();
        for (int i = 0; i < kCalls; ++i)
          good &= call.once();
        call.rounds.push_back(microsecondsSince(start) * 1e3 / kCalls);
        good &= api().ctxSetCurrent(context) == 0;
        ASSERT_TRUE(good) << call.name;
        ASSERT_TRUE(device->synchronize(stream->handle()));
      }
    for (Call &call : calls) {
      call.report();
      EXPECT_LT(call.median(), 50e3) << call.name << ": something waits";
    }
  }

  std::shared_ptr<const cuda::Driver> driver;
  cuda::DeviceId id = 0;
  cuda::Context context = nullptr;
  std::optional<DeviceStream> stream;
  std::vector<Buffer> buffers;
};

class HostCostOfTensors : public HostCost,
                          public testing::WithParamInterface<int> {};

} // namespace

TEST_P(HostCostOfTensors, NextToTheDriversLaunch) {
  int tensors = GetParam();
  Result<Executable> plan = load(idlePlan(tensors));
  ASSERT_TRUE(plan) << plan.error().str();
  int64_t shape[] = {1, 8};
  std::vector<TensorView> views;
  std::vector<int64_t> args;
  for (int i = 0; i < tensors; ++i) {
    void *data = buffers[static_cast<size_t>(i)].data();
    views.emplace_back(data, f32, shape);
    args.push_back(reinterpret_cast<intptr_t>(data));
    args.push_back(8);
  }
  args.push_back(8);

  cuda::Module module = nullptr;
  cuda::Function kernel = nullptr;
  std::string text = idleKernel(tensors);
  ASSERT_EQ(api().moduleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr),
            0);
  ASSERT_EQ(api().moduleGetFunction(&kernel, module, "idle"), 0);
  size_t bytes = 8 * args.size();
  void *packed[] = {cuda::kLaunchBuffer, args.data(), cuda::kLaunchBufferBytes,
                    &bytes, cuda::kLaunchEnd};
  std::vector<void *> pointers;
  for (int64_t &arg : args)
    pointers.push_back(&arg);
  auto launch = [&](void **each, void **extra) {
    return api().launchKernel(kernel, 1, 1, 1, kThreads, 1, 1, 0, handle(),
                              each, extra) == 0;
  };
  auto run = [&](bool check) {
    return plan->run({stream->handle(), nullptr, check}, views, {}).ok();
  };
  std::string of = "_" + std::to_string(tensors) + "_tensors";
  std::vector<Call> calls = {
      {"run" + of, [&] { return run(false); }},
      {"run_checked" + of, [&] { return run(true); }},
      {"run_without_context" + of, [&] { return run(false); }, false},
      {"launch_packed" + of, [&] { return launch(nullptr, packed); }},
      {"launch_pointers" + of,
       [&] { return launch(pointers.data(), nullptr); }},
  };
  void *opened = dlopen(driver->library().c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (auto *launchEx = reinterpret_cast<LaunchEx>(
          opened ? dlsym(opened, "cuLaunchKernelEx") : nullptr))
    calls.push_back({"launch_ex" + of, [&, launchEx] {
                       LaunchConfig config = {{1, 1, 1}, {kThreads, 1, 1}, 0,
                                              handle(),  nullptr,          0};
                       return launchEx(&config, kernel, pointers.data(),
                                       nullptr) == 0;
                     }});
  measure(calls);
  if (!HasFatalFailure())
    std::printf("{\"suite\": \"runtime\", \"case\": \"host_cost/ours%s\", "
                "\"ns\": %.0f}\n",
                of.c_str(), calls[0].median() - calls[3].median());
  api().moduleUnload(module);
  if (opened)
    dlclose(opened);
}

INSTANTIATE_TEST_SUITE_P(Tensors, HostCostOfTensors, testing::Values(2, 3, 4));

// What else a run asks the driver, always or when it checks pointers.
TEST_F(HostCost, OfTheDriversOtherCalls) {
  cuda::Context seen = nullptr;
  int type = 0, managed = 0, ordinal = 0, whole = 0;
  cuda::Address first = 0;
  size_t size = 0;
  cuda::PointerAttribute what[] = {
      cuda::kPointerMemoryType, cuda::kPointerManaged, cuda::kPointerOrdinal,
      cuda::kPointerWhole,      cuda::kPointerStart,   cuda::kPointerBytes};
  void *into[] = {&type, &managed, &ordinal, &whole, &first, &size};
  auto address = reinterpret_cast<uintptr_t>(buffers[0].data());
  std::vector<Call> calls = {
      {"ctx_get_current",
       [&] { return api().ctxGetCurrent(&seen) == 0 && seen == context; }},
      {"ctx_push_and_pop",
       [&] {
         return api().ctxPushCurrent(context) == 0 &&
                api().ctxPopCurrent(&seen) == 0;
       }},
      {"stream_get_ctx",
       [&] { return api().streamGetCtx(handle(), &seen) == 0; }},
      {"pointer_get_attributes",
       [&] { return api().pointerGetAttributes(6, what, into, address) == 0; }},
  };
  cuda::TensorMapWords map;
  unsigned long long sizes[] = {64, 64}, strides[] = {128};
  unsigned box[] = {64, 64}, steps[] = {1, 1};
  auto room = Buffer::create(*device, 64 * 64 * 2);
  ASSERT_TRUE(room);
  if (auto encode = api().tensorMapEncodeTiled)
    calls.push_back({"tensor_map_encode", [&, encode] {
                       return encode(&map, cuda::kMapBfloat16, 2, room->data(),
                                     sizes, strides, box, steps,
                                     cuda::kMapNotInterleaved,
                                     cuda::kMapSwizzle128, cuda::kMapL2By256,
                                     cuda::kMapFillZeros) == 0;
                     }});
  measure(calls);
}
