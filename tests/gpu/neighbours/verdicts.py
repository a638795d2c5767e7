"""Verdicts on the ranks' reports of a cell, beside what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from cells import Cell


class Verdict(str, Enum):
    """In the order in which the summary counts them."""

    RIGHT = "right"
    EXPECTED_ERROR = "expected error"
    NOT_POSSIBLE = "not possible"
    UNEXPECTED_ERROR = "unexpected error"
    HUNG = "hung"
    WRONG = "wrong"


BAD = (Verdict.UNEXPECTED_ERROR, Verdict.HUNG, Verdict.WRONG)


@dataclass(frozen=True)
class Report:
    """One rank's outcome of a cell: `right`, `wrong`, `error`, `refused`, `hung`, `not possible`; `broken` (a step of
    the neighbour went otherwise than it must), `parted` (another rank ended before), `killed`, `died`."""

    rank: int
    outcome: str
    text: str = ""
    alive: bool = True  #: whether the process can run another cell
    seconds: float = 0.0


@dataclass
class Result:
    cell: Cell
    verdict: Verdict
    text: str = ""
    reports: list[Report] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        cell = self.cell
        return {
            "neighbour": cell.neighbour,
            "rows": [way.row for way in cell.ways],
            "ways": [str(way) for way in cell.ways],
            "launch": cell.launch,
            "connections": cell.connections,
            "expected": list(cell.beside.allowed(cell.way)),
            "verdict": self.verdict.value,
            "text": self.text,
            "ranks": [
                {"rank": each.rank, "outcome": each.outcome, "text": each.text, "seconds": each.seconds}
                for each in self.reports
            ],
        }


def matches(allowed: str, report: Report) -> bool:
    kind, _, words = allowed.partition(": ")
    return report.outcome == kind and words.lower() in report.text.lower()


def told(report: Report) -> str:
    return f"rank {report.rank}: {report.outcome}" + (f": {report.text}" if report.text else "")


def judged(cell: Cell, reports: Sequence[Report]) -> Result:
    """A rank that parted from the cell because another one had ended it says nothing of its own."""
    found = list(reports)
    counted = [each for each in found if each.outcome not in ("parted", "killed")]
    for outcome, verdict in (("hung", Verdict.HUNG), ("wrong", Verdict.WRONG)):
        bad = [each for each in counted if each.outcome == outcome]
        if bad:
            return Result(cell, verdict, told(bad[0]), found)
    if counted and all(each.outcome == "not possible" for each in counted):
        return Result(cell, Verdict.NOT_POSSIBLE, told(counted[0]), found)
    allowed = cell.beside.allowed(cell.way)
    parted = any(each.outcome == "parted" for each in found)
    for each_allowed in allowed:
        if counted and not parted and all(matches(each_allowed, each) for each in counted):
            is_right = each_allowed == "right"
            verdict = Verdict.RIGHT if is_right else Verdict.EXPECTED_ERROR
            return Result(cell, verdict, "" if is_right else told(counted[0]), found)
    odd = [each for each in counted if not any(matches(one, each) for one in allowed)]
    if odd:
        text = told(odd[0])
    else:
        text = "; ".join(told(each) for each in counted) or "no rank has an outcome"
    return Result(cell, Verdict.UNEXPECTED_ERROR, f"{text}; expected {' or '.join(allowed)}", found)
