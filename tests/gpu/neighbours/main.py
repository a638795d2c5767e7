"""The program of scripts/neighbours: every strategy and transport beside every neighbour, in one table. This process
needs no PyTorch; rank.py is the program of a rank. Exit status: 0 all as expected, 1 not, 2 wrong arguments, 77
skipped."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, Optional

from campaign import Campaign, say_progress
from cells import UNSET, Cell, Choice, cells, estimated_s
from job import Job, NoGpus
from neighbours import BY_NAME
from table import bad_results, summary, table
from ways import rows

SKIPPED = 77
RANK_PROGRAM = Path(__file__).with_name("rank.py")


def _names(kind: str, text: str, known: list[str]) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in known:
            raise ValueError(f"{kind} '{name}': expected one of {', '.join(known)}")
    return names


def _connections(text: str) -> tuple[str, ...]:
    counts = tuple(text.split(","))
    for count in counts:
        if count != UNSET and not (count.isdigit() and 1 <= int(count) <= 32):
            raise ValueError(f"--connections '{count}': expected 1 to 32, or {UNSET}")
    return counts


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="neighbours", add_help=False, allow_abbrev=False)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default="")
    parser.add_argument("--connections", default=f"1,4,{UNSET}")
    parser.add_argument("--pairwise", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--time", type=float)
    parser.add_argument("--json", default="")
    parser.add_argument("--in-turn", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args(arguments)


def choice_of(options: argparse.Namespace) -> Choice:
    """Raises ValueError."""
    if options.ranks < 2:
        raise ValueError(f"--ranks {options.ranks}: expected 2 or more")
    if options.all and options.pairwise:
        raise ValueError("--all and --pairwise: give one of them")
    chosen = Choice(connections=_connections(options.connections), all=options.all)
    names = _names("--only", options.only, list(BY_NAME)) if options.only else chosen.neighbours
    known = [f"{strategy}/{transport}" for strategy, transport in rows()]
    of_rows = _names("--ways", options.ways, known) if options.ways else ()
    return Choice(names, of_rows, chosen.connections, chosen.all)


class Record:
    """The rows of --json, written while the program runs, so that a run that is cut off leaves what it has."""

    EVERY = 20

    def __init__(self, path: str, head: dict[str, Any]) -> None:
        self._path, self._head = path, head
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        if len(self._rows) % self.EVERY == 0:
            self.write([])

    def write(self, not_tried: list[str]) -> None:
        if self._path:
            document = {**self._head, "cells": self._rows, "not_tried": not_tried}
            Path(self._path).write_text(json.dumps(document, indent=1) + "\n")


def run(options: argparse.Namespace, chosen: list[Cell]) -> int:
    begun = time.monotonic()
    record = Record(options.json, {"ranks": options.ranks, "all": options.all})

    def keep(result: Any) -> None:
        say_progress(result)
        record.add(result.as_json())

    command = [sys.executable, str(RANK_PROGRAM)]
    campaign = Campaign(lambda: Job(options.ranks, command), options.time, keep)
    signal.signal(signal.SIGTERM, lambda *_: campaign.stop())
    try:
        campaign.run(chosen, at_once=not options.in_turn)
    except NoGpus as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except KeyboardInterrupt:
        campaign.stop()
        print("interrupted; the cells that ended:", file=sys.stderr)
    record.write([str(cell) for cell in campaign.not_tried])
    print(table(campaign.results, campaign.not_tried))
    print()
    print(summary(campaign.results, campaign.not_tried))
    for why in campaign.failures:
        print(f"A job did not start: {why}")
    print(f"{time.monotonic() - begun:.0f} s, {options.ranks} ranks")
    return 1 if bad_results(campaign.results) or campaign.failures else 0


def main(arguments: Optional[list[str]] = None) -> int:
    options = parsed(sys.argv[1:] if arguments is None else arguments)
    try:
        chosen = cells(choice_of(options))
    except ValueError as wrong:
        print(f"neighbours: {wrong}", file=sys.stderr)
        return 2
    if options.list:
        for cell in chosen:
            print(cell)
        print(f"{len(chosen)} cells, about {estimated_s(chosen) / 60:.0f} minutes")
        return 0
    return run(options, chosen)


if __name__ == "__main__":
    sys.exit(main())
