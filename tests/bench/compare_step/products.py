"""Who runs the products of a layer and their collectives: plans of the run library, or PyTorch with NCCL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Optional

import torch
from layer import Matrix, Product
from layer_shape import GATHERED, PRODUCTS, LayerShape
from operands import Operands, plain, scaled_product, wide
from torch import Tensor
from ways import gathered_scaled_product, group_name, scattered_scaled_product

from overlaptune import Answer, Error, Op, Problem, run
from overlaptune.run import Plan
from overlaptune.torch import Scaled, World

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


def multiplied(x: Matrix, weight: Matrix, dtype: torch.dtype) -> Tensor:
    """PyTorch's product, without a collective. `dtype` is that of the result of 8-bit operands."""
    if isinstance(x, Scaled):
        assert isinstance(weight, Scaled)
        return scaled_product(x, weight, dtype)
    assert isinstance(weight, Tensor)
    y: Tensor = x @ weight.t()
    return y


def operands_of(problem: Problem, x: Matrix, weight: Matrix) -> Operands:
    """For functions that do not look at the right result."""
    if isinstance(x, Scaled):
        assert isinstance(weight, Scaled)
        return Operands(problem, x.values, weight.values, x.values, x.scales, weight.scales)
    assert isinstance(weight, Tensor)
    return Operands(problem, x, weight, x)


def by_plans(world: World, plans: Plans, dtype: torch.dtype) -> Product:
    def product(name: str, x: Matrix, weight: Matrix) -> Tensor:
        plan = plans[name]
        if plan is None:
            return multiplied(x, weight, dtype)
        place = world.result(plan, (rows_of(plan.problem), plan.problem.n), dtype)
        if isinstance(x, Scaled):
            assert isinstance(weight, Scaled)
            world.enqueue_scaled(plan, x.values, x.scales, weight.values, weight.scales, place)
        else:
            world.enqueue(plan, x.contiguous(), weight, place)
        return place

    return product


def by_torch(problems: Problems, dtype: torch.dtype) -> Product:
    def product(name: str, x: Matrix, weight: Matrix) -> Tensor:
        problem = problems[name]
        return multiplied(x, weight, dtype) if problem is None else plain(operands_of(problem, x, weight))

    return product


def in_fp32(problems: Problems) -> Product:
    """The reference: PyTorch's products of the same numbers, and their sums, in fp32."""
    inner = by_torch(problems, torch.float32)

    def product(name: str, x: Matrix, weight: Matrix) -> Tensor:
        return inner(name, *(wide(each) if isinstance(each, Scaled) else each.float() for each in (x, weight)))

    return product


def by_async_tp(dtype: torch.dtype) -> Product:
    """PyTorch's asynchronous tensor parallelism, which has the two products of sequence parallelism."""
    def product(name: str, x: Matrix, weight: Matrix) -> Tensor:
        if isinstance(x, Scaled):
            assert isinstance(weight, Scaled)
            overlapped = gathered_scaled_product if name in GATHERED else scattered_scaled_product
            return overlapped(x, weight, dtype)
        assert isinstance(weight, Tensor)
        operators = torch.ops.symm_mem
        if name in GATHERED:
            gathered: Tensor = operators.fused_all_gather_matmul(x, [weight.t()], 0, group_name(), return_A=False)[1][0]
            return gathered
        scattered: Tensor = operators.fused_matmul_reduce_scatter(x, weight.t(), "sum", 0, group_name())
        return scattered

    return product
