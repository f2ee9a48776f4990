// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs of core ops, as MLIR text. Shapes are small and odd; values are read several times,
// returned twice, reshaped, sliced, joined and broadcast, so that every rule of fusion, layout and memory
// planning is met sooner or later.
#pragma once
#include <string>

namespace gpuc::test {

/// The module of @main with about `ops` ops; the same for the same seed.
std::string randomProgram(unsigned seed, int ops);

} // namespace gpuc::test
