// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prologue and epilogue functors of a unit, written from a kernel region with ExprEmitter. Every family with
// a root uses these two functions, so a new pointwise function or movement op works in all of them at once.
#pragma once
#include "gpuc/Codegen/ExprEmitter.h"
#include "gpuc/Codegen/Family.h"

namespace gpuc {

/// A struct written into a unit.
struct EmittedFunctor {
  std::string
      text; ///< definition of the struct, and of constant tables it uses; under `using namespace gpuc`
  /// Kernel parameters it needs: "const f16 *epilogueIn2, f16 *epilogueOut0" (the names start with the
  /// struct's, so several functors of one unit never clash); empty when none.
  std::string parameters;
  std::string construct; ///< expression that makes it inside the entry: "Epilogue{epilogueIn2, epilogueOut0}"
  std::vector<EmittedArg> args; ///< bindings of `parameters`, in order
  bool hasRows = false;         ///< there are `Row`, `loadRow` and `row`; `store` takes a Row (emitEpilogue)
  bool hasLoads =
      false; ///< there are `Loads` and `load`, and `store` of the lanes takes Loads (emitEpilogue)
  bool hasMoments = false; ///< there are `kMomentColumns` and `storeMoments` (emitEpilogue)
};

/// How a kernel's parameters reach its operand and result buffers: element type, strides, alignment.
BufferAccess argumentAccess(KernelOp kernel, mlir::BlockArgument argument, llvm::StringRef pointer);
BufferAccess resultAccess(KernelOp kernel, unsigned result, llvm::StringRef pointer);

/// How the axes of the value are seen by the template. Group g is a list of adjacent-in-iteration axes that
/// the template addresses by one row-major collapsed coordinate; together the groups hold every axis once.
/// Example: convolution result [N, C, H, W] with groups {{0, 2, 3}, {1}}: coordinates (pixel, channel).
struct FunctorShape {
  std::string name = "Epilogue";
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  /// Lanes are consecutive coordinates of this group. The coordinate of lane 0 must be a multiple of `lanes`.
  unsigned laneGroup = 0;
  unsigned lanes = 1;
  std::string indexType = "i32";
  /// Of an epilogue: what `store` of the lanes loads can be loaded ahead.
  bool preload = false;
};

/// Everything between the root's result and the yields of the region:
///   GPUC_DEVICE void store(const C (&acc)[lanes], I g0, I g1, …) const;   // lanes consecutive along the
///   lane axis, all inside GPUC_DEVICE void store(const C (&acc)[1], I g0, I g1, …) const;       // one
///   element (tile edges)
/// The unit includes "pointwise/access.cuh". `store` and `load` call no collectives: any subset of threads
/// may call them. C is the compute type of the root's result and g the coordinates of lane 0. Yielded values
/// reach the root's result through pointwise ops and bijective views (reshape, transpose). The number of
/// lanes is a promise only if `maxLanes` allows it. `rootResults` are bound in order: with several (topk),
/// `store` takes one array per result.
/// With gpuc.row_statistics in the region there are besides
///   RowLoads<S> loadRow<S>(I g…, int slice) const;   // g without the lane group: once per row
///   struct Row; static Row row<S>(const RowLoads<S> &);     // apart, so that loads can be under way
/// where S neighbouring lanes share the loads of a row (lane % S is the slice, all call both and get the
/// Row), and `store` takes `const Row &row` after the arrays. With a yielded gpuc.row_moments there are
///   static constexpr int kMomentColumns; GPUC_DEVICE void storeMoments(I g…, I part, float sum, float
///   squares) const;
/// and `store` leaves in `acc` the values whose sums and sums of squares the kernel body passes to
/// storeMoments.
/// With `shape.preload`, if there is something to load,
///   struct Loads; GPUC_DEVICE Loads load(I g…) const;   // of all lanes: all must lie inside
/// and the first `store` takes `const Loads &loads` before the coordinates.
mlir::FailureOr<EmittedFunctor> emitEpilogue(KernelOp kernel, llvm::ArrayRef<mlir::Value> rootResults,
                                             const FunctorShape &shape);
/// The value of a root's operand, computed from block arguments by pointwise and movement ops:
///   GPUC_DEVICE void load(C (&x)[lanes], I g0, I g1, …) const;  and the one-element overload.
mlir::FailureOr<EmittedFunctor> emitPrologue(KernelOp kernel, mlir::Value operand, const FunctorShape &shape);

/// Where a buffer's elements lie, as seen from the groups of a FunctorShape: offset + sum of strides[g] *
/// g-th coordinate, in elements.
struct GroupLayout {
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};
/// An epilogue for templates that write the result themselves.
struct EmittedValues {
  /// Instead of `store`:
  ///   GPUC_DEVICE void compute(const C (&acc)[lanes], const S (&held)[lanes], I g0, …, R (&r)[lanes]) const;
  /// r: the result's elements in their compute type, to be rounded to its storage type S. The parameters have
  /// no pointer to the result and to what is held. Row state as in emitEpilogue: `const Row &row` comes after
  /// `held`, and moments are those of `r`.
  EmittedFunctor functor;
  GroupLayout result;
  /// An operand of the result's element type whose elements at the coordinates are passed in `held`.
  std::optional<unsigned> held;
  GroupLayout heldLayout;
};
/// Nothing when the kernel has several results (besides moments), or the result does not lie as GroupLayout
/// says.
std::optional<EmittedValues> emitEpilogueValues(KernelOp kernel, mlir::Value rootResult,
                                                const FunctorShape &shape);

/// The largest lanes in {8, 4, 2, 1} (16 bytes at most) such that the results and the operands that vary
/// along the lane axis can be accessed with aligned vectors: unit stride along it, extents and other strides
/// divisible. `value` is the root's result (or operand) that the lanes run over.
unsigned maxLanes(KernelOp kernel, mlir::Value value, unsigned laneAxis);
/// The same question for a prologue: the largest lanes such that every load of `value` (a root's operand)
/// that varies between the lanes of `shape` is made of whole vectors. `shape.lanes` is the upper limit.
unsigned maxLanes(KernelOp kernel, mlir::Value value, const FunctorShape &shape);
/// Storage strides of the buffer behind a block argument: the producing kernel's storage, or row-major.
llvm::SmallVector<int64_t> argumentStrides(KernelOp kernel, mlir::BlockArgument argument);
/// "i32" when every buffer of the kernel has fewer than 2^31 elements of extent, else "i64".
std::string indexTypeFor(KernelOp kernel);
/// The banner comment of a unit: ONNX nodes and family.
std::string unitBanner(KernelOp kernel, llvm::StringRef family, llvm::StringRef variant);

} // namespace gpuc
