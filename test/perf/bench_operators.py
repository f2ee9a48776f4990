#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times single operators in fp16: gpuc's own kernels beside the library kernels that torch calls.

    bench_operators.py --gpuc build/bin/gpuc --library build/lib/libgpuc.so --out DIR [--only product,attention,memory]

Each operator is a small ONNX model, compiled with --no-cublaslt and run through libgpuc.so; the peers are captured into
CUDA graphs. All of one operator are interleaved (interleave.py) on random data, over as many sets of buffers as do not
fit into the L2 cache together. Results are compared with torch in fp32 (products, memory-bound operators) or with
torch's own attention in fp32, on poisoned outputs.

product     matrix products, plain and with epilogues, beside cuBLASLt with the epilogues that it has
attention   softmax(q kᵀ / √d) v beside flash attention and cuDNN
memory      256 MB through pointwise, softmax, normalisations and transpose, beside the copy bandwidth

Writes operators.json into --out; rows of an earlier run that were not measured again stay.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ceilings  # noqa: E402
import gpuc_cli  # noqa: E402

KINDS = ("product", "attention", "memory")
ROTATE_BYTES, MOST_SETS = 160 << 20, 4
PRODUCTS = ((4096, 4096, 4096), (8192, 8192, 8192), (16384, 1024, 1024), (4096, 3072, 768))
ATTENTIONS = ((16, 16, 512, 64), (8, 12, 384, 64), (2, 10, 4096, 64), (1, 32, 8192, 128))
ROWS, COLUMNS = 131072, 1024  # 256 MB in fp16


@dataclasses.dataclass
class Case:
    """An operator: its model, and torch functions of its inputs that do the same."""

    kind: str
    shape: str
    variant: str
    nodes: Callable[[], list]  # ONNX nodes from the inputs to "z"
    inputs: dict[str, tuple[int, ...]]  # fp16; the first is an activation
    output: tuple[int, ...]
    peers: dict[str, Callable]
    reference: Callable  # of fp32 inputs
    flops: int = 0
    weights: tuple[str, ...] = ()  # inputs that are constants of the model
    constants: dict = dataclasses.field(default_factory=dict)
    tolerance: float = 3e-3  # relative L2 error

    @property
    def bytes(self) -> int:
        return 2 * (sum(map(math.prod, self.inputs.values())) + math.prod(self.output))


# --- what is measured ------------------------------------------------------------------------------------------
def product_cases() -> list[Case]:
    import torch
    import torch.nn.functional as F
    from onnx import helper

    cases = []
    for m, n, k in PRODUCTS:
        shape, flops = f"{m}×{n}×{k}", 2 * m * n * k
        matmul = lambda result: helper.make_node("MatMul", ["x", "w"], [result])  # noqa: E731
        plain = lambda: [matmul("z")]  # noqa: E731
        x, w, b, r = (m, k), (k, n), (n,), (m, n)

        def bias_gelu() -> list:
            return [
                matmul("p"),
                helper.make_node("Add", ["p", "b"], ["a"]),
                helper.make_node("Gelu", ["a"], ["z"], approximate="tanh"),
            ]

        def bias_residual() -> list:
            return [matmul("p"), helper.make_node("Add", ["p", "b"], ["a"]), helper.make_node("Add", ["a", "r"], ["z"])]

        cases.append(
            Case(
                "product",
                shape,
                "plain",
                plain,
                {"x": x, "w": w},
                (m, n),
                {
                    "cuBLASLt": lambda x, w: torch.matmul(x, w),
                    "cuBLASLt, weights transposed": transposed(lambda x, wt: F.linear(x, wt)),
                },
                lambda x, w: x @ w,
                flops,
                ("w",),
            )
        )
        cases.append(
            Case(
                "product",
                shape,
                "bias, GELU (tanh)",
                bias_gelu,
                {"x": x, "w": w, "b": b},
                (m, n),
                {
                    "cuBLASLt GELU_BIAS": lambda x, w, b: torch._addmm_activation(b, x, w, use_gelu=True),
                    "cuBLASLt BIAS, pointwise": lambda x, w, b: F.gelu(torch.addmm(b, x, w), approximate="tanh"),
                    "cuBLASLt GELU_BIAS, weights transposed": transposed(
                        lambda x, wt, b: torch._addmm_activation(b, x, wt.t(), use_gelu=True)
                    ),
                },
                lambda x, w, b: F.gelu(torch.addmm(b, x, w), approximate="tanh"),
                flops,
                ("w", "b"),
            )
        )
        cases.append(
            Case(
                "product",
                shape,
                "bias, residual",
                bias_residual,
                {"x": x, "w": w, "b": b, "r": r},
                (m, n),
                {
                    "cuBLASLt BIAS, pointwise": lambda x, w, b, r: torch.addmm(b, x, w) + r,
                    "cuBLASLt residual (no bias)": lambda x, w, b, r: torch.addmm(r, x, w),
                    "cuBLASLt residual (no bias), weights transposed": transposed(
                        lambda x, wt, b, r: torch.addmm(r, x, wt.t())
                    ),
                },
                lambda x, w, b, r: torch.addmm(b, x, w) + r,
                flops,
                ("w", "b"),
            )
        )
    return cases


