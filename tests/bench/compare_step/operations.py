"""Each operation of a layer alone, on inputs as it has them in the layer: one graph for each operation, in which it runs
several times with the weights of the layers in turn."""

from __future__ import annotations

from typing import Optional

import torch
from layer import Product, Stack, one_layer
from layer_shape import GATHERED, PRODUCTS
from operands import exchanged, gathered
from pointwise import EAGER, Pointwise
from products import Problems, by_torch
from single_operations import Call, single_calls
from torch import Tensor

from overlaptune import Problem


def inputs_and_results(stack: Stack, problems: Problems) -> dict[str, tuple[Tensor, Tensor]]:
    """The inputs and results of the products of the first layer."""
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    plain = by_torch(problems)

    def product(name: str, x: Tensor, weight: Tensor) -> Tensor:
        y = plain(name, x, weight)
        seen[name] = x, y
        return y

    one_layer(stack, stack.layers[0], EAGER, product, stack.h, stack.residual)
    return seen


def gemm_alone(name: str, x: Tensor, problem: Optional[Problem]) -> Call:
    a = x if problem is None else gathered(problem, x)
    return lambda layer: torch.matmul(a, layer[name].t())


def collective_alone(name: str, x: Tensor, problem: Problem) -> Call:
    """NCCL's, as PyTorch calls it; sums are of zeros, which an all-reduce leaves as they are."""
    if name in GATHERED:
        return lambda layer: gathered(problem, x)
    partial = torch.zeros((problem.m, problem.n), dtype=x.dtype, device=x.device)
    return lambda layer: exchanged(problem, partial)


def by_way(name: str, x: Tensor, product: Product) -> Call:
    return lambda layer: product(name, x, layer[name])


def calls_of(stack: Stack, pointwise: Pointwise, problems: Problems, ways: dict[str, Product]) -> dict[str, Call]:
    """By the names that step_table.py reads. `ways` has `sequential` and `tuned`."""
    seen = inputs_and_results(stack, problems)
    calls = single_calls(stack, pointwise, seen["qkv"][1], seen["gate_up"][1])
    for name in PRODUCTS:
        x, problem = seen[name][0].contiguous(), problems[name]
        calls[f"{name} gemm"] = gemm_alone(name, x, problem)
        if problem is None:
            continue
        calls[f"{name} collective"] = collective_alone(name, x, problem)
        for way, product in ways.items():
            calls[f"{name} {way}"] = by_way(name, x, product)
    return calls


def attention_tflops(stack: Stack, tokens: int, us: float) -> float:
    """The rate of the two products, of which a causal mask leaves half."""
    return 2 * tokens**2 * stack.shape.heads * stack.shape.head_dim / (1e6 * us)
