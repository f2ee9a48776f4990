// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of reductions share.
#pragma once
#include "gpuc/Codegen/Functor.h"

namespace gpuc::reduction {

struct Variant {
  llvm::StringLiteral name;
  unsigned threads;
  unsigned unroll; ///< vectors in flight per thread
};
extern const Variant kRow, kColumn;

/// x[outer, count, inner] -> y[outer, inner], in the order of x's storage.
struct Problem {
  mlir::Operation *root = nullptr;
  mlir::Value x;
  llvm::SmallVector<unsigned> outer, reduced, inner;    ///< axes of x
  llvm::SmallVector<unsigned> resultOuter, resultInner; ///< axes of the root's result
  int64_t outerExtent = 1, count = 1, innerExtent = 1;
  std::string indexType;
};
mlir::FailureOr<Problem> analyze(KernelOp kernel);
/// Groups of x for the prologue: outer, reduced, inner.
FunctorShape prologueShape(const Problem &problem, unsigned laneGroup, unsigned lanes);
FunctorShape epilogueShape(const Problem &problem);

/// The accumulator in generated code: a C++ type of reducers.cuh, and the size of its State in bytes.
struct Reducer {
  std::string type;
  int64_t stateBytes = 0;
};
mlir::FailureOr<Reducer> reducerOf(const Problem &problem);

} // namespace gpuc::reduction