def transposed(run: Callable) -> Callable:
    """A peer that wants its weights as [N, K]; they are rearranged before anything is timed."""
    run.wants_transposed = True
    return run


def attention_cases() -> list[Case]:
    import numpy
    import torch
    import torch.nn.functional as F
    from onnx import helper
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def with_backend(backend: SDPBackend) -> Callable:
        def run(q, k, v):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v)

        return run

    def exact(q, k, v):  # head by head: the scores of all would not fit
        heads = [
            torch.softmax(a @ b.transpose(-1, -2) / math.sqrt(a.shape[-1]), -1) @ c
            for a, b, c in zip(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), strict=True)
        ]
        return torch.stack(heads).view(q.shape)

    cases = []
    for b, h, s, d in ATTENTIONS:
        shape = (b, h, s, d)

        def nodes(d=d) -> list:
            return [
                helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
                helper.make_node("MatMul", ["q", "kt"], ["s"]),
                helper.make_node("Mul", ["s", "scale"], ["r"]),
                helper.make_node("Softmax", ["r"], ["p"], axis=-1),
                helper.make_node("MatMul", ["p", "v"], ["z"]),
            ]

        cases.append(
            Case(
                "attention",
                f"{b}, {h}, {s}, {d}",
                "",
                nodes,
                {"q": shape, "k": shape, "v": shape},
                shape,
                {
                    "flash attention": with_backend(SDPBackend.FLASH_ATTENTION),
                    "cuDNN": with_backend(SDPBackend.CUDNN_ATTENTION),
                },
                exact,
                4 * b * h * s * s * d,
                constants={"scale": numpy.array(1 / math.sqrt(d), numpy.float16)},
            )
        )
    return cases


def memory_cases() -> list[Case]:
    import numpy
    import torch
    import torch.nn.functional as F
    from onnx import helper

    node, shape = helper.make_node, (ROWS, COLUMNS)
    one = {"x": shape}

    def case(variant: str, nodes: list, run: Callable, inputs: dict = one, output: tuple = shape, **more) -> Case:
        name = "[" + ", ".join(map(str, next(iter(inputs.values())))) + "]"
        return Case("memory", name, variant, lambda: nodes, inputs, output, {"torch": run}, run, **more)

    norm = {"x": shape, "g": (COLUMNS,), "b": (COLUMNS,)}
    order = numpy.random.default_rng(1).permutation(ROWS)
    order_on_device = torch.from_numpy(order).cuda()
    return [
        case("add", [node("Add", ["x", "y"], ["z"])], torch.add, {"x": shape, "y": shape}),
        case("GELU (erf)", [node("Gelu", ["x"], ["z"])], F.gelu),
        case("SiLU", [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["z"])], F.silu),
        case("softmax", [node("Softmax", ["x"], ["z"], axis=-1)], lambda x: torch.softmax(x, -1)),
        case(
            "layer norm",
            [node("LayerNormalization", ["x", "g", "b"], ["z"], epsilon=1e-5)],
            lambda x, g, b: F.layer_norm(x, (COLUMNS,), g, b),
            norm,
            weights=("g", "b"),
        ),
        case(
            "RMS norm",
            [node("RMSNormalization", ["x", "g"], ["z"], epsilon=1e-5)],
            lambda x, g: F.rms_norm(x, (COLUMNS,), g, 1e-5),
            {"x": shape, "g": (COLUMNS,)},
            weights=("g",),
        ),
        case(
            "transpose",
            [node("Transpose", ["x"], ["z"], perm=[1, 0])],
            lambda x: x.t().contiguous(),
            output=(COLUMNS, ROWS),
        ),
        case(
            "mean of rows",
            [node("ReduceMean", ["x", "axes"], ["z"], keepdims=0)],
            lambda x: x.mean(-1),
            output=(ROWS,),
            constants={"axes": numpy.array([1])},
        ),
        case(
            "mean of columns",
            [node("ReduceMean", ["x", "axes"], ["z"], keepdims=0)],
            lambda x: x.mean(0),
            output=(COLUMNS,),
            constants={"axes": numpy.array([0])},
        ),
        case(
            "gather of rows",
            [node("Gather", ["x", "order"], ["z"], axis=0)],
            lambda x: x.index_select(0, order_on_device),
            constants={"order": order},
        ),
        case(
            "resize, nearest 2×",
            [
                node(
                    "Resize",
                    ["x", "", "scales"],
                    ["z"],
                    mode="nearest",
                    coordinate_transformation_mode="asymmetric",
                    nearest_mode="floor",
                )
            ],
            lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
            {"x": (32, 64, 128, 128)},
            (32, 64, 256, 256),
            constants={"scales": numpy.array([1, 1, 2, 2], numpy.float32)},
        ),
        case(
            "max pool 3×3/2",
            [node("MaxPool", ["x"], ["z"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])],
            lambda x: F.max_pool2d(x, 3, 2, 1),
            {"x": (32, 64, 256, 256)},
            (32, 64, 128, 128),
        ),
    ]


