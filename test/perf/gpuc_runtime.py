# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gpuc's runtime in this process: build/lib/libgpuc.so (gpuc-c/runtime.h) through ctypes.

runtime = Runtime(Path("build/lib/libgpuc.so"))
network = runtime.load(Path("model.gpuc"))
network.bind(inputs={"x": address}, outputs={"y": address})   # device addresses
network.run(stream)                                           # a CUstream as an integer; 0 is the default one
"""

import ctypes
import dataclasses
from pathlib import Path

NUMPY_TYPES = {0: "bool", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "uint8", 6: "uint16", 7: "uint32"}
NUMPY_TYPES |= {8: "uint64", 9: "float16", 11: "float32", 12: "float64"}


class RuntimeFailure(Exception):
    """What the runtime said when it failed."""


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_uint64),
        ("specialised_value", ctypes.c_void_p),
    ]


class Buffer(ctypes.Structure):
    _fields_ = [("host", ctypes.c_void_p), ("device", ctypes.c_uint64), ("bytes", ctypes.c_uint64)]


class ContextOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("no_staging", ctypes.c_int),
        ("no_graph", ctypes.c_int),
        ("max_graphs", ctypes.c_uint),
        ("poison", ctypes.c_int),
    ]


@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input or output of a plan."""

    name: str
    dtype: str  # numpy's name
    shape: tuple[int, ...]
    bytes: int


class Runtime:
    """The library and one device."""

    def __init__(self, library: Path, device: str = "cuda"):
        self.library = ctypes.CDLL(str(library))
        for name in ("gpuc_status_message", "gpuc_device_description"):
            getattr(self.library, name).restype = ctypes.c_char_p
        for name in ("gpuc_plan_inputs", "gpuc_plan_outputs"):
            getattr(self.library, name).restype = ctypes.POINTER(TensorInfo)
        for name in ("gpuc_plan_num_inputs", "gpuc_plan_num_outputs"):
            getattr(self.library, name).restype = ctypes.c_size_t
        self.device = ctypes.c_void_p()
        self.call("gpuc_device_open", device.encode(), None, ctypes.byref(self.device))

    def call(self, name: str, *arguments) -> None:
        """Calls a function that returns a status."""
        function = getattr(self.library, name)
        function.restype = ctypes.c_void_p
        status = function(*arguments)
        if status:
            message = self.library.gpuc_status_message(ctypes.c_void_p(status)).decode()
            self.library.gpuc_status_destroy(ctypes.c_void_p(status))
            raise RuntimeFailure(f"{name}: {message}")

    def description(self) -> str:
        return self.library.gpuc_device_description(self.device).decode()

    def load(self, plan: Path, graphs: int = 4) -> "Network":
        """A plan, ready to run with its inputs and outputs in device memory; `graphs` sets of addresses are remembered."""
        return Network(self, plan, graphs)


class Network:
    """A plan on the device."""

    def __init__(self, runtime: Runtime, path: Path, graphs: int):
        self.runtime = runtime
        plan, executable, self.context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        runtime.call("gpuc_plan_load_file", str(path).encode(), ctypes.byref(plan))
        runtime.call("gpuc_executable_create", plan, runtime.device, None, ctypes.byref(executable))
        options = ContextOptions(ctypes.sizeof(ContextOptions), 1, 0, graphs, 0)
        runtime.call("gpuc_context_create", executable, ctypes.byref(options), ctypes.byref(self.context))
        self.inputs, self.outputs = self.tensors(plan, "inputs"), self.tensors(plan, "outputs")
        self.bound: tuple = ()
        # The context keeps both alive.
        runtime.library.gpuc_executable_destroy(executable)
        runtime.library.gpuc_plan_destroy(plan)

    def tensors(self, plan: ctypes.c_void_p, which: str) -> list[Tensor]:
        library = self.runtime.library
        infos = getattr(library, f"gpuc_plan_{which}")(plan)
        return [
            Tensor(t.name.decode(), NUMPY_TYPES[t.dtype], tuple(t.shape[: t.rank]), t.bytes)
            for t in infos[: getattr(library, f"gpuc_plan_num_{which}")(plan)]
        ]

    def buffers(self, inputs: dict[str, int], outputs: dict[str, int]) -> tuple:
        """Device addresses by name, as `run` takes them."""
        make = lambda tensors, given: (Buffer * len(tensors))(*[Buffer(None, given[t.name], t.bytes) for t in tensors])  # noqa: E731
        return make(self.inputs, inputs), make(self.outputs, outputs)

    def bind(self, inputs: dict[str, int], outputs: dict[str, int]) -> None:
        self.bound = self.buffers(inputs, outputs)

    def run(self, stream: int = 0, buffers: tuple = ()) -> None:
        """Enqueues one run. The second run with the same addresses captures a CUDA graph, later ones replay it."""
        inputs, outputs = buffers or self.bound
        self.runtime.call("gpuc_context_run", self.context, inputs, outputs, ctypes.c_void_p(stream))

    def used_graph(self) -> bool:
        return bool(self.runtime.library.gpuc_context_used_graph(self.context))

    def close(self) -> None:
        self.runtime.library.gpuc_context_destroy(self.context)
        self.context = ctypes.c_void_p()
