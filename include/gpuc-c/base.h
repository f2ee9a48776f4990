/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conventions of gpuc's C API. Read first.
 *
 * Language. C99 and C++. No exception leaves a function. Names: gpuc_<object>_<verb>.
 *
 * Ownership. gpuc_<object>_t is a pointer to an opaque object. A function that makes one returns it through
 * its last parameter; the caller destroys it with gpuc_<object>_destroy, which takes NULL too. An object
 * keeps what it needs alive, so objects may be destroyed in any order. Strings and arrays that a function
 * returns belong to the object asked and live as long as it, unless the function says otherwise.
 *
 * Errors. Functions that can fail return a gpuc_status_t: NULL is success. Anything else must be destroyed;
 * it has a code and a message for people: lower-case, no final period, names in '...'. After a failure output
 * parameters are set to NULL or 0.
 *
 * Threads. Different objects may be used in different threads at the same time; one object in one thread at a
 * time, except where a function says otherwise.
 *
 * Versions. Structs that callers fill start with `size_t struct_size`, set to sizeof the struct (GPUC_INIT
 * does it and zeroes the rest; zero is the default of every field). Later versions append fields and keep the
 * meaning of zero.
 */
#ifndef GPUC_C_BASE_H
#define GPUC_C_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPUC_C_API_VERSION 1

/* Initialises a struct that starts with struct_size: `gpuc_context_options_t o =
 * GPUC_INIT(gpuc_context_options_t);` */
#ifdef __cplusplus
#define GPUC_INIT(type)                                                                                      \
  ([] {                                                                                                      \
    type gpuc_value = type();                                                                                \
    gpuc_value.struct_size = sizeof(type);                                                                   \
    return gpuc_value;                                                                                       \
  }())
#else
#define GPUC_INIT(type) ((type){.struct_size = sizeof(type)})
#endif

typedef enum gpuc_status_code_t {
  GPUC_OK = 0,
  GPUC_INVALID_ARGUMENT = 1,    /* the caller passed something that can never be right */
  GPUC_NOT_FOUND = 2,           /* a file, a name, a device or a library is not there */
  GPUC_DATA_LOSS = 3,           /* a file is truncated, corrupt or of another version */
  GPUC_UNSUPPORTED = 4,         /* legal, but not something gpuc does */
  GPUC_OUT_OF_MEMORY = 5,       /* host or device memory is not enough */
  GPUC_FAILED_PRECONDITION = 6, /* the object is in the wrong state */
  GPUC_DEVICE_ERROR = 7,        /* the driver or a kernel failed */
  GPUC_IO_ERROR = 8,            /* the operating system refused a read or a write */
  GPUC_INTERNAL = 9             /* a bug of gpuc */
} gpuc_status_code_t;

/* An error, or NULL for success. */
typedef struct gpuc_status_s *gpuc_status_t;

/* GPUC_OK for NULL. */
gpuc_status_code_t gpuc_status_code(gpuc_status_t status);
/* "" for NULL. */
const char *gpuc_status_message(gpuc_status_t status);
void gpuc_status_destroy(gpuc_status_t status);

/* Element types; the numbers are those of plan files. Sub-byte types are packed, low bits first. Bool is one
 * byte. */
typedef enum gpuc_dtype_t {
  GPUC_BOOL = 0,
  GPUC_I8,
  GPUC_I16,
  GPUC_I32,
  GPUC_I64,
  GPUC_U8,
  GPUC_U16,
  GPUC_U32,
  GPUC_U64,
  GPUC_F16,
  GPUC_BF16,
  GPUC_F32,
  GPUC_F64,
  GPUC_F8E4M3FN,
  GPUC_F8E4M3FNUZ,
  GPUC_F8E5M2,
  GPUC_F8E5M2FNUZ,
  GPUC_I4,
  GPUC_U4,
  GPUC_F4E2M1,
  GPUC_F8E8M0,
  GPUC_I2,
  GPUC_U2
} gpuc_dtype_t;

/* Bits of one element, 0 for an unknown type. */
unsigned gpuc_dtype_bits(gpuc_dtype_t dtype);
/* "f32", "i64", "bool", ...; static. */
const char *gpuc_dtype_name(gpuc_dtype_t dtype);

/* GPUC_C_API_VERSION of the library that is linked. */
int gpuc_api_version(void);

#ifdef __cplusplus
}
#endif
#endif
