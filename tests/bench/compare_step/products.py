"""Who runs the products of a layer and their collectives: plans of the run library, or PyTorch with NCCL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

import torch
from layer import Product
from layer_shape import GATHERED, PRODUCTS, LayerShape
from operands import Operands, plain
from torch import Tensor
from ways import group_name

from overlaptune import Answer, Error, Op, Problem, run
from overlaptune.run import Plan
from overlaptune.torch import World

#: By name of the product; None where it has no collective, and so no plan.
Problems = dict[str, Optional[Problem]]
Plans = dict[str, Optional[Plan]]


def problems_of(shape: LayerShape, tokens: int, ranks: int, sequence_parallel: bool) -> Problems:
    return {name: shape.problem(name, tokens, ranks, sequence_parallel) for name in PRODUCTS}


def shared_bytes(problems: Problems, answers: list[Callable[[Problem], Answer]]) -> int:
    """The world's memory that the plans of these problems need."""
    return max(run.sizes(problem, answer(problem)).shared_bytes
               for problem in problems.values() if problem is not None for answer in answers)


def plans_of(world: World, problems: Problems, answer: Callable[[Problem], Answer]) -> Plans:
    """Collective. Fails on all ranks where a plan cannot be made."""
    plans: Plans = {}
    for name, problem in problems.items():
        if problem is None:
            plans[name] = None
            continue
        try:
            plans[name] = world.plan_with(problem, answer(problem))
        except Error as error:
            raise SystemExit(f"compare-step: {name} ({problem.op}, {answer(problem).config}): {error}") from None
    return plans


def config_of(world: World, problem: Optional[Problem]) -> str:
    """The config that the tuned layer runs a product with."""
    if problem is None:
        return ""
    answer = world.answer(problem)
    return f"{answer.config} ({answer.source})"


def rows_of(problem: Problem) -> int:
    """Rows of the result on one rank."""
    return problem.m // problem.ranks if problem.op == Op.GEMM_REDUCE_SCATTER else problem.m


def by_plans(world: World, plans: Plans, dtype: torch.dtype) -> Product:
    def product(name: str, x: Tensor, weight: Tensor) -> Tensor:
        plan = plans[name]
        if plan is None:
            y: Tensor = x @ weight.t()
            return y
        place = world.result(plan, (rows_of(plan.problem), plan.problem.n), dtype)
        world.enqueue(plan, x.contiguous(), weight, place)
        return place

    return product


def by_torch(problems: Problems) -> Product:
    """Calculates in the dtype of x: fp32 for the reference."""
    def product(name: str, x: Tensor, weight: Tensor) -> Tensor:
        problem = problems[name]
        weight = weight.to(x.dtype)
        y: Tensor = x @ weight.t() if problem is None else plain(Operands(problem, x, weight, x))
        return y

    return product


def by_async_tp() -> Product:
    """PyTorch's asynchronous tensor parallelism, which has the two products of sequence parallelism."""
    def product(name: str, x: Tensor, weight: Tensor) -> Tensor:
        operators = torch.ops.symm_mem
        if name in GATHERED:
            gathered: Tensor = operators.fused_all_gather_matmul(x, [weight.t()], 0, group_name(), return_A=False)[1][0]
            return gathered
        scattered: Tensor = operators.fused_matmul_reduce_scatter(x, weight.t(), "sum", 0, group_name())
        return scattered

    return product
