"""A rank's side of the pipes to the driver (job.py): it asks for cells, meets the other ranks, and reports."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class Parted(Exception):
    """Another rank has ended the cell, so this one cannot meet it."""


class Link:
    def __init__(self) -> None:
        # Closed at exec, so that no compiler that a rank starts keeps the pipe open.
        number = int(os.environ["NEIGHBOURS_REPORT_FD"])
        os.set_inheritable(number, False)
        self._out = os.fdopen(number, "w")

    def say(self, what: str, **values: Any) -> None:
        self._out.write(json.dumps({"say": what, **values}) + "\n")
        self._out.flush()

    def next(self) -> dict[str, Any]:
        """The driver's next message. Where there is no driver any more, the process ends."""
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        message: dict[str, Any] = json.loads(line)
        return message

    def meet(self, value: Any = None) -> list[Any]:
        """Waits on the host until every rank is here; the values of all ranks. Raises Parted."""
        self.say("meet", value=value)
        message = self.next()
        if message["do"] != "go":
            raise Parted("another rank has ended the cell")
        values: list[Any] = message["values"]
        return values
