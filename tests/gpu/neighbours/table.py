"""The table: one row for each strategy and transport, one column for each neighbour; and below it what was not as
expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cells import Cell
from neighbours import NEIGHBOURS
from verdicts import BAD, Result, Verdict
from ways import rows

LETTERS = {Verdict.UNEXPECTED_ERROR: "e", Verdict.HUNG: "h", Verdict.WRONG: "w"}
LEGEND = (
    "A cell counts the tries that ended as expected; behind `!` those with an unexpected error (e), "
    "hung (h) or wrong (w),\nbehind `+` those that are not possible (n: plain PyTorch hangs there, "
    "too, or this machine has no such thing)."
)


def counted(verdicts: Counter[Verdict]) -> str:
    """One cell: `3`, `2!1h`, `2+1n`; `-` where nothing was tried."""
    good = verdicts[Verdict.RIGHT] + verdicts[Verdict.EXPECTED_ERROR]
    bad = "".join(f"{verdicts[each]}{LETTERS[each]}" for each in BAD if verdicts[each])
    not_possible = verdicts[Verdict.NOT_POSSIBLE]
    if not sum(verdicts.values()):
        return "-"
    return f"{good}" + (f"!{bad}" if bad else "") + (f"+{not_possible}n" if not_possible else "")


def table(results: Sequence[Result], not_tried: Sequence[Cell] = ()) -> str:
    by_place: dict[tuple[str, str], Counter[Verdict]] = {}
    for result in results:
        for way in result.cell.ways:
            place = by_place.setdefault((way.row, result.cell.neighbour), Counter())
            place[result.verdict] += 1
    names = {result.cell.neighbour for result in results} | {cell.neighbour for cell in not_tried}
    shown = [each for each in NEIGHBOURS if each.name in names]
    found_rows = {row for row, _ in by_place}
    all_rows = [row for row in ["plain/nccl", *(f"{a}/{b}" for a, b in rows())] if row in found_rows]
    lines = [["", *(each.short for each in shown)]]
    for row in all_rows:
        cells = [counted(by_place.get((row, each.name), Counter())) for each in shown]
        lines.append([row, *cells])
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    text = [
        "  ".join([line[0].ljust(widths[0]), *(word.rjust(width) for word, width in zip(line[1:], widths[1:]))])
        for line in lines
    ]
    return "\n".join([*text, "", LEGEND])


def of_plans(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if not result.cell.way.is_plain]


def bad_results(results: Sequence[Result]) -> list[Result]:
    return [result for result in of_plans(results) if result.verdict in BAD]


def line_of(result: Result) -> str:
    return f"{result.verdict.value}: {result.cell}: {result.text}"


def told_at_once(result: Result) -> str:
    """A line for a result that is not as expected; else nothing."""
    return line_of(result) if result.verdict in BAD else ""


def summary(results: Sequence[Result], not_tried: Sequence[Cell]) -> str:
    """The counts of plans, and each cell that was not as expected with its text. Plain work is the control; its hangs
    are named, too."""
    plans = of_plans(results)
    verdicts = Counter(result.verdict for result in plans)
    plans_left = [cell for cell in not_tried if not cell.way.is_plain]
    counts = [f"{len(plans)} tried", *(f"{verdicts[each]} {each.value}" for each in Verdict)]
    lines = [", ".join(counts) + (f", {len(plans_left)} not tried" if plans_left else "")]
    bad = bad_results(results)
    if bad:
        lines += ["", "Not as expected:", *map(line_of, bad)]
    controls = [each for each in results if each.cell.way.is_plain and each.verdict in BAD]
    if controls:
        lines += ["", "Plain PyTorch:", *map(line_of, controls)]
    return "\n".join(lines)
