// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What there is to say about an ONNX model without MLIR: its signature, import options, and what blocks its
// compilation.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// What the model declares about an input or output; -1 is an unknown extent.
struct ValueInfo {
  std::string name;
  std::string dtype; ///< "f32", …; as in DType names
  std::vector<int64_t> shape;
  std::vector<std::string> dimNames; ///< "batch"; empty where the extent is fixed or unnamed
  bool shapeKnown = true;            ///< false when the model declares no shape at all
};

struct ModelSignature {
  std::vector<ValueInfo> inputs, outputs;     ///< inputs without those that are only initialisers (IR < 4)
  std::vector<std::string> specialisedInputs; ///< inputs whose *values* decide shapes and must be given
  int64_t irVersion = 0, nodeCount = 0;
  std::map<std::string, int64_t> opsets;
  std::string producer;
};

struct ImportOptions {
  std::map<std::string, Shape> shapes;      ///< by input name; overrides what the model declares
  std::map<std::string, HostTensor> values; ///< values of specialised inputs
  /// Called for every decision the user should know about ("input 'x': dimension 0 ('batch') taken as 1").
  std::function<void(const std::string &)> warn;
};

/// One way in which a model can't be compiled.
struct Blocker {
  std::string node, op, domain;
  int64_t opset = 0;
  std::string reason;
};

} // namespace gpuc::frontend
