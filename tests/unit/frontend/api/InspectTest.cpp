//===- InspectTest.cpp - what tools ask the C ABI -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "azulejo/Azulejo.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace azulejo;
using testing::HasSubstr;
using testing::Not;

namespace {

/// y = x + w over a symbolic length.
Graph sumGraph() {
  Graph graph;
  Dim s = graph.dim("S", 1, 64);
  Tensor x = graph.input("x", {s, 4}, f32), w = graph.input("w", {4}, f32);
  graph.output("y", x + w);
  return graph;
}

struct SumData {
  std::vector<float> x = std::vector<float>(12), w = {1, 2, 3, 4}, y = x;
  int64_t matrix[2] = {3, 4}, vector[1] = {4};
  SumData() {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) / 8;
      y[i] = x[i] + w[i % 4];
    }
  }
  std::vector<TensorView> views() {
    return {TensorView(x.data(), f32, matrix),
            TensorView(w.data(), f32, vector),
            TensorView(y.data(), f32, matrix)};
  }
};

std::string textOf(const Result<std::string> &result) {
  return result ? *result : result.error().str();
}

TEST(Inspect, CheckAcceptsARightOutput) {
  SumData data;
  std::string report =
      textOf(checkAgainstReference(sumGraph(), {{"S", 3}}, data.views()));
  EXPECT_THAT(report, HasSubstr("\"pass\":true"));
  EXPECT_THAT(report, Not(HasSubstr("\"pass\":false")));
}

TEST(Inspect, CheckFindsOneWrongElement) {
  SumData data;
  data.y[5] += 0.5f;
  std::string report =
      textOf(checkAgainstReference(sumGraph(), {{"S", 3}}, data.views()));
  EXPECT_THAT(report, HasSubstr("\"bad_index\":[1,1]"));
  EXPECT_THAT(report, HasSubstr("\"pass\":false"));
}

