// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fills a registry with every operator family.
#include "Families.h"
#include "gpuc/Frontend/OpRegistry.h"

void gpuc::frontend::registerAllOps(OpRegistry &registry) {
  registerActivationOps(registry);
  registerAttentionOps(registry);
  registerConstantOps(registry);
  registerContractionOps(registry);
  registerControlFlowOps(registry);
  registerConvolutionOps(registry);
  registerElementwiseOps(registry);
  registerIndexingOps(registry);
  registerLogicOps(registry);
  registerMicrosoftOps(registry);
  registerMovementOps(registry);
  registerNormalizationOps(registry);
  registerPoolingOps(registry);
  registerReductionOps(registry);
  registerResizeOps(registry);
  registerShapeOps(registry);
  registerSortOps(registry);
}
