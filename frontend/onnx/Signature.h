// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs and outputs of a model: what it declares, and what static types import gives them.
//
// An initialiser that is also an input (a default, IR version 4 and newer) is a constant and no part of the
// signature, unless the caller names it in ImportOptions: with a shape it becomes an ordinary input, with a
// value a specialised one.
#pragma once
#include "ModelIndex.h"
#include "gpuc/Frontend/Importer.h"
#include "gpuc/Frontend/OpRegistry.h"

namespace gpuc::frontend {

/// The static type of one function argument.
struct ResolvedInput {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  const HostTensor *value = nullptr; ///< of a specialised input; lives in the options
};

ModelSignature describeSignature(const onnx::ModelProto &model, const ModelIndex &index,
                                 const OpRegistry &registry);

/// What a problem of the signature is about: an input's name, empty for the whole model.
struct SignatureProblem {
  std::string input, message;
};

/// Types of all function arguments, in the model's order. Extents come from options.shapes, the shapes of
/// options.values, the model, another dimension of the same name, and 1 for a leading dimension (with a
/// warning), in this order. Every problem is added to `problems`; the result is usable only when there was
/// none.
std::vector<ResolvedInput> resolveInputs(const onnx::ModelProto &model, const ModelIndex &index,
                                         const OpRegistry &registry, const ImportOptions &options,
                                         std::vector<SignatureProblem> &problems);

} // namespace gpuc::frontend
