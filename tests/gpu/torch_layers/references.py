"""Results and gradients of the layers in fp32, by PyTorch's products and collectives, and the comparison with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
import torch.distributed as dist

from overlaptune import Op

#: Largest relative error (Frobenius) of a result or gradient that was rounded to bf16 a few times.
TOLERANCE = 1 / 64

Layer = Any


def close_to(name: str, found: torch.Tensor, right: torch.Tensor) -> None:
    if found.shape != right.shape:
        raise AssertionError(f"{name}: shape {tuple(found.shape)}, expected {tuple(right.shape)}")
    error = float((found.float() - right).norm() / right.norm().clamp_min(1e-20))
    if not error <= TOLERANCE:  # also where it is not a number
        raise AssertionError(f"{name}: relative error {error:.2e}, expected {TOLERANCE:.2e} at most")


def gathered(x: torch.Tensor, group: Any) -> torch.Tensor:
    whole = x.new_empty((x.shape[0] * dist.get_world_size(group), *x.shape[1:]))
    dist.all_gather_into_tensor(whole, x.contiguous(), group=group)
    return whole


def summed(x: torch.Tensor, group: Any) -> torch.Tensor:
    y = x.clone(memory_format=torch.contiguous_format)
    dist.all_reduce(y, group=group)
    return y


def part_of_sum(x: torch.Tensor, group: Any) -> torch.Tensor:
    return summed(x, group).chunk(dist.get_world_size(group))[dist.get_rank(group)]


def result(layer: Layer, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    group = layer.world.group
    if layer.op == Op.ALL_GATHER_GEMM:
        return gathered(x, group) @ weight.t()
    y = x @ weight.t()
    if layer.op == Op.GEMM_REDUCE_SCATTER:
        return part_of_sum(y, group)
    return y if layer.op is None else summed(y, group)


def gradients(
    layer: Layer, x: torch.Tensor, weight: torch.Tensor, grad: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Those of x and of the weight."""
    group = layer.world.group
    if layer.op == Op.GEMM_REDUCE_SCATTER:
        grad = gathered(grad, group)
    of_x = grad @ weight
    if layer.op == Op.ALL_GATHER_GEMM:
        of_x, x = part_of_sum(of_x, group), gathered(x, group)
    elif layer.op is None:
        of_x = summed(of_x, group)
    return of_x, grad.flatten(0, -2).t() @ x.flatten(0, -2)


def input_of(layer: Layer, *leading: int, dtype: Optional[torch.dtype] = None) -> torch.Tensor:
    """A random input. It is the same on all ranks where the layer has no collective of its own."""
    x = torch.randn(*leading, layer.weight.shape[1], device=layer.world.device)
    if layer.op is None:
        dist.broadcast(x, dist.get_global_rank(layer.world.group, 0), group=layer.world.group)
    return x.to(layer.weight.dtype if dtype is None else dtype)


def check(layer: Layer, x: torch.Tensor, call: Optional[Callable[[torch.Tensor], torch.Tensor]] = None,
          backward: bool = True) -> torch.Tensor:
    """Runs the layer (or `call`) forward and backward and compares. A frozen weight, and an x that requires no
    gradient, must have none."""
    weight = layer.weight
    wants_x = x.requires_grad
    weight.grad = x.grad = None
    y = (layer if call is None else call)(x)
    x32, weight32 = x.detach().float(), weight.detach().float()
    close_to("y", y.detach(), result(layer, x32, weight32))
    if not backward or not (wants_x or weight.requires_grad):
        return y.detach()
    grad = torch.randn_like(y)
    if layer.op == Op.GEMM_ALL_REDUCE:  # a sum that all ranks have has the same gradient on all
        dist.broadcast(grad, dist.get_global_rank(layer.world.group, 0), group=layer.world.group)
    y.backward(grad)
    for name, tensor, wanted, right in zip(("gradient of x", "gradient of the weight"), (x, weight),
                                           (wants_x, weight.requires_grad),
                                           gradients(layer, x32, weight32, grad.float())):
        if (tensor.grad is not None) != wanted:
            raise AssertionError(f"{name}: {'none' if wanted else 'one'}, expected {'one' if wanted else 'none'}")
        if wanted:
            if tensor.grad.dtype != tensor.dtype:
                raise AssertionError(f"{name}: {tensor.grad.dtype}, expected {tensor.dtype}")
            close_to(name, tensor.grad, right)
    return y.detach()
