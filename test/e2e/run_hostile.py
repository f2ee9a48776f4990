#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds damaged and malicious files to gpuc: real models and a plan with bytes changed, and models that lie.

    run_hostile.py --gpuc build/bin/gpuc --models build/models --count 20

Whatever the file, gpuc must end by itself: with 0, or with 1, a message on stderr and no output file. A signal, a time
of over a minute, more memory than 8 GiB or a file left behind is a failure; the file that caused it is kept.
"""
import argparse
import copy
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).parent))
import fetch_models  # noqa: E402

MODELS = ["reachy_fk_dyn", "mnist_cntk", "espcn_subpixel", "attacut_sc", "g2p_bert"]
SHAPES = {"reachy_fk_dyn": "input:5x7", "attacut_sc": "input:1x2x32", "g2p_bert": "input_1:1x32"}
SECONDS = 60
MEMORY = 8 << 30


def damaged(data: bytes, random: np.random.Generator) -> bytes:
    """A copy with one kind of damage."""
    at = int(random.integers(len(data)))
    end = min(len(data), at + int(random.integers(1, 64)))
    changed = bytearray(data)
    match random.integers(6):
        case 0:
            return data[:at]
        case 1:
            changed[at] ^= 1 << int(random.integers(8))
        case 2:
            changed[at:end] = random.integers(0, 256, end - at, np.uint8).tobytes()
        case 3:
            del changed[at:end]
        case 4:
            changed[at:at] = data[at:end]
        case 5:
            changed[at:at + 9] = b"\xff" * 8 + b"\x7f"  # a huge number where a length or a dimension may be
    return bytes(changed)


def lies(model: onnx.ModelProto) -> dict[str, onnx.ModelProto]:
    """Models that parse and are wrong, one lie each."""
    made = {}

    def lie(name: str) -> onnx.ModelProto:
        made[name] = copy.deepcopy(model)
        return made[name]

    for name, extent in (("huge", 1 << 62), ("negative", -5), ("zero", 0)):
        lie(f"initializer-dim-{name}").graph.initializer[0].dims[0] = extent
        dims = lie(f"input-dim-{name}").graph.input[0].type.tensor_type.shape.dim
        dims[len(dims) - 1].dim_value = extent
    lie("initializer-type").graph.initializer[0].data_type = 99
    lie("input-type").graph.input[0].type.tensor_type.elem_type = 77
    lie("no-op-type").graph.node[0].op_type = ""
    lie("no-opset").ClearField("opset_import")
    lie("no-graph").ClearField("graph")
    lie("no-outputs").graph.ClearField("output")
    lie("ghost-output").graph.output[0].name = "ghost"
    cycle = lie("cycle").graph.node
    cycle[0].input[0] = cycle[-1].output[0]
    twice = lie("defined-twice").graph.node
    twice[-1].output[0] = twice[0].output[0]
    lie("no-inputs-of-node").graph.node[0].ClearField("input")
    lie("many-inputs-of-node").graph.node[0].input.extend(["x"] * 10000)
    lie("attribute").graph.node[0].attribute.append(helper.make_attribute("axis", 1 << 62))
    lie("long-name").graph.node[0].name = "n" * 1_000_000
    lie("control-characters").graph.node[0].op_type = "\x1b[31m\n\r\x00Conv"
    recursive = lie("recursive-function")
    recursive.functions.append(helper.make_function(
        "loop", "F", ["a"], ["b"], [helper.make_node("F", ["a"], ["b"], domain="loop")], [helper.make_opsetid("loop", 1)]))
    recursive.opset_import.append(helper.make_opsetid("loop", 1))
    recursive.graph.node[0].op_type, recursive.graph.node[0].domain = "F", "loop"
    del recursive.graph.node[0].input[1:], recursive.graph.node[0].attribute[:]
    graph = helper.make_graph([], "leaf", [], [])
    for depth in range(20):
        empty = helper.make_graph([], "empty", [], [])
        node = helper.make_node("If", ["c"], ["o"], then_branch=graph, else_branch=empty)
        graph = helper.make_graph([node], f"level{depth}", [], [])
    lie("nested-graphs").graph.node[0].attribute.append(helper.make_attribute("body", graph))
    big = lie("huge-constant").graph
    big.node.insert(0, helper.make_node("ConstantOfShape", ["sizes"], ["big"]))
    big.initializer.append(helper.make_tensor("sizes", TensorProto.INT64, [3], [1 << 20, 1 << 20, 1 << 20]))
    return made


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fault(command: list[str], folder: Path) -> str:
    """What is wrong with gpuc's answer; empty when nothing is. `folder` must not have other files than before."""
    before = set(folder.iterdir())
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    new = set(folder.iterdir()) - before
    text = ""
    if done.returncode < 0:
        text = f"signal {-done.returncode}"
    elif done.returncode not in (0, 1):
        text = f"exit code {done.returncode}"
    elif done.returncode == 1 and "gpuc: error: " not in done.stderr:
        text = "failed without a message"
    elif done.returncode == 1 and new:
        text = f"left {', '.join(sorted(path.name for path in new))}"
    elif "\x1b" in done.stderr + done.stdout:
        text = "control characters of the file reach the terminal"
    elif len(done.stderr) > 100_000:
        text = f"{len(done.stderr)} characters of messages"
    for path in new:
        path.unlink()
    return text


