"""torch.compile: one graph for any number of rows, forward and backward; functions, biases, layers made from those of a
model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch._dynamo as dynamo
from operand_cases import layers
from references import Layer, check, close_to, input_of, summed
from torch._inductor.cudagraph_trees import reset_cudagraph_trees
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor.parallel import SequenceParallel, parallelize_module

from overlaptune.torch import (
    ColumnParallelLinear,
    RowParallelLinear,
    World,
    all_gather_gemm,
    gemm_all_reduce,
    gemm_reduce_scatter,
)
from overlaptune.torch.styles import ColwiseOverlap, RowwiseOverlap

CASES: dict[str, Callable[[World], None]] = {}
WIDTH, HIDDEN = 512, 1024


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


class Block(torch.nn.Module):  # type: ignore[misc]
    """A layer of a model, whole on every rank."""

    def __init__(self, bias: bool) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(WIDTH)
        self.up = torch.nn.Linear(WIDTH, HIDDEN, bias=bias)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.silu(self.up(self.norm(x))))


def same_block(world: World, bias: bool) -> Block:
    torch.manual_seed(7)
    block = Block(bias)
    block.to(world.device, torch.bfloat16)
    return block


def gradient_of(parameter: Any) -> torch.Tensor:
    grad: torch.Tensor = parameter.grad
    return grad


def part(world: World, whole: torch.Tensor) -> torch.Tensor:
    """This rank's, of the first dimension."""
    return whole.chunk(world.size)[world.rank]


def counted_graphs(rows_of_calls: Callable[[], None]) -> int:
    """The graphs that are compiled meanwhile."""
    before = dynamo.utils.counters["stats"]["unique_graphs"]
    rows_of_calls()
    return int(dynamo.utils.counters["stats"]["unique_graphs"] - before)


@case
def a_result_that_one_rank_uses(world: World) -> None:
    """The other ranks' compiled graphs keep the operator, for which this one waits."""
    weight = torch.randn(WIDTH, WIDTH, device=world.device, dtype=torch.bfloat16)

    def first_rank(x: torch.Tensor) -> torch.Tensor:
        y = gemm_all_reduce(x, weight, world)
        return y if world.rank == 0 else x * 2

    x = torch.randn(256, WIDTH, device=world.device, dtype=torch.bfloat16)
    right = summed(x.float() @ weight.float().t(), world.group)
    gemm_all_reduce(x, weight, world)  # makes the plan
    before = world.summary()
    dynamo.reset()
    y = torch.compile(first_rank, fullgraph=True)(x)
    if world.rank == 0:
        close_to("the result", y, right)
    elif world.summary() == before:  # without this run
        raise AssertionError("the operator was dropped on a rank that does not use its result")


@case
def compiled_layers(world: World) -> None:
    """Compiled whole, with gradients. The second number of rows makes rows a symbol; no other one compiles again."""
    for layer in layers(world):
        dynamo.reset()
        compiled = torch.compile(layer, fullgraph=True)

        def calls(*rows: int) -> None:
            for count in rows:
                check(layer, input_of(layer, count * world.size, 2).requires_grad_(), compiled)

        assert counted_graphs(lambda: calls(64, 48)) == 2
        assert counted_graphs(lambda: calls(16, 80, 65)) == 0, "compiled again for other numbers of rows"


@case
def compiled_autocast(world: World) -> None:
    for layer in layers(world):
        dynamo.reset()
        layer.float()

        def cast(x: torch.Tensor, layer: Layer = layer) -> torch.Tensor:
            with torch.autocast("cuda", torch.bfloat16):
                y: torch.Tensor = layer(x)
            return y

        check(layer, input_of(layer, 256).requires_grad_(), torch.compile(cast, fullgraph=True))


