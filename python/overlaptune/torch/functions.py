"""Products with their gradients. The backward passes use PyTorch's own products and collectives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional

import torch
import torch.distributed as dist

from ..values import Op
from .products import (
    check_input,
    gathered,
    product,
    scattered_sum,
    working_dtype,
)
from .world import World

Backward = Callable[..., Any]


class _NoSecondDerivative(torch.autograd.Function):
    """A gradient that may be used, but not differentiated."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        return args[0].view_as(args[0])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise RuntimeError(
            "overlaptune.torch: its layers have no second derivatives; use torch.nn.Linear and "
            "torch.distributed.nn where a gradient is differentiated"
        )


def _once(backward: Backward) -> Backward:
    """A backward pass in the types that the forward pass computed with, whatever torch.autocast is
    there. Its results cannot be differentiated, also where the gradient that comes in is a
    constant: torch.autograd.function.once_differentiable would treat them as constants then."""

    @functools.wraps(backward)
    def once(ctx: Any, *grads: Any) -> Any:
        with torch.no_grad(), torch.autocast("cuda", enabled=False):
            results = backward(ctx, *grads)
        if not torch.is_grad_enabled():  # no create_graph
            return results
        sources = [each for each in (*grads, *ctx.saved_tensors) if each is not None]
        return tuple(
            _NoSecondDerivative.apply(result, *sources) if torch.is_tensor(result) else result
            for result in results
        )

    return once


def _saved(ctx: Any, x: torch.Tensor, weight: torch.Tensor) -> None:
    """Keeps what the gradients need: each of the two for the gradient of the other one."""
    of_x, of_weight = ctx.needs_input_grad[:2]
    ctx.save_for_backward(x if of_weight else None, weight if of_x else None)


def _weight_gradient(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad.flatten(0, -2).t() @ x.flatten(0, -2)


class _RowParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, weight, ctx.world, ctx.op = args
        _saved(ctx, x, weight)
        return product(ctx.world, ctx.op, x, weight)

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        if ctx.op == Op.GEMM_REDUCE_SCATTER:
            grad = gathered(grad, ctx.world)
        of_x = grad @ weight if ctx.needs_input_grad[0] else None
        of_weight = _weight_gradient(grad, x) if ctx.needs_input_grad[1] else None
        return of_x, of_weight, None, None


class _GatheredColumnParallel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, weight, ctx.world = args
        _saved(ctx, x, weight)
        return product(ctx.world, Op.ALL_GATHER_GEMM, x, weight)

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        x, weight = ctx.saved_tensors
        (grad,) = grad_outputs
        of_x: Optional[torch.Tensor] = None
        of_weight: Optional[torch.Tensor] = None
        if ctx.needs_input_grad[0]:
            of_x = scattered_sum(grad @ weight, ctx.world)
        if ctx.needs_input_grad[1]:
            of_weight = _weight_gradient(grad, gathered(x, ctx.world))
        return of_x, of_weight, None


class _Replicated(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        x, ctx.world = args
        return x.view_as(x)

    @staticmethod
    @_once
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        whole = grad_outputs[0].clone(memory_format=torch.contiguous_format)
        if whole.numel() > 0:
            dist.all_reduce(whole, group=ctx.world.group)
        return whole, None


def _operands(
    x: torch.Tensor, weight: torch.Tensor, world: World
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both in the type of torch.autocast, where it is on. Autograd sees the conversion, and so each
    gradient has the type of its tensor."""
    x, weight = x.to(working_dtype(x.dtype)), weight.to(working_dtype(weight.dtype))
    check_input(world, x, weight)
    return x, weight


# torch.compile leaves the products out of its graphs: it cannot trace the address of a stream.


@torch.compiler.disable
def row_parallel(x: torch.Tensor, weight: torch.Tensor, world: World, op: Op) -> torch.Tensor:
    """The sum over the ranks of x @ weight.T: this rank's part of it (GEMM_REDUCE_SCATTER), or all
    of it (GEMM_ALL_REDUCE). The gradient of the latter is the same on every rank, as the sum is."""
    x, weight = _operands(x, weight, world)
    if world.size == 1:
        return _linear(x, weight)
    y: torch.Tensor = _RowParallel.apply(x, weight, world, op)
    return y


@torch.compiler.disable
def gathered_column_parallel(
    x: torch.Tensor, weight: torch.Tensor, world: World
) -> torch.Tensor:
    """The x of all ranks, one after the other, times this rank's weight.T."""
    x, weight = _operands(x, weight, world)
    if world.size == 1:
        return _linear(x, weight)
    y: torch.Tensor = _GatheredColumnParallel.apply(x, weight, world)
    return y


@torch.compiler.disable
def replicated_column_parallel(
    x: torch.Tensor, weight: torch.Tensor, world: World
) -> torch.Tensor:
    """x, which every rank has whole, times this rank's weight.T. The gradient of x is the sum of
    the gradients of all ranks."""
    x, weight = _operands(x, weight, world)
    return _linear(x if world.size == 1 else _Replicated.apply(x, world), weight)


def _linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = torch.nn.functional.linear(x, weight)
    return y