class Runner:
    def __init__(self, arguments: argparse.Namespace, folder: Path):
        self.gpuc, self.folder, self.keep = str(arguments.gpuc), folder, arguments.keep
        self.passed = self.failed = 0

    def check(self, name: str, suffix: str, data: bytes, words: list[str]) -> None:
        path = self.folder / f"input{suffix}"
        path.write_bytes(data)
        text = fault([self.gpuc, words[0], str(path), *words[1:]], self.folder)
        if not text:
            self.passed += 1
            return
        self.failed += 1
        self.keep.mkdir(parents=True, exist_ok=True)
        kept = self.keep / f"{name}{suffix}"
        shutil.copy(path, kept)
        print(f"FAIL {name}: {text}: gpuc {words[0]} {kept} {' '.join(words[1:])}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Damaged and malicious files through gpuc.")
    parser.add_argument("--gpuc", type=Path, default=Path("build/bin/gpuc"))
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="of fetch_models.py")
    parser.add_argument("--count", type=int, default=20, help="damaged copies of each file")
    parser.add_argument("--keep", type=Path, default=Path("build/test-logs/hostile"), help="folder of files that failed")
    arguments = parser.parse_args()
    known = {model["id"]: model for model in fetch_models.load_spec()["models"]}
    with tempfile.TemporaryDirectory(prefix="gpuc-hostile-") as name:
        folder = Path(name)
        runner = Runner(arguments, folder)
        for model_id in MODELS:
            data = fetch_models.model_path(arguments.models, known[model_id]).read_bytes()
            words = ["compile", "-o", str(folder / "out.gpuc"), "--target=h200", "-q"]
            words += [f"--shapes={SHAPES[model_id]}"] if model_id in SHAPES else []
            random = np.random.default_rng(len(data))
            for index in range(arguments.count):
                runner.check(f"{model_id}-{index}", ".onnx", damaged(data, random), words)
        for lie, model in lies(onnx.load(fetch_models.model_path(arguments.models, known["reachy_fk_dyn"]))).items():
            words = ["compile", "-o", str(folder / "out.gpuc"), "--target=h200", "-q", "--shapes=input:5x7"]
            runner.check(lie, ".onnx", model.SerializeToString(), words)
            runner.check(f"check-{lie}", ".onnx", model.SerializeToString(), ["check"])
        plan = folder / "input.gpuc"
        model = fetch_models.model_path(arguments.models, known["reachy_fk_dyn"])
        made = subprocess.run([runner.gpuc, "compile", str(model), "-o", str(plan), "--target=h200", "-q", "--shapes=input:5x7"])
        if made.returncode == 0:
            data, random = plan.read_bytes(), np.random.default_rng(1)
            for index in range(arguments.count):
                runner.check(f"plan-{index}", ".gpuc", damaged(data, random), ["run", "--device=sim", "-q"])
        else:
            runner.failed += 1
            print("FAIL plan: reachy_fk_dyn could not be compiled")
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
