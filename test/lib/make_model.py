#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a small ONNX model, and with --data its inputs and expected outputs as .npy files.

    make_model.py KIND MODEL.onnx [--data DIR]

The kinds are the functions below that are marked with @kind.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def value(name: str, shape, dtype: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name: str, shape: list[int]) -> onnx.TensorProto:
    random = np.random.default_rng(sum(name.encode()))
    return numpy_helper.from_array(random.normal(0, 0.5, shape).astype(np.float32), name)


def integers(name: str, values: list[int]) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(nodes, inputs, outputs, weights=(), opset=OPSET, domains=()) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "main", list(inputs), list(outputs), list(weights))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name="make_model")


@kind
def mlp():
    """x[3,5] -> two layers -> softmax y[3,7]."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="layer1"),
        helper.make_node("Relu", ["h"], ["r"], name="relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["z"], name="layer2"),
        helper.make_node("Softmax", ["z"], ["y"], name="softmax", axis=1),
    ]
    weights = [weight("w1", [5, 11]), weight("b1", [11]), weight("w2", [11, 7]), weight("b2", [7])]
    return model(nodes, [value("x", [3, 5])], [value("y", [3, 7])], weights)


def feed_forward(width):
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="up"),
        helper.make_node("Gelu", ["h"], ["g"], name="gelu"),
        helper.make_node("Gemm", ["g", "w2", "b2"], ["z"], name="down"),
        helper.make_node("Add", ["z", "x"], ["y"], name="residual"),
    ]
    weights = [weight("w1", [width, 2048]), weight("b1", [2048]), weight("w2", [2048, width]), weight("b2", [width])]
    return model(nodes, [value("x", [4096, width])], [value("y", [4096, width])], weights, opset=20)


@kind
def transformer_feed_forward():
    """x[4096,1024] -> Gemm, erf-GELU, Gemm, residual: products of the size of transformers."""
    return feed_forward(1024)


@kind
def uneven_feed_forward():
    """The same with rows of 1020 elements: no multiple of 16 bytes in fp16."""
    return feed_forward(1020)


@kind
def classifier():
    """x[1,5] -> scores[1,7]: one row, so that `gpuc run` prints the top five."""
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["scores"], name="layer")]
    return model(nodes, [value("x", [1, 5])], [value("scores", [1, 7])], [weight("w", [5, 7]), weight("b", [7])])


@kind
def convnet():
    """x[1,3,7,5] -> convolution, relu, average -> y[1,5,1,1]."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["y"], name="pool"),
    ]
    return model(nodes, [value("x", [1, 3, 7, 5])], [value("y", [1, 5, 1, 1])], [weight("w", [5, 3, 3, 3])])


@kind
def dynamic_batch():
    """x[N,5] -> y[N,5]: only the leading dimension is open."""
    return model([helper.make_node("Tanh", ["x"], ["y"], name="tanh")], [value("x", ["N", 5])], [value("y", ["N", 5])])


@kind
def dynamic_length():
    """x[N,L,5]: a dimension that no default can stand for."""
    nodes = [helper.make_node("Tanh", ["x"], ["y"], name="tanh")]
    return model(nodes, [value("x", ["N", "L", 5])], [value("y", ["N", "L", 5])])


@kind
def shape_input():
    """The value of input `shape` decides the shape of y."""
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["y"], name="reshape")]
    inputs = [value("x", [3, 4]), value("shape", [2], TensorProto.INT64)]
    return model(nodes, inputs, [value("y", [None, None])])


@kind
def odd_names():
    """Names that no file can have."""
    nodes = [
        helper.make_node("Neg", ["in/put:0"], ["../up"], name="neg"),
        helper.make_node("Abs", ["in/put:0"], ["with space:1"], name="abs"),
    ]
    return model(nodes, [value("in/put:0", [3])], [value("../up", [3]), value("with space:1", [3])])


@kind
def unsupported():
    """Two nodes of a domain that does not exist and one that does."""
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], name="first", domain="acme"),
        helper.make_node("Relu", ["a"], ["b"], name="relu"),
        helper.make_node("Twiddle", ["b"], ["y"], name="second", domain="acme"),
    ]
    return model(nodes, [value("x", [3])], [value("y", [3])], domains=["acme"])


@kind
def mismatched():
    """A product whose inner extents differ."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    return model(nodes, [value("x", [3, 5])], [value("y", [3, 7])], [weight("w", [4, 7])])


@kind
def undefined_value():
    """A node that reads what nothing writes."""
    nodes = [helper.make_node("Add", ["x", "ghost"], ["y"], name="add")]
    return model(nodes, [value("x", [3])], [value("y", [3])])


@kind
def outside_data():
    """A weight whose data lie outside the model's folder."""
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="../../../../etc/passwd")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"], name="add")]
    return model(nodes, [value("x", [3])], [value("y", [3])], [tensor])


@kind
def too_new():
    """An opset that does not exist yet."""
    return model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [3])], [value("y", [3])], opset=9999)


@kind
def large():
    """x[64,257]: a plan of about a megabyte."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    return model(nodes, [value("x", [64, 257])], [value("y", [64, 1024])], [weight("w", [257, 1024])])


def write_data(made: onnx.ModelProto, folder: Path) -> None:
    from onnx.reference import ReferenceEvaluator

    folder.mkdir(parents=True, exist_ok=True)
    random, inputs = np.random.default_rng(1), {}
    for info in made.graph.input:
        shape = [dim.dim_value or 2 for dim in info.type.tensor_type.shape.dim]
        if info.type.tensor_type.elem_type == TensorProto.INT64:
            inputs[info.name] = np.array([4, 3], np.int64)
        else:
            inputs[info.name] = random.standard_normal(shape).astype(np.float32)
    names = [output.name for output in made.graph.output]
    results = dict(zip(names, ReferenceEvaluator(made).run(None, inputs), strict=True))
    for name, array in (inputs | results).items():
        np.save(folder / (name.replace("/", "_").replace(":", "_").replace(" ", "_") + ".npy"), array)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, metavar="DIR", help="write inputs and expected outputs")
    arguments = parser.parse_args()
    made = KINDS[arguments.kind]()
    arguments.model.parent.mkdir(parents=True, exist_ok=True)
    arguments.model.write_bytes(made.SerializeToString())
    if arguments.data:
        write_data(made, arguments.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
