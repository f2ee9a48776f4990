// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing of --target.
#include "gpuc/Target/Target.h"
#include <gtest/gtest.h>

using namespace gpuc;

static std::string parsed(std::string_view list) {
  auto targets = parseTargets(list);
  if (!targets)
    return "error: " + targets.status().message();
  std::string text;
  for (const Target *t : *targets)
    text += (text.empty() ? "" : " ") + std::string(t->product) + ":" + std::string(t->arch);
  return text;
}

TEST(Target, ParsesProductsArchitecturesAndAliases) {
  EXPECT_EQ(parsed("h200"), "h200:sm_90a");
  EXPECT_EQ(parsed("sm_90"), "h200:sm_90a");
  EXPECT_EQ(parsed("sm_120"), "rtx5090:sm_120a");
  EXPECT_EQ(parsed("RTX 3090"), "rtx3090:sm_86");
  EXPECT_EQ(parsed("rtx-4090,a100"), "a100:sm_80 rtx4090:sm_89");
}

TEST(Target, EachArchitectureOnceInTableOrder) {
  EXPECT_EQ(parsed("h200,rtx3080,rtx3090,h100"), "rtx3090:sm_86 h100:sm_90a");
  EXPECT_EQ(parsed("all"), "a100:sm_80 rtx3080:sm_86 rtx4090:sm_89 h200:sm_90a rtx5090:sm_120a");
  EXPECT_EQ(parsed("all,l40s"), "a100:sm_80 rtx3080:sm_86 l40s:sm_89 h200:sm_90a rtx5090:sm_120a");
}

TEST(Target, ErrorsNameTheKnownWords) {
  for (const char *bad : {"gtx1080", "", "h200,", ",h200", "sm_", "sm_75", "native"}) {
    auto targets = parseTargets(bad);
    ASSERT_FALSE(targets.ok()) << bad;
    EXPECT_EQ(targets.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(targets.status().message().find("rtx4090"), std::string::npos) << targets.status().message();
  }
}

TEST(Target, TableIsConsistent) {
  for (const Target &t : allTargets()) {
    EXPECT_EQ(t.arch.substr(0, 3 + std::to_string(t.major * 10 + t.minor).size()),
              "sm_" + std::to_string(t.major * 10 + t.minor));
    EXPECT_LT(t.maxSharedPerBlock, t.sharedPerSM);
    EXPECT_EQ(t.hasPdl, t.major >= 9);
    EXPECT_NE(findArch(t.arch), nullptr);
  }
  EXPECT_EQ(findArch("sm_90"), nullptr);
  EXPECT_EQ(defaultTargets().size(), 5u);
}
