// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of pointwise, movement, indexing, reducing and normalising ops.
#include "gpuc/IR/ShapeRules.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

namespace gpuc::shapes {

std::string text(Extents extents) {
  std::string result = "[";
  for (size_t i = 0; i < extents.size(); ++i)
    result += (i ? ", " : "") + std::to_string(extents[i]);
  return result + "]";
}

static Status error(llvm::StringRef label, const llvm::Twine &message) {
  return invalidArgument((label + ": " + message).str());
}

static Shape copy(Extents extents) { return Shape(extents.begin(), extents.end()); }

Result<Shape> broadcastShape(llvm::StringRef label, llvm::ArrayRef<Extents> shapes) {
  size_t rank = 0;
  for (Extents s : shapes)
    rank = std::max(rank, s.size());
  Shape result(rank, 1);
  for (Extents s : shapes) {
    size_t lead = rank - s.size();
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t &extent = result[lead + i];
      if (s[i] == extent || s[i] == 1)
        continue;
      if (extent != 1) {
        std::string all;
        for (Extents t : shapes)
          all += (all.empty() ? "" : " and ") + text(t);
        return error(label, "shapes do not broadcast: " + all + " differ at axis " + llvm::Twine(lead + i) +
                                " (" + llvm::Twine(extent) + " against " + llvm::Twine(s[i]) + ")");
      }
      extent = s[i];
    }
  }
  return result;
}

Status checkBroadcastTo(llvm::StringRef label, llvm::StringRef what, Extents from, Extents to) {
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i)
    fits = from[i] == 1 || from[i] == to[to.size() - from.size() + i];
  if (fits)
    return {};
  return error(label, what + " of shape " + text(from) + " does not broadcast to " + text(to));
}

Status checkAxis(llvm::StringRef label, int64_t axis, size_t rank) {
  if (axis >= 0 && axis < int64_t(rank))
    return {};
  return error(label, "axis is out of range: expected 0 <= axis < " + llvm::Twine(rank) + ", got " +
                          llvm::Twine(axis));
}

//===--- Movement
//-------------------------------------------------------------------------------------------------===//

Result<Shape> transposeShape(Extents x, Extents perm) {
  llvm::SmallVector<bool> seen(x.size(), false);
  bool valid = perm.size() == x.size();
  for (size_t i = 0; valid && i < perm.size(); ++i) {
    valid = perm[i] >= 0 && perm[i] < int64_t(x.size()) && !seen[perm[i]];
    if (valid)
      seen[perm[i]] = true;
  }
  if (!valid)
    return error("transpose_c1", "perm is no permutation of the axes: expected rank " +
                                     llvm::Twine(x.size()) + ", got " + text(perm));
  Shape result;
  for (int64_t axis : perm)
    result.push_back(x[axis]);
  return result;
}

Status checkReshape(Extents x, Extents y) {
  auto from = checkedProduct(x), to = checkedProduct(y);
  if (from && to && *from == *to)
    return {};
  return error("reshape_c1", "element counts differ: " + text(x) + " has " +
                                 (from ? std::to_string(*from) : "too many") + ", " + text(y) + " has " +
                                 (to ? std::to_string(*to) : "too many"));
}

