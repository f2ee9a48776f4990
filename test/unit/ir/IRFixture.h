// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context with the gpuc dialect, collected diagnostics, and short ways to tensors and modules.
#pragma once
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace gpuc::test {

template <typename T> HostTensor tensor(DType dtype, Shape shape, std::vector<T> values) {
  HostTensor result(dtype, std::move(shape));
  EXPECT_EQ(size_t(result.sizeInBytes()), values.size() * sizeof(T));
  std::copy(values.begin(), values.end(), result.mutableData<T>());
  return result;
}
inline HostTensor f32(Shape shape, std::vector<float> values) {
  return tensor<float>(DType::F32, std::move(shape), std::move(values));
}
inline HostTensor i64(Shape shape, std::vector<int64_t> values) {
  return tensor<int64_t>(DType::I64, std::move(shape), std::move(values));
}
template <typename T> std::vector<T> values(const HostTensor &t) {
  return {t.data<T>(), t.data<T>() + t.size()};
}

class IRTest : public ::testing::Test {
protected:
  IRTest()
      : handler(&context, [this](mlir::Diagnostic &d) { errors.push_back(d.str()); }), builder(&context) {
    context.loadDialect<GpucDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(loc());
    builder.setInsertionPointToStart(module->getBody());
  }
  mlir::Location loc() { return mlir::UnknownLoc::get(&context); }
  mlir::RankedTensorType type(llvm::ArrayRef<int64_t> shape, DType dtype = DType::F32) {
    return mlir::RankedTensorType::get(shape, toMlirType(dtype, &context));
  }
  /// A value of a type, from an op that is not registered.
  mlir::Value value(mlir::Type t) {
    context.allowUnregisteredDialects();
    mlir::OperationState state(loc(), "test.value");
    state.addTypes(t);
    return builder.create(state)->getResult(0);
  }
  mlir::Value value(llvm::ArrayRef<int64_t> shape, DType dtype = DType::F32) {
    return value(type(shape, dtype));
  }
  mlir::Value constant(const HostTensor &t) {
    return ConstantOp::create(builder, loc(), toElementsAttr(t, &context));
  }
  /// The first function of a module in text form.
  mlir::func::FuncOp parse(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return {};
    return *module->getOps<mlir::func::FuncOp>().begin();
  }

  mlir::MLIRContext context;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
};

} // namespace gpuc::test
