#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs real models through gpuc and compares every output with ONNX Runtime on the CPU.

    run_models.py --gpuc build/bin/gpuc --models build/models --device sim --precision fp32 --list ci

Models come from fetch_models.py. A float output is right when max |error| / (range of the expected values) stays below
the tolerance of the precision; integers must be equal. An expected output that is constant, tiny or not finite proves
nothing, so it is an error: the input's recipe in models.json has to be changed then.

`before_last` names an operator: with fp16 and TF32 the model is cut before the last node of it. Text detectors end in
a steep sigmoid, text recognizers in a softmax: where their arguments are near a decision, the rounding of half precision
alone (1e-3 of the argument's range) moves a probability by some per cent, in any implementation.

`fp16_error` is what ONNX Runtime's own fp16 version of a model (onnxruntime.transformers.float16) is off on the same
input at full size, where that is more than the tolerance: one and a half times as much is allowed there.

Recipes (`fill`): `normal` N(`mean`, `scale`²), which are 0 and 1 unless stated; `integers` uniform below `high`; `constant` the `value`; `page` an
image of light paper with rows of dark glyphs, which is what text detectors react to, times `scale`. All of them are
seeded, by the names of model and input.

The `light_*` networks of the onnx package have constant weights and ship their expected output; they run on onnx's
deterministic ramp input and are compared with onnx's own tolerance.
"""
import argparse
import dataclasses
import json
import re
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

sys.path.insert(0, str(Path(__file__).parent))
import fetch_models  # noqa: E402

# Largest |error| over the range of the expected output. TF32 keeps as many bits of a factor as fp16 does.
TOLERANCE = {"fp32": 1e-4, "tf32": 1e-2, "fp16": 1e-2, "fp16-accumulate": 1e-2}
PRECISION_FLAGS = {
    "fp32": ["--noTF32"],
    "tf32": [],
    "fp16": ["--fp16"],
    "fp16-accumulate": ["--fp16", "--fp16-accumulate"],  # says something on GeForce only: --device=sim:sm_89
}
# Allowed beyond `fp16_error`, where a model has one.
FP16_ERROR_FACTOR = 1.5
# An expected float output whose standard deviation (one value: magnitude) is smaller says nothing.
LEAST_DEVIATION = 1e-3
# onnx's own tolerance for its light networks; densenet121 states twice as much.
LIGHT_RTOL = {"densenet121": 2e-3}


class ModelError(Exception):
    """Why a model failed."""


@dataclasses.dataclass
class Case:
    """A model with inputs and a way to get and compare the expected outputs."""

    name: str
    path: Path
    inputs: dict[str, np.ndarray]
    shipped: list[np.ndarray] | None = None  # expected outputs that come with the model
    rtol: float | None = None                # elementwise tolerance of shipped outputs
    before_last: str = ""                    # cut the model before the last node of this operator
    fp16_error: float = 0                    # of ONNX Runtime's fp16

    def tolerance(self, precision: str) -> float:
        """Of error_of()."""
        if self.rtol is not None:
            return 1.0
        return max(TOLERANCE[precision], 0 if precision == "fp32" else FP16_ERROR_FACTOR * self.fp16_error)


@dataclasses.dataclass
class Outcome:
    name: str
    error: str = ""       # empty: passed
    worst: float = 0.0    # largest error, in the unit of the tolerance
    seconds: float = 0.0  # compilation and run


def page(shape: list[int], random: np.random.Generator) -> np.ndarray:
    """Paper (+2) with rows of dark (-2) random 5x7 glyphs at twice the size, and a little noise; NCHW."""
    height, width = shape[-2:]
    image = np.full((height, width), 2.0, np.float32)
    for top in range(8, height - 16, 22):
        for left in range(8, width - 12, 12):
            if random.random() < 0.15:
                continue  # a space between words
            glyph = np.kron(random.random((7, 5)) < 0.5, np.ones((2, 2), bool))
            image[top : top + 14, left : left + 10][glyph] = -2.0
    return (np.broadcast_to(image, shape) + random.normal(0, 0.05, shape)).astype(np.float32)


def make_input(model_id: str, name: str, recipe: dict, shape: list[int]) -> np.ndarray:
    random = np.random.default_rng(zlib.crc32(f"{model_id}/{name}".encode()))
    fill, dtype = recipe["fill"], np.dtype(recipe["dtype"])
    if fill == "page":
        return (page(shape, random) * recipe.get("scale", 1.0)).astype(np.float32)
    if fill == "integers":
        return random.integers(0, recipe["high"], shape).astype(dtype)
    if fill == "constant":
        return np.full(shape, recipe["value"], dtype)
    if fill == "normal":
        return (recipe.get("mean", 0.0) + random.standard_normal(shape) * recipe.get("scale", 1.0)).astype(dtype)
    raise ModelError(f"models.json: unknown fill '{fill}'")


def real_case(model: dict, models: Path, small: bool, cut: bool) -> Case:
    inputs = {}
    for name, recipe in model["inputs"].items():
        shape = recipe.get("ci_shape", recipe["shape"]) if small else recipe["shape"]
        inputs[name] = make_input(model["id"], name, recipe, shape)
    return Case(
        model["id"],
        fetch_models.model_path(models, model),
        inputs,
        before_last=model.get("before_last", "") if cut else "",
        fp16_error=0 if small else model.get("fp16_error", 0),
    )


def cut_model(case: Case, folder: Path) -> Path:
    """The model that computes what goes into the last node of an operator, instead of its outputs."""
    model = onnx.load(case.path)
    node = next(node for node in reversed(model.graph.node) if node.op_type == case.before_last)
    output = onnx.helper.make_tensor_value_info(node.input[0], onnx.TensorProto.FLOAT, None)
    del model.graph.output[:]
    model.graph.output.append(output)
    path = folder / case.path.name
    onnx.save(model, path)
    return path


def light_case(name: str) -> Case:
    path = Path(onnx.__file__).parent / "backend/test/data/light" / f"light_{name}.onnx"
    graph = onnx.load(path).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs, shipped = {}, []
    for value in graph.input:
        if value.name not in constants:
            shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
            count = int(np.prod(shape))
            inputs[value.name] = (np.arange(count).reshape(shape) / count).astype(np.float32)
    for index in range(len(graph.output)):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.with_name(f"light_{name}_output_{index}.pb").read_bytes())
        shipped.append(onnx.numpy_helper.to_array(tensor))
    return Case(f"light_{name}", path, inputs, shipped, LIGHT_RTOL.get(name, 1e-3))


def expected_outputs(case: Case) -> dict[str, np.ndarray]:
    """By output name, in the model's order."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if case.shipped is not None:
        names = [output.name for output in onnx.load(case.path, load_external_data=False).graph.output]
        return dict(zip(names, case.shipped, strict=True))
    session = onnxruntime.InferenceSession(str(case.path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, case.inputs), strict=True))
    for name, value in outputs.items():
        refuse_degenerate(name, value)
    return outputs


