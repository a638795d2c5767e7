"""One matrix product with its collective on tensors: shapes, checks, and the run of its plan or,
where there is none, of PyTorch's own product and collective."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist

from ..errors import ArgumentError
from ..values import Dtype, Op, Problem
from .world import World

DTYPES = {torch.bfloat16: Dtype.BF16, torch.float16: Dtype.FP16}
#: The ops that layers have.
PRODUCTS = (Op.GEMM_ALL_REDUCE, Op.GEMM_REDUCE_SCATTER, Op.ALL_GATHER_GEMM)
#: run.h: the operands of a plan are aligned to this many bytes.
ALIGNMENT = 16


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """The type that a product computes with: that of torch.autocast, where it is on and a plan can
    have it, else the given one."""
    if not torch.is_autocast_enabled("cuda"):
        return dtype
    wanted = torch.get_autocast_dtype("cuda")
    return wanted if wanted in DTYPES and dtype in (torch.float32, *DTYPES) else dtype


def problem_of(world: World, op: Op, weight: torch.Tensor, rows: int) -> Problem:
    """The problem of a weight [n, k] on each rank, for an input with this many rows on all ranks together."""
    return problem_of_shape(world, op, weight.shape, weight.dtype, rows)


def problem_of_shape(world: World, op: Op, shape: Sequence[int], dtype: torch.dtype, rows: int) -> Problem:
    dtype = working_dtype(dtype)
    if dtype not in DTYPES:
        raise ArgumentError(f"weight: {dtype}; expected torch.bfloat16 or torch.float16")
    n, k = shape
    return Problem(op, rows, n, k, world.size, DTYPES[dtype])


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()


def check_input(world: World, x: torch.Tensor, weight: torch.Tensor) -> None:
    if x.device != world.device or x.dtype != weight.dtype:
        raise ArgumentError(
            f"x: {x.dtype} on {x.device}; expected {weight.dtype} on {world.device}, as the weight "
            "and the world"
        )
    if weight.device != world.device or not weight.is_contiguous():
        raise ArgumentError(
            f"weight: on {weight.device}; expected contiguous memory on {world.device}, as the world"
        )
    if x.dim() < 2 or x.shape[-1] != weight.shape[1]:
        raise ArgumentError(
            f"x: shape {tuple(x.shape)}; expected two dimensions or more, the last one of "
            f"{weight.shape[1]}"
        )


def gathered(x: torch.Tensor, world: World) -> torch.Tensor:
    """The x of all ranks, one after the other."""
    whole = torch.empty((x.shape[0] * world.size, *x.shape[1:]), dtype=x.dtype, device=x.device)
    if whole.numel() > 0:
        dist.all_gather_into_tensor(whole, x.contiguous(), group=world.group)
    return whole


def scattered_sum(x: torch.Tensor, world: World) -> torch.Tensor:
    """This rank's part of the sum over the ranks."""
    part = torch.empty((x.shape[0] // world.size, *x.shape[1:]), dtype=x.dtype, device=x.device)
    if part.numel() > 0:
        dist.reduce_scatter_tensor(part, x.contiguous(), group=world.group)
    return part


def summed(x: torch.Tensor, world: World) -> torch.Tensor:
    """The sum over the ranks."""
    whole = x.clone(memory_format=torch.contiguous_format)
    if whole.numel() > 0:
        dist.all_reduce(whole, group=world.group)
    return whole


def first_of_result(op: Op, first: int, ranks: int) -> int:
    """The first dimension of a result, for that of x."""
    if op == Op.ALL_GATHER_GEMM:
        return first * ranks
    return first // ranks if op == Op.GEMM_REDUCE_SCATTER else first


def largest_part(first: int, ranks: int) -> int:
    """The part of a dimension that the first rank has, as torch.chunk divides it."""
    return (first + ranks - 1) // ranks


def part_of(first: int, world: World) -> int:
    """This rank's part. The last ranks have less, or nothing."""
    part = largest_part(first, world.size)
    return max(0, min(part, first - world.rank * part))


def own_product(world: World, op: Op, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The product and the collective of the program, or of PyTorch, one after the other."""
    if world.own_product is not None:
        return world.own_product(op, x, weight)
    if op == Op.ALL_GATHER_GEMM:
        x = gathered(x, world)
    y: torch.Tensor = torch.nn.functional.linear(x, weight)
    if op == Op.GEMM_REDUCE_SCATTER:
        return scattered_sum(y, world)
    if op == Op.GEMM_ALL_REDUCE:
        y = y.contiguous()
        dist.all_reduce(y, group=world.group)
    return y


def rows_of(world: World, op: Op, x: torch.Tensor) -> int:
    """The rows of the product of x, on all ranks together."""
    rows: int = x.numel() // x.shape[-1]
    if op == Op.ALL_GATHER_GEMM:
        return rows * world.size
    if op == Op.GEMM_REDUCE_SCATTER and x.shape[0] % world.size != 0:
        raise ArgumentError(
            f"x: shape {tuple(x.shape)}; expected a first dimension that is a multiple of "
            f"{world.size}, the number of ranks"
        )
    return rows


def product(world: World, op: Op, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x @ weight.T with its collective, for operands that `check_input` has passed. The collective
    divides or multiplies the first dimension of x by the number of ranks; the other leading
    dimensions stay as they are."""
    rows = rows_of(world, op, x)
    problem = problem_of(world, op, weight, rows)
    shape = (first_of_result(op, x.shape[0], world.size), *x.shape[1:-1], weight.shape[0])
    if rows == 0:  # on all ranks; there is nothing to compute, and no such plan
        return torch.empty(shape, dtype=x.dtype, device=x.device)
    if rows < world.threshold:
        world.runs_below_threshold += 1
        return own_product(world, op, x, weight)
    plan = world.plan_or_none(problem)
    if plan is None:
        return own_product(world, op, x, weight)
    y = world.result(plan, shape, x.dtype)
    world.enqueue(plan, _aligned(x), _aligned(weight), y)
    return y
