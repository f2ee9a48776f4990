/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs compiled models (plans). The usual order:
 *
 *   gpuc_device_open("auto", NULL, &device);
 *   gpuc_plan_load_file("model.gpuc", &plan);
 *   gpuc_plan_memory_need(plan, device, &need);            optional: know before allocating
 *   gpuc_executable_create(plan, device, NULL, &exe);      weights and kernels, shared by all contexts
 *   gpuc_context_create(exe, NULL, &context);              one per concurrent run
 *   gpuc_context_run(context, inputs, outputs, NULL);
 *
 * Link libGpucRuntime and the C++ runtime; CUDA's driver is found when a CUDA device is opened. */
#ifndef GPUC_C_RUNTIME_H
#define GPUC_C_RUNTIME_H

#include "gpuc-c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- devices ---- */
typedef struct gpuc_device_s *gpuc_device_t;

typedef struct gpuc_device_options_t {
  size_t struct_size;
  const char *cache_dir; /* compiled kernels; NULL: $GPUC_CACHE_DIR, $XDG_CACHE_HOME/gpuc, ~/.cache/gpuc */
  const char *const *library_dirs; /* searched for CUDA libraries before the usual folders */
  size_t num_library_dirs;
} gpuc_device_options_t;

/* `spec`: "auto" (first GPU, else the simulator), "cuda", "cuda:N", "sim", "sim:ARCH". `options` may be NULL.
 */
gpuc_status_t gpuc_device_open(const char *spec, const gpuc_device_options_t *options, gpuc_device_t *device);
void gpuc_device_destroy(gpuc_device_t device);
/* "cuda:0 NVIDIA H200 (sm_90a)". */
const char *gpuc_device_description(gpuc_device_t device);
/* "sm_90a". */
const char *gpuc_device_arch(gpuc_device_t device);
/* 1 when kernels run on the CPU. */
int gpuc_device_is_simulator(gpuc_device_t device);
/* Bytes that can still be allocated. */
gpuc_status_t gpuc_device_free_memory(gpuc_device_t device, uint64_t *bytes);

/* Device memory and copies, for programs that do not use CUDA themselves. Addresses are CUdeviceptr on cuda
 * and host addresses on the simulator. `stream` is a CUstream or NULL. Copies are asynchronous: synchronise
 * before reading. */
gpuc_status_t gpuc_device_allocate(gpuc_device_t device, uint64_t bytes, uint64_t *address);
void gpuc_device_deallocate(gpuc_device_t device, uint64_t address);
gpuc_status_t gpuc_device_copy_in(gpuc_device_t device, uint64_t to, const void *from, uint64_t bytes,
                                  void *stream);
gpuc_status_t gpuc_device_copy_out(gpuc_device_t device, void *to, uint64_t from, uint64_t bytes,
                                   void *stream);
gpuc_status_t gpuc_device_synchronize(gpuc_device_t device, void *stream);

/* ---- plans ---- */
typedef struct gpuc_plan_s *gpuc_plan_t;

/* Reads a plan file; constants stay in the mapped file, which must not be changed meanwhile. */
gpuc_status_t gpuc_plan_load_file(const char *path, gpuc_plan_t *plan);
/* Reads a plan in memory. `copy` != 0: the bytes are copied; else they must outlive the plan and all made
 * from it. */
gpuc_status_t gpuc_plan_load_memory(const void *data, size_t size, int copy, gpuc_plan_t *plan);
void gpuc_plan_destroy(gpuc_plan_t plan);
const char *gpuc_plan_model_name(gpuc_plan_t plan);

/* An input or an output. Dense, row-major. */
typedef struct gpuc_tensor_info_t {
  const char *name;
  gpuc_dtype_t dtype;
  size_t rank;
  const int64_t *shape; /* `rank` extents */
  uint64_t bytes;
  const void *specialised_value; /* inputs: the only value the plan is right for (`bytes` bytes), else NULL */
} gpuc_tensor_info_t;