def spread(value: np.ndarray) -> float:
    """Range of the values; of a single value its magnitude."""
    return float(np.ptp(value)) if value.size > 1 else float(np.abs(value).max(initial=0))


def refuse_degenerate(name: str, value: np.ndarray) -> None:
    if value.dtype.kind != "f":
        return
    exact = value.astype(np.float64)
    if not np.isfinite(exact).all():
        raise ModelError(f"expected output '{name}' is not finite: change the input's recipe")
    deviation = exact.std() if exact.size > 1 else spread(exact)
    if deviation < LEAST_DEVIATION:
        raise ModelError(f"expected output '{name}' says nothing (deviation {deviation:.1e}): change the input's recipe")


def error_of(name: str, got: np.ndarray, want: np.ndarray, rtol: float | None) -> float:
    """Largest error of one output in the unit that the tolerance has."""
    if got.dtype != want.dtype or got.shape != want.shape:
        raise ModelError(f"output '{name}' is {got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}")
    if want.size == 0:
        return 0.0
    if want.dtype.kind != "f":
        wrong = int((got != want).sum())
        if wrong:
            raise ModelError(f"output '{name}': {wrong} of {want.size} integers differ")
        return 0.0
    error = np.abs(got.astype(np.float64) - want.astype(np.float64))
    if not np.isfinite(error).all():
        raise ModelError(f"output '{name}': {int((~np.isfinite(error)).sum())} of {want.size} values are not finite")
    if rtol is not None:
        return float((error / (1e-7 + rtol * np.abs(want.astype(np.float64)))).max())
    return float(error.max()) / spread(want.astype(np.float64))


def file_name(output: str) -> str:
    """The file name that gpuc gives an output."""
    name = re.sub(rb"[^A-Za-z0-9_.-]", b"_", output.encode()[:200])
    return (re.sub(rb"^\.", b"_", name) or b"_").decode() + ".npy"


