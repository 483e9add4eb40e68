//===- ApiTest.cpp - the C ABI and the C++ headers over it ----------------===//
//
// Needs no compiler: plans come from a cache that the test fills, which is what
// an engine with a warmed cache does.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "autotune/cache/Entry.h"
#include "azulejo/Azulejo.h"
#include "frontend/api/CompilerLibrary.h"
#include "frontend/api/Handles.h"
#include "frontend/api/PlanCache.h"
#include "runtime/Log.h"
#include "runtime/cpu/ThreadPool.h"
#include "tests/unit/runtime/TestPlan.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <thread>

using namespace azulejo;

namespace {

/// A cache folder of its own for each test.
struct Place {
  Place() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "azulejo-api-XXXXXX");
    path = mkdtemp(pattern.data());
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

/// y = x + x over [S, 8], which the test kernel "twice" computes.
Graph doubling() {
  Graph g;
  auto s = g.dim("S", 0, 1 << 20);
  auto x = g.input("x", {s, 8}, f32);
  g.output("y", g.add(x, x, "double"));
  return g;
}

plan::Plan hostPlan() {
  plan::Plan plan = runtime::testPlan();
  plan.target = target::hostTarget().name;
  return plan;
}

void fillCache(const std::string &path, const Graph &graph,
               const plan::Plan &plan) {
  api::CompileRequest request;
  request.cacheDir = path;
  request.threads = 2;
  api::PlanCache cache(request);
  cache.insert(graph.handle()->graph, target::hostTarget(), request,
               {plan::serialize(plan), "[{\"schedule\": \"default\"}]"});
}

} // namespace

class Api : public testing::Test {
protected:
  CompileOptions options() {
    CompileOptions o;
    o.tune = std::chrono::seconds(0);
    o.cache.directory = place.path;
    o.compilerPath = "/nowhere/libazulejo-compiler.so";
    o.pool = &pool;
    return o;
  }
  Place place;
  ThreadPool pool = *ThreadPool::create(2);
  Device device = *Device::open("cpu");
};

TEST_F(Api, AWarmCacheNeedsNoCompiler) {
  Graph g = doubling();
  fillCache(place.path, g, hostPlan());
  Result<Executable> exe = compile(g, device, options());
  ASSERT_TRUE(exe) << exe.error().str();
  EXPECT_TRUE(exe->fromCache());
  EXPECT_FALSE(api::isCompilerLoaded());
  std::vector<float> x(24, 3), y(24);
  int64_t shape[] = {3, 8};
  Status status = exe->run(
      {TensorView(x.data(), f32, shape), TensorView(y.data(), f32, shape)});
  ASSERT_TRUE(status) << status.error().str();
  EXPECT_EQ(y, std::vector<float>(24, 6));
  EXPECT_NE(exe->candidates()->find("default"), std::string::npos);
}

TEST_F(Api, AMissWithoutACompilerSaysWhatToDo) {
  Result<Executable> exe = compile(doubling(), device, options());
  ASSERT_FALSE(exe);
  EXPECT_EQ(exe.error().code, ErrorCode::Toolchain);
  EXPECT_EQ(exe.error().rule, "compiler.missing");
  EXPECT_NE(exe.error().where.find("/nowhere/"), std::string::npos);
  EXPECT_NE(exe.error().hint.find("AZULEJO_COMPILER"), std::string::npos);
}

TEST_F(Api, EveryOptionThatChangesCodeIsInTheKey) {
  Graph g = doubling();
  fillCache(place.path, g, hostPlan());
  auto missesWith = [&](auto edit) {
    CompileOptions o = options();
    edit(o);
    return !compile(g, device, o).ok();
  };
  EXPECT_FALSE(missesWith([](CompileOptions &) {}));
  EXPECT_TRUE(missesWith([](CompileOptions &o) { o.strict = true; }));
  EXPECT_TRUE(missesWith([](CompileOptions &o) { o.deterministic = true; }));
  EXPECT_TRUE(missesWith([](CompileOptions &o) { o.batchInvariant = true; }));
  EXPECT_TRUE(missesWith([](CompileOptions &o) { o.allowFusion = false; }));
  EXPECT_TRUE(missesWith([](CompileOptions &o) { o.maxVariants = 1; }));
  EXPECT_FALSE(missesWith([](CompileOptions &o) { o.maxVariants = 4; }))
      << "that is the default";
  EXPECT_TRUE(
      missesWith([](CompileOptions &o) { o.tune = std::chrono::seconds(1); }));
  EXPECT_TRUE(
      missesWith([](CompileOptions &o) { o.cache.mode = CacheMode::Off; }));
}

