#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times gpuc in fp16 beside torch and ONNX Runtime on this machine's GPU.

    bench_models.py --gpuc build/bin/gpuc --exported DIR --out DIR [--ort-site DIR] [--networks resnet50,gpt2]

All of them run the same fp16 network with the same weights and inputs, with inputs and outputs on the device:

gpuc         `gpuc bench` of a plan, under a CUDA graph; before and after the others, the median of both
eager        torch, kernel by kernel (channels-last for convolutional networks, cuDNN's search on)
eager graph  the same, captured into a CUDA graph
compile      torch.compile(mode="reduce-overhead")
ort          ONNX Runtime's CUDA provider under a CUDA graph, exhaustive search; of NCHW and NHWC the better

A number is the median over many runs of the time between two events around one run, which is what `gpuc bench` prints as
GPU compute time. Everything is prepared by processes side by side, one for each network and framework; then they are
timed one by one, and nothing else runs meanwhile. Accuracy is the relative L2 error against torch in fp32 without TF32.

Writes results.json into --out and a table last. make_table.py makes docs/benchmarks.md of it.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import gpuc_cli  # noqa: E402
import make_table  # noqa: E402
from gpuc_cli import GpucError  # noqa: E402

READY = "ready"


# --- what a worker process does --------------------------------------------------------------------------------
def median_ms(run, seconds: float) -> float:
    """Median time between events around one run."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def once() -> float:
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    warm = time.monotonic()
    while time.monotonic() - warm < 0.2:
        once()
    times = []
    start = time.monotonic()
    while len(times) < 20 or time.monotonic() - start < seconds:
        times.append(once())
    return statistics.median(times)


def serve(methods: dict) -> None:
    """Answers `method batch seconds` lines with JSON lines."""
    print(json.dumps({"state": READY}), flush=True)
    for line in sys.stdin:
        method, batch, seconds = line.split()
        try:
            answer = {"ms": median_ms(methods[method, int(batch)], float(seconds))}
        except Exception as error:  # any kind; the other methods go on
            answer = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        print(json.dumps(answer), flush=True)


def say(**content) -> None:
    print(json.dumps(content), flush=True)


def torch_worker(name: str, batches: list[int], with_compile: bool) -> None:
    import torch

    import networks

    torch.backends.cudnn.benchmark = True
    network = networks.NETWORKS[name]
    model = networks.make(network)
    inputs = {batch: [tensor.cuda() for tensor in network.inputs(batch).values()] for batch in batches}
    expected = {batch: networks.reference(model, network.inputs(batch)) for batch in batches}
    model = model.half()
    if network.convolutional:
        model = model.to(memory_format=torch.channels_last)
    methods = {}
    compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)  # one specialisation for each batch size

    def run_compiled(given: list) -> None:
        torch.compiler.cudagraph_mark_step_begin()
        compiled(*given)

    with torch.no_grad():
        for batch in batches:
            given = [tensor.half() if tensor.is_floating_point() else tensor for tensor in inputs[batch]]
            if network.convolutional:
                given = [tensor.to(memory_format=torch.channels_last) for tensor in given]
            methods["eager", batch] = lambda given=given: model(*given)
            output = model(*given).float()
            say(batch=batch, torch_l2=float((output - expected[batch]).norm() / expected[batch].norm()))
            del output, expected[batch]
            try:
                side = torch.cuda.Stream()
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    for _ in range(3):
                        model(*given)
                torch.cuda.current_stream().wait_stream(side)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    kept = model(*given)
                methods["graph", batch] = lambda graph=graph, kept=kept: graph.replay()
            except Exception as error:
                say(batch=batch, method="graph", error=str(error)[:300])
            if with_compile:
                try:
                    for _ in range(4):
                        run_compiled(given)
                    torch.cuda.synchronize()
                    methods["compile", batch] = lambda given=given: run_compiled(given)
                except Exception as error:
                    say(batch=batch, method="compile", error=str(error)[:300])
        torch.cuda.synchronize()
        serve(methods)


def ort_worker(folder: Path, batches: list[int], layouts: list[str]) -> None:
    import numpy
    import onnxruntime
    import torch

    say(onnxruntime=onnxruntime.__version__)
    onnxruntime.set_default_logger_severity(3)
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    element = {
        "tensor(float16)": (torch.float16, numpy.float16),
        "tensor(float)": (torch.float32, numpy.float32),
        "tensor(int64)": (torch.int64, numpy.int64),
    }
    methods = {}
    record = json.loads((folder / "network.json").read_text())["models"]

    def prepare(batch: int, layout: str, graph: bool):
        provider = (
            "CUDAExecutionProvider",
            {
                "enable_cuda_graph": "1" if graph else "0",
                "prefer_nhwc": "1" if layout == "nhwc" else "0",
                "cudnn_conv_algo_search": "EXHAUSTIVE",
                "has_user_compute_stream": "1",
                "user_compute_stream": str(stream.cuda_stream),
            },
        )
        session = onnxruntime.InferenceSession(str(folder / record[str(batch)]["file"]), providers=[provider])
        binding, kept = session.io_binding(), []
        for value in session.get_inputs():
            tensor = torch.from_numpy(numpy.load(folder / f"b{batch}.{value.name}.npy")).cuda().contiguous()
            kept.append(tensor)
            binding.bind_input(value.name, "cuda", 0, element[value.type][1], list(tensor.shape), tensor.data_ptr())
        for value in session.get_outputs():
            tensor = torch.empty([int(extent) for extent in value.shape], dtype=element[value.type][0], device="cuda")
            kept.append(tensor)
            binding.bind_output(value.name, "cuda", 0, element[value.type][1], list(tensor.shape), tensor.data_ptr())
        options = onnxruntime.RunOptions()
        options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        run = lambda: (session.run_with_iobinding(binding, options), kept)  # noqa: E731
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        return run

    for batch in batches:
        for layout in layouts:
            try:
                methods[layout, batch] = prepare(batch, layout, True)
            except Exception as error:
                say(batch=batch, method=layout, error=str(error)[:300])
                try:
                    methods[layout, batch] = prepare(batch, layout, False)
                    say(batch=batch, method=layout, note="without a CUDA graph")
                except Exception as again:
                    say(batch=batch, method=layout, error=str(again)[:300])
    serve(methods)


# --- the driver ------------------------------------------------------------------------------------------------
class Worker:
    """A process that prepares, says what it found, and then times on request."""

    def __init__(self, label: str, command: list[str], log: Path, environment: dict):
        self.label, self.log, self.said, self.alive = label, log, [], True
        with log.open("w") as file:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True, env=environment
            )
        self.lines: queue.Queue = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put(None)

    def answer(self, timeout: float) -> dict | None:
        """The next thing said; None if the process ended or says nothing in time."""
        try:
            got = self.lines.get(timeout=max(0.01, timeout))
        except queue.Empty:
            got = None
        if got is None:
            self.stop()
        return got

    def wait_ready(self, deadline: float) -> None:
        while self.alive:
            got = self.answer(deadline - time.monotonic())
            if got is None:
                tail = self.log.read_text(errors="replace").strip().splitlines()[-3:]
                self.said.append({"error": f"{self.label} was not ready: " + " | ".join(tail)[:400]})
            elif got.get("state") == READY:
                return
            else:
                self.said.append(got)

    def time(self, method: str, batch: int, seconds: float) -> dict:
        if not self.alive:
            return {"error": "not ready"}
        try:
            self.process.stdin.write(f"{method} {batch} {seconds}\n")
            self.process.stdin.flush()
        except OSError:
            self.stop()
            return {"error": "the process ended"}
        return self.answer(60 + 40 * seconds) or {"error": "no answer"}

    def stop(self) -> None:
        self.alive = False
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Bench:
    """One run over all chosen networks."""

    def __init__(self, arguments: argparse.Namespace, plans: Path):
        import networks

        self.arguments, self.plans = arguments, plans
        self.rows: dict[tuple[str, int], dict] = {}
        self.folders: dict[str, Path] = {}
        for network in networks.chosen(arguments.networks):
            folder = arguments.exported / "fp16" / network.name
            if not (folder / "network.json").is_file():
                print(f"FAIL {network.name}: not exported", flush=True)
                continue
            models = json.loads((folder / "network.json").read_text())["models"]
            self.folders[network.name] = folder
            for batch in network.batches:
                if str(batch) in models and (not arguments.batches or batch in arguments.batches):
                    inputs = {name: folder / f"b{batch}.{name}.npy" for name in models[str(batch)]["inputs"]}
                    self.rows[network.name, batch] = {
                        "network": network.name,
                        "title": network.title,
                        "batch": batch,
                        "errors": {},
                        "convolutional": network.convolutional,
                        "inputs": inputs,
                        "model": folder / models[str(batch)]["file"],
                    }
        self.versions: dict[str, str] = {}

    def batches(self, network: str) -> list[int]:
        return [batch for name, batch in self.rows if name == network]

    def worker(self, kind: str, network: str) -> Worker:
        a = self.arguments
        convolutional = self.rows[network, self.batches(network)[0]]["convolutional"]
        command = [
            sys.executable,
            __file__,
            "--worker",
            kind,
            "--networks",
            network,
            "--exported",
            str(a.exported),
            "--batches",
            ",".join(map(str, self.batches(network))),
        ]
        command += ["--no-compile"] if a.no_compile else []
        command += ["--layouts", "nchw,nhwc" if convolutional else "nchw"]
        environment = dict(os.environ, PYTHONWARNINGS="ignore", OMP_NUM_THREADS="4", TORCHINDUCTOR_COMPILE_THREADS="4")
        if kind == "ort":
            import nvidia  # torch's CUDA libraries

            libraries = [str(path) for root in nvidia.__path__ for path in Path(root).glob("*/lib")]
            environment["PYTHONPATH"] = str(a.ort_site)
            environment["LD_LIBRARY_PATH"] = ":".join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")])
        return Worker(f"{kind} {network}", command, a.out / f"{kind}_{network}.log", environment)

    def prepare_gpuc(self, key: tuple[str, int]) -> None:
        import numpy

        row = self.rows[key]
        plan = self.plans / f"{key[0]}_b{key[1]}.gpuc"
        try:
            compiled = gpuc_cli.compile_plan(self.arguments.gpuc, row["model"], plan, ["--target=native", "--fp16"])
            row.update(
                launches=compiled.launches, kernels=compiled.kernels, compile_s=round(compiled.seconds, 2), plan=plan
            )
            with tempfile.TemporaryDirectory(prefix="gpuc-out-", dir=self.plans) as folder:
                gpuc_cli.run_plan(self.arguments.gpuc, plan, row["inputs"], Path(folder))
                got = numpy.load(next(Path(folder).glob("*.npy")), mmap_mode="r")
                want = numpy.load(row["model"].with_name(f"b{key[1]}.expected.npy"), mmap_mode="r")
                row["gpuc_worst"], row["gpuc_l2"] = gpuc_cli.errors_of(got, want)
            if not row["gpuc_worst"] <= gpuc_cli.TOLERANCE["fp16"]:
                raise GpucError(f"wrong result: error {row['gpuc_worst']:.2e} of the range")
        except (GpucError, OSError, ValueError, StopIteration) as error:
            row["errors"]["gpuc"] = str(error)[:600]
            row.pop("plan", None)

    def note_said(self, network: str, worker: Worker) -> None:
        for content in worker.said:
            if "onnxruntime" in content:
                self.versions["onnxruntime"] = content["onnxruntime"]
            elif "torch_l2" in content:
                self.rows[network, content["batch"]]["torch_l2"] = content["torch_l2"]
            elif "note" in content:
                self.rows[network, content["batch"]]["errors"][content["method"]] = content["note"]
            else:
                for batch in [content["batch"]] if "batch" in content else self.batches(network):
                    self.rows[network, batch]["errors"][content.get("method", worker.label.split()[0])] = content[
                        "error"
                    ]

    def time_gpuc(self, row: dict) -> None:
        if "plan" not in row:
            return
        try:
            got = gpuc_cli.bench_plan(self.arguments.gpuc, row["plan"], row["inputs"], self.arguments.seconds)
            row.setdefault("gpuc_runs", []).append(got["median_ms"])
            row["gpuc_ms"] = statistics.median(row["gpuc_runs"])
            if not got["graph"]:
                row["errors"]["gpuc"] = "without a CUDA graph"
        except GpucError as error:
            row["errors"]["gpuc"] = str(error)[:600]

    def run(self) -> None:
        names = list(dict.fromkeys(name for name, _ in self.rows))
        start = time.monotonic()
        workers = {
            (kind, name): self.worker(kind, name)
            for name in names
            for kind in (["torch", "ort"] if self.arguments.ort_site else ["torch"])
        }
        try:
            with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 4) // 4)) as pool:
                list(pool.map(self.prepare_gpuc, self.rows))
            print(f"== plans ready after {time.monotonic() - start:.0f} s", flush=True)
            for (kind, name), worker in workers.items():
                worker.wait_ready(start + self.arguments.prepare_seconds)
                self.note_said(name, worker)
            print(f"== all ready after {time.monotonic() - start:.0f} s", flush=True)
            for (name, batch), row in self.rows.items():
                self.time_gpuc(row)
                jobs = [("torch", "eager", "eager"), ("torch", "graph", "graph")]
                jobs += [] if self.arguments.no_compile else [("torch", "compile", "compile")]
                if self.arguments.ort_site:
                    jobs += [
                        ("ort", layout, f"ort_{layout}")
                        for layout in (["nchw", "nhwc"] if row["convolutional"] else ["nchw"])
                    ]
                for kind, method, column in jobs:
                    got = workers[kind, name].time(method, batch, self.arguments.seconds)
                    if "ms" in got:
                        row[f"{column}_ms"] = got["ms"]
                    else:
                        row["errors"].setdefault(column, got["error"])
                self.time_gpuc(row)
                ort = [row[f"ort_{layout}_ms"] for layout in ("nchw", "nhwc") if f"ort_{layout}_ms" in row]
                if ort:
                    row["ort_ms"] = min(ort)
                print(f"timed {name} b{batch}", flush=True)
                self.write()
        finally:
            for worker in workers.values():
                worker.stop()

    def write(self) -> None:
        hidden = ("inputs", "model", "plan")
        rows = [{key: value for key, value in row.items() if key not in hidden} for row in self.rows.values()]
        content = {
            "machine": machine(self.versions),
            "rows": rows,
            "seconds": self.arguments.seconds,
            "command": "./dev bench-gpu --only bench" + (" --ort-site DIR" if self.arguments.ort_site else ""),
        }
        (self.arguments.out / "results.json").write_text(json.dumps(content, indent=1) + "\n")


def machine(versions: dict[str, str]) -> dict:
    """What was measured on and with."""
    import importlib.metadata

    import torch

    query = ["nvidia-smi", "--query-gpu=driver_version,memory.total", "--format=csv,noheader"]
    try:
        driver, memory = (
            subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
        )
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        driver, memory = "unknown", "unknown"
    packages = {name: importlib.metadata.version(name) for name in ("torch", "torchvision", "transformers", "triton")}
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "card": torch.cuda.get_device_name(0),
        "memory": memory,
        "driver": driver,
        "cuda": torch.version.cuda,
        "cudnn": str(torch.backends.cudnn.version()),
        "packages": {**packages, **versions},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Times gpuc beside torch and ONNX Runtime.")
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--gpuc", type=Path, default=Path("build/bin/gpuc"), metavar="PATH")
    parser.add_argument(
        "--exported", type=Path, default=Path("build/exported"), metavar="DIR", help="of export_models.py --types fp16"
    )
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR", help="where results.json and logs go")
    parser.add_argument(
        "--ort-site", type=Path, metavar="DIR", help="folder to import ONNX Runtime with its CUDA provider from"
    )
    parser.add_argument("--networks", type=words, metavar="NAMES")
    parser.add_argument("--batches", type=lambda text: [int(b) for b in text.split(",")], metavar="LIST")
    parser.add_argument("--seconds", type=float, default=0.7, help="of measuring, each")
    parser.add_argument("--prepare-seconds", type=float, default=300, help="allowed to workers until they are ready")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--worker", choices=["torch", "ort"], help=argparse.SUPPRESS)
    parser.add_argument("--layouts", type=words, default=["nchw"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker == "torch":
        torch_worker(arguments.networks[0], arguments.batches, not arguments.no_compile)
        return 0
    if arguments.worker == "ort":
        ort_worker(arguments.exported / "fp16" / arguments.networks[0], arguments.batches, arguments.layouts)
        return 0
    arguments.gpuc = arguments.gpuc.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpuc-bench-") as plans:
        bench = Bench(arguments, Path(plans))
        bench.run()
    results = json.loads((arguments.out / "results.json").read_text())
    print()
    print(make_table.table(results))
    for row in results["rows"]:
        for method, error in row["errors"].items():
            print(f"{row['network']} b{row['batch']} {method}: {error}")
    return 1 if any("gpuc_ms" not in row for row in results["rows"]) or not results["rows"] else 0


if __name__ == "__main__":
    sys.exit(main())