@case
def compiled_blocks(world: World) -> None:
    """parallelize_module, then torch.compile: like the whole model on one GPU, with each of its gradients."""
    mesh = DeviceMesh.from_group(world.group, "cuda")
    for parallel in (True, False):
        for mode in ("default", "reduce-overhead"):
            dynamo.reset()
            whole, block = same_block(world, True), same_block(world, True)
            parallelize_module(block, mesh, {"up": ColwiseOverlap(world, sequence_parallel=parallel),
                                             "down": RowwiseOverlap(world, sequence_parallel=parallel)})
            assert isinstance(block.up, ColumnParallelLinear) and isinstance(block.down, RowParallelLinear)
            compiled = torch.compile(block, fullgraph=True, mode=mode)
            for rows in (128, 64, 96):
                torch.manual_seed(rows)
                x = torch.randn(rows * world.size, WIDTH, device=world.device).bfloat16()
                grad = torch.randn_like(x)
                mine = (part(world, x) if parallel else x).clone().requires_grad_()
                for _ in range(3):  # the first ones of a mode with graphs are not captured
                    torch.compiler.cudagraph_mark_step_begin()
                    block.zero_grad()
                    mine.grad = None
                    y = compiled(mine)
                    y.backward(part(world, grad) if parallel else grad)
                whole.zero_grad()
                x32 = x.float().requires_grad_()
                right = whole.float()(x32)
                right.backward(grad.float())
                y, right, of_x = y.detach(), right.detach(), gradient_of(x32)
                close_to(f"y, {mode}", y, part(world, right) if parallel else right)
                close_to("gradient of x", gradient_of(mine), part(world, of_x) if parallel else of_x)
                for name in ("weight", "bias"):
                    found, sought = gradient_of(getattr(block.up, name)), gradient_of(getattr(whole.up, name))
                    close_to(f"gradient of the {name} of up", found, part(world, sought))
                close_to("gradient of the bias of down", gradient_of(block.down.bias), gradient_of(whole.down.bias))
    reset_cudagraph_trees()  # NCCL waits for the end of graphs when a communicator ends


@case
def compiled_without_gradients(world: World) -> None:
    """One graph for a model that serves, of parameters of both kinds, and with an input as SequenceParallel hands it over."""
    mesh = DeviceMesh.from_group(world.group, "cuda")
    for dtensors in (False, True):
        dynamo.reset()
        whole, block = same_block(world, True), same_block(world, True)
        parallelize_module(block, mesh, {"norm": SequenceParallel(sequence_dim=0), "up": ColwiseOverlap(world, dtensors=dtensors),
                                         "down": RowwiseOverlap(world, dtensors=dtensors)})
        torch.manual_seed(3)
        x = torch.randn(64 * world.size, WIDTH, device=world.device).bfloat16()
        with torch.no_grad():
            found = torch.compile(block, fullgraph=True)(part(world, x))
            close_to("y", found, part(world, whole.float()(x.float())))


@case
def functions_with_a_bias(world: World) -> None:
    x = torch.randn(world.size * 32, 256, device=world.device).bfloat16()
    weight = torch.randn(512, 256, device=world.device).bfloat16()
    bias = torch.randn(512, device=world.device).bfloat16()
    total = summed(x.float() @ weight.float().t(), world.group)
    close_to("all-reduce", gemm_all_reduce(x, weight, world, bias), total + bias.float())
    close_to("reduce-scatter", gemm_reduce_scatter(x, weight, world, bias), part(world, total) + bias.float())
    close_to("all-gather", part(world, all_gather_gemm(x, weight, world, bias)), x.float() @ weight.float().t() + bias.float())


@case
def layers_from_linear(world: World) -> None:
    """Whole, and divided already; not in place, the module stays as it is."""
    whole = same_block(world, True)
    x = torch.randn(64 * world.size, HIDDEN, device=world.device).bfloat16()
    torch.distributed.broadcast(x, torch.distributed.get_global_rank(world.group, 0), group=world.group)
    mine = x.chunk(world.size, 1)[world.rank].contiguous()
    right = whole.down(x)
    layer = RowParallelLinear.from_linear(world, whole.down, sequence_parallel=False)
    assert type(whole.down) is torch.nn.Linear
    close_to("from a whole weight", layer(mine), right.float())
    divided = torch.nn.Linear(HIDDEN // world.size, WIDTH, device=world.device, dtype=torch.bfloat16)
    with torch.no_grad():
        divided.weight.copy_(layer.weight)
        divided.bias.copy_(whole.down.bias)
    again = RowParallelLinear.from_linear(world, divided, sequence_parallel=False, divided=True)
    close_to("from this rank's part", again(mine), right.float())
