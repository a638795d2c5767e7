"""The operations of a layer that are neither a product nor a collective, each alone: one graph for each, in which it runs
several times."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

from captured import Captured
from layer import Layer, Stack, attention, operand
from layer_shape import PRODUCTS
from operands import SCALES
from pointwise import EAGER, Pointwise
from rounds import Replay
from torch import Tensor

Call = Callable[[Layer], object]
RUNS = 16  #: of an operation in its graph, or once for each layer where there are more
COLD_BYTES = 1 << 28  #: more than an L2 cache


def in_turn(x: Tensor) -> Iterator[Tensor]:
    """Copies of a tensor, so many that the next one is not in the L2 cache any more."""
    copies = min(RUNS, math.ceil(COLD_BYTES / (x.numel() * x.element_size())))
    return itertools.cycle([x, *(x.clone() for _ in range(copies - 1))])


def single_calls(stack: Stack, pointwise: Pointwise, qkv: Tensor, gate_up: Tensor) -> dict[str, Call]:
    """By the names of `overlaptune step`, on the results of two products. A norm reads a residual that was written long
    before; whatever else is read was just written, in a layer as here."""
    shape = stack.shape
    residuals = in_turn(stack.residual)
    heads = EAGER.rope(qkv, stack.cos, stack.sin, shape.rotated)
    attended, gated = (x[:, :shape.weight(name)[1]].contiguous() for x, name in ((qkv, "o"), (gate_up, "down")))
    inputs = {"qkv": stack.h, "o": attended, "gate_up": stack.h, "down": gated}

    def quantised(name: str) -> Call:
        return lambda layer: operand(shape, pointwise, name, inputs[name])

    return {
        "attention norm": lambda layer: pointwise.add_norm(stack.h, next(residuals), layer.norms["attention norm"],
                                                           shape.epsilon),
        "rope": lambda layer: pointwise.rope(qkv, stack.cos, stack.sin, shape.rotated),
        "attention": lambda layer: attention(shape, heads, qkv),
        "mlp norm": lambda layer: pointwise.add_norm(stack.h, next(residuals), layer.norms["mlp norm"],
                                                     shape.epsilon),
        "activation": lambda layer: pointwise.activation(gate_up),
        **{f"quantise {name}": quantised(name) for name in PRODUCTS if shape.product_dtype(name) in SCALES}}


def graph_of(call: Call, layers: list[Layer]) -> tuple[Replay, int]:
    """A graph, and how many times the operation runs in it."""
    runs = [layers[number % len(layers)] for number in range(max(RUNS, len(layers)))]

    def all_runs() -> None:
        for layer in runs:
            call(layer)

    return Captured(all_runs), len(runs)
