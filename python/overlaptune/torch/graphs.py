"""CUDA graphs of a model for several numbers of rows, as servers capture them.

    graphs = RowGraphs(model, x, [1, 2, 4, 8, 16, 32])
    y = graphs(x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from ..errors import ArgumentError
from .registry import worlds_used

Function = Callable[[torch.Tensor], torch.Tensor]


class RowGraphs:
    """Graphs of a function, each for its number of rows. They share one pool of memory.

    function  [rows, ...] -> [rows, ...], each row of the result from the same row of the input
    example   an input, with any number of rows
    rows      numbers of rows, the same on all ranks

    The function runs once with each number before the first capture, so that all plans are there. Then
    `graphs(x)` copies x into the input of the graph for the least number that has room for it, and
    runs that, with zeros in the rows that are left. The result is in memory of the graphs: the next
    call overwrites it. More rows than the most run the function itself. A call raises
    UnavailableError where a world whose products are in the graphs has died. Making it and calling
    it are collective where the function is. No gradients. Graphs hold plans: `close` right before
    the world, and capture nothing more on that world, because NCCL remembers the memory of captured plans (docs/torch.md, "Graphs")."""

    def __init__(self, function: Function, example: torch.Tensor, rows: Iterable[int]) -> None:
        numbers = sorted(set(rows), reverse=True)
        if not numbers or numbers[-1] < 1:
            raise ArgumentError(f"rows: {numbers}; expected numbers of at least 1")
        self._function = function
        with torch.inference_mode(False):  # an input that calls in any mode may write
            self._input = torch.zeros(
                (numbers[0], *example.shape[1:]), dtype=example.dtype, device=example.device
            )
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, torch.Tensor]] = {}
        with torch.no_grad(), worlds_used() as self._worlds:
            for number in numbers:  # the most first: memory grows once
                found = function(self._input[:number]).shape[0]
                if found != number:
                    raise ArgumentError(f"function: {found} rows of {number}; expected as many as it gets")
            torch.cuda.synchronize(example.device)
            pool = None
            for number in numbers:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
                    result = function(self._input[:number])
                pool = graph.pool()
                self._graphs[number] = graph, result

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        ours = self._input
        if x.shape[1:] != ours.shape[1:] or x.dtype != ours.dtype or x.device != ours.device:
            raise ArgumentError(
                f"x: {x.dtype} of shape {tuple(x.shape)} on {x.device}; expected as the example, "
                f"{ours.dtype} of shape {('rows', *ours.shape[1:])} on {ours.device}"
            )
        rows = x.shape[0]
        number = min((each for each in self._graphs if each >= rows), default=None)
        if number is None or rows == 0:
            with torch.no_grad():
                return self._function(x)
        for world in self._worlds:  # a graph of a dead world ends, with a result of before
            world.check()
        graph, result = self._graphs[number]
        with torch.no_grad():
            ours[:rows].copy_(x)
            ours[rows:number].zero_()  # what is found in all rows, as a scale, depends on these only
        graph.replay()
        return result[:rows]

    def close(self) -> None:
        """Destroys the graphs. From now on the function itself runs."""
        self._graphs.clear()
        self._worlds.clear()
