# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a plan of the `mlp` model on the simulator through libgpuc.so: run_shared_library.py LIBRARY PLAN MISSING."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "perf"))
import gpuc_runtime  # noqa: E402

library, plan, missing = map(Path, sys.argv[1:])
runtime = gpuc_runtime.Runtime(library, "sim:sm_90a")
print("device", runtime.description())
network = runtime.load(plan)
(given,), (output,) = network.inputs, network.outputs
print("inputs", given.name, given.dtype, given.shape)


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    """The simulator's device memory is the host's; it wants 16-byte alignment like a GPU."""
    memory = np.zeros(int(np.prod(shape)) * 4 + 16, np.uint8)
    start = -memory.ctypes.data % 16
    return memory[start : start + int(np.prod(shape)) * 4].view(np.float32).reshape(shape)


x, y = aligned(given.shape), aligned(output.shape)
x[:] = np.random.default_rng(1).standard_normal(given.shape)
network.bind({given.name: x.ctypes.data}, {output.name: y.ctypes.data})
network.run()
runtime.call("gpuc_device_synchronize", runtime.device, None)
print("rows sum to", round(float(y.sum(axis=1).mean()), 4))
try:
    runtime.load(missing)
except gpuc_runtime.RuntimeFailure as failure:
    print("refused:", failure)
network.close()
