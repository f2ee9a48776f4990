# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit tests: RUN lines in .mlir and .test files under test/, with gpuc's programs and FileCheck on the PATH.
import os

import lit.formats

config.name = "gpuc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "fuzz", "lib", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.gpuc_build_dir, "test")
path = [os.path.join(config.gpuc_build_dir, "bin"), config.llvm_tools_dir, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
# Compiled kernels of the tests stay inside the build folder.
config.environment["GPUC_CACHE_DIR"] = os.path.join(config.gpuc_build_dir, "test-cache")
lib = os.path.join(config.test_source_root, "lib")
config.substitutions.append(("%make_model", f"{config.python} {lib}/make_model.py"))
config.substitutions.append(("%exit", f"{config.python} {lib}/expect_exit.py"))
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%gpuc_library", os.path.join(config.gpuc_build_dir, "lib", "libgpuc.so")))
