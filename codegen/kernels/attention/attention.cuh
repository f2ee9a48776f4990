// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fused attention: what units include.
#pragma once
#include "attention/flash_mma.cuh"
#include "attention/flash_simt.cuh"
