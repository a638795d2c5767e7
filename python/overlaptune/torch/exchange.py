"""Small messages between the ranks of a group, through the store of PyTorch's process groups. The
GPU takes no part in it: no stream is waited for, and a rank that does not come is found out."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Optional

import torch.distributed as dist

from ..errors import ArgumentError, UnavailableError

#: The variable and the default of run.h, for a rank that does not come.
LIMIT_VARIABLE = "OVERLAPTUNE_TIME_LIMIT"
DEFAULT_LIMIT_S = 300.0

#: Number of worlds that this process has made on the same ranks, for names that differ.
_made: Counter[str] = Counter()


def limit_of(time_limit: Optional[float]) -> float:
    """Seconds of a wait for another rank, for the `time_limit` of a world. Raises ArgumentError."""
    text = os.environ.get(LIMIT_VARIABLE) or str(DEFAULT_LIMIT_S)
    try:
        seconds = float(text) if time_limit is None else time_limit
    except ValueError:
        raise ArgumentError(f"{LIMIT_VARIABLE} = '{text}': expected seconds") from None
    if not seconds > 0:
        raise ArgumentError(f"time limit = {seconds}: expected more than 0 seconds")
    return seconds


def wait_until(ready: Callable[[], bool], limit_s: float, missing: Callable[[], str]) -> None:
    """Waits until it is ready. Raises UnavailableError, with the text of `missing`, if the time is
    over. It polls, because a call that waits in the store would hold up the threads of NCCL's
    process group, which use the same connection."""
    end = time.monotonic() + limit_s
    pause = 50e-6
    while not ready():
        if time.monotonic() > end:
            raise UnavailableError(f"{missing()} within {limit_s:g} s")
        time.sleep(pause)
        pause = min(2 * pause, 5e-3)


def check_equal(name: str, values: list[int]) -> None:
    """Raises ArgumentError unless all ranks give the same number, and no less than nothing."""
    for rank, value in enumerate(values):
        if value < 0:
            raise ArgumentError(f"{name} = {value} on rank {rank}: expected 0 or more")
        if value != values[0]:
            raise ArgumentError(
                f"{name}: {values[0]} on rank 0 of the group, {value} on rank {rank}: "
                "expected the same on all ranks"
            )


class Exchange:
    """The messages of one world. All ranks make it, and call `all_of`, in the same order."""

    def __init__(self, group: Any, rank: int, size: int, limit_s: float) -> None:
        ranks = "-".join(map(str, dist.get_process_group_ranks(group)))
        self._store = dist.distributed_c10d._get_default_store()
        self._prefix = f"overlaptune/{ranks}/{_made[ranks]}"
        _made[ranks] += 1
        self._rank, self._size, self._limit_s = rank, size, limit_s
        self._calls = 0

    def all_of(self, message: Any, purpose: str) -> list[Any]:
        """The messages of all ranks, in their order. A message is a value of JSON. Collective.
        Raises UnavailableError if a rank does not come, or if PyTorch's store has ended."""
        names = [f"{self._prefix}/{self._calls}/{rank}" for rank in range(self._size)]
        self._calls += 1
        try:
            self._store.set(names[self._rank], json.dumps(message))
            wait_until(
                lambda: self._are_there(names), self._limit_s, lambda: self._late(names, purpose)
            )
            return [json.loads(self._store.get(name)) for name in names]
        except RuntimeError as error:  # the store has lost its connection
            raise UnavailableError(
                f"{purpose}: the store of PyTorch's process groups: {error}"
            ) from None

    def _are_there(self, names: list[str]) -> bool:
        if hasattr(self._store, "check"):
            return bool(self._store.check(names))
        try:  # a PyTorch whose stores cannot be asked without waiting
            self._store.wait(names, timedelta(milliseconds=20))
        except RuntimeError:
            return False
        return True

    def _late(self, names: list[str], purpose: str) -> str:
        late = [str(rank) for rank, name in enumerate(names) if not self._are_there([name])]
        return f"{purpose}: rank {', '.join(late)} of the group did not come"
