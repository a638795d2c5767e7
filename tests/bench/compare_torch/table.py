"""The table of a comparison, from its raw numbers. A way to run a problem has a kind (sequential, torch, ours, gemm,
collective, plain) and the times of all rounds; in a round all ways ran in turn."""

from __future__ import annotations

import math
import statistics
from typing import Any, Optional

Way = dict[str, Any]
HEADER = ("problem", "sequential µs", "PyTorch µs", "ours µs", "strategy", "sequential / ours", "PyTorch / ours",
          "of ideal")


def median_us(way: Way) -> float:
    return float(statistics.median(way["times_us"]))


def fastest(ways: list[Way], kind: str) -> Optional[Way]:
    """The way of a kind whose median is least."""
    of_kind = [way for way in ways if way["kind"] == kind]
    return min(of_kind, key=median_us) if of_kind else None


def ratio(slower: Optional[Way], faster: Optional[Way]) -> Optional[float]:
    """The median of the ratios of the rounds."""
    if slower is None or faster is None:
        return None
    return float(statistics.median(a / b for a, b in zip(slower["times_us"], faster["times_us"])))


def ideal_us(ways: list[Way]) -> Optional[float]:
    """The longer of GEMM alone and collective alone, each the fastest known way."""
    alone = [fastest(ways, kind) for kind in ("gemm", "collective")]
    medians = [median_us(way) for way in alone if way is not None]
    return max(medians) if len(medians) == 2 else None


def figures(measured: dict[str, Any]) -> dict[str, Any]:
    """The figures of one problem; None where a way is missing."""
    ways = measured["ways"]
    sequential, torch, ours = (fastest(ways, kind) for kind in ("sequential", "torch", "ours"))
    ideal = ideal_us(ways)
    of_ideal = None if ideal is None or ours is None else ideal / median_us(ours)
    return {"sequential": None if sequential is None else median_us(sequential),
            "torch": None if torch is None else median_us(torch), "ours": None if ours is None else median_us(ours),
            "strategy": None if ours is None else ours["way"], "over_sequential": ratio(sequential, ours),
            "over_torch": ratio(torch, ours), "of_ideal": of_ideal}


def number(value: Optional[float], digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def geometric_mean(values: list[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return math.exp(statistics.fmean(map(math.log, known))) if known else None


def wrong_ways(raw: dict[str, Any]) -> list[str]:
    return [f"{measured['problem']}: {way['kind']} ({way['way']}): relative error "
            + ("not finite" if way["relative_error"] is None else f"{way['relative_error']:.2e}")
            for measured in raw["problems"] for way in measured["ways"] if way["right"] is False]


def late_ways(raw: dict[str, Any]) -> list[str]:
    return [f"{measured['problem']}: {way['kind']} ({way['way']}): {way['late']} of {len(way['times_us'])} rounds"
            for measured in raw["problems"] for way in measured["ways"] if way["late"] > 0]


def cells(row: dict[str, Any]) -> list[str]:
    return [*(number(row[name], 1) for name in ("sequential", "torch", "ours")), row["strategy"] or "-",
            *(number(row[name], 3) for name in ("over_sequential", "over_torch", "of_ideal"))]


def table(raw: dict[str, Any]) -> str:
    """The comparison as Markdown, with what is to be known of it below."""
    rows = [figures(measured) for measured in raw["problems"]]
    lines = [[measured["problem"], *cells(row)] for measured, row in zip(raw["problems"], rows)]
    means = {name: geometric_mean([row[name] for row in rows]) for name in ("over_sequential", "over_torch", "of_ideal")}
    lines.append(["geometric mean", "", "", "", "", *(number(mean, 3) for mean in means.values())])
    widths = [max(map(len, column)) for column in zip(HEADER, *lines)]
    text = [f"{raw['ranks']} x {raw['gpu']}, PyTorch {raw['torch']}, NCCL {raw['nccl']}, {raw['rounds']} rounds; medians "
            "of the slowest rank; NVLink multicast is off", ""]
    for line in (HEADER, ["-" * width for width in widths], *lines):
        padded = [cell.ljust(width) for cell, width in zip(line, widths)]
        text.append(f"| {' | '.join(padded)} |")
    for title, found in (("WRONG results:", wrong_ways(raw)),
                         ("Rounds in which the host launched too late, so that its cost may be in the time:", late_ways(raw)),
                         ("Left out:", [f"{measured['problem']}: {each['kind']} ({each['way']}): {each['why']}"
                                        for measured in raw["problems"] for each in measured["skipped"]])):
        if found:
            text += ["", title, *found]
    return "\n".join(text)
