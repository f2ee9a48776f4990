#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the networks of networks.py to ONNX, each with inputs and the expected fp32 output.

    export_models.py --out DIR [--networks resnet50,gpt2] [--types fp32,fp16] [--batches 1,32]

Writes DIR/<type>/<network>/{b1.onnx, b1.onnx.data, b1.<input>.npy, b1.expected.npy, b1.json, …}; b1.json comes last. One
process exports one network in one type at one batch size, up to twelve at once; the files of further batch
sizes point into the weights of the first. What is already there is left alone. Expected outputs come from torch in fp32
without TF32, on the GPU if there is one, for both types.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

OPSET = 20
SLOW = ("encoder24", "convnet", "gpt2", "vit_b16", "bert_base", "bert_base_384")  # started first
FIRST_SECONDS = 120  # that a further batch size waits for the first one's weights


def export_one(model, inputs, path: Path):
    """An ONNXProgram with fixed shapes, and how it was made."""
    import torch

    arguments = dict(opset_version=OPSET, input_names=list(inputs), output_names=["output"])
    try:
        return torch.onnx.export(
            model, tuple(inputs.values()), dynamo=True, verbose=False, optimize=True, **arguments
        ), "dynamo"
    except Exception as error:  # the exporter raises many kinds
        print(f"{path}: torch.export failed ({str(error).splitlines()[0][:200]}), tracing instead", file=sys.stderr)
        torch.onnx.export(model, tuple(inputs.values()), str(path), dynamo=False, do_constant_folding=True, **arguments)
        return None, "tracing"


def save_program(program, path: Path, first: Path) -> None:
    """Writes the model; large weights that `first` has as well stay in the data file of `first`."""
    deadline = time.monotonic() + FIRST_SECONDS
    while path != first and not first.with_suffix(".json").is_file() and time.monotonic() < deadline:
        time.sleep(0.2)
    if path == first or not first.with_suffix(".json").is_file():
        program.save(str(path), external_data=True)
        return
    import numpy
    import onnx_ir

    stored = onnx_ir.load(first).graph.initializers
    for name, value in program.model.graph.initializers.items():
        twin = stored.get(name)
        external = twin.const_value if twin is not None else None
        if not isinstance(external, onnx_ir.ExternalTensor) or external.dtype != value.const_value.dtype:
            continue
        if list(external.shape) == list(value.const_value.shape) and (
            external.nbytes > 1 << 20 or numpy.array_equal(external.numpy(), value.const_value.numpy())
        ):
            value.const_value = external
    onnx_ir.save(program.model, path)


def export_network(name: str, folder: Path, half: bool, batch: int, first: int) -> None:
    """Runs in its own process."""
    import numpy
    import torch

    import networks

    started = time.monotonic()
    network = networks.NETWORKS[name]
    model = networks.make(network)
    exact = network.inputs(batch)
    numpy.save(folder / f"b{batch}.expected.npy", networks.reference(model, exact).cpu().numpy())
    inputs = {key: tensor.half() if half and tensor.is_floating_point() else tensor for key, tensor in exact.items()}
    for key, tensor in inputs.items():
        numpy.save(folder / f"b{batch}.{key}.npy", tensor.numpy())
    model = model.half().cpu() if half else model.cpu()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    path = folder / f"b{batch}.onnx"
    program, way = export_one(model, inputs, path)
    if program is not None:
        save_program(program, path, folder / f"b{first}.onnx")
    record = {
        "network": name,
        "batch": batch,
        "type": "fp16" if half else "fp32",
        "file": path.name,
        "inputs": list(inputs),
        "exporter": way,
        "torch": torch.__version__,
        "seconds": round(time.monotonic() - started, 1),
    }
    temporary = folder / f"b{batch}.json.part"
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    os.replace(temporary, folder / f"b{batch}.json")


def record_of(folder: Path, batch: int) -> dict | None:
    """What is known about an exported model; None when it is not there."""
    try:
        record = json.loads((folder / f"b{batch}.json").read_text())
        return record if (folder / record["file"]).is_file() else None
    except (OSError, ValueError, KeyError):
        return None


def records_in(folder: Path) -> list[dict]:
    """All exported models of a type, by network and batch."""
    found = [json.loads(path.read_text()) for path in sorted(folder.glob("*/b*.json"))]
    return sorted(found, key=lambda record: (record["network"], record["batch"]))


def main() -> int:
    parser = argparse.ArgumentParser(description="Exports random-weight networks to ONNX.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--networks", type=lambda text: text.split(","), metavar="NAMES", help="all of them without it")
    parser.add_argument(
        "--batches",
        type=lambda text: [int(b) for b in text.split(",")],
        metavar="LIST",
        help="only these of each network's batch sizes",
    )
    parser.add_argument(
        "--types", type=lambda text: text.split(","), default=["fp32"], metavar="LIST", help="fp32, fp16"
    )
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if set(arguments.types) - {"fp32", "fp16"}:
        parser.error("--types: there are fp32 and fp16")
    if arguments.one:
        kind = arguments.types[0]
        batch, first = arguments.batches
        export_network(arguments.one, arguments.out / kind / arguments.one, kind == "fp16", batch, first)
        return 0
    import networks

    waiting = []
    for kind in arguments.types:
        for network in networks.chosen(arguments.networks):
            folder = arguments.out / kind / network.name
            batches = [b for b in network.batches if not arguments.batches or b in arguments.batches]
            waiting += [(network.name, kind, b, batches[0]) for b in batches if record_of(folder, b) is None]
    # First the weights that other batch sizes wait for, slow ones before quick ones.
    waiting.sort(key=lambda job: (job[2] != job[3], job[0] not in SLOW))
    most = min(12, os.cpu_count() or 1)  # several gigabytes each
    environment = dict(os.environ, OMP_NUM_THREADS="2", PYTHONWARNINGS="ignore")
    running: list[tuple[subprocess.Popen, str, Path, int]] = []
    failures = 0
    while waiting or running:
        while waiting and len(running) < most:
            name, kind, batch, first = waiting.pop(0)
            folder = arguments.out / kind / name
            folder.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, __file__, "--out", str(arguments.out), "--one", name, "--types", kind]
            command += ["--batches", f"{batch},{first}"]
            with (folder / f"b{batch}.log").open("w") as log:
                process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)
            running.append((process, f"{name} {kind} b{batch}", folder, batch))
        time.sleep(0.1)
        for job in [job for job in running if job[0].poll() is not None]:
            running.remove(job)
            process, label, folder, batch = job
            record = record_of(folder, batch)
            if process.returncode != 0 or record is None:
                failures += 1
                tail = "\n    ".join((folder / f"b{batch}.log").read_text(errors="replace").strip().splitlines()[-6:])
                print(f"FAIL export {label}: exit code {process.returncode}:\n    {tail}", flush=True)
            else:
                print(f"exported {label} in {record['seconds']} s ({record['exporter']})", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
