// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Precision of a whole graph.
#pragma once

namespace gpuc {

/// What f32 tensors of the model are computed in. TF32 keeps f32 storage and rounds operands of products to
/// 10 bits of mantissa; F16 and BF16 store 16 bits and accumulate in f32.
enum class Precision { F32, TF32, F16, BF16 };

} // namespace gpuc
