# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that the GPU checks and benchmarks use, with weights that make their outputs say something.

Nothing is downloaded: torchvision and transformers give the structure, the weights are random. Freshly initialised
networks are often degenerate (zero heads, zero biases, BatchNorm statistics that let activations die), so weights are
drawn again, scaled by fan-in, and BatchNorm statistics are measured on one batch. The same name gives the same weights
in every process on one machine.
"""

import dataclasses
import math
import zlib
from collections.abc import Callable

import torch

# A reference output with a smaller standard deviation proves nothing.
LEAST_DEVIATION = 1e-3


class DegenerateOutput(Exception):
    """A reference output that is not finite or almost constant."""


@dataclasses.dataclass(frozen=True)
class Network:
    """A network at the batch sizes it is measured at."""

    name: str
    title: str
    build: Callable[[], torch.nn.Module]
    inputs: Callable[[int], dict[str, torch.Tensor]]  # batch → inputs on the CPU, in the order of forward()
    batches: tuple[int, ...] = (1, 32)
    convolutional: bool = False  # channels-last is the layout that suits it
    damped: str = ""  # norms that end residual branches, by the end of their names


class FirstOutput(torch.nn.Module):
    """A transformers model that takes token ids and returns one tensor."""

    def __init__(self, model: torch.nn.Module, field: str):
        super().__init__()
        self.model, self.field = model, field

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        return getattr(self.model(input_ids=input_ids), self.field)


def torchvision_model(name: str) -> torch.nn.Module:
    import torchvision

    return getattr(torchvision.models, name)(weights=None)


def bert_base() -> torch.nn.Module:
    from transformers import BertConfig, BertModel

    return FirstOutput(BertModel(BertConfig(), add_pooling_layer=False), "last_hidden_state")


def gpt2() -> torch.nn.Module:
    from transformers import GPT2Config, GPT2LMHeadModel

    return FirstOutput(GPT2LMHeadModel(GPT2Config(use_cache=False)), "logits")


def encoder24() -> torch.nn.Module:
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 24, enable_nested_tensor=False)


def conv_net() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 3, padding=1),
        torch.nn.BatchNorm2d(64),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(64 * 112 * 112, 1000),
    )


def images(batch: int) -> dict[str, torch.Tensor]:
    return {"x": normal((batch, 3, 224, 224))}


def tokens(vocabulary: int, length: int = 128) -> Callable[[int], dict[str, torch.Tensor]]:
    return lambda batch: {
        "input_ids": torch.randint(0, vocabulary, (batch, length), generator=generator(f"tokens{batch}"))
    }


def sequences(batch: int) -> dict[str, torch.Tensor]:
    """128 positions for one request, 512 for a batch."""
    return {"src": normal((batch, 128 if batch == 1 else 512, 1024))}


NETWORKS = {
    network.name: network
    for network in (
        Network(
            "resnet50", "ResNet-50", lambda: torchvision_model("resnet50"), images, convolutional=True, damped=".bn3"
        ),
        Network(
            "mobilenet_v3", "MobileNetV3-L", lambda: torchvision_model("mobilenet_v3_large"), images, convolutional=True
        ),
        Network(
            "efficientnet_b0",
            "EfficientNet-B0",
            lambda: torchvision_model("efficientnet_b0"),
            images,
            convolutional=True,
        ),
        Network("vit_b16", "ViT-B/16", lambda: torchvision_model("vit_b_16"), images),
        Network("bert_base", "BERT-base, 128 tokens", bert_base, tokens(30522)),
        Network("bert_base_384", "BERT-base, 384 tokens", bert_base, tokens(30522, 384), batches=(8,)),
        Network("gpt2", "GPT-2 prefill, 128 tokens", gpt2, tokens(50257)),
        Network("encoder24", "Encoder 24×1024", encoder24, sequences, batches=(1, 16)),
        Network("convnet", "ConvNet 3→64 + Linear", conv_net, images, batches=(1, 4, 8, 16, 32, 64), convolutional=True),
    )
}


def generator(key: str, device: str = "cpu") -> torch.Generator:
    return torch.Generator(device).manual_seed(zlib.crc32(key.encode()))


def normal(shape: tuple[int, ...]) -> torch.Tensor:
    """Standard normal values that fp16 holds exactly, so that every precision sees the same input."""
    return torch.randn(shape, generator=generator(str(shape))).half().float()


def device_for_weights() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def exact_fp32() -> None:
    """No TF32 anywhere: what torch computes is a reference."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


