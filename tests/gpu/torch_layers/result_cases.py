"""Results that the other ranks store where they are: nothing that a program keeps is overwritten, and ranks need not do
alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from references import close_to, input_of, result
from world_cases import another

from overlaptune import run
from overlaptune.torch import RowParallelLinear, World

CASES: dict[str, Callable[[World], None]] = {}
IN, OUT, ROWS = 1024, 2048, 512
#: That let each rank have its result at a place of its own.
WAYS = ("peer_store", "signaled/peer_access", "sequential/peer_access")


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


def row_layer(world: World) -> Any:
    layer = RowParallelLinear(world, IN * world.size, OUT, sequence_parallel=False)
    layer.prepare([ROWS])
    return layer


def right(layer: Any, x: torch.Tensor) -> torch.Tensor:
    return result(layer, x.float(), layer.weight.detach().float())


def is_reached(world: World, y: torch.Tensor) -> bool:
    """Whether a tensor lies in a pool of the world's results."""
    segments = [each for pool in world._results._pools.values() for each in pool.snapshot()]
    begin = y.data_ptr()
    return any(each["address"] <= begin < each["address"] + each["total_size"] for each in segments)


@case
def results_that_a_program_keeps(world: World) -> None:
    for way in WAYS:
        with another(world, strategies=[way]) as own, torch.no_grad():
            layer = row_layer(own)
            kept = []
            for turn in range(20):
                x = input_of(layer, ROWS)
                y = layer(x)
                if turn == 0:
                    assert is_reached(own, y), f"{way}: a copy"
                if turn % 3 == 0:
                    kept.append((x, y))
                del y
            for x, y in kept:
                close_to(way, y, right(layer, x))
            pointers = {y.data_ptr() for _, y in kept}
            assert len(pointers) == len(kept), "two results in one place"


@case
def more_results_than_there_is_room_for(world: World) -> None:
    """The first ones lie in a pool, the others in other memory."""
    with another(world, strategies=["peer_store"], result_bytes=48 << 20) as own, torch.no_grad():
        layer = row_layer(own)
        kept = [(x, layer(x)) for x in (input_of(layer, ROWS) for _ in range(120))]
        assert is_reached(own, kept[0][1]) and not is_reached(own, kept[-1][1]), "room for all, or for none"
        for x, y in kept:
            close_to("y", y, right(layer, x))
        del kept, x, y
        for _ in range(100):
            x = input_of(layer, ROWS)
            y = layer(x)
            close_to("y", y, right(layer, x))
        assert is_reached(own, y), "results have room again, and are not used"


@case
def ranks_with_results_of_different_kinds(world: World) -> None:
    """One in the results, one elsewhere; in turn."""
    for way in WAYS:
        with another(world, strategies=[way]) as own, torch.no_grad():
            layer = row_layer(own)
            for turn in range(2 * own.size):
                own._results._pause = 0 if own.rank == turn % own.size else 2
                x = input_of(layer, ROWS)
                close_to(f"{way}, turn {turn}", layer(x), right(layer, x))


@case
def results_of_graphs(world: World) -> None:
    """Those of a graph stay until its next replay, whatever runs eagerly or in another graph; and what is kept of eager
    runs is not overwritten by replays."""
    for way in WAYS:
        with another(world, strategies=[way]) as own, torch.no_grad():
            layer = row_layer(own)
            inputs = [input_of(layer, ROWS) for _ in range(2)]
            graphs, outputs = [], []
            for x in inputs:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    first = layer(x)
                    second = layer(first[:, :IN].contiguous())
                    del first
                    outputs.append(layer(second[:, :IN].contiguous()))
                    assert is_reached(own, outputs[-1]), f"{way}: a copy in a graph"
                    del second
                graphs.append(graph)
            kept = []
            for graph in graphs:
                graph.replay()
                x = input_of(layer, ROWS)
                kept.append((x, layer(x)))
            own_memory = [y.clone() for y in outputs]
            for graph in reversed(graphs):
                graph.replay()
            for x, y in kept:
                close_to(way, y, right(layer, x))
            for x, y, before in zip(inputs, outputs, own_memory):
                expected = right(layer, x).bfloat16()
                for _ in range(2):
                    expected = right(layer, expected[:, :IN].contiguous()).bfloat16()
                close_to(f"{way}, a graph", before, expected)
                close_to(f"{way}, a graph again", y, expected)
            torch.cuda.synchronize()
            del graph, graphs, outputs