TEST_F(Api, RenamingInnerOpsKeepsTheKey) {
  fillCache(place.path, doubling(), hostPlan());
  Graph g;
  auto s = g.dim("S", 0, 1 << 20);
  auto x = g.input("x", {s, 8}, f32);
  g.output("y", g.add(x, x, "another_name"));
  EXPECT_EQ(*g.digest(), *doubling().digest());
  EXPECT_TRUE(compile(g, device, options()));
}

TEST_F(Api, SaveAndLoad) {
  Graph g = doubling();
  fillCache(place.path, g, hostPlan());
  Result<Executable> exe = compile(g, device, options());
  ASSERT_TRUE(exe);
  std::string path = place.path + "/double.azp";
  ASSERT_TRUE(exe->saveTo(path));
  Result<Executable> loaded = Executable::loadFrom(path);
  ASSERT_TRUE(loaded) << loaded.error().str();
  EXPECT_EQ(*loaded->save(), *exe->save());
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  int64_t shape[] = {1, 8};
  ASSERT_TRUE(
      loaded->run({TensorView(x, f32, shape), TensorView(y, f32, shape)}));
  EXPECT_EQ(y[7], 16);
  std::ofstream(path, std::ios::trunc) << "damaged";
  Result<Executable> damaged = Executable::loadFrom(path);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().where, "file '" + path + "'");
}

// A file is replaced as a whole, which must not happen to what is no file.
TEST_F(Api, DevicesPipesAndLinksStayWhatTheyAre) {
  Graph g = doubling();
  fillCache(place.path, g, hostPlan());
  Result<Executable> exe = compile(g, device, options());
  ASSERT_TRUE(exe);
  std::string pipe = place.path + "/pipe", file = place.path + "/file",
              link = place.path + "/link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] {
    std::ifstream in(pipe, std::ios::binary);
    read.assign(std::istreambuf_iterator<char>(in), {});
  });
  Status saved = exe->saveTo(pipe);
  reader.join();
  ASSERT_TRUE(saved) << saved.error().str();
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(read, *exe->save());
  std::ofstream(file) << "old";
  std::filesystem::create_symlink("file", link);
  ASSERT_TRUE(exe->saveTo(link));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  ASSERT_TRUE(Executable::loadFrom(file));
  Status folder = exe->saveTo(place.path);
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().where, "file '" + place.path + "'");
}

TEST_F(Api, APlanForAnotherMachineIsShownButNotRun) {
  plan::Plan plan = hostPlan();
  plan.images[0].features = "+time-travel";
  Result<Executable> exe = Executable::load(plan::serialize(plan));
  ASSERT_TRUE(exe) << exe.error().str();
  EXPECT_TRUE(exe->explain());
  float x[8] = {}, y[8] = {};
  int64_t shape[] = {1, 8};
  Status status =
      exe->run({TensorView(x, f32, shape), TensorView(y, f32, shape)});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().rule, "image.features");
  EXPECT_NE(status.error().message.find("+time-travel"), std::string::npos);
}

TEST_F(Api, BindingsAndWorkspace) {
  Result<Executable> exe =
      Executable::load(plan::serialize(runtime::testPlan("twice", true)));
  ASSERT_TRUE(exe);
  EXPECT_EQ(exe->bindingCount(), 2u);
  EXPECT_EQ(exe->binding(0)->name, "x");
  EXPECT_TRUE(exe->binding(1)->isOutput);
  EXPECT_FALSE(exe->binding(2));
  EXPECT_EQ(exe->indexOf("y"), 1u);
  EXPECT_EQ(exe->indexOf("z"), std::nullopt);
  EXPECT_EQ(*exe->bindingShape(1, {{"S", 5}}), (std::vector<int64_t>{5, 8}));
  EXPECT_EQ(*exe->workspaceSize({{"S", 4}}), 128u);
  EXPECT_EQ(exe->workspaceSize(std::vector<DimValue>{}).error().rule,
            "run.dims");
  EXPECT_EQ(exe->workspaceSize({{"S", -1}}).error().rule, "run.range");
  EXPECT_EQ(exe->workspaceSize({{"T", 1}}).error().where, "dimension 'T'");
  float x[8] = {}, y[8] = {};
  int64_t shape[] = {1, 8};
  Status status = exe->run(
      Stream{}, {TensorView(x, f32, shape), TensorView(y, f32, shape)}, {});
  EXPECT_EQ(status.error().rule, "run.workspace");
  Stream gpu;
  gpu.handle = &gpu;
  status =
      exe->run(gpu, {TensorView(x, f32, shape), TensorView(y, f32, shape)}, {});
  EXPECT_EQ(status.error().rule, "run.stream");
}

