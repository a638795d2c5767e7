"""The neighbours of a plan, one row each: what else happens in the process, what must come of it, and how it is tried.
The functions that do it are in beside.py, graphs.py, worlds.py and endings.py, by the names of this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ways import Way

#: Seconds that a plan waits for a rank that does not come.
LIMIT_S = 5.0
#: Seconds of a cell, from when its plan is made.
CELL_S = 20.0

#: Outcomes that are allowed. Each is `right`, or `KIND` or `KIND: WORDS`, where KIND is `error` (a GPU or a rank fails)
#: or `refused` (wrong arguments, no memory) and WORDS stand in the text of the exception. One of them must hold on all
#: ranks.
Expected = tuple[str, ...]

RIGHT: Expected = ("right",)
TIME_OUT = "error: did not come"


def right(_: Way) -> Expected:
    return RIGHT


def late(way: Way) -> Expected:
    """NCCL's kernels wait without a limit, so a plan that only they wait in may also end right."""
    return (TIME_OUT, "right") if way.waits_by_nccl else (TIME_OUT,)


@dataclass(frozen=True)
class Neighbour:
    name: str
    short: str  #: its column of the table
    expected: Callable[[Way], Expected] = right
    launches: tuple[str, ...] = ("eager", "graph")
    seconds: float = 0.3  #: time of a cell that ends as expected, for an estimate
    limit_s: float = CELL_S
    once: bool = False  #: by default each row meets it once, not once for each number of connections
    slow: bool = False  #: mostly waits: such cells of all numbers of connections are run at the same time
    all_rows: bool = False  #: one cell has a plan of each row
    ends_job: bool = False  #: the processes cannot go on
    kills: bool = False  #: the last rank ends itself
    leaves: bool = False  #: all ranks end their processes, and the exit status counts
    plain: bool = False  #: PyTorch's own product and collective can stand in for the plan

    def allowed(self, way: Way) -> Expected:
        return RIGHT if way.is_plain else self.expected(way)


NEIGHBOURS: tuple[Neighbour, ...] = (
    Neighbour("alone", "alone", plain=True),
    Neighbour("posted_receive", "recv", plain=True, seconds=0.5),
    Neighbour("reversed_order", "order", plain=True, seconds=0.5),
    Neighbour("late_3s", "late3", plain=True, seconds=3.4, once=True, slow=True),
    Neighbour("full_smem_kernel", "smem", plain=True),
    Neighbour("cooperative_kernel", "coop", plain=True),
    Neighbour("null_stream", "null", plain=True),
    Neighbour("two_plans_one_graph", "graph2", plain=True, launches=("graph",), seconds=0.4),
    Neighbour("two_worlds_same_order", "same", plain=True, seconds=0.6),
    Neighbour("two_worlds_one_graph", "branch", launches=("graph",), seconds=0.6),
    Neighbour("green_context", "green", plain=True, launches=("eager",)),
    Neighbour("operand_sets_100", "sets", launches=("eager",), seconds=0.6, once=True),
    Neighbour("graphs_70", "g70", launches=("graph",), seconds=1.0, once=True),
    Neighbour(
        "memory_full", "memory", lambda _: ("refused: memory",), seconds=2.0, once=True, limit_s=60
    ),
    Neighbour(
        "close_live_graph",
        "close",
        lambda _: ("right", "refused: graph"),
        launches=("graph",),
        seconds=4.0,
        once=True,
        slow=True,
        limit_s=40,
    ),
    Neighbour(
        "two_worlds_other_order",
        "other",
        lambda _: ("right", TIME_OUT),
        plain=True,
        seconds=4.0,
        once=True,
        limit_s=60,
    ),
    Neighbour("late_10s", "late10", late, seconds=14.0, once=True, slow=True, limit_s=60),
    Neighbour(
        "destroy_process_group",
        "destroy",
        lambda _: ("right", "refused"),
        seconds=25.0,
        once=True,
        slow=True,
        all_rows=True,
        ends_job=True,
        limit_s=60,
    ),
    Neighbour(
        "exit_without_close",
        "exit",
        seconds=25.0,
        once=True,
        slow=True,
        all_rows=True,
        ends_job=True,
        leaves=True,
        limit_s=60,
    ),
    Neighbour(
        "killed_rank",
        "killed",
        lambda _: ("error",),
        seconds=12.0,
        once=True,
        slow=True,
        ends_job=True,
        kills=True,
    ),
)
BY_NAME = {each.name: each for each in NEIGHBOURS}
