//===- PlanCodeTest.cpp - a plan's regions, compiled in pieces ------------===//
//
// Both forms of a region are made by different threads: they must come together
// as if one thread had made them, however many there are; and as if they were
// made now, where the cache had them.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "frontend/driver/PlanCode.h"
#include "frontend/driver/ImageCache.h"
#include "frontend/driver/TuningRecords.h"
#include "frontend/driver/WorkerProtocol.h"
#include "tests/unit/autotune/cache/CacheTestSupport.h"
#include "tests/unit/frontend/driver/TestRegions.h"

#include "gtest/gtest.h"

using namespace azulejo;
using namespace azulejo::test;
using driver::KernelCode;

namespace {

/// All of a region's code, as cache and workers carry it.
std::string written(const KernelCode &code) {
  driver::Message message = driver::toMessage(code);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(message.json));
  // Only plans name the driver where it is the assembler.
  const std::string driver = "\"assembler\":\"driver\"";
  for (size_t at = 0; (at = text.find(driver)) != std::string::npos;)
    text.replace(at, driver.size(), "\"assembler\":\"\"");
  return text + message.blob;
}

/// What a region with a general form has in there.
constexpr char kGeneral[] = "\"general\":[{";

class PlanCode : public testing::Test {
protected:
  void SetUp() override {
    // One that is in parts, one that assumes nothing, and two that do.
    for (const std::string &text : {halfMatmulRegion(), rowChainRegion(),
                                    halfAttentionRegion(), decodeRegion()}) {
      auto known = driver::schedulesOf(text, target);
      ASSERT_TRUE(known) << known.error().str();
      texts.push_back(text);
      schedules.push_back(known->fallback);
    }
    request.log = [this](int level, const std::string &text) {
      said += text;
      levels[text] = level;
    };
  }

  Result<std::vector<KernelCode>> compile(int threads) {
    request.threads = threads;
    return driver::compileRegions(
        {texts, schedules,
         [](size_t i) { return "region " + std::to_string(i); }},
        target, request);
  }

  target::TargetDesc target = *target::resolveTarget("h200");
  std::vector<std::string> texts;
  std::vector<schedule::Schedule> schedules;
  api::CompileRequest request;
  std::string said;
  std::map<std::string, int> levels;
};

TEST_F(PlanCode, IsTheSameOnAnyNumberOfThreads) {
  std::vector<std::string> alone;
  bool someGeneral = false, someWithout = false;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto code = driver::compileKernel(texts[i], schedules[i], target);
    ASSERT_TRUE(code) << code.error().str();
    alone.push_back(written(*code));
    bool general = alone.back().find(kGeneral) != std::string::npos;
    (general ? someGeneral : someWithout) = true;
  }
  EXPECT_TRUE(someGeneral);
  EXPECT_TRUE(someWithout);
  for (int threads : {1, 2, 3, 9}) {
    auto codes = compile(threads);
    ASSERT_TRUE(codes) << codes.error().str();
    ASSERT_EQ(codes->size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i)
      EXPECT_TRUE(written((*codes)[i]) == alone[i]) << i << ", " << threads;
  }
}

TEST_F(PlanCode, OfAStrictPlanHasOneForm) {
  request.strict = true;
  auto codes = compile(2);
  ASSERT_TRUE(codes) << codes.error().str();
  for (const KernelCode &code : *codes)
    EXPECT_TRUE(written(code).find(kGeneral) == std::string::npos);
}

// Whoever waits for an answer that a failure left out would wait for ever.
TEST_F(PlanCode, OfARegionThatFailsIsItsError) {
  texts[1] = "no region";
  for (int threads : {1, 3}) {
    auto codes = compile(threads);
    ASSERT_FALSE(codes);
    EXPECT_EQ(codes.error().code, ErrorCode::Internal);
    EXPECT_NE(codes.error().message.find("no fused region"), std::string::npos)
        << codes.error().str();
  }
}

/// The same with a cache: what was compiled once is taken from it.
class KeptCode : public PlanCode {
protected:
  void SetUp() override {
    PlanCode::SetUp();
    request.cacheDir = folder.root();
    request.cacheTrouble = trouble.sink();
  }

  /// Compiles; how many regions came from the cache, or -1 for an error.
  int kept() {
    said.clear();
    auto codes = compile(2);
    EXPECT_TRUE(codes) << codes.error().str();
    if (!codes)
      return -1;
    last.clear();
    for (const KernelCode &code : *codes)
      last.push_back(written(code));
    const std::string words = "code from the cache: ";
    size_t at = said.find(words);
    return at == std::string::npos ? 0
                                   : std::stoi(said.substr(at + words.size()));
  }

  cache::testing::ScratchDir folder;
  cache::testing::Log trouble;
  std::vector<std::string> last;
};

