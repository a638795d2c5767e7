"""Products with their gradients. The backward passes use PyTorch's own products and collectives."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from ..values import Op
from .products import product
from .world import World


def _gathered(x: torch.Tensor, world: World) -> torch.Tensor:
    whole = torch.empty((x.shape[0] * world.size, *x.shape[1:]), dtype=x.dtype, device=x.device)
    dist.all_gather_into_tensor(whole, x.contiguous(), group=world.group)
    return whole


def _reduced(x: torch.Tensor, world: World) -> torch.Tensor:
    part = torch.empty((x.shape[0] // world.size, *x.shape[1:]), dtype=x.dtype, device=x.device)
    dist.reduce_scatter_tensor(part, x.contiguous(), group=world.group)
    return part


def _weight_gradient(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad.flatten(0, -2).t() @ x.flatten(0, -2)


class _RowParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, weight, ctx.world, ctx.op = args
        ctx.save_for_backward(x, weight)
        return product(ctx.world, ctx.op, x, weight)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        if ctx.op == Op.GEMM_REDUCE_SCATTER:
            grad = _gathered(grad, ctx.world)
        of_x = grad @ weight if ctx.needs_input_grad[0] else None
        of_weight = _weight_gradient(grad, x) if ctx.needs_input_grad[1] else None
        return of_x, of_weight, None, None


class _GatheredColumnParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, weight, ctx.world = args
        ctx.save_for_backward(x, weight)
        return product(ctx.world, Op.ALL_GATHER_GEMM, x, weight)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        of_x = of_weight = None
        if ctx.needs_input_grad[0]:
            of_x = _reduced(grad @ weight, ctx.world)
        if ctx.needs_input_grad[1]:
            of_weight = _weight_gradient(grad, _gathered(x, ctx.world))
        return of_x, of_weight, None


class _Replicated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, ctx.world = args
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        whole = grad_outputs[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(whole, group=ctx.world.group)
        return whole, None


def row_parallel(x: torch.Tensor, weight: torch.Tensor, world: World, op: Op) -> torch.Tensor:
    """The sum over the ranks of x @ weight.T: this rank's part of it (GEMM_REDUCE_SCATTER), or all
    of it (GEMM_ALL_REDUCE). The gradient of the latter is the same on every rank, as the sum is."""
    y: torch.Tensor = _RowParallel.apply(x, weight, world, op)
    return y


def gathered_column_parallel(
    x: torch.Tensor, weight: torch.Tensor, world: World
) -> torch.Tensor:
    """The x of all ranks, one after the other, times this rank's weight.T."""
    y: torch.Tensor = _GatheredColumnParallel.apply(x, weight, world)
    return y


def replicated(x: torch.Tensor, world: World) -> torch.Tensor:
    """x, which every rank has whole: its gradient is the sum of the gradients of all ranks."""
    y: torch.Tensor = _Replicated.apply(x, world)
    return y
