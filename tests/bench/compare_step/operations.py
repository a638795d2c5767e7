"""Each operation of a layer alone, on inputs as it has them in the layer: one graph for each operation, in which it runs
several times with the weights of the layers in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

import torch
from layer import Layer, Product, Stack, attention, one_layer
from layer_shape import GATHERED, PRODUCTS
from operands import exchanged, gathered
from pointwise import EAGER, Pointwise
from products import Problems, by_torch
from rounds import Replay
from torch import Tensor
from ways import Captured

from overlaptune import Problem

Call = Callable[[Layer], object]
RUNS = 16  #: of an operation in its graph, or once for each layer where there are more


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
    shape, seen = stack.shape, inputs_and_results(stack, problems)
    qkv, gate_up = seen["qkv"][1], seen["gate_up"][1]
    heads = EAGER.rope(qkv, stack.cos, stack.sin, shape.rotated)
    calls: dict[str, Call] = {
        "attention norm": lambda layer: pointwise.add_norm(stack.h, stack.residual, layer["attention norm"],
                                                           shape.epsilon),
        "rope": lambda layer: pointwise.rope(qkv, stack.cos, stack.sin, shape.rotated),
        "attention": lambda layer: attention(shape, heads, qkv),
        "mlp norm": lambda layer: pointwise.add_norm(stack.h, stack.residual, layer["mlp norm"], shape.epsilon),
        "activation": lambda layer: pointwise.activation(gate_up)}
    for name in PRODUCTS:
        x, problem = seen[name][0].contiguous(), problems[name]
        calls[f"{name} gemm"] = gemm_alone(name, x, problem)
        if problem is None:
            continue
        calls[f"{name} collective"] = collective_alone(name, x, problem)
        for way, product in ways.items():
            calls[f"{name} {way}"] = by_way(name, x, product)
    return calls


def graph_of(call: Call, layers: list[Layer]) -> tuple[Replay, int]:
    """A graph, and how many times the operation runs in it."""
    runs = [layers[number % len(layers)] for number in range(max(RUNS, len(layers)))]

    def all_runs() -> None:
        for layer in runs:
            call(layer)

    return Captured(all_runs), len(runs)


def attention_tflops(stack: Stack, tokens: int, us: float) -> float:
    """The rate of the two products, of which a causal mask leaves half."""
    return 2 * tokens**2 * stack.shape.heads * stack.shape.head_dim / (1e6 * us)
