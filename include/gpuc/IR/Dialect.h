// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gpuc dialect.
#pragma once
#include "mlir/IR/Dialect.h"

#include "gpuc/IR/GpucDialect.h.inc"
