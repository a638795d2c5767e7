"""One matrix product with its collective on tensors: shapes, checks, and the run of its plan."""

from __future__ import annotations

import torch

from ..errors import ArgumentError
from ..values import Dtype, Op, Problem
from .world import World

DTYPES = {torch.bfloat16: Dtype.BF16, torch.float16: Dtype.FP16}
#: run.h: the operands of a plan are aligned to this many bytes.
ALIGNMENT = 256


def problem_of(world: World, op: Op, weight: torch.Tensor, rows: int) -> Problem:
    """The problem of a weight [n, k], for an input with this many rows on all ranks together."""
    if weight.dtype not in DTYPES:
        raise ArgumentError(f"weight: {weight.dtype}; expected torch.bfloat16 or torch.float16")
    n, k = weight.shape
    return Problem(op, rows, n, k, world.size, DTYPES[weight.dtype])


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


def product(world: World, op: Op, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x @ weight.T with its collective. The collective divides or multiplies the first dimension of
    x by the number of ranks; the other leading dimensions stay as they are."""
    check_input(world, x, weight)
    first = x.shape[0]
    rows = x.numel() // x.shape[-1]
    if op == Op.ALL_GATHER_GEMM:
        first, rows = first * world.size, rows * world.size
    elif op == Op.GEMM_REDUCE_SCATTER:
        if first % world.size != 0:
            raise ArgumentError(
                f"x: shape {tuple(x.shape)}; expected a first dimension that is a multiple of "
                f"{world.size}, the number of ranks"
            )
        first //= world.size
    plan = world.plan(problem_of(world, op, weight, rows))
    y = torch.empty((first, *x.shape[1:-1], weight.shape[0]), dtype=x.dtype, device=x.device)
    world.enqueue(plan, _aligned(x), weight, y)
    return y
