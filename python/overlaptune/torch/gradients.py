"""Rules that the backward passes of products share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import torch

Backward = Callable[..., Any]


def refuse(*_: Any) -> NoReturn:
    raise RuntimeError(
        "overlaptune.torch: its layers have no second derivatives; use torch.nn.Linear and "
        "torch.distributed.nn where a gradient is differentiated"
    )


class _NoSecondDerivative(torch.autograd.Function):
    """A gradient that may be used, but not differentiated."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        return args[0].view_as(args[0])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        refuse()


def once(backward: Backward) -> Backward:
    """A backward pass in the types that the forward pass computed with, whatever torch.autocast is
    there. Its results cannot be differentiated, also where the gradient that comes in is a
    constant: torch.autograd.function.once_differentiable would treat them as constants then."""

    @functools.wraps(backward)
    def run(ctx: Any, *grads: Any) -> Any:
        with torch.no_grad(), torch.autocast("cuda", enabled=False):
            results = backward(ctx, *grads)
        if not torch.is_grad_enabled():  # no create_graph
            return results
        sources = [each for each in (*grads, *ctx.saved_tensors) if each is not None]
        return tuple(
            _NoSecondDerivative.apply(result, *sources) if torch.is_tensor(result) else result
            for result in results
        )

    return run


def weight_gradient(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return grad.flatten(0, -2).t() @ x.flatten(0, -2)