TEST_F(Api, ExplainGivesNumbersAndReasons) {
  plan::Plan plan = hostPlan();
  plan.notes = {{"fusion.uses", {"double"}, "it has two uses"}};
  plan.unfusedBytes = plan::Expr(1000);
  Result<Executable> exe = Executable::load(plan::serialize(plan));
  ASSERT_TRUE(exe);
  std::string text = *explainText(*exe, {{"S", 100}});
  for (const char *part : {"kernel k0 (RowChain)", "S = 100", "6.4 kB",
                           "fusion.uses", "two uses", "unfused 1.0 kB"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  std::string json = *explainJson(*exe, {{"S", 100}});
  EXPECT_NE(json.find("\"bytes\":6400"), std::string::npos) << json;
  EXPECT_EQ(explainText(*exe, {{"T", 1}}).error().rule, "run.dims");
}

TEST_F(Api, EveryOpHasAFunction) {
  Graph g;
  auto x = g.input("x", {4, 8}, f32), y = g.input("y", {4, 8}, f32);
  auto m = g.compare(x, "lt", y), n = g.logicalNot(m);
  auto q = g.input("q", {1, 2, 4, 8}, f32), w = g.input("w", {8}, f32);
  auto t = g.input("t", {4, 4}, f32), at = g.input("at", {}, i32);
  auto ids = g.input("ids", {3}, i64);
  for (auto op :
       {&azulejo::exp, &azulejo::exp2, &azulejo::log, &azulejo::sqrt,
        &azulejo::rsqrt, &azulejo::sin, &azulejo::cos, &azulejo::tanh,
        &azulejo::sigmoid, &azulejo::silu, &azulejo::geluErf,
        &azulejo::geluTanh, &azulejo::neg, &azulejo::abs, &azulejo::relu})
    op(x, "");
  for (auto op : {&azulejo::add, &azulejo::sub, &azulejo::mul, &azulejo::div,
                  &azulejo::pow, &azulejo::minimum, &azulejo::maximum})
    op(x, y, "");
  g.logicalAnd(m, n);
  g.logicalOr(m, n);
  g.where(m, x, y);
  g.clamp(x, 0, 1);
  g.cast(x, bf16);
  g.reduceSum(x, {0});
  g.reduceMax(x, {0}, true);
  g.reduceMean(x, {1});
  g.softmax(x);
  g.layerNorm(x, {w, w});
  g.rmsNorm(x, {w});
  g.rope(x, t, t);
  g.matmul(x, y, {.transposeB = true});
  g.attentionWithLse(q, q, q, {.mask = causal() & window(2)});
  g.constant(1, f32, {2});
  g.iota({4}, 0);
  g.broadcast(w, Shape{4, 8});
  g.reshape(x, {8, 4});
  g.transpose(x, {1, 0});
  g.slice(x, {0, 2}, {4, 4});
  g.concat({x, y}, 0);
  g.gather(x, ids);
  g.cacheUpdate(x, g.slice(y, {0, 0}, {1, 8}), at, 0);
  g.output("o", x * 2.0 + 1.0 - y / x);
  ASSERT_TRUE(g.status()) << g.status().error().str();
  std::set<std::string> used, all;
  for (const graph::Op &op : g.handle()->graph.ops())
    used.insert(op.kind);
  for (size_t i = 0; az_op_kind(i); ++i)
    all.insert(az_op_kind(i));
  EXPECT_EQ(used, all);
}

TEST_F(Api, TracingBuildsTheGraphThatMethodsBuild) {
  auto block = [](Tensor x) { return x + x; };
  Result<Graph> traced =
      trace(block, TensorSpec{"x", {Dim("S"), 8}, f32, {{"S", 0, 1 << 20}}});
  ASSERT_TRUE(traced) << traced.error().str();
  Graph direct;
  auto s = direct.dim("S", 0, 1 << 20);
  auto x = direct.input("x", {s, 8}, f32);
  direct.output("out0", direct.add(x, x));
  EXPECT_EQ(*traced->digest(), *direct.digest());
  Result<Graph> many = trace(
      [](Tensor a, Tensor b) { return std::tuple(a, std::vector{b, a + b}); },
      Tensor::of<float>({2}, {1.0f, 2.0f}), TensorSpec{"b", {2}, f32});
  ASSERT_TRUE(many) << many.error().str();
  EXPECT_EQ(many->handle()->graph.outputs().size(), 3u);
}

/// Traced or by methods, it is part of the graph and of its digest.
TEST_F(Api, PrecisionIsPartOfTheGraph) {
  auto made = [](Precision precision) {
    return trace(
        [=](Tensor x) {
          Tensor scores = matmul(x, x, {.precision = precision});
          return attention(scores, x, x, {.precision = precision});
        },
        TensorSpec{"x", {1, 1, 8, 8}, f32});
  };
  Result<Graph> fast = made(Precision::tf32), exact = made(Precision::ieee);
  ASSERT_TRUE(fast) << fast.error().str();
  ASSERT_TRUE(exact) << exact.error().str();
  for (const graph::Op &op : fast->handle()->graph.ops())
    EXPECT_EQ(std::get<std::string>(op.attrs.at("precision")), "tf32");
  for (const graph::Op &op : exact->handle()->graph.ops())
    EXPECT_EQ(std::get<std::string>(op.attrs.at("precision")), "ieee");
  EXPECT_NE(*fast->digest(), *exact->digest());
  Graph direct;
  auto x = direct.input("x", {1, 1, 8, 8}, f32);
  auto scores = direct.matmul(x, x, {.precision = Precision::tf32});
  direct.output("out0",
                direct.attention(scores, x, x, {.precision = Precision::tf32}));
  EXPECT_EQ(*fast->digest(), *direct.digest());
}

TEST_F(Api, DimsAreArithmetic) {
  Dim s("S"), b("B");
  EXPECT_EQ((2 * s + 1).str(), (s + s + Dim(1)).str());
  EXPECT_EQ(b * s, s * b);
  EXPECT_EQ(Dim(7).constant(), 7);
  EXPECT_EQ((s - s).constant(), 0);
  EXPECT_EQ(s.constant(), std::nullopt);
}

TEST_F(Api, NullArgumentsAreErrorsNotCrashes) {
  az_error *error = nullptr;
  EXPECT_EQ(az_graph_create(nullptr, &error), AZ_INVALID_ARGUMENT);
  EXPECT_STREQ(az_error_where(error), "az_graph_create");
  az_error_destroy(error);
  EXPECT_EQ(az_graph_dim(nullptr, "S", 1, 2, nullptr), AZ_INVALID_ARGUMENT);
  EXPECT_EQ(az_compile(nullptr, nullptr, nullptr, nullptr, nullptr),
            AZ_INVALID_ARGUMENT);
  EXPECT_EQ(
      az_executable_run(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr),
      AZ_INVALID_ARGUMENT);
  EXPECT_EQ(az_executable_load(nullptr, 5, nullptr, nullptr, nullptr),
            AZ_INVALID_ARGUMENT);
  EXPECT_EQ(az_executable_binding_count(nullptr), 0u);
  EXPECT_STREQ(az_error_message(nullptr), "");
  az_error_destroy(nullptr);
  az_graph_destroy(nullptr);
  az_executable_destroy(nullptr);
}

TEST_F(Api, OptionStructsOfOtherSizes) {
  az_compile_options options;
  az_compile_options_init(&options, sizeof(options));
  options.size = sizeof(options) + 8;
  az_executable *exe = nullptr;
  Graph g = doubling();
  EXPECT_EQ(az_compile(g.handle(), device.handle(), &options, &exe, nullptr),
            AZ_INVALID_ARGUMENT);
  // A caller of an older header knows only the first fields.
  az_compile_options_init(&options, offsetof(az_compile_options, strict));
  EXPECT_EQ(options.size, offsetof(az_compile_options, strict));
  EXPECT_EQ(options.tune_seconds, -1);
}

TEST_F(Api, TheEnvironmentIsCheckedAndListed) {
  std::string json = *detail::callForText(az_environment);
  EXPECT_NE(json.find("AZULEJO_CACHE_DIR"), std::string::npos);
  for (auto [name, value] : {std::pair{"AZULEJO_CACHE", "sometimes"},
                             {"AZULEJO_TUNE", "much"},
                             {"AZULEJO_TUNE_BUDGET_S", "-1"},
                             {"AZULEJO_NUM_THREADS", "0"},
                             {"AZULEJO_NUM_THREADS", "4x"},
                             {"AZULEJO_DEBUG_KERNELS", "waits;delays"},
                             {"AZULEJO_LOG", "loud"}}) {
    setenv(name, value, 1);
    Result<Device> opened = Device::open("cpu");
    unsetenv(name);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().where, name);
    EXPECT_EQ(opened.error().rule, "env.value");
    EXPECT_NE(opened.error().message.find(value), std::string::npos);
  }
}

TEST_F(Api, ACompilerOfAnotherBuildIsRefused) {
  CompileOptions o = options();
  o.compilerPath = AZULEJO_OTHER_BUILD;
  Result<Executable> exe = compile(doubling(), device, o);
  ASSERT_FALSE(exe);
  EXPECT_EQ(exe.error().code, ErrorCode::Toolchain);
  EXPECT_EQ(exe.error().rule, "compiler.build");
}

TEST_F(Api, ADamagedCacheEntryIsAMissNotAFailure) {
  Graph g = doubling();
  plan::Plan plan = hostPlan();
  std::string bytes = plan::serialize(plan);
  bytes[bytes.size() / 2] ^= 1;
  api::CompileRequest request;
  request.cacheDir = place.path;
  request.threads = 2;
  api::PlanCache cache(request);
  cache.insert(g.handle()->graph, target::hostTarget(), request, {bytes, "[]"});
  Result<Executable> exe = compile(g, device, options());
  ASSERT_FALSE(exe);
  EXPECT_EQ(exe.error().rule, "compiler.missing");
}

/// Where the store of `place` keeps its only entry.
static std::filesystem::path onlyEntry(const std::string &place) {
  std::vector<std::filesystem::path> found;
  for (auto &file : std::filesystem::recursive_directory_iterator(place)) {
    if (!file.is_regular_file())
      continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(in), {});
    if (cache::parseEntry(bytes, "test"))
      found.push_back(file.path());
  }
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? std::filesystem::path() : found.front();
}