TEST(Inspect, CheckDemandsNanExactlyWhereTheReferenceHasIt) {
  SumData data;
  data.y[5] = data.x[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(
      textOf(checkAgainstReference(sumGraph(), {{"S", 3}}, data.views())),
      Not(HasSubstr("\"pass\":false")));
  data.y[6] = data.y[5];
  EXPECT_THAT(
      textOf(checkAgainstReference(sumGraph(), {{"S", 3}}, data.views())),
      HasSubstr("\"pass\":false"));
}

TEST(Inspect, CheckReadsStridedTensors) {
  SumData data;
  // x as every other column of a matrix with eight columns.
  std::vector<float> wide(24, -1);
  for (size_t i = 0; i < 12; ++i)
    wide[i / 4 * 8 + i % 4] = data.x[i];
  int64_t strides[2] = {8, 1};
  std::vector<TensorView> views = data.views();
  views[0] = TensorView(wide.data(), f32, data.matrix, strides);
  EXPECT_THAT(textOf(checkAgainstReference(sumGraph(), {{"S", 3}}, views)),
              Not(HasSubstr("\"pass\":false")));
}

TEST(Inspect, CheckRefusesWrongTensors) {
  SumData data;
  std::vector<TensorView> views = data.views();
  int64_t other[2] = {2, 4};
  views[2] = TensorView(data.y.data(), f32, other);
  EXPECT_EQ(checkAgainstReference(sumGraph(), {{"S", 3}}, views).error().rule,
            "api.tensor");
  views.pop_back();
  EXPECT_EQ(checkAgainstReference(sumGraph(), {{"S", 3}}, views).error().code,
            ErrorCode::InvalidArgument);
  EXPECT_FALSE(checkAgainstReference(sumGraph(), {}, data.views()));
  EXPECT_FALSE(checkAgainstReference(sumGraph(), {{"S", 65}}, data.views()));
}

TEST(Inspect, RandomTensorsStayInRangeAndRepeat) {
  std::vector<float> a(4096), b(4096);
  std::vector<int32_t> ids(4096);
  int64_t shape[1] = {4096};
  TensorView viewA(a.data(), f32, shape), viewB(b.data(), f32, shape),
      viewIds(ids.data(), i32, shape);
  EXPECT_EQ(az_tensor_random(&viewA, 7, 0, nullptr), AZ_OK);
  EXPECT_EQ(az_tensor_random(&viewB, 7, 0, nullptr), AZ_OK);
  EXPECT_EQ(a, b);
  EXPECT_EQ(az_tensor_random(&viewB, 8, 0, nullptr), AZ_OK);
  EXPECT_NE(a, b);
  double sum = 0;
  for (float value : a) {
    EXPECT_GE(value, -1);
    EXPECT_LE(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 4096, 0, 0.05);
  EXPECT_EQ(az_tensor_random(&viewIds, 7, 3, nullptr), AZ_OK);
  EXPECT_THAT(ids,
              testing::Each(testing::AllOf(testing::Ge(0), testing::Le(3))));
  EXPECT_THAT(ids, testing::Contains(3));
  int64_t strides[1] = {2};
  TensorView strided(a.data(), f32, shape, strides);
  EXPECT_EQ(az_tensor_random(&strided, 7, 0, nullptr), AZ_INVALID_ARGUMENT);
}

TEST(Inspect, DescribeCountsWhatIsNotFinite) {
  float infinity = std::numeric_limits<float>::infinity();
  float data[5] = {1, -2, infinity, std::nanf(""), 4};
  int64_t shape[1] = {5};
  TensorView view(data, f32, shape);
  std::string text = textOf(detail::callForText(
      az_tensor_describe, static_cast<const az_tensor *>(&view)));
  EXPECT_THAT(text, HasSubstr("\"min\":-2"));
  EXPECT_THAT(text, HasSubstr("\"max\":4"));
  EXPECT_THAT(text, HasSubstr("\"mean\":1"));
  EXPECT_THAT(text, HasSubstr("\"nan\":1"));
  EXPECT_THAT(text, HasSubstr("\"inf\":1"));
  EXPECT_THAT(text, HasSubstr("[1,-2,\"inf\",\"nan\"]"));
}

TEST(Inspect, MeasuredRatesReplaceNominalOnes) {
  Result<Device> device = Device::open("cpu");
  ASSERT_TRUE(device);
  EXPECT_THAT(*device->describe(), HasSubstr("\"measured\":false"));
  az_string *json = nullptr;
  ASSERT_EQ(az_device_measure(const_cast<az_device *>(device->handle()), 1,
                              &json, nullptr),
            AZ_OK);
  EXPECT_THAT(az_string_data(json), HasSubstr("\"threads\":1"));
  az_string_destroy(json);
  EXPECT_THAT(*device->describe(), HasSubstr("\"measured\":true"));
  EXPECT_EQ(az_device_measure(nullptr, -1, &json, nullptr),
            AZ_INVALID_ARGUMENT);
}

TEST(Inspect, CacheFilesThatAreNoneAreRefused) {
  std::string folder = testing::TempDir() + "/azulejo-inspect";
  std::filesystem::create_directories(folder);
  az_compile_options options{};
  az_compile_options_init(&options, sizeof(options));
  std::string cache = folder + "/cache";
  options.cache_dir = cache.c_str();
  auto import = [&](const std::string &path) {
    return detail::callForText(
        az_cache_import_file, static_cast<const az_compile_options *>(&options),
        path.c_str());
  };
  EXPECT_EQ(import(folder).error().rule, "file.access");
  EXPECT_EQ(import(folder + "/none").error().rule, "file.access");
  std::ofstream(folder + "/garbage") << "garbage";
  EXPECT_EQ(import(folder + "/garbage").error().code,
            ErrorCode::InvalidArgument);
  std::filesystem::remove_all(folder);
}

#ifdef AZULEJO_TEST_COMPILER
TEST(Inspect, AnAnalysisIsShownForAnyDeviceAndNotRun) {
  CompileOptions options;
  options.compilerPath = AZULEJO_TEST_COMPILER;
  Result<Device> device = Device::open("h200");
  ASSERT_TRUE(device);
  Result<Executable> analysis = analyse(sumGraph(), *device, options);
  ASSERT_TRUE(analysis) << analysis.error().str();
  std::string text = textOf(analysis->explain({{"S", 64}}, true));
  // x in, w in, y out; one add an element.
  EXPECT_THAT(text, HasSubstr("\"bytes\":2064"));
  EXPECT_THAT(text, HasSubstr("\"flops\":256"));
  EXPECT_THAT(text, HasSubstr("\"verdict\":\"latency-bound\""));
  SumData data;
  Status status = analysis->run(data.views());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().rule, "run.analysis");
}
#endif

} // namespace
