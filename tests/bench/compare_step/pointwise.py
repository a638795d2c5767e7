"""The operations of a layer without a product: residual and norm, rotary embedding, the gate of the MLP, and numbers in
8 bits. Each is one kernel where PyTorch compiles it, as `overlaptune step` counts it. They calculate in fp32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from overlaptune.torch import quantized

#: The one scale of inputs whose products have scales of whole matrices: numbers of up to 28 are in the range of 8 bits.
STATIC_SCALE = 1 / 16
#: Shapes that an operation is compiled for; PyTorch's own limit is 8.
MOST_SHAPES = 64


def add_norm(h: Tensor, residual: Tensor, weight: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """RMSNorm of the sum of h and the residual; and the sum."""
    residual = residual + h
    wide = residual.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + epsilon)
    return (wide * scale * weight).to(h.dtype), residual


def rope(qkv: Tensor, cos: Tensor, sin: Tensor, rotated: int) -> Tensor:
    """The first `rotated` columns, which are the heads of queries and keys: [rows, heads, head_dim]."""
    heads = qkv[:, :rotated].unflatten(1, (-1, 2 * cos.shape[-1])).float()
    first, second = heads.chunk(2, dim=-1)
    turned: Tensor = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(qkv.dtype)
    return turned


def activation(gate_up: Tensor) -> Tensor:
    gate, up = gate_up.chunk(2, dim=-1)
    y: Tensor = (torch.nn.functional.silu(gate.float()) * up.float()).to(gate_up.dtype)
    return y


def in_8_bits(x: Tensor, scales: str) -> tuple[Tensor, Tensor]:
    """The numbers of `quantized`, and their scales: of each row (dynamic), or one for the tensor (static)."""
    made = quantized(x, scales, STATIC_SCALE if scales == "tensor" else None)
    return made.values, made.scales


@dataclass(frozen=True)
class Pointwise:
    add_norm: Callable[[Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor]]
    rope: Callable[[Tensor, Tensor, Tensor, int], Tensor]
    activation: Callable[[Tensor], Tensor]
    in_8_bits: Callable[[Tensor, str], tuple[Tensor, Tensor]]


EAGER = Pointwise(add_norm, rope, activation, in_8_bits)


def compiled() -> Pointwise:
    """The pointwise operations as kernels, which are compiled for each shape when it is first met."""
    torch._dynamo.config.recompile_limit = MOST_SHAPES
    kernels: list[Any] = [torch.compile(each, dynamic=False, fullgraph=True)
                          for each in (add_norm, rope, activation, in_8_bits)]
    return Pointwise(*kernels)
