"""A plan that is ready to run beside a neighbour. The functions of the neighbours (streams.py, graphs.py, worlds.py,
failures.py) take it. They return where all ends right, raise what went otherwise, and return an `Outcome` for an ending
that is neither. The time limit of a cell begins when its ranks meet first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Optional

import torch
from operands import Operands
from patience import PATIENCE_S, finish, finish_stream, recorded
from session import Call, Session
from subjects import Subject
from ways import Way

from overlaptune import Error


@dataclass(frozen=True)
class Outcome:
    """An ending that is not `right`, but that a neighbour may have."""

    outcome: str
    text: str


@dataclass
class Beside:
    """One way, made, run once and found right."""

    session: Session
    way: Way
    launch: str
    turn: int
    subject: Subject
    operands: Operands
    call: Call

    @property
    def odd_rank(self) -> int:
        """The rank that is late, or has no memory."""
        return self.turn % self.session.size

    def poison(self) -> None:
        """Fills the result with NaN, and waits for it."""
        with torch.cuda.stream(self.session.main):
            self.operands.poison()
        finish_stream(self.session.main, PATIENCE_S, "filling with NaN")

    def begin_round(self) -> None:
        """Fills the result with NaN, and meets the other ranks."""
        self.poison()
        self.session.meet()

    def start(self, stream: Optional[torch.cuda.Stream] = None) -> torch.cuda.Event:
        """Enqueues the plan; the event comes when it has ended."""
        stream = stream or self.session.main
        with torch.cuda.stream(stream):
            self.call()
        return recorded(stream)

    def is_right(self) -> None:
        """Behind the end of the plan. Raises the world's error, or Wrong."""
        self.subject.check()
        self.operands.check()

    def ends_right(self, event: torch.cuda.Event, limit_s: float = PATIENCE_S) -> None:
        finish(event, limit_s, "the plan")
        self.is_right()

    def run_right(self, stream: Optional[torch.cuda.Stream] = None) -> None:
        self.begin_round()
        self.ends_right(self.start(stream))

    def attempt(self, limit_s: float) -> tuple[Optional[Error], float]:
        """Runs the plan; the library's error if there is one, and the seconds that it took."""
        begun = time.monotonic()
        try:
            self.ends_right(self.start(), limit_s)
        except Error as error:
            return error, time.monotonic() - begun
        return None, time.monotonic() - begun


def prepared(session: Session, way: Way, launch: str, turn: int, world: str = "first", number: int = 0) -> Beside:
    """Makes the plan of a way in a world, and runs it once on operand set `number`. Collective."""
    subject = session.subject(way, world)
    operands = session.operands(way, number)
    made = Beside(session, way, launch, turn, subject, operands, lambda: subject.enqueue(operands))
    made.poison()
    made.ends_right(made.start())
    made.call = session.launched(made.call, launch)
    return made
