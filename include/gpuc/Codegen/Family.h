// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel family: chooses a variant for a gpuc.kernel and writes its CUDA C++ unit. One folder of
// codegen/kernels each.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Plan/TensorMap.h"
#include "gpuc/Runtime/Device.h"
#include "gpuc/Target/Target.h"
#include <optional>
#include <string>
#include <vector>

namespace gpuc {

/// What one kernel parameter is bound to. (gpuc::KernelArg is the plan's resolved form of it, Plan/Plan.h.)
struct EmittedArg {
  enum class Kind : uint8_t {
    Operand, ///< buffer of operand `index` of the kernel op
    Result,  ///< buffer of result `index`
    Packed,  ///< output `index` of this kernel's packing kernels (weights rearranged once, at load)
    Scratch, ///< workspace `index` of this kernel op, `bytes` long, alive during all its launches
    I32,
    I64,
    F32,
    F64 ///< an immediate
  };
  Kind kind = Kind::Operand;
  unsigned index = 0;
  int64_t integer = 0;
  double real = 0;
  int64_t bytes = 0;
  /// Not for immediates: the parameter is a tensor map over the buffer, `map->byteOffset` counted from its
  /// start, instead of the buffer's address.
  std::optional<TensorMapLayout> map = std::nullopt;
};

/// A kernel that rearranges a constant operand once, when the plan is loaded.
struct PackingKernel;

/// A generated unit and how to launch it.
struct EmittedKernel {
  /// The text does not open `namespace gpuc` but says `using namespace gpuc;` after its includes (the
  /// simulator compiles several such units at once). It names its entry `GPUC_ENTRY`; the builder replaces
  /// that by a name made from the family and a hash of the text, so equal kernels are one kernel.
  std::string text;
  Dim3 grid, block;
  uint32_t sharedBytes = 0;
  uint32_t cluster = 1;               ///< blocks per cluster along x; divides grid.x
  bool programmaticDependent = true;  ///< the entry calls griddepWait before it touches any activation
  std::vector<EmittedArg> args;       ///< in parameter order
  std::vector<PackingKernel> packing; ///< results in order are the Packed buffers
};

struct PackingKernel {
  /// Args: Operand (a constant of the kernel op), Packed (its own result) and immediates, no tensor maps.
  EmittedKernel kernel;
  int64_t bytes = 0; ///< size of the packed result
  /// Equal keys on the same constant give equal results: packed once.
  std::string key;
};

class KernelFamily {
public:
  virtual ~KernelFamily() = default;
  virtual llvm::StringRef name() const = 0;
  /// Chooses the variant for the target and stores its parameters in the op's `config`. Emits an error when
  /// no variant is legal. Deterministic; needs no GPU.
  virtual mlir::LogicalResult select(KernelOp kernel, const Target &target) const = 0;
  /// Variants about as fast as the kernel's (`config` is set) can yield gpuc.row_moments, a pair for so many
  /// columns, and compute gpuc.row_statistics once per row: normalisations may be folded into it
  /// (docs/adr/0006). 0 when there are none.
  virtual int64_t momentColumns(KernelOp, const Target &) const { return 0; }
  /// Writes the unit. `config` is set. Never changes the IR. Several launches (a split reduction and its
  /// second step) are returned in order.
  virtual mlir::FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &target) const = 0;
  /// Configurations worth measuring (`gpuc tune`): at most `limit`, best first by the cost model, what
  /// `select` chooses among them. Each is complete: `emit` takes it as `config`. Never changes the op.
  /// Deterministic. Empty when there is nothing to choose from.
  virtual std::vector<mlir::DictionaryAttr> candidates(KernelOp, const Target &, unsigned /*limit*/) const {
    return {};
  }
  /// Raised when configurations change their meaning or kernels their speed: results of `gpuc tune` for
  /// another version are not used.
  virtual unsigned tuningVersion() const { return 1; }
};

/// All families, one explicit list (codegen/Families.cpp). Null when there is none of that name.
const KernelFamily *findFamily(llvm::StringRef name);
std::vector<const KernelFamily *> allFamilies();
/// The texts of codegen/kernels/**/*.cuh that units include.
std::vector<SourceFile> kernelHeaders();

} // namespace gpuc
