// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured choices of kernel variants, by problem: what `gpuc tune` writes and variant selection reads before
// it asks the cost model. A text file of JSON lines; docs/tuning.md describes them.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Support/Status.h"
#include "gpuc/Target/Target.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace gpuc {

/// What a choice is for.
struct TuningKey {
  std::string arch;    ///< "sm_90a"
  std::string family;  ///< of kernels
  unsigned version;    ///< KernelFamily::tuningVersion
  std::string problem; ///< hash of everything about the kernel op that its speed may depend on
  bool operator<(const TuningKey &o) const {
    return std::tie(arch, family, version, problem) < std::tie(o.arch, o.family, o.version, o.problem);
  }
};

/// One line.
struct TuningEntry {
  std::string about;            ///< the problem, for people
  std::string config;           ///< the kernel's `config` as MLIR prints it; empty when the library does it
  bool library = false;         ///< the product goes to cuBLASLt
  double microseconds = 0;      ///< as measured in its model
  double firstMicroseconds = 0; ///< of what the cost model prefers
  unsigned candidates = 0;      ///< how many were measured
  std::string measured;         ///< device, model, date
};

/// The key of a kernel that is ready for its variant: ops, types, strides, which operands are constant.
TuningKey tuningKey(KernelOp kernel, const Target &target);
/// A short description of the same: family, the op it is about, its types.
std::string describeProblem(KernelOp kernel);

/// A configuration as entries hold it.
std::string toText(mlir::DictionaryAttr config);

class TuningDatabase {
public:
  /// What is shipped with gpuc (codegen/tuning/*.jsonl).
  static const TuningDatabase &shipped();
  /// Errors: NotFound, IoError, InvalidArgument with the line that is wrong.
  static Result<TuningDatabase> load(const std::string &path);
  static Result<TuningDatabase> parse(std::string_view text, const std::string &name);

  const TuningEntry *find(const TuningKey &key) const;
  void set(const TuningKey &key, TuningEntry entry) { entries[key] = std::move(entry); }
  size_t size() const { return entries.size(); }
  /// The file's text: one line per entry, in the order of keys.
  std::string text() const;

private:
  std::map<TuningKey, TuningEntry> entries;
};

/// Where variant selection looks, in this order.
struct TuningSources {
  std::vector<const TuningDatabase *> databases;
  bool strict = false; ///< a kernel with a choice that no database has is an error
  const TuningEntry *find(const TuningKey &key) const;
};

} // namespace gpuc
