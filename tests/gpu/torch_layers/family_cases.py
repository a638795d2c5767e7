"""Families: right results with new numbers of rows, which are no collective step and can be captured at once."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from operand_cases import layers
from references import check, close_to, result
from world_cases import another, rows

from overlaptune.torch import World
from overlaptune.torch.families import FamilyPlan

CASES: dict[str, Callable[[World], None]] = {}
MOST = 2048


def case(function: Callable[[World], None]) -> Callable[[World], None]:
    CASES[function.__name__] = function
    return function


@case
def new_rows_of_a_family(world: World) -> None:
    with another(world, families=True, most_rows=MOST) as own:
        for layer in layers(own):
            if layer.op is None:
                continue
            for count in (512, 768, 1024):  # the third one makes it
                check(layer, rows(own, layer, count).requires_grad_())
            exchanges = own._planner._exchange._calls
            for count in (8, 264, 1000, MOST, 512, 1024):
                check(layer, rows(own, layer, count).requires_grad_())
            assert own._planner._exchange._calls == exchanges, "a new number of rows was a collective step"
        made = [plan for plan in own._plans.values() if isinstance(plan, FamilyPlan)]
        assert len(made) >= 5 and not own.fallbacks, (len(made), own.fallbacks)


@case
def ranks_meet_new_rows_at_different_times(world: World) -> None:
    with another(world, families=True, most_rows=MOST) as own:
        layer = next(layers(own))
        for count in (512, 768, 1024):
            check(layer, rows(own, layer, count))
        for count in (256, 640, 896):
            if dist.get_rank(own.group) == 0:  # this rank makes its plan long after the others
                torch.cuda._sleep(200_000_000)
            check(layer, rows(own, layer, count))


@case
def new_rows_in_a_capture(world: World) -> None:
    with another(world, families=True, most_rows=MOST) as own:
        for layer in layers(own):
            if layer.op is None:
                continue
            for count in (512, 768, 1024):
                check(layer, rows(own, layer, count))
            x = rows(own, layer, 1536)
            graph = torch.cuda.CUDAGraph()
            with torch.no_grad(), torch.cuda.graph(graph, capture_error_mode="thread_local"):
                y = layer(x)
            for _ in range(3):
                graph.replay()
            close_to("captured", y, result(layer, x.float(), layer.weight.detach().float()))
            torch.cuda.synchronize()
            del graph
        assert not own.fallbacks, own.fallbacks