// An intact entry whose payload is no plan: too short for its own sizes.
TEST_F(Api, AnEntryThatIsTooShortIsAMissWithAReason) {
  Graph g = doubling();
  fillCache(place.path, g, hostPlan());
  std::ifstream in(onlyEntry(place.path), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  Result<cache::Entry> entry = cache::parseEntry(bytes, "test");
  ASSERT_TRUE(entry) << entry.error().str();
  // A size of 2^56 - 1 bytes, and a payload that ends within its size.
  // A size of more than there is, no whole size, a size without its plan.
  for (const std::string &payload :
       {std::string(8, '\x7f') + "plan", std::string("abc"),
        std::string("\1\0\0\0\0\0\0\0", 8)}) {
    Place other;
    cache::CacheOptions stored;
    stored.root = other.path;
    cache::Store::open(stored).store(entry->key, payload);
    api::CompileRequest request;
    request.cacheDir = other.path;
    request.threads = 2;
    api::PlanCache cache(request);
    std::string logged;
    runtime::setLog(
        [](void *user, int, const char *message) {
          *static_cast<std::string *>(user) += message;
        },
        &logged, runtime::LogLevel::Warn);
    EXPECT_FALSE(cache.find(g.handle()->graph, target::hostTarget(), request));
    runtime::setLog(nullptr, nullptr, runtime::LogLevel::Warn);
    EXPECT_NE(logged.find("the entry is too short [cache.entry]"),
              std::string::npos)
        << logged;
    EXPECT_FALSE(cache.store().load(entry->key)) << "it must be gone";
  }
}

// Nothing throws across the C boundary.
TEST(Guarded, ExceptionsBecomeErrors) {
  az_error *error = nullptr;
  az_status status = api::guarded("az_test", &error,
                                  []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(status, AZ_OUT_OF_MEMORY);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(az_error_rule(error), "api.memory");
  EXPECT_STREQ(az_error_where(error), "az_test");
  az_error_destroy(error);
  error = nullptr;
  status = api::guarded("az_test", &error, []() -> Status {
    throw std::runtime_error("what happened");
  });
  EXPECT_EQ(status, AZ_INTERNAL);
  ASSERT_NE(error, nullptr);
  EXPECT_STREQ(az_error_rule(error), "api.exception");
  EXPECT_STREQ(az_error_message(error), "what happened");
  az_error_destroy(error);
  // Who does not ask for the error still gets the code.
  EXPECT_EQ(api::guarded("az_test", nullptr,
                         []() -> Status { throw std::bad_alloc(); }),
            AZ_OUT_OF_MEMORY);
}
