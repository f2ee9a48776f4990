// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of the command line: read from .npy and .pb files, made at random, described.
#pragma once
#include "gpuc/Plan/Plan.h"
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include <map>
#include <string>
#include <vector>

namespace gpuc::cli {

/// Reads "name:file" items. Errors name `flag` and the file.
Result<std::map<std::string, HostTensor>> readTensors(const std::vector<std::string> &items,
                                                      const std::string &flag);
/// Floats N(0, 1), integers 0…9, booleans 0 or 1; the same for the same seed, name and position.
HostTensor randomTensor(const PlanTensor &tensor, uint64_t seed);
/// The tensors for a signature: the given ones (checked), random ones for the rest.
Result<std::vector<HostTensor>> completeInputs(const std::vector<PlanTensor> &inputs,
                                               const std::map<std::string, HostTensor> &given, uint64_t seed);
/// "f32[1x1000] min -3.1 max 8.2 mean 0.002 std 1.1", with counts of NaN and inf when there are any.
std::string describe(const HostTensor &tensor);
/// The five largest of a vector of scores, as lines "  0.7310  #281"; empty when the tensor does not look
/// like scores (a float tensor with 5 to 100,000 elements in its last axis and extent 1 elsewhere).
std::vector<std::string> topFive(const HostTensor &tensor);

} // namespace gpuc::cli
