# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other ways to run a network in fp16 that gpuc is timed beside, each as fast as it honestly can be.

eager     torch, kernel by kernel: channels-last for convolutional networks, cuDNN's search on
graph     the same, captured into a CUDA graph with static inputs
compile   torch.compile (Inductor, weights frozen, so BatchNorms are folded), captured into a CUDA graph with static
          inputs. These are the kernels of mode="reduce-overhead", without its copies of inputs and its Python
ort_nchw, ort_nhwc
          ONNX Runtime's CUDA provider: CUDA graph, cuDNN searched exhaustively, inputs and outputs bound on the device

Everything that chooses kernels by measuring them runs under a lock that processes share, so that they don't measure
each other.
"""

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

Method = Callable[[], object]  # enqueues one run on the current stream; returns the output tensor


class NoTime(Exception):
    """The time for preparation is over."""


class GpuLock:
    """Held while kernels are measured. Nobody gets it after `deadline` (time.time())."""

    def __init__(self, path: Path, deadline: float):
        self.path, self.deadline = path, deadline

    def check_time(self) -> None:
        if time.time() > self.deadline:
            raise NoTime("not prepared in time")

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        with self.path.open("w") as file:
            while True:
                self.check_time()
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    time.sleep(0.05)
            try:
                yield
                torch.cuda.synchronize()
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)


def captured(run: Callable[[], torch.Tensor]) -> Method:
    """Replays of a CUDA graph of `run`."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = run()

    def replay() -> torch.Tensor:
        graph.replay()
        return output

    return replay


def inductor(lock: GpuLock):
    """torch.compile's own back-end, its first run (which tunes) under the lock."""
    from torch._inductor.compile_fx import compile_fx

    def backend(graph, examples):
        compiled = compile_fx(graph, examples)
        tuned = False

        def call(*arguments):
            nonlocal tuned
            if tuned:
                return compiled(*arguments)
            tuned = True
            with lock():
                return compiled(*arguments)

        return call

    return backend


class TorchPeers:
    """A network in torch. Use under torch.no_grad()."""

    def __init__(self, model: torch.nn.Module, convolutional: bool, lock: GpuLock):
        torch.backends.cudnn.benchmark = True
        self.lock, self.convolutional = lock, convolutional
        self.model = model.half()
        if convolutional:
            self.model = self.model.to(memory_format=torch.channels_last)

    def inputs(self, tensors: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        given = [t.cuda().half() if t.is_floating_point() else t.cuda() for t in tensors.values()]
        return (
            [t.contiguous(memory_format=torch.channels_last) if t.ndim == 4 else t for t in given]
            if (self.convolutional)
            else given
        )

    def eager(self, given: list[torch.Tensor]) -> Method:
        run = lambda: self.model(*given)  # noqa: E731
        with self.lock():
            for _ in range(3):
                run()
        return run

    def graph(self, given: list[torch.Tensor]) -> Method:
        return captured(lambda: self.model(*given))

    def compiled(self, given: list[torch.Tensor]) -> Method:
        import torch._inductor.config as config

        config.freezing = True
        compiled = torch.compile(self.model, backend=inductor(self.lock), dynamic=False)
        for _ in range(3):
            compiled(*given)
        torch.cuda.synchronize()
        return captured(lambda: compiled(*given))

    def reduce_overhead(self, given: list[torch.Tensor]) -> Method:
        """As a user calls it; only to see that `compiled` is not slower."""
        compiled = torch.compile(self.model, mode="reduce-overhead", dynamic=False)

        def run() -> torch.Tensor:
            torch.compiler.cudagraph_mark_step_begin()
            return compiled(*given)

        with self.lock():
            for _ in range(4):
                run()
        return run

    MAKERS = {"graph": graph, "compile": compiled, "reduce-overhead": reduce_overhead}


ELEMENTS = {"tensor(float16)": torch.float16, "tensor(float)": torch.float32, "tensor(int64)": torch.int64}


class OrtPeers:
    """An exported network in ONNX Runtime, on the current stream."""

    def __init__(self, folder: Path, lock: GpuLock):
        import onnxruntime

        onnxruntime.set_default_logger_severity(3)
        self.ort, self.folder, self.lock = onnxruntime, folder, lock
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise RuntimeError(f"ONNX Runtime {onnxruntime.__version__} here has no CUDA provider")

    def method(self, batch: int, layout: str) -> Method:
        import numpy

        options = {
            "enable_cuda_graph": "1",
            "prefer_nhwc": "1" if layout == "nhwc" else "0",
            "cudnn_conv_algo_search": "EXHAUSTIVE",
            "has_user_compute_stream": "1",
            "user_compute_stream": str(torch.cuda.current_stream().cuda_stream),
        }
        path = str(self.folder / f"b{batch}.onnx")
        session = self.ort.InferenceSession(path, providers=[("CUDAExecutionProvider", options)])
        binding, kept = session.io_binding(), []

        def bind(bind_one, value, tensor) -> torch.Tensor:
            kept.append(tensor)
            element = numpy.dtype(str(tensor.dtype).removeprefix("torch.")).type
            bind_one(value.name, "cuda", 0, element, list(tensor.shape), tensor.data_ptr())
            return tensor

        for value in session.get_inputs():
            array = numpy.load(self.folder / f"b{batch}.{value.name}.npy")
            bind(binding.bind_input, value, torch.from_numpy(array).cuda().contiguous())
        for value in session.get_outputs():
            shape = [int(extent) for extent in value.shape]
            output = bind(binding.bind_output, value, torch.full(shape, 7, dtype=ELEMENTS[value.type], device="cuda"))
        run_options = self.ort.RunOptions()
        run_options.add_run_config_entry("disable_synchronize_execution_providers", "1")

        def run() -> torch.Tensor:
            session.run_with_iobinding(binding, run_options)
            return output

        run.kept = kept  # the binding does not keep them

        torch.cuda.synchronize()
        with self.lock():
            for _ in range(3):
                run()
        return run
