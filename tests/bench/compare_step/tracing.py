"""What scripts/compare-step --trace adds to the raw numbers: clock, power and energy of each way, and the time in which the
kernels of each operation run. Rank 0 prints the tables as soon as their figures are there."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch.distributed as dist
from checks import Way
from steady import Steady, why_no_profiler
from trace_table import busy_lines, clocks_lines

Ways = dict[int, dict[str, Way]]  #: by tokens, and by name


def show(passes: list[dict[str, Any]], lines_of: Callable[[dict[str, Any]], list[str]]) -> None:
    if dist.get_rank() == 0:
        print("\n".join(line for measured in passes for line in lines_of(measured)), flush=True)


def trace(question: dict[str, Any], ways: Ways, passes: list[dict[str, Any]], keep: Callable[[], None]) -> None:
    """Collective. Adds `trace` to each pass; `keep` stores the passes. The profiler comes last, because it stays attached
    to the process, and because NVML's figures are then kept whatever the profiler does. Of the graphs of async-TP, only
    that of most tokens is replayed: PyTorch's workspace, which the others know, has moved when it grew."""
    layers = question["layers"]
    steady = Steady(question["round_ms"], layers)
    traced = [(measured.setdefault("trace", {}).setdefault(name, {}), way.replay,
               layers * statistics.median(measured["times_us"][name]))
              for measured in passes for name, way in ways[measured["tokens"]].items()
              if name != "async_tp" or measured["tokens"] == max(ways)]
    for figures, replay, us in traced:
        figures["clocks"] = steady.clocks(replay, us)
    keep()
    show(passes, clocks_lines)
    why = why_no_profiler()
    for figures, replay, us in traced:
        figures["busy"] = [{"busy_us": {}, "unclear": why, "kernels": []}] if why else steady.busy(replay, us)
        keep()
    show(passes, busy_lines)
