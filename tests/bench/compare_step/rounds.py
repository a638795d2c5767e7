"""Times of captured graphs in turn. In its turn a graph is replayed for a while without a pause, so that the clock of
the GPU settles on it; then the replays between two events count. The host is ahead of the GPU all the time. Launching
the replays is therefore hidden; what is left is the start of a graph on the GPU, a few microseconds a replay."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from timing import largest

Replay = Callable[[], object]
SETTLING = 0.4  #: of a turn
FEWEST = 2  #: replays that are timed in a turn
TRIALS = 3


@dataclass
class Turn:
    settling: int  #: replays
    timed: int


class Rounds:
    """`alone`: this rank measures, and knows nothing of others, who must leave its GPU alone."""

    def __init__(self, turn_ms: float, alone: bool = False) -> None:
        self._turn_us = 1e3 * turn_ms
        self._alone = alone
        self._token = torch.zeros(1, device="cuda")

    def timed(self, replays: list[Replay], rounds: int) -> list[list[float]]:
        """Microseconds of one replay of each graph in each round, on the slowest rank. Every second round has the
        opposite order."""
        turns = [self._turn(replay) for replay in replays]
        times: list[list[float]] = [[] for _ in replays]
        for number in range(rounds):
            order = range(len(replays)) if number % 2 == 0 else reversed(range(len(replays)))
            for place in order:
                times[place].append(self._take(replays[place], turns[place]))
        return self._largest(times)

    def _largest(self, times: list[list[float]]) -> list[list[float]]:
        return times if self._alone else largest(times)

    def _turn(self, replay: Replay) -> Turn:
        """All ranks get the same numbers, because a replay waits for the other ranks."""
        replay()  # the first one may load and connect
        [[us]] = self._largest([[min(self._take(replay, Turn(0, 1)) for _ in range(TRIALS))]])
        return Turn(settling=math.ceil(SETTLING * self._turn_us / us),
                    timed=max(FEWEST, math.ceil((1 - SETTLING) * self._turn_us / us)))

    def _take(self, replay: Replay, turn: Turn) -> float:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        if not self._alone:
            dist.all_reduce(self._token)  # the ranks begin together
        for _ in range(turn.settling):
            replay()
        start.record()
        for _ in range(turn.timed):
            replay()
        end.record()
        torch.cuda.synchronize()
        return 1e3 * float(start.elapsed_time(end)) / turn.timed
