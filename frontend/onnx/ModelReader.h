// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes → ModelProto. Refuses what is no complete ONNX model; knows nothing of MLIR.
#pragma once
#include "gpuc/Support/Status.h"
#include "onnx.pb.h"
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// A parsed model and what its constants point into; shared, because blobs in the IR keep it alive.
struct Model {
  onnx::ModelProto proto;
  /// Folders that external data may lie in, symbolic links resolved; the first is the one that locations are
  /// relative to. Empty when external data is not allowed.
  std::vector<std::string> folders;
  /// Nodes of functions whose attribute references were replaced, where a constant may point into them.
  std::deque<onnx::NodeProto> resolvedNodes;
};

/// Newest ONNX opset and IR version that gpuc was written for (onnx 1.22).
constexpr int64_t kNewestOpset = 27, kOldestOpset = 7, kNewestIrVersion = 13;

/// Reads a regular file of at most 2 GiB. External data is looked for beside `path`; when the model is a link
/// into a store, also beside the file that it points to.
Result<std::shared_ptr<Model>> readModel(const std::string &path);
/// Parses a serialised ModelProto; `folder` may be empty (no external data).
Result<std::shared_ptr<Model>> parseModel(const void *data, size_t size, const std::string &folder);

} // namespace gpuc::frontend
