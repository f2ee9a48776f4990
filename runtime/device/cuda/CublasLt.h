// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products by cuBLASLt, found with dlopen. The library proposes algorithms that fit the plan's
// workspace; the first is used until another one is chosen (LibraryTuning.h).
#pragma once
#include "gpuc/Plan/MatmulProblem.h"
#include "gpuc/Runtime/Device.h"
#include <memory>
#include <string>
#include <vector>

namespace gpuc::cuda {

class CublasLt {
public:
  virtual ~CublasLt() = default;
  /// The device's context must be current in all calls, the destructor's too. Errors: NotFound, DeviceError.
  static Result<std::unique_ptr<CublasLt>> create(const std::vector<std::string> &libraryDirs);
  virtual Result<std::shared_ptr<PreparedMatmul>> prepare(const MatmulProblem &problem,
                                                          size_t workspaceBytes) = 0;
  /// The proposals, best first as the library believes: an opaque word each, the same in every process.
  virtual std::vector<std::string> algorithms(const PreparedMatmul &prepared) const = 0;
  virtual void choose(PreparedMatmul &prepared, size_t algorithm) = 0;
  virtual size_t version() const = 0; ///< of the library
  virtual Status run(PreparedMatmul &prepared, const MatmulOperands &operands, StreamHandle stream) = 0;
};

} // namespace gpuc::cuda
