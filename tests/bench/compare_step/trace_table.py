"""The tables of scripts/compare-step --trace: how long each operation keeps a GPU busy in each way, and clock and power
meanwhile."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any, Optional

from kernel_order import KINDS, OPERATIONS, WAIT
from layer_shape import PRODUCTS
from step_table import cell, markdown

Way = dict[str, list[dict[str, Any]]]  #: `busy` and `clocks`, each with the figures of all ranks
TITLES = {"sequential": "sequential", "tuned": "tuned", "torch": "PyTorch", "async_tp": "async-TP"}
CLOCKS = (("SM clock MHz", "sm_mhz", 0, 1), ("power W", "watts", 1, 1), ("J a layer", "joules", 4, 1),
          ("layer µs", "layer_us", 1, 1), ("power-capped %", "power_capped", 0, 100), ("thermal %", "thermal", 0, 100),
          ("°C", "celsius", 0, 1))
MEANING = ("Rank 0, µs of one layer in which kernels of the operation run. GEMM: its GEMMs; exposed: its other kernels "
           "while no GEMM of it runs. Kernels that wait inside count as busy. Total: under the profiler, "
           "gaps between kernels and between replays included; `in the rounds`: without the profiler, slowest rank.")


def first(values: Sequence[float]) -> float:
    return values[0]


#: How the figures of the ranks become one: rank 0, mean, largest.
FIGURES: tuple[Callable[[list[float]], float], ...] = (first, statistics.fmean, max)


def row_names() -> list[str]:
    names: list[str] = []
    for name in OPERATIONS:
        names += [name, f"{name}: GEMM", f"{name}: exposed"] if name in PRODUCTS else [name]
    return [*names, *(f"all {kind}" for kind in KINDS if kind != WAIT), "waits alone", "gap", "between replays", "total"]


def of_ranks(way: Optional[Way], row: str) -> list[float]:
    """The figure of each rank; empty where a rank has none."""
    found = [each["busy_us"].get(row) for each in way["busy"]] if way else []
    return [] if None in found else [float(value) for value in found]


def difference(trace: dict[str, Way], row: str, figure: Callable[[list[float]], float]) -> Optional[float]:
    tuned, torch = (of_ranks(trace.get(name), row) for name in ("tuned", "torch"))
    return figure(tuned) - figure(torch) if tuned and torch else None


def busy_table(trace: dict[str, Way], times_us: dict[str, list[float]]) -> list[str]:
    ways = [name for name in TITLES if name in trace]
    header = ("operation", *(f"{TITLES[name]} µs" for name in ways), "tuned − PyTorch", "mean of ranks",
              "largest rank")
    lines = []
    for row in row_names():
        figures = [of_ranks(trace[name], row) for name in ways]
        if any(map(any, figures)):
            lines.append([row, *(cell(each[0] if each else None, 1) for each in figures),
                          *(cell(difference(trace, row, figure), 1) for figure in FIGURES)])
    medians = {name: float(statistics.median(times_us[name])) for name in ways}
    lines.append(["in the rounds", *(cell(medians[name], 1) for name in ways), "", "",
                  cell(medians["tuned"] - medians["torch"], 1)])
    return markdown(header, lines)


def mean_of(ranks: list[dict[str, Any]], name: str) -> Optional[float]:
    known = [each[name] for each in ranks if each[name] is not None]
    return statistics.fmean(known) if known else None


def scaled(value: Optional[float], factor: float) -> Optional[float]:
    return None if value is None else factor * value


def clocks_table(trace: dict[str, Way]) -> list[str]:
    """Means of the ranks, and the clock of the slowest rank."""
    lines = []
    for name in (name for name in TITLES if name in trace):
        ranks = trace[name]["clocks"]
        lowest = min((each["sm_mhz"] for each in ranks if each["sm_mhz"] is not None), default=None)
        lines.append([TITLES[name], *(cell(scaled(mean_of(ranks, key), factor), digits)
                                      for _, key, digits, factor in CLOCKS), cell(lowest, 0)])
    return markdown(("way", *(title for title, _, _, _ in CLOCKS), "lowest SM clock of a rank"), lines)


def unclear_lines(trace: dict[str, Way]) -> list[str]:
    return [f"{TITLES[name]}, rank {rank}: operations cannot be told apart: {each['unclear']}"
            for name in TITLES if name in trace for rank, each in enumerate(trace[name]["busy"]) if each["unclear"]]


def clocks_lines(measured: dict[str, Any]) -> list[str]:
    """The part of one number of tokens, as of `busy_lines`."""
    trace: dict[str, Way] = measured["trace"]
    limit = mean_of([each for way in trace.values() for each in way["clocks"]], "power_limit_watts")
    enforced = "" if limit is None else f"; power limit {limit:.0f} W"
    return ["", f"{measured['tokens']} tokens, each way replayed without a pause; means of the ranks{enforced}:", "",
            *clocks_table(trace)]


def busy_lines(measured: dict[str, Any]) -> list[str]:
    trace: dict[str, Way] = measured["trace"]
    return ["", f"{measured['tokens']} tokens, where the time of a layer goes:", "",
            *busy_table(trace, measured["times_us"]), "", MEANING, *unclear_lines(trace)]
