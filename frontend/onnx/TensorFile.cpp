// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading of TensorProto files.
#include "gpuc/Frontend/TensorFile.h"
#include "TensorDecoder.h"
#include "gpuc/Support/File.h"

namespace gpuc::frontend {

Result<HostTensor> readTensorFile(const std::string &path) {
  auto bytes = mapFile(path);
  if (!bytes)
    return bytes.status();
  onnx::TensorProto tensor;
  if (bytes->size() > size_t(INT32_MAX) || !tensor.ParseFromArray(bytes->data(), int(bytes->size())))
    return dataLoss("'" + path + "' is no serialised ONNX tensor");
  auto decoded = TensorDecoder(std::make_shared<Model>(), nullptr).toHost(tensor);
  if (!decoded)
    return Status(decoded.status().code(), "'" + path + "': the tensor " + decoded.status().message());
  return decoded;
}

} // namespace gpuc::frontend