Status checkSlice(Extents x, Extents starts, Extents steps, Extents y) {
  if (starts.size() != x.size() || steps.size() != x.size() || y.size() != x.size())
    return error("slice_c1", "expected one start, step and result extent per axis of rank " +
                                 llvm::Twine(x.size()) + ", got " + llvm::Twine(starts.size()) + ", " +
                                 llvm::Twine(steps.size()) + " and " + llvm::Twine(y.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (steps[i] == 0)
      return error("slice_c1", "step of axis " + llvm::Twine(i) + " is zero");
    if (y[i] == 0)
      continue;
    auto distance = checkedMul(y[i] - 1, steps[i]);
    auto last = distance ? checkedAdd(starts[i], *distance) : std::nullopt;
    auto inside = [&](int64_t at) { return at >= 0 && at < x[i]; };
    if (!last || !inside(starts[i]) || !inside(*last))
      return error("slice_c2", "axis " + llvm::Twine(i) + " of extent " + llvm::Twine(x[i]) +
                                   " is left: start " + llvm::Twine(starts[i]) + ", step " +
                                   llvm::Twine(steps[i]) + ", " + llvm::Twine(y[i]) + " elements");
  }
  return {};
}

Result<Shape> concatShape(llvm::ArrayRef<Extents> inputs, int64_t axis) {
  if (inputs.empty())
    return error("concat_c1", "expected at least one operand, got none");
  size_t rank = inputs[0].size();
  GPUC_RETURN_IF_ERROR(checkAxis("concat_c1", axis, rank));
  Shape result = copy(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) {
    bool equal = inputs[i].size() == rank;
    for (size_t d = 0; equal && d < rank; ++d)
      equal = int64_t(d) == axis || inputs[i][d] == result[d];
    if (!equal)
      return error("concat_c1", "shapes differ outside axis " + llvm::Twine(axis) + ": operand 0 has " +
                                    text(inputs[0]) + ", operand " + llvm::Twine(i) + " has " +
                                    text(inputs[i]));
    auto sum = checkedAdd(result[axis], inputs[i][axis]);
    if (!sum)
      return error("concat_c1", "the extent along axis " + llvm::Twine(axis) + " does not fit in 64 bits");
    result[axis] = *sum;
  }
  return result;
}

Result<Shape> padShape(Extents x, Extents low, Extents high, PadMode mode) {
  if (low.size() != x.size() || high.size() != x.size())
    return error("pad_c1", "expected one low and one high pad per axis of rank " + llvm::Twine(x.size()) +
                               ", got " + llvm::Twine(low.size()) + " and " + llvm::Twine(high.size()));
  Shape result;
  for (size_t i = 0; i < x.size(); ++i) {
    auto axis = [&](const llvm::Twine &message) {
      return (message + ": axis " + llvm::Twine(i) + " of extent " + llvm::Twine(x[i]) + " with pads " +
              llvm::Twine(low[i]) + " and " + llvm::Twine(high[i]))
          .str();
    };
    auto half = checkedAdd(low[i], x[i]);
    auto extent = half ? checkedAdd(*half, high[i]) : std::nullopt;
    if (!extent)
      return error("pad_c1", axis("the extent does not fit in 64 bits"));
    if (*extent < 0)
      return error("pad_c1", axis("the extent becomes negative"));
    // Elements cropped on one side can not be cropped again on the other: each side must stay within the
    // axis.
    if (low[i] < -x[i] || high[i] < -x[i])
      return error("pad_c1", axis("more is cropped than there is"));
    if (mode != PadMode::Constant) {
      if (low[i] < 0 || high[i] < 0)
        return error("pad_c2", axis("only constant mode may crop"));
      if (mode == PadMode::Reflect &&
          (low[i] >= std::max<int64_t>(x[i], 1) || high[i] >= std::max<int64_t>(x[i], 1)))
        return error("pad_c2", axis("reflect pads must be smaller than the extent"));
      if (x[i] == 0 && *extent != 0)
        return error("pad_c2", axis("an empty axis has no cells to copy"));
    }
    result.push_back(*extent);
  }
  return result;
}

Result<Shape> tileShape(Extents x, Extents repeats) {
  if (repeats.size() != x.size())
    return error("tile_c1", "expected one repeat per axis of rank " + llvm::Twine(x.size()) + ", got " +
                                llvm::Twine(repeats.size()));
  Shape result;
  for (size_t i = 0; i < x.size(); ++i) {
    if (repeats[i] < 0)
      return error("tile_c1",
                   "repeat of axis " + llvm::Twine(i) + " is negative: " + llvm::Twine(repeats[i]));
    auto extent = checkedMul(x[i], repeats[i]);
    if (!extent)
      return error("tile_c1", "the extent of axis " + llvm::Twine(i) + " does not fit in 64 bits");
    result.push_back(*extent);
  }
  return result;
}

Status checkResize(Extents x, Extents y, llvm::ArrayRef<double> scales, llvm::ArrayRef<double> roi) {
  if (y.size() != x.size() || scales.size() != x.size())
    return error("resize_c1", "expected one scale and one result extent per axis of rank " +
                                  llvm::Twine(x.size()) + ", got " + llvm::Twine(scales.size()) + " and " +
                                  llvm::Twine(y.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(scales[i] > 0) || !std::isfinite(scales[i]))
      return error("resize_c1", "scale of axis " + llvm::Twine(i) +
                                    " is not positive and finite: " + std::to_string(scales[i]));
    if (x[i] == 0 && y[i] != 0)
      return error("resize_c1",
                   "axis " + llvm::Twine(i) + " is empty and can not become " + llvm::Twine(y[i]));
  }
  if (!roi.empty() && roi.size() != 2 * x.size())
    return error("resize_c2", "expected a roi of 0 or " + llvm::Twine(2 * x.size()) + " numbers, got " +
                                  llvm::Twine(roi.size()));
  return {};
}

//===--- Indexing
//-------------------------------------------------------------------------------------------------===//

static bool isEmpty(Extents shape) { return llvm::is_contained(shape, 0); }

Result<Shape> gatherShape(Extents data, Extents indices, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkAxis("gather_c1", axis, data.size()));
  if (data[axis] == 0 && !isEmpty(indices))
    return error("gather_c1", "axis " + llvm::Twine(axis) + " is empty, there is nothing to take");
  Shape result = copy(data.take_front(axis));
  result.insert(result.end(), indices.begin(), indices.end());
  Extents rest = data.drop_front(axis + 1);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

Result<Shape> gatherElementsShape(Extents data, Extents indices, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkAxis("gather_elements_c1", axis, data.size()));
  bool fits = indices.size() == data.size();
  for (size_t i = 0; fits && i < data.size(); ++i)
    fits = int64_t(i) == axis || indices[i] <= data[i];
  if (!fits)
    return error("gather_elements_c1", "indices of shape " + text(indices) + " exceed data of shape " +
                                           text(data) + " outside axis " + llvm::Twine(axis));
  if (data[axis] == 0 && !isEmpty(indices))
    return error("gather_elements_c1", "axis " + llvm::Twine(axis) + " is empty, there is nothing to take");
  return copy(indices);
}

