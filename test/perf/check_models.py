#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks gpuc on this machine's GPU.

    check_models.py --gpuc build/bin/gpuc --exported DIR [--models DIR] [--onnx-data DIR] [--only networks,packages,…]

networks      every exported network in fp32 and fp16 against torch's fp32 output, with compile time (empty cache; several
              compilations share the machine), launches, and the time of the correct fp16 plans
packages      models out of packages (test/e2e/models.json) that are present, against ONNX Runtime on the CPU
families      one small model per kernel family: right, and clean under compute-sanitizer memcheck and racecheck
conformance   the node tests of the onnx package through gpuc-onnx-conformance (a program beside gpuc)
compile-cost  compile time of ResNet-50 for one target on two cores with an empty cache, and peak memory

Writes check.json into --out and a table last. Exit code 1 if anything failed.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "e2e")]
import export_models  # noqa: E402
import gpuc_cli  # noqa: E402
from gpuc_cli import GpucError  # noqa: E402

STAGES = ("networks", "packages", "families", "conformance", "compile-cost")


@dataclasses.dataclass
class Row:
    """One check."""

    stage: str
    name: str
    precision: str = ""
    error: str = ""  # empty: passed
    worst: float | None = None  # largest error over the range
    relative_l2: float | None = None
    compile_s: float | None = None
    launches: int | None = None
    kernels: int | None = None
    gpu_ms: float | None = None
    note: str = ""


