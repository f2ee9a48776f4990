# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small ONNX models, one or two for each kernel family, with odd sizes: the ones that run under compute-sanitizer."""

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
TYPES = {FLOAT: np.float32, HALF: np.float16, INT64: np.int64}


def values(shape: tuple[int, ...], seed: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def model(
    nodes: list, inputs: dict, outputs: dict, weights: dict[str, np.ndarray] | None = None, opset: int = OPSET
) -> onnx.ModelProto:
    """`inputs` and `outputs`: name → (element type, shape)."""
    graph = helper.make_graph(
        nodes,
        "family",
        [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()],
        [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in (weights or {}).items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(made)
    return made


def pointwise() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Add", ["x", "y"], ["a"]),
        helper.make_node("Sigmoid", ["a"], ["b"]),
        helper.make_node("Mul", ["a", "b"], ["z"]),
    ]
    return model(nodes, {"x": (FLOAT, (7, 33, 129)), "y": (FLOAT, (33, 1))}, {"z": (FLOAT, (7, 33, 129))})


def movement() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[2, 0, 1]),
        helper.make_node("Concat", ["t", "t"], ["z"], axis=1),
    ]
    return model(nodes, {"x": (FLOAT, (5, 67, 41))}, {"z": (FLOAT, (41, 10, 67))})


def reduction() -> onnx.ModelProto:
    nodes = [
        helper.make_node("ReduceMean", ["x", "axes"], ["m"], keepdims=0),
        helper.make_node("ReduceMax", ["x", "last"], ["z"], keepdims=0),
    ]
    return model(
        nodes,
        {"x": (FLOAT, (9, 1031, 17))},
        {"m": (FLOAT, (9, 17)), "z": (FLOAT, (9, 1031))},
        {"axes": np.array([1]), "last": np.array([2])},
    )


def normalization() -> onnx.ModelProto:
    nodes = [
        helper.make_node("LayerNormalization", ["x", "scale", "bias"], ["n"]),
        helper.make_node("Softmax", ["n"], ["z"], axis=-1),
    ]
    return model(
        nodes,
        {"x": (FLOAT, (37, 515))},
        {"z": (FLOAT, (37, 515))},
        {"scale": values((515,), 1), "bias": values((515,), 2)},
    )


def matmul(dtype: int) -> Callable[[], onnx.ModelProto]:
    def make() -> onnx.ModelProto:
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["p"]),
            helper.make_node("Add", ["p", "b"], ["a"]),
            helper.make_node("Relu", ["a"], ["z"]),
        ]
        return model(
            nodes,
            {"x": (dtype, (131, 264))},
            {"z": (dtype, (131, 200))},
            {"w": values((264, 200), 3, TYPES[dtype]), "b": values((200,), 4, TYPES[dtype])},
        )

    return make


def matmul_batched() -> onnx.ModelProto:
    return model(
        [helper.make_node("MatMul", ["x", "y"], ["z"])],
        {"x": (HALF, (3, 65, 48)), "y": (HALF, (3, 48, 71))},
        {"z": (HALF, (3, 65, 71))},
    )


