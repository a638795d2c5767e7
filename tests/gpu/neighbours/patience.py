"""Waits with a limit, and how a cell may end otherwise than right. Nothing here synchronises with a GPU before its
work is known to have ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Optional

import torch

from neighbours import LIMIT_S

#: Seconds for work that may wait for a rank as long as a plan does, and a bit longer.
PATIENCE_S = LIMIT_S + 3.0
POLL_S = 0.0005


class Hung(Exception):
    """Work or a call has not ended in time."""


class Wrong(Exception):
    """A result is not that of the problem."""


class Broken(Exception):
    """A step of a neighbour went otherwise than it must."""


class NotPossible(Exception):
    """This machine or this driver has no such neighbour."""


def finish(event: torch.cuda.Event, limit_s: float, what: str) -> None:
    """Waits until an event has come. Raises Hung, or the error of the GPU."""
    end = time.monotonic() + limit_s
    while not event.query():
        if time.monotonic() > end:
            raise Hung(f"{what} has not ended after {limit_s:.0f} s")
        time.sleep(POLL_S)


def finish_stream(stream: torch.cuda.Stream, limit_s: float, what: str) -> None:
    finish(recorded(stream), limit_s, what)


def recorded(stream: torch.cuda.Stream) -> torch.cuda.Event:
    event = torch.cuda.Event()
    event.record(stream)
    return event


def bounded(what: str, limit_s: float, call: Callable[[], Any]) -> None:
    """A call that may wait for ever. It runs in a thread of its own. Raises Hung, or its exception."""
    device = torch.cuda.current_device()
    raised: list[BaseException] = []

    def run() -> None:
        try:
            torch.cuda.set_device(device)
            call()
        except BaseException as error:  # told by the thread that waits for this one
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        raise Hung(f"{what} has not returned after {limit_s:.0f} s")
    if raised:
        raise raised[0]


def told(error: Optional[BaseException]) -> str:
    """An exception in one line."""
    return "" if error is None else f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
