# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit tests: RUN lines in .mlir and .test files under test/, with gpuc's programs and FileCheck on the PATH.
import os

import lit.formats

config.name = "gpuc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "fuzz", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gpuc_build_dir, "test")
path = [os.path.join(config.gpuc_build_dir, "bin"), config.llvm_tools_dir, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
config.substitutions.append(("%python", config.python))
