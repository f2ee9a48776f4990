// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of the op kinds and their parsing.
#include "gpuc/Support/OpKinds.h"

namespace gpuc {

#define GPUC_KIND_NAME(Cxx, Ir) #Ir,
#define GPUC_DEFINE_KIND(Enum, LIST)                                                                         \
  static constexpr std::string_view k##Enum##Names[] = {LIST(GPUC_KIND_NAME)};                               \
  std::string_view name(Enum kind) { return k##Enum##Names[uint32_t(kind)]; }                                \
  std::optional<Enum> parse##Enum(std::string_view name) {                                                   \
    for (uint32_t i = 0; i < sizeof(k##Enum##Names) / sizeof(k##Enum##Names[0]); ++i)                        \
      if (k##Enum##Names[i] == name)                                                                         \
        return Enum(i);                                                                                      \
    return std::nullopt;                                                                                     \
  }
GPUC_DEFINE_KIND(UnaryKind, GPUC_UNARY_KINDS)
GPUC_DEFINE_KIND(BinaryKind, GPUC_BINARY_KINDS)
GPUC_DEFINE_KIND(ReduceKind, GPUC_REDUCE_KINDS)
GPUC_DEFINE_KIND(PadMode, GPUC_PAD_MODES)
GPUC_DEFINE_KIND(ScatterReduction, GPUC_SCATTER_REDUCTIONS)
GPUC_DEFINE_KIND(ResizeMode, GPUC_RESIZE_MODES)
GPUC_DEFINE_KIND(CoordinateMode, GPUC_COORDINATE_MODES)
GPUC_DEFINE_KIND(NearestMode, GPUC_NEAREST_MODES)
GPUC_DEFINE_KIND(RoundMode, GPUC_ROUND_MODES)

} // namespace gpuc
