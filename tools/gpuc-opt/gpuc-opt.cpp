// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc-opt: mlir-opt with the gpuc dialect and passes, for tests and for looking at single passes.
#include "gpuc/IR/Dialect.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<gpuc::GpucDialect, mlir::func::FuncDialect>();
  mlir::registerTransformsPasses();
  gpuc::registerGpucPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "gpuc optimizer driver\n", registry));
}
