// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Once per kernel library: binding, and the handlers that -fsanitize=alignment,bounds,thread calls (the
// library is linked without the sanitizers' own runtimes).
#pragma once

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];
GPUC_SIM_VISIBLE __attribute__((no_sanitize("thread"))) void gpucSimBind(const gpucsim::Api *api,
                                                                         gpucsim::ImageRange *image) {
  gpucsim::table = *api;
  image->begin = __ehdr_start;
  image->end = _end;
}

namespace gpucsim {
struct SourceLocation {
  const char *file;
  unsigned line, column;
};
struct TypeDescriptor {
  unsigned short kind, info;
  char name[1];
};
struct OutOfBoundsData {
  SourceLocation location;
  const TypeDescriptor *arrayType, *indexType;
};
struct TypeMismatchData {
  SourceLocation location;
  const TypeDescriptor *type;
  unsigned char logAlignment, kind;
};
} // namespace gpucsim

extern "C" {
void __ubsan_handle_out_of_bounds(gpucsim::OutOfBoundsData *d, unsigned long index) {
  gpucsim::api->outOfBounds(d->location.file, d->location.line, index, d->arrayType->name);
}
void __ubsan_handle_out_of_bounds_abort(gpucsim::OutOfBoundsData *d, unsigned long index) {
  gpucsim::api->outOfBounds(d->location.file, d->location.line, index, d->arrayType->name);
}
void __ubsan_handle_type_mismatch_v1(gpucsim::TypeMismatchData *d, unsigned long p) {
  gpucsim::api->misalignedType(d->location.file, d->location.line, (const void *)p, 1u << d->logAlignment,
                               d->type->name);
}
void __ubsan_handle_type_mismatch_v1_abort(gpucsim::TypeMismatchData *d, unsigned long p) {
  gpucsim::api->misalignedType(d->location.file, d->location.line, (const void *)p, 1u << d->logAlignment,
                               d->type->name);
}
#ifdef GPUC_SIM_FULL
#define GPUC_SIM_ACCESS(name, bytes, kind)                                                                   \
  __attribute__((no_sanitize("thread"))) void name(const void *p) {                                          \
    gpucsim::api->access(p, bytes, gpucsim::Access::kind, __builtin_return_address(0));                      \
  }
#define GPUC_SIM_ACCESSES(bytes)                                                                             \
  GPUC_SIM_ACCESS(__tsan_read##bytes, bytes, Read)                                                           \
  GPUC_SIM_ACCESS(__tsan_write##bytes, bytes, Write)                                                         \
  GPUC_SIM_ACCESS(__tsan_unaligned_read##bytes, bytes, Read)                                                 \
  GPUC_SIM_ACCESS(__tsan_unaligned_write##bytes, bytes, Write)
GPUC_SIM_ACCESSES(1);
GPUC_SIM_ACCESSES(2);
GPUC_SIM_ACCESSES(4);
GPUC_SIM_ACCESSES(8);
GPUC_SIM_ACCESSES(16);
#undef GPUC_SIM_ACCESSES
#undef GPUC_SIM_ACCESS
__attribute__((no_sanitize("thread"))) void __tsan_read_range(const void *p, unsigned long n) {
  gpucsim::api->access(p, n, gpucsim::Access::Read, __builtin_return_address(0));
}
__attribute__((no_sanitize("thread"))) void __tsan_write_range(const void *p, unsigned long n) {
  gpucsim::api->access(p, n, gpucsim::Access::Write, __builtin_return_address(0));
}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_init() {}
__attribute__((no_sanitize("thread"))) void *__tsan_memcpy(void *d, const void *s, unsigned long n) {
  gpucsim::api->access(s, n, gpucsim::Access::Read, __builtin_return_address(0));
  gpucsim::api->access(d, n, gpucsim::Access::Write, __builtin_return_address(0));
  return memcpy(d, s, n);
}
__attribute__((no_sanitize("thread"))) void *__tsan_memset(void *d, int v, unsigned long n) {
  gpucsim::api->access(d, n, gpucsim::Access::Write, __builtin_return_address(0));
  return memset(d, v, n);
}
#endif
}
