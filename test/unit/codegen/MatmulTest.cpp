// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matmul family: types, edges, operand orders, batches, split sums, few rows, fused epilogues.
#include "kernels/matmul/Matmul.h"
#include "KernelTest.h"
#include "kernels/matmul/Tiles.h"
#include <cmath>
#include <set>

using namespace gpuc;

namespace {

using Extents = std::vector<int64_t>;

std::string tensor(const Extents &shape, const std::string &type) {
  std::string s = "tensor<";
  for (int64_t d : shape)
    s += std::to_string(d) + "x";
  return s + type + ">";
}

/// One matmul kernel in MLIR text.
struct Product {
  Extents x = {}, y = {}, z = {};                           ///< of the matmul, after the optional transposes
  std::string type = "f32", attributes = "", epilogue = ""; ///< the epilogue reads %z, %c and defines %r
  std::string resultType = "";
  Extents third = {};  ///< shape of %c; empty: there is none
  Extents result = {}; ///< empty: z
  bool transposeX = false, transposeY = false, constantY = false;
  std::string storage = "";

  static Extents swapped(Extents e) {
    std::swap(e[e.size() - 1], e[e.size() - 2]);
    return e;
  }
  std::string view(const std::string &from, const std::string &to, const Extents &shape) const {
    std::string perm;
    for (size_t i = 0; i < shape.size(); ++i) {
      size_t axis = i + 2 < shape.size() ? i : i + 1 == shape.size() ? shape.size() - 2 : shape.size() - 1;
      perm += (i ? ", " : "") + std::to_string(axis);
    }
    return "  " + to + " = gpuc.transpose " + from + " {perm = array<i64: " + perm +
           ">} : " + tensor(swapped(shape), type) + " -> " + tensor(shape, type) + "\n";
  }
  std::string text() const {
    Extents bufferX = transposeX ? swapped(x) : x, bufferY = transposeY ? swapped(y) : y;
    Extents out = result.empty() ? z : result;
    std::string outType = tensor(out, resultType.empty() ? type : resultType);
    std::string arguments = "%x: " + tensor(bufferX, type);
    std::string operands = "%a = %x : " + tensor(bufferX, type) + ", %b = %y : " + tensor(bufferY, type);
    std::string constant;
    if (constantY)
      constant = "  %y = gpuc.constant dense<0.25> : " + tensor(bufferY, type) + "\n";
    else
      arguments += ", %y: " + tensor(bufferY, type);
    if (!third.empty()) {
      arguments += ", %t: " + tensor(third, type);
      operands += ", %c = %t : " + tensor(third, type);
    }
    std::string body;
    if (transposeX)
      body += view("%a", "%xx", x);
    if (transposeY)
      body += view("%b", "%yy", y);
    body += std::string("  %z = gpuc.matmul ") + (transposeX ? "%xx" : "%a") + ", " +
            (transposeY ? "%yy" : "%b") + " " + attributes + " : " + tensor(x, type) + ", " +
            tensor(y, type) + " -> " + tensor(z, type) + "\n";
    body += epilogue;
    std::string yielded = epilogue.empty() ? "%z" : "%r";
    return "func.func @main(" + arguments + ") -> " + outType + " {\n" + constant +
           "  %o = gpuc.kernel \"matmul\" (" + operands + ") -> " + outType +
           (storage.empty() ? "" : " attributes {storage = [" + storage + "]}") + " {\n" + body +
           "  gpuc.yield " + yielded + " : " + outType + "\n  }\n  return %o : " + outType + "\n}\n";
  }
};

/// Sums of `depth` products of values up to 2.
KernelTolerance tolerance(const std::string &type, int64_t depth, bool tf32 = false) {
  double size = 2 * std::sqrt(double(depth) + 1);
  if (type == "f16")
    return {4e-3, 2e-3 * size};
  if (type == "bf16")
    return {2e-2, 1e-2 * size};
  if (type == "f32")
    return tf32 ? KernelTolerance{2e-3, 2e-3 * size} : KernelTolerance{1e-5, 2e-6 * size};
  if (type == "f64")
    return {1e-12, 1e-13 * size};
  return KernelTolerance::exact();
}

class MatmulTest : public KernelTest {
protected:
  void run(const Product &p) {
    SCOPED_TRACE(p.text());
    check(p.text(), tolerance(p.type, p.x.back(), p.attributes.find("tf32") != std::string::npos));
  }
  /// The variant that is chosen.
  std::string variantOf(const Product &p) {
    auto emitted = emitAll(p.text());
    return emitted.empty() ? "" : emitted.front().text.substr(0, emitted.front().text.find('\n'));
  }
};

const char *const kTypes[] = {"f16", "bf16", "f32", "f64",  "i8",  "ui8",
                              "i16", "ui16", "i32", "ui32", "i64", "ui64"};

TEST_F(MatmulTest, MultipliesEveryTypeAtPrimeExtents) {
  for (const char *type : kTypes)
    run({{19, 23}, {23, 17}, {19, 17}, type});
}
TEST_F(MatmulTest, MultipliesEveryTypeAtRoundExtents) {
  for (const char *type : kTypes)
    run({{16, 32}, {32, 48}, {16, 48}, type});
}
TEST_F(MatmulTest, RoundsToTf32WhenAllowed) {
  run({{37, 41}, {41, 29}, {37, 29}, "f32", "{tf32}"});
  run({{64, 64}, {64, 64}, {64, 64}, "f32", "{tf32}"});
}
TEST_F(MatmulTest, ReadsBothOperandsInBothOrders) {
  for (const char *type : {"f16", "f32"})
    for (const char *attributes : {"", "{tf32}"})
      for (int order = 0; order < 4; ++order)
        for (int64_t extent : {24, 21, 18}) {
          if (std::string(type) == "f16" && *attributes)
            continue;
          Product p{{extent + 8, extent}, {extent, extent + 16}, {extent + 8, extent + 16}, type, attributes};
          p.transposeX = order & 1;
          p.transposeY = order & 2;
          run(p);
        }
}
TEST_F(MatmulTest, HandlesExtentsOfOneAndZero) {
  for (const char *type : {"f16", "f32", "i32"}) {
    run({{1, 1}, {1, 1}, {1, 1}, type});
    run({{17, 1}, {1, 13}, {17, 13}, type});
    run({{1, 300}, {300, 40}, {1, 40}, type});
    run({{40, 300}, {300, 1}, {40, 1}, type});
    run({{5, 0}, {0, 7}, {5, 7}, type}); // K = 0: zeros
  }
}
TEST_F(MatmulTest, EmptyResultsNeedNoLaunch) {
  EXPECT_TRUE(emitAll(Product{{0, 5}, {5, 7}, {0, 7}, "f32"}.text()).empty());
}
TEST_F(MatmulTest, BroadcastsBatchAxes) {
  run({{3, 4, 9, 16}, {4, 16, 8}, {3, 4, 9, 8}, "f16"});
  run({{3, 1, 9, 11}, {1, 5, 11, 6}, {3, 5, 9, 6}, "f32"});
  run({{2, 1, 1, 11}, {3, 11, 6}, {2, 3, 1, 6}, "f64"});
}
TEST_F(MatmulTest, FoldsBatchAxesIntoRows) {
  Product p{{3, 5, 4, 16}, {16, 24}, {3, 5, 4, 24}, "f16"};
  run(p);
  EXPECT_NE(units().find("kM = 60"), std::string::npos);
}
TEST_F(MatmulTest, FusesBiasAndGelu) {
  std::string epilogue =
      "  %s = gpuc.binary add %z, %c : tensor<24x40xf16>, tensor<40xf16> -> tensor<24x40xf16>\n"
      "  %r = gpuc.unary gelu %s : tensor<24x40xf16> -> tensor<24x40xf16>\n";
  Product p{{24, 32}, {32, 40}, {24, 40}, "f16", "", epilogue};
  p.third = {40};
  run(p);
}
TEST_F(MatmulTest, FusesResidualAndCast) {
  Product residual{
      {24, 33},
      {33, 42},
      {24, 42},
      "f16",
      "",
      "  %r = gpuc.binary add %z, %c : tensor<24x42xf16>, tensor<24x42xf16> -> tensor<24x42xf16>\n"};
  residual.third = {24, 42};
  run(residual);
  Product cast{{24, 33}, {33, 42}, {24, 42},
               "f16",    "",       "  %r = gpuc.cast %z : tensor<24x42xf16> -> tensor<24x42xf32>\n"};
  cast.resultType = "f32";
  run(cast);
}
TEST_F(MatmulTest, WritesColumnMajorResults) {
  Product stored{{24, 16}, {16, 40}, {24, 40}, "f16"};
  stored.storage = "[1, 24]";
  run(stored);
  Product transposed{
      {24, 16},
      {16, 40},
      {24, 40},
      "f32",
      "",
      "  %r = gpuc.transpose %z {perm = array<i64: 1, 0>} : tensor<24x40xf32> -> tensor<40x24xf32>\n"};
  transposed.result = {40, 24};
  run(transposed);
}
TEST_F(MatmulTest, SplitsLongSums) {
  for (const char *type : {"f16", "f32", "i32"}) {
    Product p{{24, 2500}, {2500, 40}, {24, 40}, type};
    run(p);
    EXPECT_NE(units().find("runReduceSplits"), std::string::npos) << type;
  }
}
TEST_F(MatmulTest, ReadsFewRowsWithoutTiles) {
  for (const char *type : {"f16", "f32", "i8"})
    for (bool transpose : {false, true}) {
      Product p{{3, 520}, {520, 40}, {3, 40}, type};
      p.transposeY = transpose;
      run(p);
      EXPECT_NE(units().find("runGemv"), std::string::npos) << type;
      Product odd{{8, 521}, {521, 37}, {8, 37}, type};
      odd.transposeY = transpose;
      run(odd);
    }
}
TEST_F(MatmulTest, RequestsConstantsBeforeTheWait) {
  Product p{{33, 64}, {64, 32}, {33, 32}, "f16"};
  p.constantY = true;
  run(p);
  EXPECT_NE(units().find("kConstant = true"), std::string::npos);
}
TEST_F(MatmulTest, TileVariantsFitABlock) {
  for (const TileVariant &v : tileVariants()) {
    SCOPED_TRACE(v.name.str());
    EXPECT_LE(v.sharedBytes(v.math == TileMath::Mma16 ? 2 : 4), 227 * 1024);
    EXPECT_EQ(v.threads() % 32, 0);
    EXPECT_LE(v.threads(), 1024);
  }
}
TEST_F(MatmulTest, SelectionFitsTheTarget) {
  for (const Target &t : allTargets())
    for (int64_t extent : {16, 64, 512, 4096}) {
      TileProblem p;
      p.dtype = DType::F16;
      p.math = TileMath::Mma16;
      p.rows = p.cols = p.depth = extent;
      auto choices = rankTiles(p, t, 1);
      ASSERT_FALSE(choices.empty());
      EXPECT_LE(choices.front().variant->sharedBytes(2), t.maxSharedPerBlock);
    }
}
/// Weights that come from DRAM: what blocks have requested must cover the way, or bandwidth is left unused.
TEST_F(MatmulTest, DeepProductsKeepEnoughOnTheWay) {
  for (const Target &t : allTargets())
    for (int64_t rows : {16, 64, 128}) {
      SCOPED_TRACE(std::string(t.product) + ", " + std::to_string(rows) + " rows");
      TileProblem p;
      p.dtype = DType::F16;
      p.math = TileMath::Mma16;
      p.rows = rows, p.cols = 1000, p.depth = 802816;
      p.bytes = 2.0 * double(p.cols) * double(p.depth);
      TileChoice choice = rankTiles(p, t, 1).front();
      const TileVariant &v = *choice.variant;
      double blocks = double(tileCount(v, p) * choice.splits);
      double onTheWay = blocks * (v.stages - 1) * double(v.blockM + v.blockN) * v.blockK * 2;
      EXPECT_GE(onTheWay, t.memoryGBps * 1.1e3) << v.name.str() << ", " << choice.splits << " slices";
    }
}
/// Several vectors of great depth are read again by every block of a matrix-vector kernel.
TEST_F(MatmulTest, DeepProductsOfSeveralVectorsTakeTiles) {
  auto variantFor = [&](int64_t rows, int64_t depth) {
    Product p{{rows, depth}, {depth, 1000}, {rows, 1000}, "f16"};
    p.transposeY = true;
    return variantOf(p);
  };
  EXPECT_NE(variantFor(1, 802816).find("gemv_depth"), std::string::npos);
  EXPECT_NE(variantFor(8, 1024).find("gemv_depth"), std::string::npos);
  EXPECT_NE(variantFor(8, 802816).find("mma_"), std::string::npos);
}
TEST_F(MatmulTest, RefusesOperandsThatAreNoViews) {
  checkRefused(
      "func.func @main(%x: tensor<4x3xf32>, %y: tensor<5x7xf32>) -> tensor<4x7xf32> {\n"
      "  %o = gpuc.kernel \"matmul\" (%a = %x : tensor<4x3xf32>, %b = %y : tensor<5x7xf32>) -> "
      "tensor<4x7xf32> {\n"
      "  %c = gpuc.concat %a, %a {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>\n"
      "  %s = gpuc.slice %c {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<4x6xf32> -> "
      "tensor<4x5xf32>\n"
      "  %z = gpuc.matmul %s, %b : tensor<4x5xf32>, tensor<5x7xf32> -> tensor<4x7xf32>\n"
      "  gpuc.yield %z : tensor<4x7xf32>\n  }\n  return %o : tensor<4x7xf32>\n}\n",
      "no strided view");
}
TEST_F(MatmulTest, DescribesLibraryProducts) {
  auto find = [&](const Product &p) {
    auto module = parse(p.text());
    std::optional<LibraryMatmul> library;
    module->walk([&](KernelOp kernel) { library = libraryMatmul(kernel); });
    return library;
  };
  Product p{{24, 32},
            {32, 40},
            {24, 40},
            "f16",
            "",
            "  %s = gpuc.binary add %z, %c : tensor<24x40xf16>, tensor<40xf16> -> tensor<24x40xf16>\n"
            "  %r = gpuc.unary relu %s : tensor<24x40xf16> -> tensor<24x40xf16>\n"};
  p.third = {40};
  p.transposeY = true;
  auto library = find(p);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->problem.epilogue, MatmulEpilogue::BiasRelu);
  EXPECT_TRUE(library->problem.transposeB);
  EXPECT_EQ(library->problem.ldb, 32);
  EXPECT_EQ(library->bias, 2u);
  Product gelu{{24, 32}, {32, 40}, {24, 40},
               "f16",    "",       "  %r = gpuc.unary gelu %z : tensor<24x40xf16> -> tensor<24x40xf16>\n"};
  EXPECT_FALSE(find(gelu));
}
/// f16_accumulate: only where tensor cores are faster with f16 sums, and only for f16.
TEST_F(MatmulTest, SumsStepsInF16WhereThatIsFaster) {
  Product p{{130, 200}, {200, 72}, {130, 72}, "f16", "{f16_accumulate}"};
  for (auto [product, isFaster] :
       {std::pair("rtx4090", true), {"rtx3080", true}, {"rtx5090", true}, {"a100", false}, {"h200", false}}) {
    SCOPED_TRACE(product);
    setTarget(product);
    run(p);
    EXPECT_EQ(units().find("MmaF16F16") != std::string::npos, isFaster);
  }
  setTarget("rtx4090");
  Product bfloat = p;
  bfloat.type = "bf16";
  run(bfloat);
  EXPECT_EQ(units().find("MmaF16F16"), std::string::npos);
  p.attributes = "";
  run(p);
  EXPECT_EQ(units().find("MmaF16F16"), std::string::npos);
}
/// Every tile that selection may take has registers for the sums of a step beside the others.
TEST_F(MatmulTest, TilesThatSumStepsInF16CompileWithoutSpills) {
  const Target &t = **parseTargets("rtx4090")->begin();
  TileProblem problem;
  problem.dtype = DType::F16;
  problem.math = TileMath::Mma16;
  problem.rows = problem.cols = problem.depth = 512;
  problem.f16Accumulate = true;
  std::set<std::string> names;
  for (const TileChoice &choice : rankTiles(problem, t, 1000))
    names.insert(choice.variant->name.str());
  EXPECT_GT(names.size(), 8u);
  for (const std::string &name : names) {
    SCOPED_TRACE(name);
    std::string text = Product{{512, 512}, {512, 512}, {512, 512}, "f16", "{f16_accumulate}"}.text();
    size_t body = text.find(" {\n", text.find("gpuc.kernel"));
    text.insert(body, " attributes {config = {variant = \"" + name + "\", splits = 1 : i64}}");
    checkCompiles(text, "rtx3080,rtx4090,rtx5090");
  }
}
TEST_F(MatmulTest, CompilesForEveryArchitecture) {
  checkCompiles(Product{{512, 512}, {512, 512}, {512, 512}, "f16"}.text());
  checkCompiles(Product{{130, 77}, {77, 67}, {130, 67}, "bf16"}.text());
  checkCompiles(Product{{256, 256}, {256, 256}, {256, 256}, "f32", "{tf32}"}.text());
  checkCompiles(Product{{256, 256}, {256, 256}, {256, 256}, "f32"}.text());
}

} // namespace
