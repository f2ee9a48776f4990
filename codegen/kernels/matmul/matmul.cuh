// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batched matrix products: what a unit's entry calls. The bodies are in mma_tile.cuh, simt_tile.cuh and
// gemv.cuh; here blocks are mapped to them and the waits of programmatic dependent launch are placed.
#pragma once
#include "arch/griddep.cuh"
#include "matmul/gemv.cuh"
#include "matmul/mma_tile.cuh"
#include "matmul/simt_tile.cuh"

namespace gpuc {

/// Runs one tile of `Tile` (MmaTile or SimtTile): weights are requested before the wait, activations after
/// it.
template <typename Tile, typename SourceA, typename SourceB, typename Output>
GPUC_DEVICE void runTile(typename Tile::Shared &shared, const SourceA &a, const SourceB &b,
                         const Output &output, TileCoord coord) {
  Tile tile(shared, a, b, coord);
  tile.requestConstants();
  arch::griddepWait();
  arch::griddepLaunch();
  tile.requestRest();
  tile.multiply();
  tile.store(output);
}

/// Runs one block of a product with few rows; `block` counts groups of columns, batch slowest.
template <typename Body, typename Config, typename SourceA, typename SourceB, typename Output>
GPUC_DEVICE void runGemv(typename Body::Shared &shared, const SourceA &a, const SourceB &b,
                         const Output &output, i32 z, i32 firstCol) {
  arch::griddepWait();
  arch::griddepLaunch();
  Body::run(shared, a, b, output, z, firstCol);
}

/// Second launch of a split product: one thread per Output::kLanes columns.
template <typename Config, typename Output, typename Acc>
GPUC_DEVICE void runReduceSplits(const Acc *scratch, const Output &output) {
  arch::griddepWait();
  arch::griddepLaunch();
  reduceSplits<Config>(scratch, output, i64(blockIdx.x) * blockDim.x + threadIdx.x);
}

} // namespace gpuc
