#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the networks of networks.py to ONNX, each with inputs and the expected fp32 output.

    export_models.py --out DIR [--networks resnet50,gpt2] [--types fp32,fp16] [--batches 1,32]

Writes DIR/<type>/<network>/{b1.onnx, b1.onnx.data, b1.<input>.npy, b1.expected.npy, …, network.json}. One process
exports one network in one type; all batch sizes share the weights of the first. What is already there is left alone.
Expected outputs come from torch in fp32 without TF32, on the GPU if there is one, for both types.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

OPSET = 20
SLOW = ("encoder24", "convnet", "gpt2", "vit_b16", "bert_base")  # started first


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
    if path == first:
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


def export_network(name: str, folder: Path, half: bool, batches: list[int]) -> None:
    """Runs in its own process."""
    import numpy
    import torch

    import networks

    started = time.monotonic()
    network = networks.NETWORKS[name]
    folder.mkdir(parents=True, exist_ok=True)
    model = networks.make(network)
    inputs = {}
    for batch in batches:
        exact = network.inputs(batch)
        numpy.save(folder / f"b{batch}.expected.npy", networks.reference(model, exact).cpu().numpy())
        inputs[batch] = {
            key: tensor.half() if half and tensor.is_floating_point() else tensor for key, tensor in exact.items()
        }
        for key, tensor in inputs[batch].items():
            numpy.save(folder / f"b{batch}.{key}.npy", tensor.numpy())
    model = model.half().cpu() if half else model.cpu()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    record = {"network": name, "type": "fp16" if half else "fp32", "torch": torch.__version__, "models": {}}
    first = folder / f"b{batches[0]}.onnx"
    for batch in batches:
        path = folder / f"b{batch}.onnx"
        program, way = export_one(model, inputs[batch], path)
        if program is not None:
            save_program(program, path, first)
        record["models"][str(batch)] = {"file": path.name, "inputs": list(inputs[batch]), "exporter": way}
    record["seconds"] = round(time.monotonic() - started, 1)
    temporary = folder / "network.json.part"
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    os.replace(temporary, folder / "network.json")


def is_exported(folder: Path, batches: list[int]) -> bool:
    try:
        models = json.loads((folder / "network.json").read_text())["models"]
    except (OSError, ValueError, KeyError):
        return False
    return all(str(batch) in models and (folder / models[str(batch)]["file"]).is_file() for batch in batches)


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
    import networks

    chosen = networks.chosen([arguments.one] if arguments.one else arguments.networks)
    batches = {n.name: [b for b in n.batches if not arguments.batches or b in arguments.batches] for n in chosen}
    if arguments.one:
        kind = arguments.types[0]
        export_network(arguments.one, arguments.out / kind / arguments.one, kind == "fp16", batches[arguments.one])
        return 0
    cores = os.cpu_count() or 1
    environment = dict(os.environ, OMP_NUM_THREADS=str(max(1, min(4, cores // 4))), PYTHONWARNINGS="ignore")
    waiting = [
        (n.name, kind)
        for kind in arguments.types
        for n in chosen
        if batches[n.name] and not is_exported(arguments.out / kind / n.name, batches[n.name])
    ]
    waiting.sort(key=lambda job: job[0] not in SLOW)
    running: list[tuple[subprocess.Popen, str, Path]] = []
    failures = 0
    while waiting or running:
        while waiting and len(running) < cores:
            name, kind = waiting.pop(0)
            folder = arguments.out / kind / name
            folder.mkdir(parents=True, exist_ok=True)
            command = [sys.executable, __file__, "--out", str(arguments.out), "--one", name, "--types", kind]
            command += ["--batches", ",".join(map(str, batches[name]))]
            with (folder / "log").open("w") as log:
                running.append(
                    (
                        subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment),
                        f"{name} {kind}",
                        folder,
                    )
                )
        time.sleep(0.2)
        for job in [job for job in running if job[0].poll() is not None]:
            running.remove(job)
            process, label, folder = job
            if process.returncode != 0:
                failures += 1
                tail = "\n    ".join((folder / "log").read_text(errors="replace").strip().splitlines()[-6:])
                print(f"FAIL export {label}: exit code {process.returncode}:\n    {tail}", flush=True)
            else:
                record = json.loads((folder / "network.json").read_text())
                ways = sorted({model["exporter"] for model in record["models"].values()})
                print(
                    f"exported {label} at batch {', '.join(record['models'])} in {record['seconds']} s ({', '.join(ways)})",
                    flush=True,
                )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
