// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pieces of unit text that families share.
#pragma once
#include "gpuc/Codegen/Family.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace gpuc {

inline std::string boolText(bool b) { return b ? "true" : "false"; }
/// `text` with every line indented.
std::string indentLines(llvm::StringRef text, unsigned spaces);
/// `body` inside an unrolled loop over `lane`; the body alone for one lane.
std::string laneLoopText(unsigned lanes, llvm::StringRef body, unsigned spaces);
/// Block arguments that `values` are computed from without going through `stops`, in order of their number.
llvm::SmallVector<mlir::BlockArgument> reachedArguments(llvm::ArrayRef<mlir::Value> values,
                                                        llvm::ArrayRef<mlir::Value> stops);
/// Entries of a kernel's `config`.
std::string configString(KernelOp kernel, llvm::StringRef key, llvm::StringRef otherwise = "");
int64_t configInt(KernelOp kernel, llvm::StringRef key, int64_t otherwise = 0);
/// Joins non-empty parts with ", ".
std::string joinNonEmpty(llvm::ArrayRef<std::string> parts);

struct EntryText {
  unsigned threads = 128;
  /// Blocks per multiprocessor that registers must suffice for. 0: the compiler's choice, which may spill a
  /// few to fit another block.
  unsigned minBlocks = 0;
  std::string parameters; ///< of the entry
  std::string beforeWait; ///< statements that touch no activation
  std::string body;       ///< statements after griddepWait and griddepLaunch
};
/// The `extern "C"` entry of a unit and its export.
std::string entryText(const EntryText &entry);

} // namespace gpuc
