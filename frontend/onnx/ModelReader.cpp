// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and parsing of model files.
#include "ModelReader.h"
#include "MappedFile.h"
#include "Text.h"
#include <climits>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace gpuc::frontend {
namespace {

/// Messages nested deeper than this are refused; a subgraph takes three levels.
constexpr int kRecursionLimit = 400;

/// What makes a ModelProto one at all; protobuf accepts almost any bytes.
Status checkModelProto(const onnx::ModelProto &model) {
  if (!model.has_graph())
    return dataLoss("not an ONNX model: it has no graph (is the file truncated, or something else?)");
  if (!model.has_ir_version())
    return dataLoss("not an ONNX model: it has no IR version");
  if (model.ir_version() < 1)
    return dataLoss("not an ONNX model: IR version " + std::to_string(model.ir_version()) +
                    " does not exist");
  if (model.ir_version() >= 3 && model.opset_import_size() == 0)
    return dataLoss("the model imports no operator set, but IR version " +
                    std::to_string(model.ir_version()) + " requires it");
  return {};
}

Result<std::shared_ptr<Model>> parse(const void *data, size_t size) {
  if (size > size_t(INT_MAX))
    return dataLoss("a model of " + std::to_string(size) +
                    " bytes is too large for protobuf (2 GiB); keep its weights in external data");
  if (size == 0)
    return dataLoss("not an ONNX model: it is empty");
  auto model = std::make_shared<Model>();
  google::protobuf::io::ArrayInputStream array(data, int(size));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(INT_MAX);
  stream.SetRecursionLimit(kRecursionLimit);
  if (!model->proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage() ||
      size_t(stream.CurrentPosition()) != size)
    return dataLoss("not a complete ONNX model: the data is truncated or corrupt, or nested deeper than " +
                    std::to_string(kRecursionLimit) + " levels");
  GPUC_RETURN_IF_ERROR(checkModelProto(model->proto));
  return model;
}

} // namespace

Result<std::shared_ptr<Model>> readModel(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.status();
  auto model = parse((*file)->data(), (*file)->size());
  if (!model)
    return Status(model.status().code(), quoted(path) + ": " + model.status().message());
  (*model)->folders = dataFolders(path);
  return model;
}

Result<std::shared_ptr<Model>> parseModel(const void *data, size_t size, const std::string &folder) {
  auto model = parse(data, size);
  if (model && !folder.empty())
    (*model)->folders = resolvedFolder(folder);
  return model;
}

} // namespace gpuc::frontend