# --- measuring ---------------------------------------------------------------------------------------------------
def build_model(case: Case, weights: dict, path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        case.nodes(),
        "operator",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape)
            for name, shape in case.inputs.items()
            if name not in case.weights
        ],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT16, case.output)],
        [numpy_helper.from_array(value, name) for name, value in {**weights, **case.constants}.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10), path)


def rotating(runs: list[Callable]) -> Callable:
    state = {"next": 0}

    def run() -> None:
        runs[state["next"]]()
        state["next"] = (state["next"] + 1) % len(runs)

    return run


def captured(function: Callable, tensors: list) -> Callable:
    import torch

    for _ in range(2):
        function(*tensors)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = function(*tensors)

    def run() -> None:
        graph.replay()

    run.output = kept
    return run


def draw(case: Case, name: str, number: int):
    """An input on the device; the same for the same set of inputs."""
    import torch

    shape = case.inputs[name]
    generator = torch.Generator("cuda").manual_seed(1 + 10 * number + list(case.inputs).index(name))
    scale = 1 / math.sqrt(shape[0]) if name == "w" else 1.0
    return (torch.randn(shape, generator=generator, device="cuda") * scale).half()


def compile_case(case: Case, weights: dict, arguments: argparse.Namespace, stem: Path) -> gpuc_cli.Compiled:
    """Runs in a thread, before anything is timed."""
    model, plan = stem.with_suffix(".onnx"), stem.with_suffix(".gpuc")
    build_model(case, weights, model)
    flags = ["--target=native", "--fp16", *([] if arguments.with_library else ["--no-cublaslt"])]
    compiled = gpuc_cli.compile_plan(arguments.gpuc, model, plan, flags)
    model.unlink()
    return compiled