def run_gpuc(arguments: argparse.Namespace, case: Case, folder: Path) -> Path:
    """Runs the case; returns the folder of its outputs."""
    command = [str(arguments.gpuc), "run", str(case.path), f"--device={arguments.device}", "--quiet"]
    command += PRECISION_FLAGS[arguments.precision] + [f"--output-dir={folder / 'out'}"]
    for index, (name, value) in enumerate(case.inputs.items()):
        np.save(folder / f"input{index}.npy", value)
        command.append(f"--input={name}:{folder / f'input{index}.npy'}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=arguments.timeout, errors="replace")
    except subprocess.TimeoutExpired:
        raise ModelError(f"gpuc did not end within {arguments.timeout} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
        raise ModelError(f"gpuc: {how}: " + "\n    ".join(line[:300] for line in lines[:8]))
    return folder / "out"


def run_case(arguments: argparse.Namespace, name: str, make_case) -> Outcome:
    outcome = Outcome(name)
    try:
        case = make_case()
        with tempfile.TemporaryDirectory(prefix="gpuc-models-") as folder:
            if case.before_last:
                case.path = cut_model(case, Path(folder))
            expected = expected_outputs(case)
            if arguments.device == "onnxruntime":
                return outcome
            start = time.monotonic()
            results = run_gpuc(arguments, case, Path(folder))
            outcome.seconds = time.monotonic() - start
            tolerance = case.tolerance(arguments.precision)
            for output, want in expected.items():
                error = error_of(output, np.load(results / file_name(output)), want, case.rtol)
                outcome.worst = max(outcome.worst, error)
                if error > tolerance:
                    raise ModelError(f"output '{output}': error {error:.3e}, allowed {tolerance:.0e}")
    except ModelError as error:
        outcome.error = str(error)
    except FileNotFoundError as error:
        outcome.error = f"'{error.filename}' is missing: run fetch_models.py"
    return outcome


def chosen_cases(arguments: argparse.Namespace) -> list:
    """Functions that make the cases, with the name of each."""
    spec = fetch_models.load_spec()
    every, small, cut = arguments.list == "all", arguments.list == "ci", arguments.precision != "fp32"
    wanted = set(fetch_models.ids_of_list(spec, arguments.list))
    cases = [
        (model["id"], lambda model=model: real_case(model, arguments.models, small, cut))
        for model in spec["models"]
        if model["id"] in wanted
    ]
    if arguments.precision == "fp32":
        light = spec["lists"]["light_ci"] + (spec["lists"]["light_all"] if every else [])
        cases += [(f"light_{name}", lambda name=name: light_case(name)) for name in light]
    if arguments.only:
        unknown = set(arguments.only) - {name for name, _ in cases}
        if unknown:
            raise SystemExit(f"run_models.py: error: not in this list: {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case[0] in arguments.only]
    return cases


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares gpuc with ONNX Runtime on real models.")
    parser.add_argument("--gpuc", type=Path, default=Path("build/bin/gpuc"), metavar="PATH")
    parser.add_argument("--models", type=Path, default=Path("build/models"), metavar="DIR", help="of fetch_models.py")
    parser.add_argument("--device", default="sim", help="sim, cuda, reference, or onnxruntime to check the recipes only")
    parser.add_argument("--precision", choices=sorted(TOLERANCE), default="fp32")
    parser.add_argument("--list", choices=["ci", "all"], default="ci", help="ci: few models, small shapes")
    parser.add_argument("--only", action="append", metavar="ID", help="only this model; may be repeated")
    parser.add_argument("--timeout", type=float, default=1800, metavar="S", help="seconds for one model")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON too")
    arguments = parser.parse_args()
    outcomes = []
    for name, make_case in chosen_cases(arguments):
        outcome = run_case(arguments, name, make_case)
        outcomes.append(outcome)
        print(f"{'FAIL' if outcome.error else 'pass'} {name}" + (f": {outcome.error}" if outcome.error else ""), flush=True)
    print(f"\n{'model':<24}{'seconds':>9}{'max error':>12}  {arguments.device} {arguments.precision}")
    for outcome in outcomes:
        print(f"{outcome.name:<24}{outcome.seconds:9.1f}{outcome.worst:12.2e}  {'FAILED' if outcome.error else 'ok'}")
    if arguments.json:
        arguments.json.write_text(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes], indent=1) + "\n")
    failed = sum(bool(outcome.error) for outcome in outcomes)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
