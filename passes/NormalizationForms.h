// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The patterns of RecognizeNormalization, by subject.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace gpuc {

/// Reductions in one form: kept axes, means instead of scaled sums, no infinite bounds (SoftmaxForms.cpp).
void populateReductionForms(mlir::RewritePatternSet &patterns);
/// exp(x - max) / sum, and softmax whose NaNs become zero (SoftmaxForms.cpp).
void populateSoftmaxForms(mlir::RewritePatternSet &patterns);

} // namespace gpuc
