//===- SecondProcessTest.cpp - the second start of a program --------------===//
//
// The same program twice, with the same cache folder. The second time it must
// not open the compiler library, which is the only place of MLIR, so it can
// neither compile nor tune nor create an MLIR context.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace {

class SecondProcess : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "azulejo-second-XXXXXX");
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder = pattern;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// What the program prints.
  std::string start(const char *tuneSeconds) {
    std::string command = std::string("'") + AZULEJO_FIRST_RESULT + "' '" +
                          folder + "' " + tuneSeconds;
    FILE *pipe = popen(command.c_str(), "r");
    if (!pipe)
      return "it does not start";
    std::string text;
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), pipe))
      text += part.data();
    return pclose(pipe) == 0 ? text : "it failed: " + text;
  }

  std::string folder;
};

TEST_F(SecondProcess, FindsWhatTheFirstCompiled) {
  EXPECT_EQ(start("0"), "right compiled loaded unmeasured untuned\n");
  EXPECT_EQ(start("0"), "right found lean unmeasured untuned\n");
}

// The budget decides nothing: the graph has few schedules, and tuning ends when
// all of them were timed.
TEST_F(SecondProcess, FindsWhatTheFirstTuned) {
  EXPECT_EQ(start("3600"), "right compiled loaded measured tuned\n");
  EXPECT_EQ(start("3600"), "right found lean unmeasured tuned\n");
  // Who does not tune profits as well.
  EXPECT_EQ(start("0"), "right found lean unmeasured tuned\n");
}

} // namespace