@case
def graphs_where_results_have_no_room(world: World) -> None:
    """Their results are of the graph's own memory, and stay so, whatever runs eagerly."""
    with another(world, strategies=["peer_store"], result_bytes=24 << 20) as own, torch.no_grad():
        layer = row_layer(own)
        kept = [layer(input_of(layer, ROWS)) for _ in range(12)]
        x = input_of(layer, ROWS)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            first = layer(x)
            y = layer(first[:, :IN].contiguous())
            del first
        assert not is_reached(own, y), "room"
        del kept
        others = [torch.full_like(y, float("nan")) for _ in range(8)]
        for _ in range(70):
            others.append(layer(input_of(layer, ROWS)))
        graph.replay()
        expected = right(layer, right(layer, x).bfloat16()[:, :IN].contiguous())
        close_to("y", y, expected)
        torch.cuda.synchronize()
        del graph, y, others


@case
def worlds_that_take_turns(world: World) -> None:
    """Results of each are its own: those of the other are other memory to it."""
    with another(world, strategies=["peer_store"]) as one, another(world, strategies=["peer_store"]) as two, torch.no_grad():
        layers = [row_layer(each) for each in (one, two)]
        for turn in range(6):
            layer = layers[turn % 2]
            x = input_of(layer, ROWS)
            y = layer(x)
            assert is_reached(layer.world, y)
            close_to(f"turn {turn}", y, right(layer, x))


@case
def results_on_other_streams(world: World) -> None:
    """record_stream holds for them as for any tensor."""
    with another(world, strategies=["peer_store"]) as own, torch.no_grad():
        layer = row_layer(own)
        side = torch.cuda.Stream(own.device)
        for _ in range(10):
            x = input_of(layer, ROWS)
            y = layer(x)
            assert is_reached(own, y)
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                torch.cuda._sleep(3_000_000)
                copy = y.clone()
            y.record_stream(side)
            del y
            layer(input_of(layer, ROWS))  # would take its place
            torch.cuda.current_stream().wait_stream(side)
            close_to("the copy", copy, right(layer, x))


@case
def results_outlive_their_world(world: World) -> None:
    kept = []
    for _ in range(2):
        with another(world, strategies=["peer_store"]) as own, torch.no_grad():
            layer = row_layer(own)
            x = input_of(layer, ROWS)
            kept.append((layer(x), right(layer, x)))
            layer.prepare([4 * ROWS])  # the world's memory grows
            x = input_of(layer, 4 * ROWS)
            kept.append((layer(x), right(layer, x)))
            assert is_reached(own, kept[-1][0])
            x = input_of(layer, ROWS)
            kept.append((layer(x), right(layer, x)))  # the results have not moved
    for y, expected in kept:
        close_to("y", y, expected)


@case
def memory_of_the_library(world: World) -> None:
    """A C that a program takes from the library itself."""
    with another(world, strategies=["peer_store"]) as own, torch.no_grad():
        layer = row_layer(own)
        plan = next(iter(own._plans.values()))
        x = input_of(layer, ROWS)
        size = 2 * ROWS * OUT
        place = own._world.result(size)
        y = torch.empty(ROWS, OUT, dtype=torch.bfloat16, device=own.device)
        plan.run(x.data_ptr(), layer.weight.data_ptr(), place, torch.cuda.current_stream().cuda_stream)
        plan.run(x.data_ptr(), layer.weight.data_ptr(), y.data_ptr(), torch.cuda.current_stream().cuda_stream)

        class Lent:
            __cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (place, False), "version": 2}

        there = torch.as_tensor(Lent(), device=own.device).view(torch.bfloat16).view(ROWS, OUT)
        assert torch.equal(there, y), "the same plan has other results elsewhere"
        close_to("y", there, right(layer, x))
        torch.cuda.synchronize()
        run.free_result(place)
