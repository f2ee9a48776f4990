// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: errors instead of crashes, signatures.
#include "AffinePlan.h"
#include "gpuc-c/runtime.h"
#include <gtest/gtest.h>

using namespace gpuc;

static std::string take(gpuc_status_t status) {
  std::string text = gpuc_status_message(status);
  gpuc_status_destroy(status);
  return text;
}

TEST(CApi, StatusAndTypes) {
  EXPECT_EQ(gpuc_status_code(nullptr), GPUC_OK);
  EXPECT_STREQ(gpuc_status_message(nullptr), "");
  gpuc_status_destroy(nullptr);
  EXPECT_STREQ(gpuc_dtype_name(GPUC_BF16), "bf16");
  EXPECT_EQ(gpuc_dtype_bits(GPUC_I4), 4u);
  EXPECT_EQ(gpuc_dtype_bits(gpuc_dtype_t(30)), 0u);
  EXPECT_EQ(gpuc_api_version(), GPUC_C_API_VERSION);
}

TEST(CApi, NullArgumentsAreErrors) {
  gpuc_plan_t plan = nullptr;
  EXPECT_EQ(take(gpuc_plan_load_file(nullptr, &plan)), "argument 'path' is NULL");
  EXPECT_EQ(take(gpuc_plan_load_file("x", nullptr)), "argument 'plan' is NULL");
  EXPECT_EQ(take(gpuc_device_open("sim", nullptr, nullptr)), "argument 'device' is NULL");
  EXPECT_NE(take(gpuc_context_run(nullptr, nullptr, nullptr, nullptr)), "");
  EXPECT_NE(take(gpuc_executable_create(nullptr, nullptr, nullptr, nullptr)), "");
  gpuc_plan_destroy(nullptr);
  gpuc_device_destroy(nullptr);
  gpuc_context_destroy(nullptr);
  EXPECT_EQ(gpuc_plan_num_inputs(nullptr), 0u);
  EXPECT_EQ(gpuc_plan_find_input(nullptr, "x"), -1);
}

TEST(CApi, BadPlansAndDevicesAreErrors) {
  gpuc_plan_t plan = reinterpret_cast<gpuc_plan_t>(1);
  gpuc_status_t status = gpuc_plan_load_memory("not a plan", 10, 1, &plan);
  EXPECT_EQ(gpuc_status_code(status), GPUC_DATA_LOSS);
  EXPECT_EQ(plan, nullptr);
  take(status);
  gpuc_device_t device = nullptr;
  EXPECT_NE(take(gpuc_device_open("tpu", nullptr, &device)).find("unknown device 'tpu'"), std::string::npos);
  gpuc_device_options_t options = {};
  EXPECT_NE(take(gpuc_device_open("sim", &options, &device)).find("struct_size"), std::string::npos);
}

TEST(CApi, SignatureOfAPlan) {
  auto bytes = serializePlan(affinePlan());
  gpuc_plan_t plan = nullptr;
  ASSERT_EQ(take(gpuc_plan_load_memory(bytes->data(), bytes->size(), 0, &plan)), "");
  ASSERT_EQ(gpuc_plan_num_inputs(plan), 1u);
  const gpuc_tensor_info_t &x = gpuc_plan_inputs(plan)[0];
  EXPECT_STREQ(x.name, "x");
  EXPECT_EQ(x.dtype, GPUC_F32);
  EXPECT_EQ(x.rank, 2u);
  EXPECT_EQ(x.shape[1], 5);
  EXPECT_EQ(x.bytes, 60u);
  EXPECT_EQ(x.specialised_value, nullptr);
  EXPECT_EQ(gpuc_plan_find_output(plan, "y"), 0);
  EXPECT_EQ(gpuc_plan_find_output(plan, "z"), -1);
  EXPECT_STREQ(gpuc_plan_model_name(plan), "affine");
  gpuc_plan_destroy(plan);
}
