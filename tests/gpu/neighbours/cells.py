"""Which cells are run: a way beside a neighbour, eager or captured, with a number of hardware connections. The
product is too large, so by default each row of ways meets each neighbour, and the rest takes turns."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from neighbours import BY_NAME, NEIGHBOURS, Neighbour
from ways import Way, plain, rows, variants, way_of

#: Variants of a row that one job makes plans of; making a plan takes up to a second.
VARIANTS_OF_JOB = 3
UNSET = "unset"


@dataclass(frozen=True)
class Cell:
    connections: str  #: of CUDA_DEVICE_MAX_CONNECTIONS, or `unset`
    neighbour: str
    ways: tuple[Way, ...]  #: one, but for neighbours with a plan of each row
    launch: str
    turn: int = 0  #: chooses the rank that is late, or has no memory

    @property
    def way(self) -> Way:
        return self.ways[0]

    @property
    def beside(self) -> Neighbour:
        return BY_NAME[self.neighbour]

    @property
    def plain_key(self) -> Optional[tuple[str, str, str, str]]:
        """The cell of plain work that must end where this one is to; None: plain work cannot stand in for it."""
        if not self.beside.plain:
            return None
        return self.connections, self.neighbour, self.way.op, self.launch

    def __str__(self) -> str:
        what = str(self.way) if len(self.ways) == 1 else f"{len(self.ways)} ways"
        return f"{self.neighbour}, {what}, {self.launch}, connections={self.connections}"


def cell_of(values: dict[str, Any]) -> Cell:
    """A cell from the JSON of `dataclasses.asdict`."""
    return dataclasses.replace(Cell(**values), ways=tuple(map(way_of, values["ways"])))


@dataclass(frozen=True)
class Choice:
    neighbours: tuple[str, ...] = tuple(BY_NAME)
    rows: tuple[str, ...] = ()  #: none: all
    connections: tuple[str, ...] = ("1", "4", UNSET)
    all: bool = False


def chosen_rows(choice: Choice) -> list[list[Way]]:
    """The variants of each row that is asked for."""
    found = [variants(strategy, transport) for strategy, transport in rows()]
    return [ways for ways in found if not choice.rows or ways[0].row in choice.rows]


def cells(choice: Choice) -> list[Cell]:
    """The cells in the order in which they are run: job by job; within a job plain work first, then the plans, and what
    ends a job at last."""
    found: list[Cell] = []
    for number, connections in enumerate(choice.connections):
        of_job = list(_of_job(choice, number, connections))
        found += sorted({each: None for each in _plain(of_job)}, key=lambda cell: _place(cell))
        found += sorted(of_job, key=lambda cell: _place(cell))
    return found


def _place(cell: Cell) -> tuple[bool, int, str]:
    """Neighbour by neighbour, so that a run that is cut off has tried whole columns."""
    order = [each.name for each in NEIGHBOURS]
    return cell.beside.ends_job, order.index(cell.neighbour), cell.way.row


def _of_job(choice: Choice, number: int, connections: str) -> Iterator[Cell]:
    found = chosen_rows(choice)
    for column, neighbour in enumerate(NEIGHBOURS):
        if neighbour.name not in choice.neighbours:
            continue
        if neighbour.all_rows:
            if choice.all or number == column % len(choice.connections):
                one_each = [ways[(column + number) % len(ways)] for ways in found]
                for together in _refused_together(one_each):
                    yield Cell(connections, neighbour.name, together, neighbour.launches[0], column)
            continue
        for row, ways in enumerate(found):
            if choice.all:
                for turn, way in enumerate(ways):
                    for launch in neighbour.launches:
                        yield Cell(connections, neighbour.name, (way,), launch, turn + row)
            elif not neighbour.once or number == (row + column) % len(choice.connections):
                yield _turn(neighbour, ways, row, column, connections, number)


def _refused_together(ways: Sequence[Way]) -> Iterator[tuple[Way, ...]]:
    """Ways that one cell tries together: not every NCCL has `symmetric` kernels, and without those of one way a cell is not
    possible for all of its ways."""
    for symmetric in (False, True):
        some = tuple(way for way in ways if ("symmetric" in way.transport) == symmetric)
        if some:
            yield some


def _turn(
    neighbour: Neighbour, ways: Sequence[Way], row: int, column: int, connections: str, number: int
) -> Cell:
    """The variant and the launch that have their turn."""
    way = ways[(VARIANTS_OF_JOB * number + column % VARIANTS_OF_JOB) % len(ways)]
    launch = neighbour.launches[(row + column // 2 + number) % len(neighbour.launches)]
    return Cell(connections, neighbour.name, (way,), launch, row + column // 3 + number)


def _plain(plans: Sequence[Cell]) -> Iterator[Cell]:
    """The plain cells for these plans. Plain work needs no such control where CUDA chooses the connections."""
    for cell in plans:
        if cell.connections != UNSET and cell.plain_key is not None:
            yield dataclasses.replace(cell, ways=(plain(cell.way.op),), turn=0)


def phases(all_cells: Sequence[Cell]) -> tuple[list[Cell], dict[str, list[Cell]]]:
    """The cells that are run one after another, and the slow ones, which each number of connections runs for itself
    while the others run theirs."""
    quick = [cell for cell in all_cells if not cell.beside.slow]
    slow: dict[str, list[Cell]] = {}
    for cell in all_cells:
        if cell.beside.slow:
            slow.setdefault(cell.connections, []).append(cell)
    return quick, slow


def estimated_s(all_cells: Sequence[Cell], jobs_start_s: float = 10.0, plan_s: float = 0.6) -> float:
    """Seconds that the cells take if all end as expected: a guess."""

    def alone(some: Sequence[Cell]) -> float:
        jobs = {cell.connections for cell in some}
        plans = {(cell.connections, way) for cell in some for way in cell.ways}
        return sum(cell.beside.seconds for cell in some) + jobs_start_s * len(jobs) + plan_s * len(plans)

    quick, slow = phases(all_cells)
    return alone(quick) + max(map(alone, slow.values()), default=0.0)
