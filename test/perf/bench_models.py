#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times gpuc in fp16 beside torch and ONNX Runtime on this machine's GPU.

    bench_models.py --gpuc build/bin/gpuc --library build/lib/libgpuc.so --exported DIR --out DIR [--ort-site DIR]
                    [--networks resnet50,gpt2] [--batches 1,32]

One process per network and batch holds it in every way (peers.py; gpuc through libgpuc.so), on one stream, with inputs
and outputs on the device, and compares each output with torch in fp32 without TF32. All processes prepare side by side;
then each times its row alone (interleave.py), while the others sleep.

Writes results.json into --out; rows that are there from an earlier run and were not measured again stay, so a table can
be made in several runs. make_page.py makes docs/benchmarks.md of it.
"""

import argparse
import concurrent.futures
import dataclasses
import datetime
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import export_models  # noqa: E402
import gpuc_cli  # noqa: E402
import make_page  # noqa: E402

READY = "ready"
METHODS = ("gpuc", "graph", "compile", "ort", "eager")
# Of gpuc's fp16 output: the least cosine with fp32, and the largest L2 error as a multiple of torch's in fp16.
LEAST_COSINE, MOST_ERROR_RATIO = 0.9995, 1.5
GRACE_SECONDS = 60  # to end what was begun


# --- what a worker process does --------------------------------------------------------------------------------
def say(**content) -> None:
    print(json.dumps(content), flush=True)


class Worker:
    """One network at one batch size in all ways."""

    def __init__(self, arguments: argparse.Namespace):
        import networks
        import peers

        self.arguments = arguments
        self.network = networks.NETWORKS[arguments.networks[0]]
        self.folder = arguments.exported / "fp16" / self.network.name
        self.batch = arguments.batches[0]
        self.lock = peers.GpuLock(arguments.out / "gpu.lock", arguments.deadline)
        self.methods: dict = {}
        self.eager, self.gpuc_output = None, None

    def wants(self, method: str) -> bool:
        return method in self.arguments.methods

    def exported_model(self) -> Path:
        """Waits until it is there: export_models.py may run at the same time."""
        deadline = time.monotonic() + self.arguments.export_seconds
        while export_models.record_of(self.folder, self.batch) is None:
            if time.monotonic() > deadline:
                raise gpuc_cli.GpucError(f"{self.folder} has no b{self.batch}.onnx: run export_models.py --types fp16")
            time.sleep(0.2)
        return self.folder / f"b{self.batch}.onnx"

    def compile_plan(self) -> dict:
        """Plan, what it holds, and how long that took. Runs in a thread, beside torch."""
        plan = self.arguments.plans / f"{self.network.name}_b{self.batch}.gpuc"
        flags = ["--target=native", "--fp16", *self.arguments.gpuc_flags]
        compiled = gpuc_cli.compile_plan(self.arguments.gpuc, self.exported_model(), plan, flags)
        program = json.loads(gpuc_cli.call([str(self.arguments.gpuc), "inspect", "--json", str(plan)], 60).stdout)[
            "programs"
        ][0]
        return {
            "plan": plan,
            "launches": len(program["steps"]),
            "library_calls": sum(step["kind"] == "library" for step in program["steps"]),
            "kernels": compiled.kernels,
            "compile_s": round(compiled.seconds, 2),
            "arena_bytes": program["arenaBytes"],
            "steps": [[step["flops"], step["bytes"]] for step in program["steps"]],
        }

    def gpuc(self, plan: Path, inputs: dict):
        """gpuc as a method; inputs and outputs are torch's tensors."""
        import torch

        import gpuc_runtime

        with self.lock():  # loading measures the library's algorithms
            network = gpuc_runtime.Runtime(self.arguments.library).load(plan)
        given = {}
        for t in network.inputs:
            tensor = inputs[t.name].cuda()
            given[t.name] = tensor.to(getattr(torch, t.dtype)).contiguous()
        (output,) = network.outputs
        result = torch.full(output.shape, float("nan"), dtype=getattr(torch, output.dtype), device="cuda")
        network.bind({name: t.data_ptr() for name, t in given.items()}, {output.name: result.data_ptr()})
        stream = torch.cuda.current_stream().cuda_stream

        def run():
            network.run(stream)
            return result

        run.kept = given
        self.gpuc_output = result
        with self.lock():
            for _ in range(3):
                run()
        if not network.used_graph():
            raise RuntimeError("gpuc runs without a CUDA graph")
        return run

    def add(self, name: str, make, expected) -> None:
        """Prepares a method, checks what it computes, and says so."""
        import torch

        start = time.monotonic()
        try:
            self.lock.check_time()
            run = make()
            output = run()
            torch.cuda.synchronize()
            if output.shape != expected.shape:
                raise RuntimeError(f"the output is {list(output.shape)}, expected {list(expected.shape)}")
            got, want = output.float().flatten(), expected.flatten()
            relative = float((got - want).norm() / want.norm())
            cosine = float(torch.dot(got.double(), want.double()) / (got.double().norm() * want.double().norm()))
            say(method=name, l2=relative, cosine=cosine, seconds=round(time.monotonic() - start, 1))
            if not relative < 0.1:
                raise RuntimeError(f"wrong result: relative error {relative:.2e}")
            self.methods[name] = run
        except Exception as error:  # any kind; the other methods go on
            say(method=name, error=f"{type(error).__name__}: {str(error)[:300]}")

    def prepare(self) -> None:
        import networks
        import peers
        import torch

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            facts = pool.submit(self.compile_plan) if self.wants("gpuc") else None
            torch.cuda.set_stream(torch.cuda.Stream())
            model = networks.make(self.network)
            inputs = self.network.inputs(self.batch)
            want = networks.reference(model, inputs)
            torch_peers = peers.TorchPeers(model, self.network.convolutional, self.lock)
            given = torch_peers.inputs(inputs)
            self.add("eager", lambda: torch_peers.eager(given), want)
            self.eager = self.methods.pop("eager", None)
            for method in ("graph", "compile", "reduce-overhead"):
                if self.wants(method):
                    self.add(method, lambda: torch_peers.MAKERS[method](torch_peers, given), want)  # noqa: B023
            if self.wants("compile") and "compile" not in self.methods:  # as users call it, rather than not at all
                self.add("compile", lambda: torch_peers.reduce_overhead(given), want)
            if facts:
                try:
                    known = facts.result()
                    plan = known.pop("plan")
                    say(facts=known)
                    self.add("gpuc", lambda: self.gpuc(plan, inputs), want)
                except (gpuc_cli.GpucError, KeyError, ValueError) as error:
                    say(method="gpuc", error=str(error)[:600])
            if self.wants("ort"):
                try:
                    self.exported_model()
                    ort_peers = peers.OrtPeers(self.folder, self.lock)
                    say(onnxruntime=ort_peers.ort.__version__)
                    for layout in ("nchw", "nhwc") if self.network.convolutional else ("nchw",):
                        self.add(f"ort_{layout}", lambda: ort_peers.method(self.batch, layout), want)  # noqa: B023
                except (ImportError, RuntimeError, gpuc_cli.GpucError) as error:
                    say(method="ort", error=str(error)[:300])
        torch.cuda.empty_cache()

    def measure(self, seconds: float) -> dict:
        import torch

        import interleave

        if not self.methods:
            return {"times": {}}
        before = self.gpuc_output.clone() if "gpuc" in self.methods else None
        times, clock = interleave.interleaved(self.methods, seconds)
        if self.eager and self.wants("eager"):
            times |= interleave.interleaved({"eager": self.eager}, 0.2)[0]
        answer = {"times": {name: dataclasses.asdict(t) for name, t in times.items()}, "clock_mhz": clock}
        if before is not None:  # still the same result, and written by this run
            self.gpuc_output.fill_(float("nan"))
            self.methods["gpuc"]()
            torch.cuda.synchronize()
            answer["stable"] = bool(torch.equal(before, self.gpuc_output))
        return answer

    def serve(self) -> None:
        """Answers lines: a number of seconds to measure for, or "ceilings"."""
        import torch

        import ceilings

        with torch.no_grad():
            self.prepare()
            torch.cuda.synchronize()
            say(state=READY)
            for line in sys.stdin:
                try:
                    answer = (
                        {"ceilings": ceilings.measure()} if line.strip() == "ceilings" else self.measure(float(line))
                    )
                except Exception as error:
                    answer = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
                say(**answer)


