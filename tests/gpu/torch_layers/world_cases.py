"""Answers of all kinds, graphs, copies and groups: what a world runs, and that its layers never raise for an answer."""

from __future__ import annotations

import copy
import dataclasses
import io
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist
from operand_cases import IN, OUT, layers
from references import check, close_to, input_of, result

from overlaptune import ArgumentError, Database, Launch, Op, Problem, run
from overlaptune.torch import ColumnParallelLinear, RowParallelLinear, World
from overlaptune.torch.answers import forced
from overlaptune.torch.graphs import RowGraphs
from overlaptune.torch.strategies import config_name, strategy_of

CASES: dict[str, Callable[[World], None]] = {}


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


class Stub(Database):
    """Answers by a function."""

    def __init__(self, answer: Callable[[Problem], Any]) -> None:
        self.answer = answer

    def query(self, problem: Problem, launch: Launch = Launch.GRAPH, **terms: Any) -> Any:
        return self.answer(problem)


def by_strategy(problem: Problem) -> Any:
    """A config that overlaps, for each op."""
    return forced(problem, "waiting" if problem.op == Op.ALL_GATHER_GEMM else "peer_store") or run.SEQUENTIAL


def impossible(problem: Problem) -> Any:
    """No GPU has so many stages, but the rules of configs allow it."""
    answer = by_strategy(problem)
    return dataclasses.replace(answer, config=answer.config.replace(" stages=4", " stages=64"))


def rows(world: World, layer: Any, count: int) -> torch.Tensor:
    """An input of this many rows on all ranks together."""
    return input_of(layer, count // world.size if layer.op == Op.ALL_GATHER_GEMM else count)


@contextmanager
def another(world: World, **options: Any) -> Any:
    """A world of its own for the case."""
    options.setdefault("families", False)
    made = World(world.group, **options)
    yield made
    torch.cuda.synchronize()
    made.close()


@case
def graphs_for_a_list_of_rows(world: World) -> None:
    """Numbers of rows between those that were captured, and more than the most."""
    with another(world, families=True) as own:
        for layer in (RowParallelLinear(own, IN * own.size, OUT, sequence_parallel=False),
                      ColumnParallelLinear(own, IN, OUT * own.size, sequence_parallel=False)):
            graphs = RowGraphs(layer, input_of(layer, 1), [8, 64, 256, 24])
            for count in (1, 24, 25, 256, 64, 300, 0, 8):
                x = input_of(layer, count)
                close_to(f"{count} rows", graphs(x), result(layer, x.float(), layer.weight.detach().float()))
            torch.cuda.synchronize()
            graphs.close()


@case
def forced_strategies(world: World) -> None:
    tried: set[str] = set()
    for way in run.ways():
        strategy = strategy_of(way)
        with another(world, strategies=[way]) as own:
            for layer in layers(own):
                if layer.op is None:
                    continue
                for count in (512, 768):
                    check(layer, rows(world, layer, count).requires_grad_())
            for problem, plan in own._plans.items():
                expected = forced(problem, way) or run.SEQUENTIAL
                assert problem in own.fallbacks or plan.answer.strategy == expected.strategy, config_name(plan.answer)
            if not own.fallbacks:
                tried.update(plan.answer.strategy for plan in own._plans.values())
    # A transport may be missing on these GPUs; each strategy must have one.
    missing = {strategy_of(way) for way in run.ways()} - {"sequential", "chunked"} - tried
    assert not missing, missing


@case
def eager_and_captured_runs_agree(world: World) -> None:
    with another(world, database=Stub(by_strategy)) as own:
        for layer in layers(own):
            if layer.op is None:
                continue
            x = rows(world, layer, 1024)
            with torch.no_grad():
                eager = check(layer, x, backward=False)
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                    y = layer(x)
                for _ in range(5):
                    y.zero_()
                    graph.replay()
                    torch.cuda.synchronize()
                    close_to("replay", y, eager.float())
            del graph


@case
def capture_without_a_plan(world: World) -> None:
    for layer in layers(world):
        if layer.op is None:
            continue
        x = rows(world, layer, 640)
        before = set(world.fallbacks)
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with torch.cuda.graph(graph, capture_error_mode="thread_local"):
                y, again = layer(x), layer(x)
            graph.replay()
        torch.cuda.synchronize()
        assert len([each for each in said if "while a graph is captured" in str(each.message)]) == 1, said
        (problem,) = set(world.fallbacks) - before
        close_to("y", y, result(layer, x.float(), layer.weight.detach().float()))
        assert torch.equal(y, again)
        check(layer, x.requires_grad_())
        assert problem in world._plans and problem not in world.fallbacks


@case
def answers_that_cannot_run(world: World) -> None:
    with another(world, database=Stub(impossible)) as own:
        for layer in layers(own):
            if layer.op is None:
                continue
            x = rows(world, layer, 512)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                check(layer, x.requires_grad_())
                check(layer, x)
            assert len(said) == 1 and "runs sequential instead" in str(said[0].message), said
        assert len(own.fallbacks) == 3 and len(own._plans) == 3, own.fallbacks


@case
def no_config_that_runs(world: World) -> None:
    refused = mock.patch.object(run.World, "plan", side_effect=ArgumentError("refused for a test"))
    with another(world) as own, refused:
        for layer in layers(own):
            x = rows(world, layer, 512).requires_grad_()
            check(layer, x)
            check(layer, x)
        assert len(own.fallbacks) == 3 and not own._plans, own.fallbacks
        assert all("PyTorch's own" in text for text in own.fallbacks.values()), own.fallbacks


@case
def ranks_with_different_databases(world: World) -> None:
    answer = by_strategy if world.rank == 0 else impossible
    with another(world, database=Stub(answer) if world.rank < 2 else None) as own:
        for layer in layers(own):
            if layer.op is not None:
                check(layer, rows(world, layer, 512).requires_grad_())
        assert not own.fallbacks, own.fallbacks
        assert all(plan.answer.strategy != "sequential" for plan in own._plans.values())


@case
def copies_of_a_model(world: World) -> None:
    layer = RowParallelLinear(world, IN * world.size, OUT)
    twin = copy.deepcopy(torch.nn.Sequential(layer))[0]
    assert twin.world is world and twin.weight is not layer.weight and torch.equal(twin.weight, layer.weight)
    check(twin, input_of(twin, 512).requires_grad_())
    twin.load_state_dict(layer.state_dict())
    try:
        torch.save(layer, io.BytesIO())
    except ArgumentError as error:
        assert "state_dict()" in str(error)
    else:
        raise AssertionError("a world was pickled")


@case
def one_rank(world: World) -> None:
    groups = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
    own = World(groups[dist.get_rank()], "no such file")
    for layer in layers(own):
        layer.prepare([512])
        check(layer, input_of(layer, 512).requires_grad_())
    own.close()