size_t gpuc_plan_num_inputs(gpuc_plan_t plan);
size_t gpuc_plan_num_outputs(gpuc_plan_t plan);
/* The array of all inputs (outputs), owned by the plan. */
const gpuc_tensor_info_t *gpuc_plan_inputs(gpuc_plan_t plan);
const gpuc_tensor_info_t *gpuc_plan_outputs(gpuc_plan_t plan);
/* Index by name, or -1. */
int64_t gpuc_plan_find_input(gpuc_plan_t plan, const char *name);
int64_t gpuc_plan_find_output(gpuc_plan_t plan, const char *name);

/* Exact device memory in bytes. */
typedef struct gpuc_memory_need_t {
  uint64_t constants; /* per executable: weights */
  uint64_t packed;    /* per executable: weights in the layouts that kernels want */
  uint64_t arena;     /* per context: intermediate values */
  uint64_t
      staging; /* per context, unless options say otherwise: copies of inputs and outputs in host memory */
} gpuc_memory_need_t;
/* Fails when the plan has no code for the device. */
gpuc_status_t gpuc_plan_memory_need(gpuc_plan_t plan, gpuc_device_t device, gpuc_memory_need_t *need);

/* ---- executables: a plan on a device ---- */
typedef struct gpuc_executable_s *gpuc_executable_t;

/* Gives and takes back device memory, aligned to 256 bytes. Called while an executable or context is created
 * or destroyed, never while one runs. `allocate` returns 0 when there is none. */
typedef struct gpuc_allocator_t {
  uint64_t (*allocate)(void *user, uint64_t bytes);
  void (*deallocate)(void *user, uint64_t address, uint64_t bytes);
  void *user;
} gpuc_allocator_t;

typedef struct gpuc_executable_options_t {
  size_t struct_size;
  const gpuc_allocator_t *allocator; /* copied; NULL: the device's own. Contexts use it too */
  int no_library_tuning; /* 1: take cuBLASLt's first proposal for every product instead of measuring some */
} gpuc_executable_options_t;

/* Uploads constants, loads kernels (compiling them if the plan lacks code for exactly this GPU), packs
 * weights. */
gpuc_status_t gpuc_executable_create(gpuc_plan_t plan, gpuc_device_t device,
                                     const gpuc_executable_options_t *options, gpuc_executable_t *executable);
void gpuc_executable_destroy(gpuc_executable_t executable);

/* ---- contexts: independent runs ---- */
typedef struct gpuc_context_s *gpuc_context_t;

typedef struct gpuc_context_options_t {
  size_t struct_size;
  int no_staging;      /* 1: inputs and outputs are always in device memory; saves memory_need.staging */
  int no_graph;        /* 1: launch kernels one by one instead of replaying a CUDA graph */
  unsigned max_graphs; /* graphs kept for different sets of addresses; 0: 4 */
  int poison;          /* 1: fill arena and outputs with NaN before each run, for tests */
} gpuc_context_options_t;

gpuc_status_t gpuc_context_create(gpuc_executable_t executable, const gpuc_context_options_t *options,
                                  gpuc_context_t *context);
void gpuc_context_destroy(gpuc_context_t context);

/* Data of one input or output: exactly one of `host` and `device`, `bytes` as in gpuc_tensor_info_t. Device
 * addresses are aligned to 16 bytes. */
typedef struct gpuc_buffer_t {
  void *host;
  uint64_t device;
  uint64_t bytes;
} gpuc_buffer_t;

/* Runs once. `inputs` and `outputs` have as many elements as the plan's signature, in its order. `stream` is
 * the caller's CUstream or NULL. When any buffer is in host memory the call returns after the run has
 * finished, otherwise at once: synchronise the stream. Allocates no device memory. */
gpuc_status_t gpuc_context_run(gpuc_context_t context, const gpuc_buffer_t *inputs,
                               const gpuc_buffer_t *outputs, void *stream);
/* 1 when the last run replayed a CUDA graph. */
int gpuc_context_used_graph(gpuc_context_t context);

#ifdef __cplusplus
}
#endif
#endif