Result<Shape> gatherNdShape(Extents data, Extents indices, int64_t batchDims) {
  if (indices.empty())
    return error("gather_nd_c2", "indices must have an axis of index vectors, got a scalar");
  if (batchDims < 0 || batchDims >= int64_t(indices.size()) || batchDims > int64_t(data.size()))
    return error("gather_nd_c1", "batchDims is out of range: expected at most " +
                                     llvm::Twine(std::min(indices.size() - 1, data.size())) + ", got " +
                                     llvm::Twine(batchDims));
  for (int64_t i = 0; i < batchDims; ++i)
    if (data[i] != indices[i])
      return error("gather_nd_c1", "batch extents differ at axis " + llvm::Twine(i) + ": data has " +
                                       llvm::Twine(data[i]) + ", indices has " + llvm::Twine(indices[i]));
  int64_t vector = indices.back(), left = int64_t(data.size()) - batchDims;
  if (vector > left)
    return error("gather_nd_c2", "the index vector is longer than the axes left: expected at most " +
                                     llvm::Twine(left) + ", got " + llvm::Twine(vector));
  if (isEmpty(data.slice(batchDims, vector)) && !isEmpty(indices.drop_back()))
    return error("gather_nd_c2", "an indexed axis of data of shape " + text(data) + " is empty");
  Shape result = copy(indices.drop_back());
  Extents rest = data.drop_front(batchDims + vector);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

Status checkScatterNd(Extents data, Extents indices, Extents updates) {
  if (indices.empty())
    return error("scatter_nd_c1", "indices must have an axis of index vectors, got a scalar");
  if (indices.back() > int64_t(data.size()))
    return error("scatter_nd_c1", "the index vector is longer than data's rank: expected at most " +
                                      llvm::Twine(data.size()) + ", got " + llvm::Twine(indices.back()));
  Shape expected = copy(indices.drop_back());
  Extents rest = data.drop_front(indices.back());
  expected.insert(expected.end(), rest.begin(), rest.end());
  if (Extents(expected) != updates)
    return error("scatter_nd_c1",
                 "updates have the wrong shape: expected " + text(expected) + ", got " + text(updates));
  return {};
}

Status checkScatterElements(Extents data, Extents indices, Extents updates, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkAxis("scatter_elements_c1", axis, data.size()));
  if (indices != updates)
    return error("scatter_elements_c1",
                 "indices and updates differ in shape: " + text(indices) + " and " + text(updates));
  if (indices.size() != data.size())
    return error("scatter_elements_c1", "indices have the wrong rank: expected " + llvm::Twine(data.size()) +
                                            ", got " + llvm::Twine(indices.size()));
  for (size_t i = 0; i < data.size(); ++i)
    if (int64_t(i) != axis && indices[i] > data[i])
      return error("scatter_elements_c1", "indices of shape " + text(indices) + " exceed data of shape " +
                                              text(data) + " outside axis " + llvm::Twine(axis));
  return {};
}

