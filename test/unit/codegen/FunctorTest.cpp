// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Epilogues and prologues that every family with a root uses.
#include "gpuc/Codegen/Functor.h"
#include "KernelTest.h"
#include "gpuc/IR/Ops.h"

using namespace gpuc;

namespace {

class FunctorTest : public KernelTest {
protected:
  /// The only kernel of @main of `text`, which `module` owns.
  KernelOp kernelOf(llvm::StringRef text) {
    module = parse(text);
    KernelOp found;
    if (module)
      module->walk([&](KernelOp k) { found = k; });
    return found;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

const char kMatmul[] =
    R"(func.func @main(%x: tensor<32x16xf16>, %w: tensor<16x24xf16>, %b: tensor<24xf16>, %s: tensor<4x8x24xf16>)
    -> tensor<4x24x8xf16> {
  %y = gpuc.kernel "matmul" (%a = %x : tensor<32x16xf16>, %k = %w : tensor<16x24xf16>, %c = %b : tensor<24xf16>,
                             %r = %s : tensor<4x8x24xf16>) -> tensor<4x24x8xf16> attributes {storage = [[192, 1, 24]]} {
    %0 = gpuc.matmul %a, %k : tensor<32x16xf16>, tensor<16x24xf16> -> tensor<32x24xf16>
    %1 = gpuc.binary add %0, %c : tensor<32x24xf16>, tensor<24xf16> -> tensor<32x24xf16>
    %2 = gpuc.reshape %1 : tensor<32x24xf16> -> tensor<4x8x24xf16>
    %3 = gpuc.binary add %2, %r : tensor<4x8x24xf16>, tensor<4x8x24xf16> -> tensor<4x8x24xf16>
    %4 = gpuc.unary relu %3 : tensor<4x8x24xf16> -> tensor<4x8x24xf16>
    %5 = gpuc.transpose %4 {perm = array<i64: 0, 2, 1>} : tensor<4x8x24xf16> -> tensor<4x24x8xf16>
    gpuc.yield %5 : tensor<4x24x8xf16>
  }
  return %y : tensor<4x24x8xf16>
})";

TEST_F(FunctorTest, EpilogueThroughViewsHasVectorsAndNoDivision) {
  KernelOp kernel = kernelOf(kMatmul);
  ASSERT_TRUE(kernel);
  mlir::Value root = kernel.getRoot()->getResult(0);
  EXPECT_EQ(maxLanes(kernel, root, 1), 8u);
  FunctorShape shape;
  shape.groups = {{0}, {1}};
  shape.laneGroup = 1;
  shape.lanes = 8;
  auto epilogue = emitEpilogue(kernel, {root}, shape);
  ASSERT_TRUE(succeeded(epilogue));
  EXPECT_NE(epilogue->text.find("stLanes<8>"), std::string::npos) << epilogue->text;
  EXPECT_NE(epilogue->text.find("ldLanes<8>"), std::string::npos) << epilogue->text;
  EXPECT_EQ(epilogue->text.find(" / "), std::string::npos) << epilogue->text;
  EXPECT_EQ(epilogue->parameters, "const f16 *epilogueIn2, const f16 *epilogueIn3, f16 *epilogueOut0");
  EXPECT_EQ(epilogue->construct, "Epilogue{epilogueIn2, epilogueIn3, epilogueOut0}");
  ASSERT_EQ(epilogue->args.size(), 3u);
  EXPECT_EQ(epilogue->args[1].index, 3u);
}

TEST_F(FunctorTest, UnalignedExtentsAllowNoLanes) {
  KernelOp kernel = kernelOf(R"(func.func @main(%x: tensor<3x5xf16>, %w: tensor<5x7xf16>) -> tensor<3x7xf16> {
    %y = gpuc.kernel "matmul" (%a = %x : tensor<3x5xf16>, %k = %w : tensor<5x7xf16>) -> tensor<3x7xf16> {
      %0 = gpuc.matmul %a, %k : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
      gpuc.yield %0 : tensor<3x7xf16>
    }
    return %y : tensor<3x7xf16>
  })");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(maxLanes(kernel, kernel.getRoot()->getResult(0), 1), 1u);
}

TEST_F(FunctorTest, RefusesEpiloguesThatAreNotBijective) {
  KernelOp kernel = kernelOf(R"(func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x4xf32> {
    %y = gpuc.kernel "matmul" (%a = %x : tensor<3x5xf32>, %k = %w : tensor<5x7xf32>) -> tensor<3x4xf32> {
      %0 = gpuc.matmul %a, %k : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
      %1 = gpuc.slice %0 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : tensor<3x7xf32> -> tensor<3x4xf32>
      gpuc.yield %1 : tensor<3x4xf32>
    }
    return %y : tensor<3x4xf32>
  })");
  ASSERT_TRUE(kernel);
  std::string seen;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    seen += d.str();
    return mlir::success();
  });
  FunctorShape shape;
  shape.groups = {{0}, {1}};
  EXPECT_TRUE(failed(emitEpilogue(kernel, {kernel.getRoot()->getResult(0)}, shape)));
  EXPECT_NE(seen.find("through pointwise ops"), std::string::npos) << seen;
}

TEST_F(FunctorTest, StridedViewsOfArguments) {
  KernelOp kernel =
      kernelOf(R"(func.func @main(%x: tensor<2x6x8xf16>, %w: tensor<3x7xf16>) -> tensor<2x8x7xf16> {
    %y = gpuc.kernel "matmul" (%a = %x : tensor<2x6x8xf16>, %k = %w : tensor<3x7xf16>) -> tensor<2x8x7xf16> {
      %0 = gpuc.slice %a {starts = array<i64: 0, 5, 0>, steps = array<i64: 1, -2, 1>} : tensor<2x6x8xf16> -> tensor<2x3x8xf16>
      %1 = gpuc.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<2x3x8xf16> -> tensor<2x8x3xf16>
      %2 = gpuc.matmul %1, %k : tensor<2x8x3xf16>, tensor<3x7xf16> -> tensor<2x8x7xf16>
      gpuc.yield %2 : tensor<2x8x7xf16>
    }
    return %y : tensor<2x8x7xf16>
  })");
  ASSERT_TRUE(kernel);
  auto view = analyzeStridedView(kernel.getRoot()->getOperand(0), {48, 8, 1});
  ASSERT_TRUE(view);
  EXPECT_EQ(view->argument.getArgNumber(), 0u);
  EXPECT_EQ(view->offset, 40);
  EXPECT_EQ(view->strides, (llvm::SmallVector<int64_t>{48, 1, -16}));
}

} // namespace
