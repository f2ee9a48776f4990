// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One accessor per family folder, defined in codegen/kernels/<family>/Emit.cpp.
#pragma once
#include "gpuc/Codegen/Family.h"

namespace gpuc {

const KernelFamily &attentionFamily();
const KernelFamily &convolutionFamily();
const KernelFamily &matmulFamily();
const KernelFamily &normalizationFamily();
const KernelFamily &pointwiseFamily();
const KernelFamily &poolingFamily();
const KernelFamily &reductionFamily();
const KernelFamily &scanFamily();
const KernelFamily &scatterFamily();
const KernelFamily &sortFamily();
const KernelFamily &squeeze_exciteFamily();

} // namespace gpuc
