"""Each operation of a layer alone, on inputs as it has them in the layer: one graph for each operation, in which it runs
several times with the weights of the layers in turn."""

from __future__ import annotations

from typing import Optional

import torch
from layer import Matrix, Product, Stack, one_layer
from layer_shape import GATHERED, PRODUCTS
from operands import exchanged, gathered, input_of, result_dtype
from pointwise import EAGER, Pointwise
from products import Problems, by_torch, multiplied, operands_of
from single_operations import Call, single_calls
from torch import Tensor

from overlaptune import Problem
from overlaptune.torch import Scaled


def inputs_and_results(stack: Stack, problems: Problems) -> dict[str, tuple[Matrix, Tensor]]:
    """The inputs and results of the products of the first layer."""
    seen: dict[str, tuple[Matrix, Tensor]] = {}
    plain = by_torch(problems, stack.h.dtype)

    def product(name: str, x: Matrix, weight: Matrix) -> Tensor:
        y = plain(name, x, weight)
        seen[name] = x, y
        return y

    one_layer(stack, stack.layers[0], EAGER, product, stack.h, stack.residual)
    return seen


def gemm_alone(stack: Stack, name: str, x: Matrix, problem: Optional[Problem]) -> Call:
    whole = x
    if problem is not None:
        a, scales = input_of(operands_of(problem, x, stack.layers[0].weights[name]))
        whole = a if scales is None else Scaled(a, scales)
    return lambda layer: multiplied(whole, layer.weights[name], stack.h.dtype)


def collective_alone(name: str, x: Matrix, problem: Problem) -> Call:
    """NCCL's, as PyTorch calls it; sums are of zeros, which an all-reduce leaves as they are. Scales stay at home."""
    if name in GATHERED:
        values = x.values if isinstance(x, Scaled) else x
        return lambda layer: gathered(problem, values)
    partial = torch.zeros((problem.m, problem.n), dtype=result_dtype(problem), device="cuda")
    return lambda layer: exchanged(problem, partial)


def by_way(name: str, x: Matrix, product: Product) -> Call:
    return lambda layer: product(name, x, layer.weights[name])


def calls_of(stack: Stack, pointwise: Pointwise, problems: Problems, ways: dict[str, Product]) -> dict[str, Call]:
    """By the names that step_table.py reads. `ways` has `sequential` and `tuned`."""
    seen = inputs_and_results(stack, problems)
    calls = single_calls(stack, pointwise, seen["qkv"][1], seen["gate_up"][1])
    for name in PRODUCTS:
        x, problem = seen[name][0], problems[name]
        x = x if isinstance(x, Scaled) else x.contiguous()
        calls[f"{name} gemm"] = gemm_alone(stack, name, x, problem)
        if problem is None:
            continue
        calls[f"{name} collective"] = collective_alone(name, x, problem)
        for way, product in ways.items():
            calls[f"{name} {way}"] = by_way(name, x, product)
    return calls


def attention_tflops(stack: Stack, tokens: int, us: float) -> float:
    """The rate of the two products, of which a causal mask leaves half."""
    return 2 * tokens**2 * stack.shape.heads * stack.shape.head_dim / (1e6 * us)
