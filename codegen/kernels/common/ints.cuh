// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer aliases of known width. No standard header: units must compile under NVRTC alone.
#pragma once

namespace gpuc {
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
static_assert(sizeof(i16) == 2 && sizeof(i32) == 4 && sizeof(i64) == 8, "unexpected integer widths");
} // namespace gpuc