//===--- Reductions
//-----------------------------------------------------------------------------------------------===//

Result<Shape> reduceShape(Extents x, Extents axes, bool keepdims) {
  bool valid = true;
  for (size_t i = 0; valid && i < axes.size(); ++i)
    valid = axes[i] >= 0 && axes[i] < int64_t(x.size()) && (i == 0 || axes[i - 1] < axes[i]);
  if (!valid)
    return error("reduce_c1",
                 "axes are not sorted, distinct and below " + llvm::Twine(x.size()) + ": got " + text(axes));
  Shape result;
  for (size_t i = 0; i < x.size(); ++i) {
    bool reduced = llvm::is_contained(axes, int64_t(i));
    if (!reduced || keepdims)
      result.push_back(reduced ? 1 : x[i]);
  }
  return result;
}

Result<Shape> argReduceShape(Extents x, int64_t axis, bool keepdims) {
  GPUC_RETURN_IF_ERROR(checkAxis("arg_reduce_c1", axis, x.size()));
  if (x[axis] == 0)
    return error("arg_reduce_c1", "axis " + llvm::Twine(axis) + " is empty");
  Shape result = copy(x);
  if (keepdims)
    result[axis] = 1;
  else
    result.erase(result.begin() + axis);
  return result;
}

Result<Shape> topkShape(Extents x, int64_t k, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkAxis("topk_c1", axis, x.size()));
  if (k < 0 || k > x[axis])
    return error("topk_c2",
                 "k is out of range: expected 0 <= k <= " + llvm::Twine(x[axis]) + ", got " + llvm::Twine(k));
  Shape result = copy(x);
  result[axis] = k;
  return result;
}

//===--- Normalisation
//--------------------------------------------------------------------------------------------===//

Status checkGroupNorm(Extents x, int64_t groups, const Extents *scale, const Extents *bias) {
  if (x.size() < 2)
    return error("group_norm_c1", "expected rank at least 2, got " + llvm::Twine(x.size()));
  if (groups < 1 || x[1] % groups != 0)
    return error("group_norm_c1", "groups must be positive and divide the " + llvm::Twine(x[1]) +
                                      " channels, got " + llvm::Twine(groups));
  for (auto [what, shape] : {std::pair("scale", scale), std::pair("bias", bias)})
    if (shape && *shape != x.slice(1, 1))
      return error("group_norm_c2", llvm::StringRef(what) + " has the wrong shape: expected " +
                                        text(x.slice(1, 1)) + ", got " + text(*shape));
  return {};
}

} // namespace gpuc::shapes