def measure(case: Case, compilation: concurrent.futures.Future, arguments: argparse.Namespace, runtime) -> dict:
    import interleave
    import torch

    row = {"kind": case.kind, "shape": case.shape, "variant": case.variant, "flops": case.flops, "bytes": case.bytes}
    sets = max(1, min(MOST_SETS, -(-ROTATE_BYTES // case.bytes)))
    fixed = {name: draw(case, name, 0) for name in case.weights}
    given = [
        {name: fixed[name] if name in fixed else draw(case, name, number) for name in case.inputs}
        for number in range(sets)
    ]
    methods = {}
    for name, function in case.peers.items():
        try:
            turned = {"w"} if hasattr(function, "wants_transposed") else set()
            tensors = [[t.t().contiguous() if key in turned else t for key, t in one.items()] for one in given]
            methods[name] = rotating([captured(function, one) for one in tensors])
        except RuntimeError as error:  # a back-end that refuses the problem
            row.setdefault("notes", []).append(f"{name}: {str(error).splitlines()[0][:160]}")
    try:
        compiled = compilation.result()
        row["launches"] = compiled.launches
        network = runtime.load(compiled.plan, graphs=sets)
        compiled.plan.unlink()
        stream = torch.cuda.current_stream().cuda_stream
        outputs = [torch.full(case.output, float("nan"), dtype=torch.half, device="cuda") for _ in range(sets)]
        bound = [
            network.buffers({t.name: one[t.name].data_ptr() for t in network.inputs}, {"z": out.data_ptr()})
            for one, out in zip(given, outputs, strict=True)
        ]
        for buffers in bound * 2:  # the second run captures
            network.run(stream, buffers)
        torch.cuda.synchronize()
        want = case.reference(*[t.float() for t in given[-1].values()])
        row["l2"] = float((outputs[-1].float() - want).norm() / want.norm())
        del want
        if not row["l2"] <= case.tolerance:
            row["error"] = f"wrong result: relative error {row['l2']:.2e}"
        methods["gpuc"] = rotating([lambda buffers=buffers: network.run(stream, buffers) for buffers in bound])
    except (gpuc_cli.GpucError, RuntimeError) as error:
        row["error"] = str(error).splitlines()[0][:300]
    torch.cuda.empty_cache()
    times, row["clock_mhz"] = interleave.interleaved(methods, arguments.seconds)
    row["us"] = {name: round(t.median * 1e3, 2) for name, t in times.items()}
    peers = {name: us for name, us in row["us"].items() if name != "gpuc"}
    if peers:
        row["peer"] = min(peers, key=peers.get)
        row["peer_us"] = peers[row["peer"]]
    if "gpuc" in row["us"]:
        row["gpuc_us"] = row["us"]["gpuc"]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description="Times single operators.")
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--gpuc", type=Path, default=Path("build/bin/gpuc"), metavar="PATH")
    parser.add_argument("--library", type=Path, metavar="PATH", help="libgpuc.so (lib/ beside the folder of gpuc)")
    parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR", help="where operators.json goes")
    parser.add_argument("--only", type=words, default=list(KINDS), metavar="KINDS", help=", ".join(KINDS))
    parser.add_argument(
        "--match", default="", metavar="TEXT", help="only operators with this in their shape or epilogue"
    )
    parser.add_argument("--seconds", type=float, default=0.6, help="of measuring, an operator")
    parser.add_argument("--with-library", action="store_true", help="let gpuc use cuBLASLt too")
    arguments = parser.parse_args()
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # that choosing cuBLASLt is experimental
    import gpuc_runtime
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.preferred_blas_library("cublaslt")
    torch.cuda.set_stream(torch.cuda.Stream())
    arguments.gpuc = arguments.gpuc.resolve()
    arguments.library = (arguments.library or arguments.gpuc.parents[1] / "lib/libgpuc.so").resolve()
    runtime = gpuc_runtime.Runtime(arguments.library)
    makers = {"product": product_cases, "attention": attention_cases, "memory": memory_cases}
    path = arguments.out / "operators.json"
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = json.loads(path.read_text())["rows"] if path.is_file() else []
    rows = {(row["kind"], row["shape"], row["variant"]): row for row in kept}
    run = {"ceilings": ceilings.measure()}
    print(run["ceilings"], flush=True)
    failed = False
    with torch.no_grad(), tempfile.TemporaryDirectory(prefix="gpuc-operators-") as folder:
        cases = [case for kind in arguments.only for case in makers[kind]()]
        cases = [case for case in cases if arguments.match in f"{case.shape} {case.variant}"]
        with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 4) // 4)) as pool:
            compilations = [
                pool.submit(
                    compile_case,
                    case,
                    {name: draw(case, name, 0).cpu().numpy() for name in case.weights},
                    arguments,
                    Path(folder) / str(number),
                )
                for number, case in enumerate(cases)
            ]
        for case, compilation in zip(cases, compilations, strict=True):
            row = measure(case, compilation, arguments, runtime)
            rows[case.kind, case.shape, case.variant] = row
            failed |= "error" in row
            speed = (
                f"  best/gpuc {row['peer_us'] / row['gpuc_us']:.2f}" if "gpuc_us" in row and "peer_us" in row else ""
            )
            print(
                f"{case.kind} {case.shape} {case.variant}: "
                + "  ".join(f"{name} {us}" for name, us in row["us"].items())
                + speed
                + (f"  FAIL {row['error']}" if "error" in row else ""),
                flush=True,
            )
            path.write_text(json.dumps({"run": run, "rows": list(rows.values())}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
