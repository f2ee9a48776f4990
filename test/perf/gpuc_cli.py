# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the gpuc program, and what they print."""

import dataclasses
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

PRECISION_FLAGS = {"fp32": ["--noTF32"], "fp16": ["--fp16"]}
# Largest |error| over the range of the expected output.
TOLERANCE = {"fp32": 1e-4, "fp16": 1e-2}


class GpucError(Exception):
    """What gpuc said when it failed."""


@dataclasses.dataclass
class Compiled:
    """A plan and what making it took."""

    plan: Path
    seconds: float
    launches: int
    kernels: int
    peak_megabytes: float


def message_of(returncode: int, stderr: str) -> str:
    how = f"signal {-returncode}" if returncode < 0 else f"exit code {returncode}"
    lines = [line for line in stderr.strip().splitlines() if "gpuc: warning" not in line] or ["no message"]
    return f"{how}: " + "\n    ".join(line[:400] for line in lines[:10])


def call(command: list[str], timeout: float, environment: dict | None = None) -> subprocess.CompletedProcess:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, env=environment
        )
    except subprocess.TimeoutExpired:
        raise GpucError(f"no end within {timeout:.0f} s") from None
    if done.returncode != 0:
        raise GpucError(message_of(done.returncode, done.stderr))
    return done


def compile_plan(
    gpuc: Path,
    model: Path,
    plan: Path,
    flags: list[str],
    threads: int = 4,
    timeout: float = 240,
    cores: set[int] | None = None,
) -> Compiled:
    """Compiles with an empty cache, on the given cores if any are given."""
    with tempfile.TemporaryDirectory(prefix="gpuc-cache-") as cache, tempfile.TemporaryFile("w+") as stderr:
        command = [
            str(gpuc),
            "compile",
            str(model),
            "-o",
            str(plan),
            f"--cache-dir={cache}",
            f"--threads={threads}",
            *flags,
        ]
        start = time.monotonic()
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
        )
        while True:  # wait4 tells the peak memory of this process alone
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() - start > timeout:
                process.kill()
                os.wait4(process.pid, 0)
                process.returncode = -9
                raise GpucError(f"compilation did not end within {timeout:.0f} s")
            time.sleep(0.02)
        seconds = time.monotonic() - start
        stderr.seek(0)
        text = stderr.read()
    if process.returncode != 0:
        raise GpucError("compile: " + message_of(process.returncode, text))
    counts = re.search(r"(\d+) launches, (\d+) kernels", text)
    launches, kernels = (int(counts[1]), int(counts[2])) if counts else (0, 0)
    return Compiled(plan, seconds, launches, kernels, usage.ru_maxrss / 1024)


def run_plan(
    gpuc: Path, plan: Path, inputs: dict[str, Path], folder: Path, device: str = "cuda", timeout: float = 120
) -> None:
    """Runs step by step, then as a new and as a replayed graph, each time with NaN in all memory that the run has to
    write first: a kernel that reads before it has waited shows. Outputs land in `folder`."""
    command = [str(gpuc), "run", str(plan), f"--device={device}", "--quiet", f"--output-dir={folder}"]
    command += [] if device.startswith("sim") else ["--poison", "--repeat=3"]
    try:
        call(command + [f"--input={name}:{path}" for name, path in inputs.items()], timeout)
    except GpucError as error:
        raise GpucError(f"run: {error}") from None


def bench_plan(gpuc: Path, plan: Path, inputs: dict[str, Path], seconds: float = 1.0, timeout: float = 120) -> dict:
    """Median GPU compute time in milliseconds, without copies between host and device."""
    command = [
        str(gpuc),
        "bench",
        str(plan),
        "--device=cuda",
        "--noDataTransfers",
        f"--duration={seconds}",
        "--warmUp=200",
    ]
    try:
        text = call(command + [f"--loadInputs={name}:{path}" for name, path in inputs.items()], timeout).stdout
    except GpucError as error:
        raise GpucError(f"bench: {error}") from None
    median = re.search(r"GPU Compute Time:.*?median = ([0-9.]+) ms", text)
    least = re.search(r"GPU Compute Time: min = ([0-9.]+) ms", text)
    if not median:
        raise GpucError("bench printed no GPU compute time")
    return {"median_ms": float(median[1]), "min_ms": float(least[1]), "graph": "CUDA graph: on" in text}


def file_name(output: str) -> str:
    """The file name that gpuc gives an output."""
    name = re.sub(rb"[^A-Za-z0-9_.-]", b"_", output.encode()[:200])
    return (re.sub(rb"^\.", b"_", name) or b"_").decode() + ".npy"


def errors_of(got: np.ndarray, want: np.ndarray) -> tuple[float, float]:
    """Largest |error| over the range of `want`, and relative L2 error. Both are infinite for a value that is not finite."""
    if got.shape != want.shape:
        raise GpucError(f"the output is {list(got.shape)}, expected {list(want.shape)}")
    worst, squares, total = 0.0, 0.0, 0.0
    step = max(1, (1 << 24) // max(1, want[0].size)) if want.ndim else 1
    for start in range(0, len(want), step) if want.ndim else [None]:
        a, b = (got, want) if start is None else (got[start : start + step], want[start : start + step])
        b = b.astype(np.float32)
        error = a.astype(np.float32) - b
        if not np.isfinite(error).all():
            return float("inf"), float("inf")
        worst = max(worst, float(np.abs(error).max(initial=0)))
        squares += float(np.square(error, dtype=np.float64).sum())
        total += float(np.square(b, dtype=np.float64).sum())
    return worst / max(float(want.max()) - float(want.min()), 1e-30), (squares / max(total, 1e-30)) ** 0.5
