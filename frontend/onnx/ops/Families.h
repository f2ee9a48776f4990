// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operator families: each file registers its operators with all their since-versions.
#pragma once

namespace gpuc::frontend {

class OpRegistry;

void registerActivationOps(OpRegistry &registry);
void registerAttentionOps(OpRegistry &registry);
void registerConstantOps(OpRegistry &registry);
void registerContractionOps(OpRegistry &registry);
void registerControlFlowOps(OpRegistry &registry);
void registerConvolutionOps(OpRegistry &registry);
void registerElementwiseOps(OpRegistry &registry);
void registerIndexingOps(OpRegistry &registry);
void registerLogicOps(OpRegistry &registry);
void registerMicrosoftOps(OpRegistry &registry);
void registerMovementOps(OpRegistry &registry);
void registerNormalizationOps(OpRegistry &registry);
void registerPoolingOps(OpRegistry &registry);
void registerReductionOps(OpRegistry &registry);
void registerResizeOps(OpRegistry &registry);
void registerShapeOps(OpRegistry &registry);
void registerSortOps(OpRegistry &registry);

} // namespace gpuc::frontend
