"""Products with their collective, as functions of tensors. torch.compile traces them: each is one operator of its graph."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.distributed.tensor import Placement, Replicate, Shard

from ..errors import ArgumentError
from . import operators  # noqa: F401
from .products import check_input, largest_part, part_of, working_dtype
from .shards import checked_part
from .world import World


def gemm_all_reduce(
    x: torch.Tensor, weight: torch.Tensor, world: World, bias: Optional[torch.Tensor] = None
) -> torch.Tensor:
    """The sum over the ranks of x @ weight.T, the same on all of them.

    x       [..., k], with the same tokens on every rank
    weight  [n, k], bf16 or fp16
    bias    [n], the same on every rank; added once to the sum
    Result  [..., n]

    The gradient of the result is the same on every rank, as the sum is. Raises ArgumentError for operands that do not
    fit, and what `World.plan_or_none` raises. Collective, as the other functions here. Operands of which each rank has a
    part may be DTensors that say so."""
    x, weight, bias = _row_operands(x, weight, world, bias)
    if world.size == 1:
        return _linear(x, weight, bias)
    return _with_bias(torch.ops.overlaptune.gemm_all_reduce(x, weight, world.number), bias)


def gemm_reduce_scatter(
    x: torch.Tensor,
    weight: torch.Tensor,
    world: World,
    bias: Optional[torch.Tensor] = None,
    uneven: bool = False,
) -> torch.Tensor:
    """This rank's part of the sum over the ranks of x @ weight.T: of the first dimension of x, which is a multiple of
    the number of ranks, the rank'th part. With `uneven` it may be any, and torch.chunk divides it: the last ranks have
    fewer rows, or none, and x is copied. Else as gemm_all_reduce."""
    x, weight, bias = _row_operands(x, weight, world, bias)
    if world.size == 1:
        return _linear(x, weight, bias)
    if bias is not None:  # each rank adds it to other rows
        bias = _Replicated.apply(bias, world.number)
    first = x.shape[0]
    if first % world.size == 0 or not uneven:
        return _with_bias(torch.ops.overlaptune.gemm_reduce_scatter(x, weight, world.number), bias)
    padded = _padded(x, largest_part(first, world.size) * world.size)
    y = torch.ops.overlaptune.gemm_reduce_scatter(padded, weight, world.number)
    return _with_bias(y[: part_of(first, world)], bias)


def all_gather_gemm(
    x: torch.Tensor,
    weight: torch.Tensor,
    world: World,
    bias: Optional[torch.Tensor] = None,
    first: Optional[int] = None,
) -> torch.Tensor:
    """The x of all ranks, one after the other, times this rank's weight.T.

    x       [its part of first, ..., k]
    weight  [n, k], this rank's rows of the whole weight
    bias    [n], this rank's part
    first   the first dimension of the x of all ranks together, divided among them as torch.chunk divides it; the same on
            every rank. None: each rank has as much
    Result  [first, ..., n]"""
    x, weight, bias = _operands(x, weight, world, bias, (Shard(0), Shard(0), Shard(0)))
    if world.size == 1:
        return _linear(x, weight, bias)
    if first is None:
        return _with_bias(torch.ops.overlaptune.all_gather_gemm(x, weight, world.number), bias)
    if x.shape[0] != part_of(first, world):
        raise ArgumentError(
            f"x: shape {tuple(x.shape)}; expected a first dimension of {part_of(first, world)}, the part of {first} "
            f"that rank {world.rank} of {world.size} has"
        )
    padded = _padded(x, largest_part(first, world.size))
    y = torch.ops.overlaptune.all_gather_gemm(padded, weight, world.number)
    return _with_bias(y[:first], bias)


def replicated_gemm(
    x: torch.Tensor, weight: torch.Tensor, world: World, bias: Optional[torch.Tensor] = None
) -> torch.Tensor:
    """x, which every rank has whole, times this rank's weight.T, without a collective. The gradient of x is the sum of
    the gradients of all ranks."""
    x, weight, bias = _operands(x, weight, world, bias, (Replicate(), Shard(0), Shard(0)))
    return _linear(x if world.size == 1 else _Replicated.apply(x, world.number), weight, bias)


class _Replicated(torch.autograd.Function):
    """A tensor that all ranks have, used in a different way on each: its gradient is the sum of theirs."""

    # Its parameters are named one by one: of two, torch.compile would take the first for x where no gradient is wanted.
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, world: int) -> torch.Tensor:
        ctx.world = world
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        return torch.ops.overlaptune.all_reduce(grad_outputs[0], ctx.world), None


_Operands = tuple[torch.Tensor, torch.Tensor, Optional[torch.Tensor]]


def _row_operands(x: torch.Tensor, weight: torch.Tensor, world: World, bias: Optional[torch.Tensor]) -> _Operands:
    """Those of a product whose columns of x are divided."""
    return _operands(x, weight, world, bias, (Shard(x.dim() - 1), Shard(1), Replicate()))


def _operands(
    x: torch.Tensor, weight: torch.Tensor, world: World, bias: Optional[torch.Tensor],
    placements: tuple[Placement, Placement, Placement],
) -> _Operands:
    """This rank's parts, all in the type of torch.autocast, where it is on. Autograd sees the conversion, and so each
    gradient has the type of its tensor. `placements`: those of x, weight and bias, where they are DTensors."""
    x = checked_part("x", x, placements[0], world)
    weight = checked_part("weight", weight, placements[1], world)
    bias = None if bias is None else checked_part("bias", bias, placements[2], world)
    x, weight = x.to(working_dtype(x.dtype)), weight.to(working_dtype(weight.dtype))
    check_input(world, x, weight)
    return x, weight, None if bias is None else bias.to(weight.dtype)


def _padded(x: torch.Tensor, first: int) -> torch.Tensor:
    """With zeros behind it, where its first dimension is less."""
    missing = first - x.shape[0]
    return x if missing == 0 else torch.cat([x, x.new_zeros((missing, *x.shape[1:]))])


def _linear(x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
    y: torch.Tensor = torch.nn.functional.linear(x, weight, bias)
    return y


def _with_bias(y: torch.Tensor, bias: Optional[torch.Tensor]) -> torch.Tensor:
    return y if bias is None else y + bias
