// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax, layer, RMS and group norm, LRN: what units include.
#pragma once
#include "arch/griddep.cuh"
#include "normalization/column.cuh"
#include "normalization/lrn.cuh"
#include "normalization/row.cuh"
#include "normalization/split.cuh"
