"""The forward pass of layers on one rank, with the operations that `overlaptune step` counts: norm, qkv, rope, attention,
o, norm, gate and up, activation, down. Who runs the products, and their collectives, is an argument."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

import torch
import torch.distributed as dist
from layer_shape import PRODUCTS, LayerShape
from operands import SCALES
from pointwise import Pointwise
from torch import Tensor

from overlaptune.torch import Scaled, quantized

Matrix = Union[Tensor, Scaled]  #: an operand of a product: in 16 bits, or in 8 with scales
#: Name of the product, its input and its weight [n, k]; returns the result after the collective.
Product = Callable[[str, Matrix, Matrix], Tensor]


@dataclass
class Layer:
    weights: dict[str, Matrix]  #: by the names of the products
    norms: dict[str, Tensor]  #: `attention norm` and `mlp norm`


@dataclass
class Stack:
    """Layers that run one after the other, and their input."""

    shape: LayerShape
    layers: list[Layer]
    h: Tensor  #: what the layer before added last
    residual: Tensor  #: the sum before that
    cos: Tensor
    sin: Tensor


def dtype_of(shape: LayerShape) -> torch.dtype:
    return torch.float16 if shape.dtype == "float16" else torch.bfloat16


def normal(size: tuple[int, ...], scale: float, dtype: torch.dtype) -> Tensor:
    made: Tensor = (torch.randn(size, device="cuda") * scale).to(dtype)
    return made


def weights_of(shape: LayerShape, layers: int) -> list[Layer]:
    """Random weights. The ranks have different ones, except for the norms. Sums over all ranks are of the order of 1."""
    made: list[Layer] = []
    for _ in range(layers):
        layer = Layer({}, {})
        for name in PRODUCTS:
            n, k = shape.weight(name)
            whole = k if name in ("qkv", "gate_up") else k * dist.get_world_size()
            weight = normal((n, k), whole**-0.5, dtype_of(shape))
            scales = SCALES.get(shape.product_dtype(name))
            layer.weights[name] = quantized(weight, scales) if scales else weight
        for name in ("attention norm", "mlp norm"):
            layer.norms[name] = 1 + normal((shape.hidden,), 0.1, dtype_of(shape))
            dist.broadcast(layer.norms[name], 0)
        made.append(layer)
    return made


def stack_of(shape: LayerShape, layers: list[Layer], tokens: int, sequence_parallel: bool) -> Stack:
    rows = tokens // dist.get_world_size() if sequence_parallel else tokens
    h, residual = (normal((rows, shape.hidden), 1, dtype_of(shape)) for _ in range(2))
    if not sequence_parallel:  # all ranks have the same tokens
        dist.broadcast(h, 0)
        dist.broadcast(residual, 0)
    half = shape.head_dim // 2
    rates = shape.rope_theta ** -(torch.arange(half, device="cuda", dtype=torch.float32) / half)
    angles = torch.outer(torch.arange(tokens, device="cuda", dtype=torch.float32), rates)[:, None]
    return Stack(shape, layers, h, residual, angles.cos(), angles.sin())


def attention(shape: LayerShape, heads: Tensor, qkv: Tensor) -> Tensor:
    """Causal attention of one sequence, as PyTorch runs it. It calculates in the dtype of the model, whatever the dtype
    of qkv, so that every layer that is compared has the same attention."""
    values = qkv[:, shape.rotated:].unflatten(1, (-1, shape.head_dim))
    q, k, v = (each.to(dtype_of(shape)).transpose(0, 1).unsqueeze(0)
               for each in (heads[:, :shape.heads], heads[:, shape.heads:], values))
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True,
                                                         enable_gqa=shape.heads != shape.kv_heads)
    attended: Tensor = y.squeeze(0).transpose(0, 1).flatten(1).to(qkv.dtype)
    return attended


def operand(shape: LayerShape, pointwise: Pointwise, name: str, x: Tensor) -> Matrix:
    """The input of a product as the product takes it."""
    scales = SCALES.get(shape.product_dtype(name))
    return Scaled(*pointwise.in_8_bits(x, scales)) if scales else x


def one_layer(stack: Stack, layer: Layer, pointwise: Pointwise, product: Product, h: Tensor,
              residual: Tensor) -> tuple[Tensor, Tensor]:
    shape = stack.shape

    def multiplied(name: str, x: Tensor) -> Tensor:
        return product(name, operand(shape, pointwise, name, x), layer.weights[name])

    x, residual = pointwise.add_norm(h, residual, layer.norms["attention norm"], shape.epsilon)
    qkv = multiplied("qkv", x)
    heads = pointwise.rope(qkv, stack.cos, stack.sin, shape.rotated)
    h = multiplied("o", attention(shape, heads, qkv))
    x, residual = pointwise.add_norm(h, residual, layer.norms["mlp norm"], shape.epsilon)
    h = multiplied("down", pointwise.activation(multiplied("gate_up", x)))
    return h, residual


def forward(stack: Stack, pointwise: Pointwise, product: Product, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The output that the last layer adds last, and the sum before that."""
    h, residual = stack.h.to(dtype), stack.residual.to(dtype)
    for layer in stack.layers:
        h, residual = one_layer(stack, layer, pointwise, product, h, residual)
    return h, residual
