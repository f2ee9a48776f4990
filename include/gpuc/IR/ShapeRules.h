// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of core ops as pure functions of the operands' shapes and attributes. Inference, verification and
// importers share them. A `…Shape` function gives the result's shape, a `check…` function judges given ones;
// an error's message starts with the label of the constraint in the op's description ("matmul_c2: …"). All
// arithmetic on extents is checked: hostile numbers give an error, never an overflow.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/OpKinds.h"
#include "gpuc/Support/Status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace gpuc::shapes {

using Extents = llvm::ArrayRef<int64_t>;

/// "[2, 3]"
std::string text(Extents extents);

/// numpy broadcasting of any number of shapes; `what` names them in the message.
Result<Shape> broadcastShape(llvm::StringRef label, llvm::ArrayRef<Extents> shapes);
/// `from` broadcasts to exactly `to`.
Status checkBroadcastTo(llvm::StringRef label, llvm::StringRef what, Extents from, Extents to);
Status checkAxis(llvm::StringRef label, int64_t axis, size_t rank);

// Movement
Result<Shape> transposeShape(Extents x, Extents perm);
Status checkReshape(Extents x, Extents y);
Status checkSlice(Extents x, Extents starts, Extents steps, Extents y);
Result<Shape> concatShape(llvm::ArrayRef<Extents> inputs, int64_t axis);
Result<Shape> padShape(Extents x, Extents low, Extents high, PadMode mode);
Result<Shape> tileShape(Extents x, Extents repeats);
Status checkResize(Extents x, Extents y, llvm::ArrayRef<double> scales, llvm::ArrayRef<double> roi);

// Indexing
Result<Shape> gatherShape(Extents data, Extents indices, int64_t axis);
Result<Shape> gatherElementsShape(Extents data, Extents indices, int64_t axis);
Result<Shape> gatherNdShape(Extents data, Extents indices, int64_t batchDims);
Status checkScatterNd(Extents data, Extents indices, Extents updates);
Status checkScatterElements(Extents data, Extents indices, Extents updates, int64_t axis);

// Reductions
Result<Shape> reduceShape(Extents x, Extents axes, bool keepdims);
Result<Shape> argReduceShape(Extents x, int64_t axis, bool keepdims);
Result<Shape> topkShape(Extents x, int64_t k, int64_t axis);

// Normalisation: `scale` and `bias` are absent when null.
Status checkGroupNorm(Extents x, int64_t groups, const Extents *scale, const Extents *bias);

// Contractions and pooling
Result<Shape> matmulShape(Extents x, Extents y);
Result<Shape> attentionShape(Extents q, Extents k, Extents v, const Extents *bias);
/// Windows of conv, conv_transpose and pools, one entry per spatial axis. `kernel` is unused by convolutions.
struct Window {
  Extents kernel, strides, low, high, dilations;
};
Result<Shape> convShape(Extents x, Extents w, const Extents *bias, const Window &window, int64_t group);
Status checkConvTranspose(Extents x, Extents w, const Extents *bias, const Window &window, int64_t group,
                          Extents y);
Status checkPool(llvm::StringRef label, Extents x, const Window &window, Extents y);

} // namespace gpuc::shapes
