"""Inputs and weights of all kinds: shapes, places in memory, types, and which of them need gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
from references import Layer, check, close_to, gathered, input_of

from overlaptune.torch import ColumnParallelLinear, RowParallelLinear, World

CASES: dict[str, Callable[[World], None]] = {}
IN, OUT = 1024, 2048


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


def layers(world: World, dtype: torch.dtype = torch.bfloat16) -> Iterator[Layer]:
    """Both, with and without sequence parallelism."""
    for kind in (RowParallelLinear, ColumnParallelLinear):
        for parallel in (True, False):
            yield kind(world, IN * world.size if kind is RowParallelLinear else IN,
                       OUT if kind is RowParallelLinear else OUT * world.size, sequence_parallel=parallel, dtype=dtype)


@contextmanager
def weights_seen(world: World) -> Iterator[list[int]]:
    """Addresses of the weights that reach plans."""
    seen: list[int] = []
    enqueue = world.enqueue

    def watched(plan: Any, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        seen.append(b.data_ptr())
        enqueue(plan, a, b, c)

    with mock.patch.object(world, "enqueue", watched):
        yield seen


@case
def shapes_and_types(world: World) -> None:
    for dtype in (torch.bfloat16, torch.float16):
        for layer in layers(world, dtype):
            for leading in ((512,), (128, 3), (4 * world.size, 2, 5)):
                check(layer, input_of(layer, *leading).requires_grad_())


@case
def rows_that_the_ranks_do_not_divide(world: World) -> None:
    """The parts of torch.chunk, the last ones short or empty: up and down again, like the whole block on one GPU."""
    up, down = ColumnParallelLinear(world, IN, OUT * world.size), RowParallelLinear(world, OUT * world.size, IN)
    weights = [gathered(up.weight.detach().float(), world.group),
               gathered(down.weight.detach().t().contiguous().float(), world.group).t()]
    for leading in ((8 * world.size + 1,), (2 * world.size - 1, 3), (1,)):
        torch.manual_seed(leading[0])
        x = torch.randn(*leading, IN, device=world.device).bfloat16()
        grad = torch.randn_like(x)
        first = leading[0]
        largest = -(-first // world.size)
        own = slice(largest * world.rank, min(first, largest * (world.rank + 1)))
        mine = x[own].clone().requires_grad_()
        y = down(up(mine, first), uneven=True)
        y.backward(grad[own])
        right = x.float().requires_grad_()
        whole = right @ weights[0].t() @ weights[1].t()
        whole.backward(grad.float())
        close_to("y", y.detach(), whole.detach()[own])
        assert mine.grad is not None and right.grad is not None
        close_to("gradient of x", mine.grad, right.grad[own])


@case
def weights_in_a_flat_buffer(world: World) -> None:
    """Aligned to 16 bytes, a weight is used where it is; otherwise it is copied."""
    for layer in layers(world):
        n, k = layer.weight.shape
        for elements, copied in ((8, False), (1, True)):
            flat = torch.empty(n * k + elements, dtype=layer.weight.dtype, device=world.device)
            with torch.no_grad():
                place = flat[elements:].view(n, k).copy_(layer.weight)
            layer.weight = torch.nn.Parameter(place)
            assert layer.weight.data_ptr() % 256 == 2 * elements
            with weights_seen(world) as seen:
                check(layer, input_of(layer, 256).requires_grad_())
            if layer.op is not None:
                assert seen and (seen[0] != layer.weight.data_ptr()) == copied, "copied" if not copied else "not copied"


@case
def strided_inputs(world: World) -> None:
    for layer in layers(world):
        wide = torch.empty(256, 2 * layer.weight.shape[1], dtype=layer.weight.dtype, device=world.device)
        x = wide[:, ::2]
        x.copy_(input_of(layer, 256))
        check(layer, x.detach().requires_grad_())
        check(layer, input_of(layer, 4, 128).transpose(0, 1).detach().requires_grad_())
        unaligned = torch.empty(256 * layer.weight.shape[1] + 1, dtype=layer.weight.dtype, device=world.device)[1:]
        unaligned = unaligned.view(256, -1).copy_(input_of(layer, 256))
        check(layer, unaligned.requires_grad_())


@case
def strided_gradients(world: World) -> None:
    for layer in layers(world):
        x = input_of(layer, 256).requires_grad_()
        (layer(x).sum() * 2).backward()  # the gradient of y is one number, expanded
        of_x, of_weight = x.grad.clone(), layer.weight.grad.clone()
        x.grad = layer.weight.grad = None
        y = layer(x)
        y.backward(torch.full_like(y, 2))
        assert torch.equal(of_x, x.grad) and torch.equal(of_weight, layer.weight.grad)


@case
def frozen_weights_and_inputs(world: World) -> None:
    for layer in layers(world):
        x = input_of(layer, 256)
        check(layer, x)
        layer.weight.requires_grad_(False)
        check(layer, x.clone().requires_grad_())
        check(layer, x)
        with torch.no_grad():
            assert not layer(x).requires_grad


@case
def autocast(world: World) -> None:
    for own, chosen in ((torch.bfloat16, torch.bfloat16), (torch.float16, torch.bfloat16),
                        (torch.float32, torch.float16)):
        for layer in layers(world):
            layer.to(own)
            for of_x in (torch.float32, torch.bfloat16):
                x = input_of(layer, 256, dtype=of_x).requires_grad_()

                def cast(x: torch.Tensor, layer: Layer = layer, chosen: torch.dtype = chosen) -> torch.Tensor:
                    with torch.autocast("cuda", chosen):
                        y: torch.Tensor = layer(x)
                    assert y.dtype == chosen, y.dtype
                    return y

                check(layer, x, cast)
    for layer in layers(world):  # a backward pass in another state than the forward pass
        x = input_of(layer, 256).requires_grad_()
        y = layer(x)
        with torch.autocast("cuda", torch.float16):
            y.sum().backward()
        assert x.grad.dtype == layer.weight.grad.dtype == torch.bfloat16


@case
def no_rows(world: World) -> None:
    for layer in layers(world):
        for leading in ((0,), (0, 3), (2 * world.size, 0)):
            x = input_of(layer, *leading).requires_grad_()
            layer.zero_grad()
            y = layer(x)
            assert y.numel() == 0 and y.shape[1:-1] == x.shape[1:-1] and y.shape[-1] == layer.weight.shape[0]
            y.sum().backward()
            assert x.grad.shape == x.shape and not layer.weight.grad.any()


@case
def null_stream_and_others(world: World) -> None:
    """The NULL stream is PyTorch's default. Runs of one world on two streams are ordered by the library."""
    assert torch.cuda.current_stream().cuda_stream == 0
    side = torch.cuda.Stream()
    for layer in layers(world):
        x = input_of(layer, 512)
        other = RowParallelLinear(world, IN * world.size, OUT)
        z = input_of(other, 512)
        y, w = check(layer, x, backward=False), check(other, z, backward=False)
        torch.cuda.synchronize()
        for _ in range(20):
            with torch.no_grad():
                mine = layer(x)
                with torch.cuda.stream(side):
                    theirs = other(z)
            torch.cuda.synchronize()
            assert torch.equal(mine, y) and torch.equal(theirs, w)


@case
def second_derivatives_are_refused(world: World) -> None:
    for layer in layers(world):
        if layer.op is None:
            continue
        x = input_of(layer, 256).requires_grad_()
        for power in (2, 1):
            (of_x,) = torch.autograd.grad(layer(x).float().pow(power).sum(), x, create_graph=True)
            try:
                of_x.float().square().sum().backward()
            except RuntimeError as error:
                assert "no second derivatives" in str(error), error
            else:
                raise AssertionError("no error")
