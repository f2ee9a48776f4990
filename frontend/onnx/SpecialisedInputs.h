// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which graph inputs must have a known *value* when compiling, because it decides a shape: a backward walk
// from the operands that handlers registered as constant (OpEntry::constantInputs) through every operator
// except Shape and Size, whose results follow from static shapes. Conservative: both branches of an If count.
// Functions are looked into.
#pragma once
#include "ModelIndex.h"
#include "gpuc/Frontend/OpRegistry.h"

namespace gpuc::frontend {

/// Input name → label of a node that needs the value. Initialisers are not inputs here.
std::map<std::string, std::string> findSpecialisedInputs(const onnx::ModelProto &model,
                                                         const ModelIndex &index, const OpRegistry &registry);

} // namespace gpuc::frontend
