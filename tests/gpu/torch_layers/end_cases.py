"""How worlds end: with graphs that hold plans, by abort, and without their process group. The last case ends the
process group, so it is the last one of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from operand_cases import IN, OUT
from references import check, input_of

from overlaptune import ArgumentError, UnavailableError
from overlaptune.torch import RowParallelLinear, World
from overlaptune.torch.graphs import RowGraphs

CASES: dict[str, Callable[[World], None]] = {}


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


@case
def close_with_a_graph(world: World) -> None:
    own = World(world.group)
    layer = RowParallelLinear(own, IN * own.size, OUT)
    x = input_of(layer, 512)
    layer.prepare([512])
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph, capture_error_mode="thread_local"):
        y = layer(x)
    for _ in range(2):
        try:
            own.close()
        except ArgumentError as error:
            assert "graph" in str(error), error
        else:
            raise AssertionError("the world was closed while a graph holds a plan")
        graph.replay()
        check(layer, x, backward=False)
    torch.cuda.synchronize()
    del graph, y
    own.close()
    own.close()
    try:
        layer(x)
    except ArgumentError as error:
        assert "closed" in str(error), error
    else:
        raise AssertionError("a layer ran on a closed world")


@case
def abort(world: World) -> None:
    own = World(world.group)
    layer = RowParallelLinear(own, IN * own.size, OUT)
    check(layer, input_of(layer, 512))
    whole = RowParallelLinear(own, IN * own.size, OUT, sequence_parallel=False)
    graphs = RowGraphs(whole, input_of(whole, 512), [512])
    graphs(input_of(whole, 512))
    torch.cuda.synchronize()
    own.check()
    dist.barrier()
    own.abort()
    calls: list[Callable[[], Any]] = [own.check, partial(graphs, input_of(whole, 512)), *(partial(layer, input_of(layer, rows)) for rows in (512, 768))]
    for call in calls:
        try:
            call()
        except UnavailableError:
            continue
        raise AssertionError("no error after abort")


@case
def close_without_the_group(world: World) -> None:
    own = World(world.group)
    layer = RowParallelLinear(own, IN * own.size, OUT)
    check(layer, input_of(layer, 512))
    torch.cuda.synchronize()
    dist.barrier()
    dist.destroy_process_group()
    own.close()
    own.close()
