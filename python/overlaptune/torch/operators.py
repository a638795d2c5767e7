"""The products, and the collectives that their gradients need, as operators of PyTorch: `torch.ops.overlaptune`.
torch.compile keeps an operator in its graph and asks it for the shape of its result. Which plan runs is chosen by the
rows of the input when the operator runs, so that one graph serves any number of rows.

    gemm_all_reduce, gemm_reduce_scatter, all_gather_gemm   (x, weight, world) -> y
    all_reduce, reduce_scatter, all_gather                  (x, world) -> y
    scaled_…  of each product, of 8-bit operands            (x, x_scales, weight, weight_scales, dtype, world) -> y

`world` is `World.number`. docs/torch.md has the shapes of the products. They have gradients, the collectives have none.
The type is that of x and weight, which functions.py has checked and cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.fx.node import has_side_effect

from ..values import Op
from .gradients import once, refuse, weight_gradient
from .products import PRODUCTS, first_of_result, gathered, product, scattered_sum, summed
from . import scaled
from .registry import world_of

LIBRARY = "overlaptune"
#: The operators end with it; scripts/compare-builds ends those of one build before it imports another.
library = torch.library.Library(LIBRARY, "FRAGMENT")


def _define(name: str, arguments: str, run: Callable[..., Any], shape: Callable[..., Any]) -> str:
    """An operator for tensors of a GPU: `run` computes it, `shape` is an empty tensor like its result. torch.compile keeps
    it where its result is not used, because other ranks wait for this one."""
    operator = f"{LIBRARY}::{name}"
    schema = f"({arguments}, int world) -> Tensor"
    torch.library.define(operator, schema, lib=library, tags=(torch.Tag.pt2_compliant_tag,))
    torch.library.impl(operator, "cuda", run, lib=library)
    torch.library.register_fake(operator, shape, lib=library)
    has_side_effect(getattr(getattr(torch.ops, LIBRARY), name).default)
    return operator


def _define_collective(op: Op, collective: Callable[..., torch.Tensor]) -> None:
    """The collective of an op, by itself. Its result cannot be differentiated."""

    def run(x: torch.Tensor, world: int) -> torch.Tensor:
        return collective(x, world_of(world))

    def shape(x: torch.Tensor, world: int) -> torch.Tensor:
        return x.new_empty((first_of_result(op, x.shape[0], world_of(world).size), *x.shape[1:]))

    name = str(op).replace("gemm_", "").replace("_gemm", "")
    torch.library.register_autograd(_define(name, "Tensor x", run, shape), refuse, lib=library)


def _define_product(op: Op) -> None:
    def run(x: torch.Tensor, weight: torch.Tensor, world: int) -> torch.Tensor:
        return product(world_of(world), op, x, weight)

    def shape(x: torch.Tensor, weight: torch.Tensor, world: int) -> torch.Tensor:
        first = first_of_result(op, x.shape[0], world_of(world).size)
        return x.new_empty((first, *x.shape[1:-1], weight.shape[0]))

    def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        """Keeps what the gradients need: each of the two for the gradient of the other one."""
        x, weight, ctx.world = inputs
        of_x, of_weight = ctx.needs_input_grad[:2]
        ctx.save_for_backward(x if of_weight else None, weight if of_x else None)

    @once
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[Optional[torch.Tensor], ...]:
        x, weight = ctx.saved_tensors
        operators = getattr(torch.ops, LIBRARY)
        if op == Op.GEMM_REDUCE_SCATTER:
            grad = operators.all_gather(grad, ctx.world)
        of_x: Optional[torch.Tensor] = None
        of_weight: Optional[torch.Tensor] = None
        if ctx.needs_input_grad[0]:
            of_x = grad @ weight
            if op == Op.ALL_GATHER_GEMM:
                of_x = operators.reduce_scatter(of_x, ctx.world)
        if ctx.needs_input_grad[1]:
            whole = operators.all_gather(x, ctx.world) if op == Op.ALL_GATHER_GEMM else x
            of_weight = weight_gradient(grad, whole)
        return of_x, of_weight, None

    operator = _define(str(op), "Tensor x, Tensor weight", run, shape)
    torch.library.register_autograd(operator, backward, setup_context=keep, lib=library)


_define_collective(Op.GEMM_ALL_REDUCE, summed)
_define_collective(Op.GEMM_REDUCE_SCATTER, scattered_sum)
_define_collective(Op.ALL_GATHER_GEMM, gathered)
for _op in PRODUCTS:
    _define_product(_op)
    scaled.define(_op, _define)