TEST_F(KeptCode, IsTheSameAsCodeThatIsMadeNow) {
  ASSERT_EQ(kept(), 0);
  std::vector<std::string> made = last;
  std::string all;
  for (const std::string &code : made)
    all += code;
  for (const char *part :
       {"\"general\":[{", "\"later\":[{", "\"tensorMaps\":[{",
        "\"alignedViews\":[0", "\"intermediates\":[{"})
    EXPECT_TRUE(all.find(part) != std::string::npos) << part;
  EXPECT_EQ(kept(), 4);
  EXPECT_TRUE(last == made);
  // A graph that has some of these regions is compiled where it differs.
  texts.erase(texts.begin());
  schedules.erase(schedules.begin());
  texts.push_back(matmulRegion());
  schedules.push_back(driver::schedulesOf(texts.back(), target)->fallback);
  EXPECT_EQ(kept(), 3);
  EXPECT_EQ(kept(), 4);
  EXPECT_TRUE(trouble.errors.empty()) << trouble.text();
}

TEST_F(KeptCode, OfACpuToo) {
  target = *target::resolveTarget("cpu");
  for (size_t i = 0; i < texts.size(); ++i)
    schedules[i] = driver::schedulesOf(texts[i], target)->fallback;
  ASSERT_EQ(kept(), 0);
  std::vector<std::string> made = last;
  EXPECT_EQ(kept(), 4);
  EXPECT_TRUE(last == made);
}

TEST_F(KeptCode, ServesNothingElse) {
  ASSERT_EQ(kept(), 0);
  // Another schedule of one region.
  auto known = driver::schedulesOf(texts[0], target);
  ASSERT_TRUE(known && known->general.str() != schedules[0].str());
  std::swap(schedules[0], known->general);
  EXPECT_EQ(kept(), 3);
  std::swap(schedules[0], known->general);
  request.strict = true;
  EXPECT_EQ(kept(), 0);
  for (const std::string &code : last)
    EXPECT_TRUE(code.find(kGeneral) == std::string::npos);
  request.strict = false;
  request.pin = "RowChain{}";
  EXPECT_EQ(kept(), 0);
  request.pin.clear();
  request.debugKernels.waits = true;
  EXPECT_EQ(kept(), 0);
  request.debugKernels = {};
  // Another card of the architecture, then another architecture.
  target.units /= 2;
  EXPECT_EQ(kept(), 0);
  target = *target::resolveTarget("a100");
  for (size_t i = 0; i < texts.size(); ++i)
    schedules[i] = driver::schedulesOf(texts[i], target)->fallback;
  EXPECT_EQ(kept(), 0);
}

TEST_F(KeptCode, ThatIsNoCodeIsMadeAgain) {
  ASSERT_EQ(kept(), 0);
  std::vector<std::string> made = last;
  // Whole entries, whose content is of another program.
  {
    cache::Store store = driver::openStore(request);
    int64_t spoilt = 0;
    for (const cache::EntryInfo &entry : store.list()) {
      ASSERT_EQ(entry.kind, cache::Kind::Image);
      auto details = store.show(entry.key);
      ASSERT_TRUE(details);
      cache::Key key{cache::Kind::Image, entry.device, entry.key,
                     details->fields, entry.label};
      std::string payload = *store.load(key);
      switch (spoilt++) {
      case 0: // Deep enough to end who reads it by recursion.
        payload = std::string("\x40\x42\x0f\0\0\0\0\0", 8) +
                  std::string(1000000, '[');
        break;
      case 1:
        payload.replace(8, 1, "x");
        break;
      case 2:
        payload.pop_back();
        break;
      default:
        payload.replace(0, 8, 8, '\xff');
        break;
      }
      store.store(key, payload);
    }
    ASSERT_EQ(spoilt, 4);
  }
  EXPECT_EQ(kept(), 0);
  EXPECT_TRUE(last == made);
  EXPECT_EQ(trouble.count(ErrorCode::CacheRejected), 4u) << trouble.text();
  EXPECT_EQ(kept(), 4);
}

// A warning that came with the code comes with it again.
TEST_F(KeptCode, WarnsAsCodeThatIsMadeNow) {
  auto assembler = codegen::findAssembler({request.assembler});
  ASSERT_TRUE(assembler) << assembler.error().str();
  driver::ImageCache images(target, request, &*assembler);
  for (size_t i : {0, 1}) {
    auto code = driver::compileKernel(texts[i], schedules[i], target);
    ASSERT_TRUE(code) << code.error().str();
    code->note = driver::ScheduleNote{"schedule.flaw",
                                      i == 0 ? "one that is slow" : "another",
                                      i == 0 ? 1 : 2};
    images.insert(texts[i], schedules[i], *code);
  }
  EXPECT_EQ(kept(), 2);
  EXPECT_EQ(levels["one that is slow"], 1);
  EXPECT_EQ(levels["another"], 2);
}

TEST_F(KeptCode, NeedsADirectoryToBeKept) {
  for (auto access : {api::CacheAccess::Off, api::CacheAccess::ReadOnly}) {
    request.cacheAccess = access;
    EXPECT_EQ(kept(), 0);
    EXPECT_EQ(kept(), 0);
  }
  request.cacheAccess = api::CacheAccess::ReadWrite;
  EXPECT_EQ(kept(), 0);
  request.cacheAccess = api::CacheAccess::ReadOnly;
  EXPECT_EQ(kept(), 4);
}

TEST_F(KeptCode, KeepsNoFailures) {
  texts[1] = "no region";
  EXPECT_FALSE(compile(2));
  // What is right is: whoever mends the one need not wait for the others.
  EXPECT_EQ(driver::openStore(request).list().size(), texts.size() - 1);
}

} // namespace
