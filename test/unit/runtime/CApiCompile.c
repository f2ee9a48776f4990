/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C headers are C99, and the API works from C. Called by CApiTest.cpp. */
#include "gpuc-c/runtime.h"

/* Runs a plan file's bytes on a device with one f32 input and output of 15 elements; returns a status. */
gpuc_status_t gpuc_test_run_from_c(const char *device_spec, const void *data, size_t size, float *x,
                                   float *y);

gpuc_status_t gpuc_test_run_from_c(const char *device_spec, const void *data, size_t size, float *x,
                                   float *y) {
  gpuc_context_options_t options = GPUC_INIT(gpuc_context_options_t);
  gpuc_device_t device = NULL;
  gpuc_plan_t plan = NULL;
  gpuc_executable_t executable = NULL;
  gpuc_context_t context = NULL;
  gpuc_buffer_t input = {x, 0, 15 * sizeof(float)}, output = {y, 0, 15 * sizeof(float)};
  gpuc_status_t status = gpuc_device_open(device_spec, NULL, &device);
  options.max_graphs = 2;
  if (!status)
    status = gpuc_plan_load_memory(data, size, 1, &plan);
  if (!status)
    status = gpuc_executable_create(plan, device, NULL, &executable);
  if (!status)
    status = gpuc_context_create(executable, &options, &context);
  /* In another order than they were made: each keeps what it needs. */
  gpuc_plan_destroy(plan);
  gpuc_device_destroy(device);
  gpuc_executable_destroy(executable);
  if (!status)
    status = gpuc_context_run(context, &input, &output, NULL);
  if (!status)
    status = gpuc_context_run(context, &input, &output, NULL);
  gpuc_context_destroy(context);
  return status;
}