def workers() -> int:
    return max(1, (os.cpu_count() or 4) // 3)


def report(row: Row) -> Row:
    what = f"{row.stage} {row.name} {row.precision}".rstrip()
    numbers = "" if row.worst is None else f" error {row.worst:.2e}"
    numbers += "" if row.launches is None else f" launches {row.launches}"
    numbers += "" if row.compile_s is None else f" compiled in {row.compile_s:.1f} s"
    print(("FAIL " if row.error else "pass ") + what + numbers + (f": {row.error}" if row.error else ""), flush=True)
    return row


# --- exported networks -----------------------------------------------------------------------------------------
def network_cases(
    exported: Path, names: list[str] | None, batches: list[int] | None
) -> list[tuple[str, int, Path, dict[str, Path]]]:
    """(network, batch, model, input files)."""
    cases = []
    for record in export_models.records_in(exported / "fp32"):
        network, batch, folder = record["network"], record["batch"], exported / "fp32" / record["network"]
        if (not names or network in names) and (not batches or batch in batches):
            inputs = {name: folder / f"b{batch}.{name}.npy" for name in record["inputs"]}
            cases.append((network, batch, folder / record["file"], inputs))
    return cases


def check_network(arguments: argparse.Namespace, case: tuple, precision: str, plans: Path) -> Row:
    network, batch, model, inputs = case
    row = Row("network", f"{network} b{batch}", precision)
    plan = plans / f"{network}_b{batch}_{precision}.gpuc"
    try:
        compiled = gpuc_cli.compile_plan(
            arguments.gpuc, model, plan, [f"--target={arguments.target}", *gpuc_cli.PRECISION_FLAGS[precision]]
        )
        row.compile_s, row.launches, row.kernels = compiled.seconds, compiled.launches, compiled.kernels
        with tempfile.TemporaryDirectory(prefix="gpuc-out-") as folder:
            gpuc_cli.run_plan(arguments.gpuc, plan, inputs, Path(folder), arguments.device)
            files = list(Path(folder).glob("*.npy"))
            if len(files) != 1:
                raise GpucError(f"{len(files)} outputs, expected one")
            got = np.load(files[0], mmap_mode="r")
            want = np.load(model.parent / f"b{batch}.expected.npy", mmap_mode="r")
            row.worst, row.relative_l2 = gpuc_cli.errors_of(got, want)
        if not row.worst <= gpuc_cli.TOLERANCE[precision]:
            raise GpucError(
                f"error {row.worst:.3e} of the range (relative L2 {row.relative_l2:.2e}), allowed {gpuc_cli.TOLERANCE[precision]:.0e}"
            )
    except (GpucError, OSError, ValueError) as error:
        row.error = str(error)
    if row.error or precision != "fp16":
        plan.unlink(missing_ok=True)
    return report(row)


def check_networks(arguments: argparse.Namespace, plans: Path) -> list[Row]:
    cases = network_cases(arguments.exported, arguments.networks, arguments.batches)
    # The largest first: they would otherwise run alone at the end.
    cases.sort(key=lambda case: -sum(f.stat().st_size for f in case[2].parent.glob("*.data")))
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        rows = list(
            pool.map(
                lambda job: check_network(arguments, *job, plans), [(c, p) for c in cases for p in ("fp32", "fp16")]
            )
        )
    for case in cases:  # alone on the GPU
        name, plan = f"{case[0]} b{case[1]}", plans / f"{case[0]}_b{case[1]}_fp16.gpuc"
        row = next(row for row in rows if row.name == name and row.precision == "fp16")
        if plan.exists():
            try:
                row.gpu_ms = gpuc_cli.bench_plan(arguments.gpuc, plan, case[3], arguments.seconds)["median_ms"]
            except GpucError as error:
                row.error = str(error)
                report(row)
            plan.unlink()
    return rows


# --- models out of packages ------------------------------------------------------------------------------------
def check_package(arguments: argparse.Namespace, model: dict, precision: str) -> Row:
    import fetch_models
    import run_models

    row = Row("package", model["id"], precision)
    path = fetch_models.model_path(arguments.models, model)
    with tempfile.TemporaryDirectory(prefix="gpuc-package-") as folder:
        folder = Path(folder)
        try:
            case = run_models.real_case(model, arguments.models, small=False, cut=precision != "fp32")
            if case.before_last:
                path = case.path = run_models.cut_model(case, folder)
            expected = run_models.expected_outputs(case)
            files = {}
            for index, (name, value) in enumerate(case.inputs.items()):
                files[name] = folder / f"in{index}.npy"
                np.save(files[name], value)
            shapes = [
                f"--shapes={name}:{'x'.join(map(str, value.shape)) or 'scalar'}" for name, value in case.inputs.items()
            ]
            compiled = gpuc_cli.compile_plan(
                arguments.gpuc,
                path,
                folder / "m.gpuc",
                [f"--target={arguments.target}", *shapes, *gpuc_cli.PRECISION_FLAGS[precision]],
            )
            row.compile_s, row.launches, row.kernels = compiled.seconds, compiled.launches, compiled.kernels
            gpuc_cli.run_plan(arguments.gpuc, folder / "m.gpuc", files, folder / "out", arguments.device)
            row.worst = 0.0
            for name, want in expected.items():
                error = run_models.error_of(name, np.load(folder / "out" / gpuc_cli.file_name(name)), want, None)
                row.worst = max(row.worst, error)
                if not error <= case.tolerance(precision):
                    raise GpucError(
                        f"output '{name}': error {error:.3e} of the range, allowed {case.tolerance(precision):.1e}"
                    )
            if precision == "fp16":
                row.gpu_ms = -1.0  # measured alone later
                shutil.copy(folder / "m.gpuc", arguments.scratch / f"{model['id']}.gpuc")
        except (GpucError, run_models.ModelError, OSError, ValueError) as error:
            row.error = str(error)
    return report(row)


def check_packages(arguments: argparse.Namespace) -> list[Row]:
    import fetch_models

    present = [
        m
        for m in fetch_models.load_spec()["models"]
        if arguments.models and fetch_models.model_path(arguments.models, m).is_file()
    ]
    if not present:
        print("no package models here: name their folder with --models", flush=True)
    with concurrent.futures.ThreadPoolExecutor(workers()) as pool:
        rows = list(
            pool.map(lambda job: check_package(arguments, *job), [(m, p) for m in present for p in ("fp32", "fp16")])
        )
    for row in rows:
        if row.gpu_ms == -1.0:
            plan = arguments.scratch / f"{row.name}.gpuc"
            try:
                row.gpu_ms = gpuc_cli.bench_plan(arguments.gpuc, plan, {}, min(0.3, arguments.seconds))["median_ms"]
            except GpucError as error:
                row.gpu_ms, row.note = None, str(error).splitlines()[0]
            plan.unlink()
    return rows


# --- kernel families under compute-sanitizer -------------------------------------------------------------------
def find_sanitizer() -> str | None:
    found = shutil.which("compute-sanitizer")
    usual = "/usr/local/cuda/bin/compute-sanitizer"
    return found or (usual if os.access(usual, os.X_OK) else None)


def check_family(arguments: argparse.Namespace, name: str, sanitizer: str | None) -> list[Row]:
    import family_models
    import onnx

    rows = []
    with tempfile.TemporaryDirectory(prefix="gpuc-family-") as folder:
        folder = Path(folder)
        row = Row("family", name, "value")
        rows.append(row)
        try:
            proto = family_models.FAMILIES[name]()
            onnx.save(proto, folder / "m.onnx")
            inputs = family_models.inputs_of(proto)
            files = {}
            for key, value in inputs.items():
                files[key] = folder / f"{key}.npy"
                np.save(files[key], value)
            compiled = gpuc_cli.compile_plan(
                arguments.gpuc, folder / "m.onnx", folder / "m.gpuc", [f"--target={arguments.target}", "--noTF32"]
            )
            row.launches, row.kernels = compiled.launches, compiled.kernels
            gpuc_cli.run_plan(arguments.gpuc, folder / "m.gpuc", files, folder / "out", arguments.device)
            expected = reference_outputs(folder / "m.onnx", inputs)
            row.worst = 0.0
            for key, want in expected.items():
                got = np.load(folder / "out" / gpuc_cli.file_name(key))
                row.worst = max(row.worst, gpuc_cli.errors_of(got, want)[0])
                limit = 5e-3 if want.dtype == np.float16 else 1e-5
                if not row.worst <= limit:
                    raise GpucError(f"output '{key}': error {row.worst:.3e} of the range, allowed {limit:.0e}")
        except Exception as error:  # one family's trouble must not hide the others
            row.error = str(error) or type(error).__name__
        report(row)
        if not (folder / "m.gpuc").exists() or sanitizer is None:
            return rows
        for tool in ("memcheck", "racecheck"):
            row = Row("family", name, tool)
            rows.append(row)
            command = [
                sanitizer,
                "--tool",
                tool,
                "--error-exitcode",
                "86",
                str(arguments.gpuc),
                "run",
                str(folder / "m.gpuc"),
                "--device=cuda",
            ]
            try:
                done = subprocess.run(
                    command + [f"--input={k}:{f}" for k, f in files.items()],
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=180,
                )
                lines = [line for line in done.stdout.splitlines() if line.startswith("=========") and len(line) > 10]
                if done.returncode != 0 or not any("0 errors" in line or "0 hazards" in line for line in lines):
                    row.error = f"exit code {done.returncode}: " + "\n    ".join(
                        (lines or done.stderr.splitlines())[:14]
                    )
            except subprocess.TimeoutExpired:
                row.error = "no end within 180 s"
            report(row)
    return rows


def reference_outputs(path: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """ONNX Runtime's CPU outputs, computed in fp32 where the model is fp16."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs), strict=True))


def check_families(arguments: argparse.Namespace) -> list[Row]:
    import family_models

    sanitizer = find_sanitizer()
    if sanitizer is None:
        print("compute-sanitizer is not here: families run without it", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 4) // 2)) as pool:
        return [
            row
            for rows in pool.map(lambda name: check_family(arguments, name, sanitizer), family_models.FAMILIES)
            for row in rows
        ]


# --- the onnx package's own tests --------------------------------------------------------------------------------
def check_conformance(arguments: argparse.Namespace) -> list[Row]:
    """Shards the cases over several processes: each compiles its cases one after the other."""
    program = arguments.gpuc.with_name("gpuc-onnx-conformance")
    if not arguments.onnx_data or not arguments.onnx_data.is_dir() or not program.is_file():
        print(f"no conformance run: it needs --onnx-data and {program.name} beside gpuc", flush=True)
        return []
    if not (arguments.onnx_data / "node").is_dir():
        print("this onnx package has no node tests: name the data of onnx 1.22 with --onnx-data", flush=True)
    shards = max(1, (os.cpu_count() or 4) - 2)
    known = Path(__file__).parents[1] / "conformance/onnx/known-failures.txt"
    with tempfile.TemporaryDirectory(prefix="gpuc-conformance-") as folder:
        folder = Path(folder)
        index = 0
        for kind in ("node", "simple", "pytorch-operator", "pytorch-converted"):
            for case in sorted((arguments.onnx_data / kind).iterdir() if (arguments.onnx_data / kind).is_dir() else []):
                if (case / "model.onnx").is_file():
                    link = folder / str(index % shards) / kind / case.name
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(case.resolve())
                    index += 1

        def run(shard: int) -> tuple[int, str]:
            command = [str(program), f"--data={folder / str(shard)}", "--device=cuda"]
            command += [f"--known-failures={known}"] if known.is_file() else []
            environment = dict(os.environ, GPUC_CACHE_DIR=str(folder / f"cache{shard}"))
            try:
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=arguments.conformance_seconds,
                    env=environment,
                )
                return done.returncode, done.stdout + ("" if done.returncode in (0, 1) else done.stderr[-600:])
            except subprocess.TimeoutExpired:
                return -1, f"FAIL shard {shard}: no end within {arguments.conformance_seconds:.0f} s"

        with concurrent.futures.ThreadPoolExecutor(shards) as pool:
            results = list(pool.map(run, range(min(shards, index))))
    rows, totals = [], [0, 0, 0]
    for shard, (code, text) in enumerate(results):
        for line in text.splitlines():
            words = line.replace(",", "").split()
            if line.startswith("FAIL "):
                name, _, reason = line[5:].partition(": ")
                rows.append(Row("conformance", name, "", reason or "failed"))
            elif len(words) == 6 and words[1] == "passed":
                totals = [total + int(words[i]) for total, i in zip(totals, (0, 2, 4), strict=True)]
        if code not in (0, 1):
            rows.append(Row("conformance", f"shard {shard}", "", f"exit code {code}: {text[-300:]}"))
    print(f"conformance on cuda: {totals[0]} passed, {totals[1]} failed, {totals[2]} skipped", flush=True)
    rows.append(Row("conformance", "totals", note=f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped"))
    return rows


# --- cost of a compilation -----------------------------------------------------------------------------------------
def check_compile_cost(arguments: argparse.Namespace) -> list[Row]:
    rows = []
    cores = set(sorted(os.sched_getaffinity(0))[:2])
    for _, batch, model, _ in network_cases(arguments.exported, ["resnet50"], [1]):
        for precision, flags in gpuc_cli.PRECISION_FLAGS.items():
            row = Row("compile-cost", f"resnet50 b{batch}", precision)
            try:
                compiled = gpuc_cli.compile_plan(
                    arguments.gpuc,
                    model,
                    arguments.scratch / "cost.gpuc",
                    ["--target=h200", *flags],
                    threads=2,
                    cores=cores,
                )
                row.compile_s, row.note = compiled.seconds, f"2 cores, peak memory {compiled.peak_megabytes:.0f} MiB"
                if compiled.seconds > 30 or compiled.peak_megabytes > 2000:
                    row.error = (
                        f"{compiled.seconds:.1f} s and {compiled.peak_megabytes:.0f} MiB; allowed 30 s and 2000 MiB"
                    )
            except GpucError as error:
                row.error = str(error)
            rows.append(report(row))
            print(f"     {row.note}", flush=True)
    return rows


def print_table(rows: list[Row]) -> None:
    def cell(value, pattern: str) -> str:
        return "" if value is None else format(value, pattern)

    networks = [row for row in rows if row.stage in ("network", "package")]
    if networks:
        print(
            f"\n{'model':<26}{'':<6}{'compile s':>10}{'launches':>9}{'kernels':>8}{'error':>10}{'rel L2':>10}{'GPU ms':>10}"
        )
    for row in networks:
        print(
            f"{row.name:<26}{row.precision:<6}{cell(row.compile_s, '.1f'):>10}{cell(row.launches, 'd'):>9}{cell(row.kernels, 'd'):>8}"
            f"{cell(row.worst, '.1e'):>10}{cell(row.relative_l2, '.1e'):>10}{cell(row.gpu_ms, '.4f'):>10}{'  FAILED' if row.error else ''}"
        )
    failed = [row for row in rows if row.error]
    if failed:
        print("\nfailures:")
    for row in failed:
        print(f"  {row.stage} {row.name} {row.precision}: {row.error[:300]}")
    print(f"\n{len(rows) - len(failed)} passed, {len(failed)} failed")


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks gpuc on this machine's GPU.")
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--gpuc", type=Path, default=Path("build/bin/gpuc"), metavar="PATH")
    parser.add_argument(
        "--exported", type=Path, metavar="DIR", default=Path("build/exported"), help="of export_models.py"
    )
    parser.add_argument("--models", type=Path, metavar="DIR", help="of fetch_models.py")
    parser.add_argument("--onnx-data", type=Path, metavar="DIR", help="backend/test/data of the onnx package")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR", help="where check.json goes")
    parser.add_argument("--target", default="native")
    parser.add_argument("--device", default="cuda", help="sim tries this script, not gpuc, without a GPU")
    parser.add_argument("--only", type=words, metavar="STAGES", help=", ".join(STAGES))
    parser.add_argument("--networks", type=words, metavar="NAMES")
    parser.add_argument("--batches", type=lambda text: [int(b) for b in text.split(",")], metavar="LIST")
    parser.add_argument("--seconds", type=float, default=0.5, help="of measuring, a model")
    parser.add_argument("--conformance-seconds", type=float, default=150)
    arguments = parser.parse_args()
    stages = arguments.only or STAGES
    unknown = set(stages) - set(STAGES)
    if unknown:
        parser.error(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    arguments.gpuc = arguments.gpuc.resolve()
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="gpuc-check-") as scratch:
        arguments.scratch = Path(scratch)
        work = {
            "networks": lambda: check_networks(arguments, arguments.scratch),
            "packages": lambda: check_packages(arguments),
            "families": lambda: check_families(arguments),
            "conformance": lambda: check_conformance(arguments),
            "compile-cost": lambda: check_compile_cost(arguments),
        }
        for stage in stages:
            start = time.monotonic()
            rows += work[stage]()
            print(f"== {stage}: {time.monotonic() - start:.0f} s", flush=True)
            (arguments.out / "check.json").write_text(
                json.dumps([dataclasses.asdict(row) for row in rows], indent=1) + "\n"
            )
    print_table(rows)
    return 1 if any(row.error for row in rows) or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
