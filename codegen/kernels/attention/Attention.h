// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of attention share: operands as strided views, and the tile variants.
#pragma once
#include "emit/RootUnit.h"
#include <optional>

namespace gpuc::attention {

/// q, k, v or the bias as a view of a buffer; strides in elements, per axis of [B, H or G, S or T, D or E or
/// T].
struct Operand {
  unsigned index = 0; ///< operand of the kernel op
  int64_t offset = 0;
  int64_t strides[4] = {0, 0, 0, 0};
  int64_t access = 1; ///< elements per copy
};

struct Problem {
  AttentionOp op;
  DType dtype = DType::F32;
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 0, keys = 0, depth = 0,
          columns = 0; ///< B H G S T D E
  Operand q, k, v;
  std::optional<Operand> bias;
  unsigned lanes = 1;
  int64_t repeat() const { return keyHeads ? heads / keyHeads : 1; }
  int64_t rows() const { return queries * repeat(); } ///< query rows that share a key head
  bool isEmpty() const { return batch * heads * queries * columns == 0; }
};
mlir::FailureOr<Problem> analyze(KernelOp kernel);

/// One way to run; `mma` tiles hold D and E whole, the others pass them in chunks.
struct Variant {
  llvm::StringLiteral name;
  bool mma;
  int64_t blockM, blockN;
};
llvm::ArrayRef<Variant> variants();
const Variant *findVariant(llvm::StringRef name);

/// Numbers of the SIMT body that follow from the type and the variant.
struct SimtShape {
  int64_t rowsM, colsN, chunkD, chunkE, colsE, sharedBytes;
};
SimtShape simtShape(const Problem &p, const Variant &v);
/// Dynamic shared memory of an mma variant in bytes.
int64_t mmaSharedBytes(const Problem &p, const Variant &v);
/// D and E rounded up to whole instructions.
inline int64_t paddedTo16(int64_t n) { return std::max<int64_t>(16, (n + 15) / 16 * 16); }

mlir::LogicalResult select(KernelOp kernel, const Target &target);

} // namespace gpuc::attention
