"""Neighbours that are plans of a second world on the same ranks, on another stream."""

from __future__ import annotations

import time
from typing import Optional

import torch
from beside import Beside, Outcome, prepared
from neighbours import LIMIT_S
from patience import PATIENCE_S, Broken, finish, finish_stream, recorded, told

from overlaptune import Error

ROUNDS = 3
REPLAYS = 20
#: Between the two plans, so that the first one is on the GPU when the second one comes.
PAUSE_S = 0.02


def _second(b: Beside) -> Beside:
    return prepared(b.session, b.way, b.launch, b.turn, world="second", number=1)


def _round(first: Beside, second: Beside, first_comes_first: bool) -> tuple[torch.cuda.Event, torch.cuda.Event]:
    """Enqueues both plans, each on a stream of its own."""
    s = first.session
    second.poison()
    first.begin_round()
    if first_comes_first:
        one = first.start()
        time.sleep(PAUSE_S)
        return one, second.start(s.side)
    two = second.start(s.side)
    time.sleep(PAUSE_S)
    return first.start(), two


def two_worlds_same_order(b: Beside) -> None:
    second = _second(b)
    for _ in range(ROUNDS):
        one, two = _round(b, second, True)
        b.ends_right(one)
        second.ends_right(two)


def two_worlds_one_graph(b: Beside) -> None:
    """A plan of each world, in branches of one graph that nothing else orders."""
    s = b.session
    second = _second(b)

    def both() -> None:
        s.side.wait_stream(s.main)
        with torch.cuda.stream(s.side):
            second.subject.enqueue(second.operands)
        b.subject.enqueue(b.operands)
        s.side.wait_stream(s.main)  # and once more where the caller has given the order
        with torch.cuda.stream(s.side):
            second.subject.enqueue(second.operands)
        s.main.wait_stream(s.side)

    graph = s.captured(both)
    second.poison()
    b.begin_round()
    with torch.cuda.stream(s.main):
        for _ in range(REPLAYS):
            graph.replay()
    b.ends_right(recorded(s.main))
    second.ends_right(recorded(s.main))


def two_worlds_other_order(b: Beside) -> Optional[Outcome]:
    """One rank enqueues the plan of the first world first, the others that of the second world. This may be right;
    where each of the two keeps the other one waiting, all ranks get the error, and new worlds work."""
    s = b.session
    second = _second(b)
    for leader in (b.odd_rank, (b.odd_rank + 1) % s.size):
        failure = _attempt(b, second, s.rank == leader)
        failed = s.meet(failure is not None)
        if not any(failed):
            continue
        if not all(failed) or failure is None:
            raise Broken(f"error on the ranks {failed_ranks(failed)} only: {told(failure) or 'not on this one'}")
        if "did not come" not in str(failure):
            raise failure
        replace_worlds(b)
        return Outcome("error", told(failure))
    return None


def _attempt(b: Beside, second: Beside, first_comes_first: bool) -> Optional[Error]:
    try:
        one, two = _round(b, second, first_comes_first)
        # One after the other, each may wait as long as the limit.
        for event in (one, two):
            finish(event, 2 * LIMIT_S + PATIENCE_S, "one of the two plans")
        b.is_right()
        second.is_right()
    except Error as error:
        for stream in (b.session.main, b.session.side):
            finish_stream(stream, LIMIT_S + PATIENCE_S, "the other plan")
        return error
    return None


def failed_ranks(failed: list[bool]) -> list[int]:
    return [rank for rank, each in enumerate(failed) if each]


def replace_worlds(b: Beside) -> None:
    """Closes dead worlds, and runs the way in a new one."""
    s = b.session
    s.meet()
    s.close_worlds()
    s.meet()
    prepared(s, b.way, "eager", b.turn).run_right()