# --- the driver ------------------------------------------------------------------------------------------------
class WorkerProcess:
    """A worker seen from outside: it says what it found, and times on request."""

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

    def ask(self, what: str, timeout: float) -> dict:
        if not self.alive:
            return {"error": "not ready"}
        try:
            self.process.stdin.write(what + "\n")
            self.process.stdin.flush()
        except OSError:
            self.stop()
            return {"error": "the process ended"}
        return self.answer(timeout) or {"error": "no answer"}

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
        self.versions: dict[str, str] = {}
        self.ceilings: dict[str, float] = {}
        for network in networks.chosen(arguments.networks):
            for batch in network.batches:
                if not arguments.batches or batch in arguments.batches:
                    self.rows[network.name, batch] = {
                        "network": network.name,
                        "title": network.title,
                        "batch": batch,
                        "ms": {},
                        "spread": {},
                        "l2": {},
                        "cosine": {},
                        "errors": {},
                    }

    def worker(self, network: str, batch: int) -> WorkerProcess:
        a = self.arguments
        command = [sys.executable, __file__, "--worker", f"--networks={network}", f"--batches={batch}"]
        command += [
            f"--deadline={self.deadline}",
            f"--export-seconds={a.export_seconds}",
            f"--exported={a.exported}",
            f"--methods={','.join(a.methods)}",
        ]
        command += [f"--out={a.out}", f"--plans={self.plans}", f"--gpuc={a.gpuc}", f"--library={a.library}"]
        command += [f"--gpuc-flags={','.join(a.gpuc_flags)}"] if a.gpuc_flags else []
        environment = dict(os.environ, PYTHONWARNINGS="ignore", OMP_NUM_THREADS="4", TORCHINDUCTOR_COMPILE_THREADS="2")
        if a.ort_site:
            import nvidia  # torch's CUDA libraries

            libraries = [str(path) for root in nvidia.__path__ for path in Path(root).glob("*/lib")]
            environment["PYTHONPATH"] = str(a.ort_site)
            environment["LD_LIBRARY_PATH"] = ":".join([*libraries, os.environ.get("LD_LIBRARY_PATH", "")])
        return WorkerProcess(f"{network} b{batch}", command, a.out / f"{network}_b{batch}.log", environment)

    def note_said(self, row: dict, worker: WorkerProcess) -> None:
        for content in worker.said:
            if "onnxruntime" in content:
                self.versions["onnxruntime"] = content["onnxruntime"]
                continue
            row |= content.get("facts", {})
            method = content.get("method", "all")
            for key in ("l2", "cosine"):
                if key in content:
                    row[key][method] = content[key]
            if "error" in content:
                row["errors"].setdefault(method, content["error"])
            if self.arguments.verbose and "seconds" in content:
                print(f"   {worker.label} {method}: ready in {content['seconds']} s", flush=True)

    @staticmethod
    def check(row: dict, stable: bool) -> None:
        """Is gpuc's result as good as it must be?"""
        if "gpuc" not in row["l2"]:
            return
        if row["cosine"]["gpuc"] < LEAST_COSINE:
            row["errors"]["gpuc"] = f"cosine with fp32 is {row['cosine']['gpuc']:.5f}, at least {LEAST_COSINE} is asked"
        elif "eager" in row["l2"] and row["l2"]["gpuc"] > MOST_ERROR_RATIO * row["l2"]["eager"]:
            row["errors"]["gpuc"] = (
                f"relative error {row['l2']['gpuc']:.2e} is more than {MOST_ERROR_RATIO} times torch's {row['l2']['eager']:.2e}"
            )
        elif not stable:
            row["errors"]["gpuc"] = "another result after many runs"

    def run(self) -> None:
        start = time.monotonic()
        self.deadline = time.time() + self.arguments.prepare_seconds
        workers = {key: self.worker(*key) for key in self.rows}
        try:
            for key, worker in workers.items():
                worker.wait_ready(start + self.arguments.prepare_seconds + GRACE_SECONDS)
                self.note_said(self.rows[key], worker)
            print(f"== all ready after {time.monotonic() - start:.0f} s", flush=True)
            for key, row in self.rows.items():
                if not self.ceilings:
                    self.ceilings = workers[key].ask("ceilings", 60).get("ceilings", {})
                    print(f"== ceilings: {self.ceilings}", flush=True)
                got = workers[key].ask(str(self.arguments.seconds), 60 + 20 * self.arguments.seconds)
                workers[key].stop()  # gives its memory back
                if "error" in got:
                    row["errors"].setdefault("all", got["error"])
                for method, times in got.get("times", {}).items():
                    row["ms"][method] = times["median"]
                    row["spread"][method] = [times["low"], times["high"], times["rounds"], times["replays"]]
                row["clock_mhz"] = got.get("clock_mhz")
                self.check(row, got.get("stable", True))
                print(make_page.line(row), flush=True)
                self.write()
        finally:
            for worker in workers.values():
                worker.stop()

    def write(self) -> None:
        """Rows of earlier runs that this one has not measured stay, with their run."""
        path = self.arguments.out / "results.json"
        kept = json.loads(path.read_text()) if path.is_file() else {"runs": [], "rows": []}
        number = getattr(self, "number", len(kept["runs"]))
        self.number = number
        command = "./dev bench-gpu --only bench" + (" --ort-site DIR" if self.arguments.ort_site else "")
        run = {"machine": machine(self.versions), "ceilings": self.ceilings, "seconds": self.arguments.seconds}
        runs = kept["runs"][:number] + [run | {"command": command}]
        rows = {(row["network"], row["batch"]): row for row in kept["rows"]}
        rows |= {key: row | {"run": number} for key, row in self.rows.items() if row["ms"] or row["errors"]}
        text = json.dumps({"runs": runs, "rows": list(rows.values())}, indent=1)
        path.write_text(text + "\n")


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
    parser.add_argument("--library", type=Path, metavar="PATH", help="libgpuc.so (lib/ beside the folder of gpuc)")
    parser.add_argument(
        "--exported", type=Path, default=Path("build/exported"), metavar="DIR", help="of export_models.py --types fp16"
    )
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR", help="where results.json and logs go")
    parser.add_argument(
        "--ort-site", type=Path, metavar="DIR", help="folder to import ONNX Runtime with its CUDA provider from"
    )
    parser.add_argument("--networks", type=words, metavar="NAMES")
    parser.add_argument("--batches", type=lambda text: [int(b) for b in text.split(",")], metavar="LIST")
    parser.add_argument(
        "--methods",
        type=words,
        default=list(METHODS),
        metavar="LIST",
        help=f"{', '.join(METHODS)} (all), reduce-overhead",
    )
    parser.add_argument("--gpuc-flags", type=words, default=[], metavar="LIST", help="more flags of gpuc compile")
    parser.add_argument("--seconds", type=float, default=1.0, help="of measuring, a row")
    parser.add_argument(
        "--export-seconds",
        type=float,
        default=5,
        help="to wait for models that export_models.py is exporting meanwhile",
    )
    parser.add_argument(
        "--prepare-seconds", type=float, default=200, help="after this time workers begin to prepare nothing more"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="say how long each preparation took")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--plans", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--deadline", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.methods) - {*METHODS, "reduce-overhead"}
    if unknown:
        parser.error(f"no such method: {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}, reduce-overhead")
    arguments.gpuc = arguments.gpuc.resolve()
    arguments.library = (arguments.library or arguments.gpuc.parents[1] / "lib/libgpuc.so").resolve()
    arguments.out = arguments.out.resolve()
    if arguments.worker:
        Worker(arguments).serve()
        return 0
    if not arguments.ort_site:
        arguments.methods = [method for method in arguments.methods if method != "ort"]
    if "gpuc" in arguments.methods and not arguments.library.is_file():
        parser.error(f"'{arguments.library}' is not there: run ./dev build, or name it with --library")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpuc-bench-") as plans:
        bench = Bench(arguments, Path(plans))
        bench.run()
    print()
    results = json.loads((arguments.out / "results.json").read_text())
    print(make_page.model_table(results))
    for row in bench.rows.values():
        for method, error in row["errors"].items():
            print(f"{row['network']} b{row['batch']} {method}: {error}")
    wrong = [
        row
        for row in bench.rows.values()
        if "gpuc" in arguments.methods and ("gpuc" not in row["ms"] or "gpuc" in row["errors"])
    ]
    return 1 if wrong or not bench.rows else 0


if __name__ == "__main__":
    sys.exit(main())
