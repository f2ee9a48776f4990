// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fusion may put into a kernel of each family. One row per family; FormKernels reads it and nothing else
// about families.
#pragma once
#include <string_view>

namespace gpuc {

struct FamilyTraits {
  std::string_view family; ///< folder name in codegen/kernels
  std::string_view root;   ///< mnemonic of the root op, "gpuc.matmul"
  /// The root's first operand may be computed in the kernel from any pointwise and movement ops. Otherwise
  /// operands are strided views of buffers.
  bool prologue;
  /// Pointwise ops on the root's result may follow in the kernel.
  bool epilogue;
};

inline constexpr FamilyTraits kFamilyTraits[] = {
    {"matmul", "gpuc.matmul", false, true},
    {"attention", "gpuc.attention", false, true},
    {"convolution", "gpuc.conv", false, true},
    {"convolution", "gpuc.conv_transpose", false, true},
    {"reduction", "gpuc.reduce", true, true},
    {"reduction", "gpuc.arg_reduce", true, true},
    {"normalization", "gpuc.softmax", true, true},
    {"normalization", "gpuc.layer_norm", true, true},
    {"normalization", "gpuc.rms_norm", true, true},
    {"normalization", "gpuc.group_norm", true, true},
    {"normalization", "gpuc.lrn", false, true},
    {"pooling", "gpuc.max_pool", false, true},
    {"pooling", "gpuc.avg_pool", false, true},
    {"squeeze_excite", "gpuc.squeeze_excite", false, true},
    {"scan", "gpuc.cumsum", true, true},
    {"sort", "gpuc.topk", true, false},
    {"scatter", "gpuc.scatter_nd", false, false},
    {"scatter", "gpuc.scatter_elements", false, false},
};

/// Null for ops that are no roots.
inline const FamilyTraits *findFamilyTraits(std::string_view rootName) {
  for (const FamilyTraits &t : kFamilyTraits)
    if (t.root == rootName)
      return &t;
  return nullptr;
}

} // namespace gpuc
