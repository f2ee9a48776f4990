// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of the parts that must not depend on LLVM (Support, Plan, Reference, Runtime): a code and a
// sentence. MLIR code reports through diagnostics instead; the driver converts between the two.
#pragma once
#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace gpuc {

/// Numbers equal `gpuc_status_code_t` of gpuc-c/base.h.
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1,    ///< the caller passed something that can never be right
  NotFound = 2,           ///< a file, a name, a device or a library is not there
  DataLoss = 3,           ///< a file is truncated, corrupt or of another version
  Unsupported = 4,        ///< legal, but not something gpuc does
  OutOfMemory = 5,        ///< host or device memory is not enough
  FailedPrecondition = 6, ///< the object is in the wrong state
  DeviceError = 7,        ///< the driver or a kernel failed
  IoError = 8,            ///< the operating system refused a read or a write
  Internal = 9,           ///< a bug of gpuc
};

/// Success, or a code with a message. Message style: lower-case start, no final period, names in '…',
/// what was expected and what was got, and one remedy if there is one.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : statusCode(code), text(std::move(message)) {}
  bool ok() const { return statusCode == StatusCode::Ok; }
  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

private:
  StatusCode statusCode = StatusCode::Ok;
  std::string text;
};

inline Status invalidArgument(std::string m) { return {StatusCode::InvalidArgument, std::move(m)}; }
inline Status notFound(std::string m) { return {StatusCode::NotFound, std::move(m)}; }
inline Status dataLoss(std::string m) { return {StatusCode::DataLoss, std::move(m)}; }
inline Status unsupported(std::string m) { return {StatusCode::Unsupported, std::move(m)}; }
inline Status ioError(std::string m) { return {StatusCode::IoError, std::move(m)}; }
inline Status internalError(std::string m) { return {StatusCode::Internal, std::move(m)}; }

/// A value, or the Status that says why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : storage(std::move(value)) {}
  Result(Status error) : failure(std::move(error)) {
    assert(!failure.ok() && "a Result needs a value or an error");
  }
  bool ok() const { return storage.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return failure; }
  T &operator*() { return *storage; }
  const T &operator*() const { return *storage; }
  T *operator->() { return &*storage; }
  const T *operator->() const { return &*storage; }
  T take() { return std::move(*storage); }

private:
  std::optional<T> storage;
  Status failure;
};

/// Returns early with the status of `expr` when it is an error.
#define GPUC_RETURN_IF_ERROR(expr)                                                                           \
  do {                                                                                                       \
    ::gpuc::Status gpucStatus = (expr);                                                                      \
    if (!gpucStatus.ok())                                                                                    \
      return gpucStatus;                                                                                     \
  } while (0)

} // namespace gpuc
