// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared pieces of unit text.
#include "UnitText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace gpuc {

std::string indentLines(StringRef text, unsigned spaces) {
  std::string s, pad(spaces, ' ');
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, false);
  for (StringRef line : lines)
    s += pad + line.str() + "\n";
  return s;
}

std::string laneLoopText(unsigned lanes, StringRef body, unsigned spaces) {
  if (lanes == 1 || body.empty())
    return indentLines(body, spaces);
  return indentLines("#pragma unroll\nfor (int lane = 0; lane < " + std::to_string(lanes) + "; ++lane) {\n",
                     spaces) +
         indentLines(body, spaces + 2) + indentLines("}\n", spaces);
}

SmallVector<BlockArgument> reachedArguments(ArrayRef<Value> values, ArrayRef<Value> stops) {
  llvm::SmallSetVector<Value, 16> seen;
  SmallVector<Value> work(values.begin(), values.end());
  SmallVector<BlockArgument> arguments;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (llvm::is_contained(stops, v) || !seen.insert(v))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(v))
      arguments.push_back(argument);
    else
      llvm::append_range(work, v.getDefiningOp()->getOperands());
  }
  llvm::sort(arguments, [](BlockArgument a, BlockArgument b) { return a.getArgNumber() < b.getArgNumber(); });
  return arguments;
}

std::string configString(KernelOp kernel, StringRef key, StringRef otherwise) {
  if (auto config = kernel.getConfig())
    if (auto attr = config->getAs<StringAttr>(key))
      return attr.str();
  return otherwise.str();
}

int64_t configInt(KernelOp kernel, StringRef key, int64_t otherwise) {
  if (auto config = kernel.getConfig())
    if (auto attr = config->getAs<IntegerAttr>(key))
      return attr.getInt();
  return otherwise;
}

std::string joinNonEmpty(ArrayRef<std::string> parts) {
  std::string s;
  for (const std::string &p : parts)
    if (!p.empty())
      s += (s.empty() ? "" : ", ") + p;
  return s;
}

std::string entryText(const EntryText &entry) {
  std::string s = "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(entry.threads) +
                  (entry.minBlocks ? ", " + std::to_string(entry.minBlocks) : std::string()) +
                  ")\nGPUC_ENTRY(" + entry.parameters + ") {\n";
  s += indentLines(entry.beforeWait, 2) + "  arch::griddepWait();\n  arch::griddepLaunch();\n" +
       indentLines(entry.body, 2);
  return s + "}\nGPUC_EXPORT(GPUC_ENTRY)\n";
}

} // namespace gpuc