@torch.no_grad()
def draw_weights(model: torch.nn.Module, random: torch.Generator) -> None:
    """Weights scaled by fan-in, biases and norms away from 0 and 1."""
    drawn = set()

    def fill(parameter: torch.nn.Parameter | None, deviation: float, mean: float = 0.0) -> None:
        if parameter is not None and parameter not in drawn:
            parameter.normal_(mean, deviation, generator=random)
            drawn.add(parameter)

    for module in model.modules():
        weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
        if isinstance(module, torch.nn.Embedding):
            fill(weight, 0.7)
        elif isinstance(module, (torch.nn.Linear, torch.nn.modules.conv._ConvNd)):
            gain = 2.0 if isinstance(module, torch.nn.modules.conv._ConvNd) else 1.0
            fill(weight, math.sqrt(gain / weight[0].numel()))
            fill(bias, 0.1)
        elif type(module).__name__ == "Conv1D":  # transformers: [in, out]
            fill(weight, math.sqrt(1.0 / weight.shape[0]))
            fill(bias, 0.1)
        elif isinstance(module, (torch.nn.LayerNorm, torch.nn.modules.batchnorm._BatchNorm)):
            fill(weight, 0.1, mean=1.0)
            fill(bias, 0.1)
        elif isinstance(module, torch.nn.MultiheadAttention):
            fill(module.in_proj_weight, math.sqrt(1.0 / module.embed_dim))
            fill(module.in_proj_bias, 0.1)
    for parameter in model.parameters():  # class tokens, position embeddings
        fill(parameter, 0.5)


@torch.no_grad()
def calibrate_batch_norms(model: torch.nn.Module, inputs: list[torch.Tensor]) -> None:
    """Running statistics of one batch."""
    norms = [module for module in model.modules() if isinstance(module, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a cumulative average, so the first batch counts in full
        norm.train()
    model(*inputs)
    model.eval()


def make(network: Network) -> torch.nn.Module:
    """The network in fp32 and eval mode on the GPU, or on the CPU without one."""
    exact_fp32()
    device = device_for_weights()
    torch.manual_seed(0)
    with torch.device(device):
        model = network.build()
    model.to(device).eval()
    draw_weights(model, generator(network.name, device))
    if (
        network.damped
    ):  # as training leaves them: with full branches, fp16 rounding grows a hundredfold on the way to the output
        for name, module in model.named_modules():
            if name.endswith(network.damped):
                module.weight.data *= 0.25
    calibrate_batch_norms(model, [tensor.to(device) for tensor in network.inputs(8).values()])
    return model.requires_grad_(False)


@torch.no_grad()
def reference(model: torch.nn.Module, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """The fp32 output; refuses one that says nothing."""
    device = next(model.parameters()).device
    output = model(*[tensor.to(device) for tensor in inputs.values()]).float()
    if not bool(output.isfinite().all()):
        raise DegenerateOutput("the output has values that are not finite")
    deviation = float(output.double().std())
    if deviation < LEAST_DEVIATION:
        raise DegenerateOutput(f"the output says nothing (standard deviation {deviation:.1e})")
    return output


def chosen(names: list[str] | None) -> list[Network]:
    """Networks by name; all of them without names."""
    unknown = set(names or []) - set(NETWORKS)
    if unknown:
        raise SystemExit(f"error: no such network: {', '.join(sorted(unknown))}; there are {', '.join(NETWORKS)}")
    return [network for name, network in NETWORKS.items() if not names or name in names]