def conv(dtype: int, channels: int, filters: int, group: int, stride: int = 1) -> Callable[[], onnx.ModelProto]:
    def make() -> onnx.ModelProto:
        size = (29 - 1) // stride + 1
        nodes = [
            helper.make_node(
                "Conv",
                ["x", "w", "b"],
                ["c"],
                kernel_shape=[3, 3],
                pads=[1, 1, 1, 1],
                group=group,
                strides=[stride] * 2,
            ),
            helper.make_node("Relu", ["c"], ["z"]),
        ]
        return model(
            nodes,
            {"x": (dtype, (2, channels, 29, 29))},
            {"z": (dtype, (2, filters, size, size))},
            {
                "w": values((filters, channels // group, 3, 3), 5, TYPES[dtype]),
                "b": values((filters,), 6, TYPES[dtype]),
            },
        )

    return make


def conv_transpose() -> onnx.ModelProto:
    nodes = [
        helper.make_node("ConvTranspose", ["x", "w"], ["z"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    ]
    return model(
        nodes, {"x": (FLOAT, (1, 16, 11, 13))}, {"z": (FLOAT, (1, 24, 21, 25))}, {"w": values((16, 24, 3, 3), 7)}
    )


def attention() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Mul", ["s", "scale"], ["r"]),
        helper.make_node("Softmax", ["r"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "v"], ["z"]),
    ]
    shape = (1, 3, 77, 64)
    return model(
        nodes, {name: (HALF, shape) for name in "qkv"}, {"z": (HALF, shape)}, {"scale": np.array(0.125, np.float16)}
    )


def feed_forward() -> onnx.ModelProto:
    """Few rows, and a norm between two products, which becomes part of them."""
    rows, width, inner = 70, 192, 768
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["p0"]),
        helper.make_node("Add", ["p0", "b0"], ["y0"]),
        helper.make_node("Add", ["y0", "x"], ["y"]),
        helper.make_node("LayerNormalization", ["y", "scale", "bias"], ["n"]),
        helper.make_node("MatMul", ["n", "w1"], ["p1"]),
        helper.make_node("Gelu", ["p1"], ["g"]),
        helper.make_node("MatMul", ["g", "w2"], ["p2"]),
        helper.make_node("Add", ["p2", "y"], ["z"]),
    ]
    weights = {
        "w0": values((width, width), 8, np.float16) / np.float16(14),
        "w1": values((width, inner), 9, np.float16) / np.float16(14),
        "w2": values((inner, width), 10, np.float16) / np.float16(28),
    }
    vectors = {name: values((width,), 11 + i, np.float16) for i, name in enumerate(("b0", "scale", "bias"))}
    return model(nodes, {"x": (HALF, (rows, width))}, {"z": (HALF, (rows, width))}, weights | vectors)


def narrow() -> onnx.ModelProto:
    """Convolutions 1 × 1 of few channels."""
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["c"]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "w1"], ["z"]),
    ]
    return model(
        nodes,
        {"x": (HALF, (2, 32, 113, 111))},
        {"z": (HALF, (2, 32, 113, 111))},
        {
            "w0": values((16, 32, 1, 1), 14, np.float16) / np.float16(6),
            "w1": values((32, 16, 1, 1), 15, np.float16) / np.float16(4),
        },
    )


def pool() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MaxPool", ["x"], ["m"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
        helper.make_node("AveragePool", ["m"], ["z"], kernel_shape=[2, 2], strides=[1, 1]),
    ]
    return model(nodes, {"x": (FLOAT, (2, 19, 31, 31))}, {"z": (FLOAT, (2, 19, 15, 15))})


def topk() -> onnx.ModelProto:
    return model(
        [helper.make_node("TopK", ["x", "k"], ["z", "i"])],
        {"x": (FLOAT, (5, 1001))},
        {"z": (FLOAT, (5, 37)), "i": (INT64, (5, 37))},
        {"k": np.array([37])},
    )


def cumsum() -> onnx.ModelProto:
    return model(
        [helper.make_node("CumSum", ["x", "axis"], ["z"])],
        {"x": (FLOAT, (7, 1500))},
        {"z": (FLOAT, (7, 1500))},
        {"axis": np.array(1)},
    )


def scatter() -> onnx.ModelProto:
    return model(
        [helper.make_node("ScatterND", ["x", "i", "u"], ["z"])],
        {"x": (FLOAT, (64, 33)), "u": (FLOAT, (5, 33))},
        {"z": (FLOAT, (64, 33))},
        {"i": np.array([[3], [9], [27], [0], [63]])},
    )


def gather() -> onnx.ModelProto:
    return model(
        [helper.make_node("Gather", ["x", "i"], ["z"], axis=1)],
        {"x": (FLOAT, (11, 50, 13))},
        {"z": (FLOAT, (11, 4, 13))},
        {"i": np.array([49, 0, -1, 7])},
    )


FAMILIES: dict[str, Callable[[], onnx.ModelProto]] = {
    "pointwise": pointwise,
    "movement": movement,
    "reduction": reduction,
    "normalization": normalization,
    "matmul_fp16": matmul(HALF),
    "matmul_fp32": matmul(FLOAT),
    "matmul_batched": matmul_batched,
    "conv_fp16": conv(HALF, 32, 48, 1),
    "conv_fp32": conv(FLOAT, 16, 24, 1),
    "conv_stride2": conv(HALF, 24, 40, 1, 2),
    "depthwise": conv(HALF, 40, 40, 40),
    "grouped": conv(HALF, 48, 32, 4),
    "conv_transpose": conv_transpose,
    "attention": attention,
    "feed_forward": feed_forward,
    "narrow": narrow,
    "pool": pool,
    "topk": topk,
    "cumsum": cumsum,
    "scatter": scatter,
    "gather": gather,
}


def inputs_of(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    """Random inputs of a family model."""
    return {
        value.name: values(
            tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim),
            100 + index,
            TYPES[value.type.tensor_type.elem_type],
        )
        for index, value in enumerate(proto.graph.input)
    }
