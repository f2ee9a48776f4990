// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products by cuBLASLt, found with dlopen. The first algorithm of the library's heuristics that fits
// the plan's workspace is used.
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
  virtual Status run(PreparedMatmul &prepared, const MatmulOperands &operands, StreamHandle stream) = 0;
};

} // namespace gpuc::cuda
