"""Times of several ways to run the same thing, in turn. Each call is queued behind a kernel that spins, and behind a
collective by which the ranks start together, so that the host's launch costs are not in the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist

Call = Callable[[], object]
FLUSH_BYTES = 1 << 28  #: more than an L2 cache; operands are read from memory, as in a model with many layers
SPARE_US = 300.0
WARM_UP = 5


@dataclass
class Timed:
    times_us: list[float]  #: the slowest rank of each round
    late: int  #: rounds in which a rank's host had not launched the call when the spin ended


def cycles_per_us() -> float:
    cycles = 20_000_000
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(1000)
    start.record()
    torch.cuda._sleep(cycles)
    end.record()
    torch.cuda.synchronize()
    return cycles / (1e3 * float(start.elapsed_time(end)))


def largest(values: list[list[float]]) -> list[list[float]]:
    """Element by element, of all ranks."""
    tensor = torch.tensor(values, dtype=torch.float64, device="cuda")
    dist.all_reduce(tensor, dist.ReduceOp.MAX)
    return [list(map(float, row)) for row in tensor.tolist()]


class Stopwatch:
    def __init__(self) -> None:
        self._rate = cycles_per_us()
        self._token = torch.zeros(1, device="cuda")
        self._flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")

    def timed(self, calls: list[Call], rounds: int) -> list[Timed]:
        spins = self._spins(calls)
        times: list[list[float]] = [[] for _ in calls]
        late: list[list[float]] = [[] for _ in calls]
        for _ in range(WARM_UP + rounds):
            for place, call in enumerate(calls):
                gpu_us, host_us = self._one(call, spins[place])
                times[place].append(gpu_us)
                late[place].append(float(host_us > spins[place]))
        return [Timed(slowest[WARM_UP:], int(sum(behind[WARM_UP:])))
                for slowest, behind in zip(largest(times), largest(late))]

    def _one(self, call: Call, spin_us: float) -> tuple[float, float]:
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self._flushed.zero_()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        torch.cuda._sleep(int(spin_us * self._rate))
        dist.all_reduce(self._token)
        start.record()
        call()
        end.record()
        host_us = 1e6 * (time.perf_counter() - begun)
        torch.cuda.synchronize()
        return 1e3 * float(start.elapsed_time(end)), host_us

    def _spins(self, calls: list[Call]) -> list[float]:
        """Microseconds to spin before each call: more than its launch takes on any rank."""
        took: list[list[float]] = []
        for call in calls:
            call()  # the first call allocates and compiles
            torch.cuda.synchronize()
            took.append([max(self._one(call, SPARE_US)[1] for _ in range(3))])
        return [2 * row[0] + SPARE_US for row in largest(took)]
