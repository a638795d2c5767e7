"""One job: a process for each rank, which runs cells one after another. Ranks answer by lines of JSON on a pipe of
their own. They meet through this process, so that they need no communicator to know of one another, and this process
ends them when they hang. It needs no PyTorch."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from cells import Cell
from verdicts import Report

#: Seconds until all ranks are there, and until they have made the plan of a cell (compilers may run).
START_S = 180.0
PREPARE_S = 180.0
REPORT_FD = "NEIGHBOURS_REPORT_FD"
#: Seconds that a rank which hangs has to say where.
WHERE_S = 0.3
#: A call in the text of faulthandler: file, line, function.
FRAME = re.compile(r'^  File "([^"]+)", line (\d+) in (\S+)', re.MULTILINE)
#: NVLink multicast stays off: NCCL and PyTorch would use it where the GPUs have it.
NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1"}

Message = dict[str, Any]


class JobFailed(Exception):
    """The ranks did not start; the text says why."""


class NoGpus(Exception):
    """A rank has no GPU of its own."""


class _Rank:
    def __init__(self, rank: int, ranks: int, command: Sequence[str], folder: Path) -> None:
        self.rank = rank
        self.log = folder / f"rank{rank}.log"
        self._reading, writing = os.pipe()
        environment = {
            **os.environ,
            **NO_MULTICAST,
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "LOCAL_WORLD_SIZE": str(ranks),
            "PYTHONUNBUFFERED": "1",
            REPORT_FD: str(writing),
        }
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(writing)
        self._rest = b""
        self.is_open = True

    def fileno(self) -> int:
        return self._reading

    def tell(self, message: Message) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended, which is seen where it is read from

    def read(self) -> list[Optional[Message]]:
        """The messages that have come; None for the end of the process."""
        data = os.read(self._reading, 1 << 16)
        if not data:
            self.is_open = False
            return [None]
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines if line.strip()]

    def status(self, wait_s: float) -> Optional[int]:
        try:
            return self.process.wait(max(wait_s, 0.0))
        except subprocess.TimeoutExpired:
            return None

    def tail(self) -> str:
        """The end of its log, in one line."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return " | ".join(lines[-3:])[-400:]

    def ask_where(self) -> None:
        """A rank writes where it is to its log when it gets this signal (faulthandler)."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)

    def where(self) -> str:
        """The innermost calls of its main thread, from the log."""
        frames = FRAME.findall(self.log.read_text(errors="replace").rpartition("most recent call first")[2])
        return "".join(f"; in {name} ({Path(file).name}:{line})" for file, line, name in frames[:3])

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        os.close(self._reading)
        self.is_open = False


class Job:
    def __init__(self, ranks: int, command: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="neighbours-")
        folder = Path(self._folder.name)
        self._ranks = [_Rank(rank, ranks, command, folder) for rank in range(ranks)]
        self._events = selectors.DefaultSelector()
        for each in self._ranks:
            self._events.register(each, selectors.EVENT_READ)
        self._pending: list[tuple[int, Optional[Message]]] = []
        self.usable = True
        self.was_begun = False

    def begin(self, connections: str, limit_s: float = START_S) -> None:
        """Makes the ranks take their GPUs and communicators. The number of connections holds from then on. Raises
        JobFailed, NoGpus."""
        self.was_begun = True
        rendezvous = Path(self._folder.name) / "rendezvous"
        self._tell_all({"do": "begin", "connections": connections, "rendezvous": str(rendezvous)})
        ready: set[int] = set()
        end = time.monotonic() + limit_s
        while len(ready) < len(self._ranks):
            event = self._next(end)
            if event is None:
                raise JobFailed(f"ranks {sorted(ready)} of {len(self._ranks)} were ready after {limit_s:.0f} s")
            rank, message = event
            if message is None:
                raise JobFailed(f"rank {rank} ended: {self._ranks[rank].tail()}")
            if message["say"] == "no_gpus":
                raise NoGpus(message["text"])
            if message["say"] == "ready":
                ready.add(rank)

    def run(self, cell: Cell) -> list[Report]:
        """Runs a cell. Every rank has a report; ranks that do not answer in time are reported as hung."""
        self._tell_all({"do": "run", "cell": dataclasses.asdict(cell)})
        reports: dict[int, Report] = {}
        met: dict[int, Any] = {}
        end, prepared = time.monotonic() + PREPARE_S, False
        while len(reports) < len(self._ranks):
            event = self._next(end)
            if event is None:
                for waiting in met:  # for ranks that hang
                    reports[waiting] = Report(waiting, "parted", "another rank has not come", False)
                self._give_up(cell, prepared, reports)
                break
            rank, message = event
            if message is None:
                reports[rank] = self._ended(rank, cell, end)
            elif message["say"] == "meet":
                met[rank] = message["value"]
            elif message["say"] == "end":
                values = {name: value for name, value in message.items() if name != "say"}
                reports[rank] = Report(rank, **values)
            if met and reports:
                for waiting in met:
                    self._ranks[waiting].tell({"do": "part"})
                met.clear()
            elif len(met) == len(self._ranks):
                if not prepared:  # the first meeting of a cell
                    end, prepared = time.monotonic() + cell.beside.limit_s, True
                self._tell_all({"do": "go", "values": [met[rank] for rank in sorted(met)]})
                met.clear()
        found = [reports[rank] for rank in sorted(reports)]
        self.usable = self._can_go_on(found)
        return found

    def end(self) -> None:
        """Ends the processes, however they are."""
        self.usable = False
        self._events.close()
        for each in self._ranks:
            each.end()
        self._folder.cleanup()

    def _can_go_on(self, reports: Sequence[Report]) -> bool:
        """Also where all ranks have refused the same thing. Where only some ranks fail, the others may still wait."""
        if not all(each.alive for each in reports):
            return False
        outcomes = {each.outcome for each in reports}
        return len(outcomes) == 1 or outcomes <= {"right", "wrong", "parted"}

    def _give_up(self, cell: Cell, prepared: bool, reports: dict[int, Report]) -> None:
        limit = cell.beside.limit_s if prepared else PREPARE_S
        step = "" if prepared else " while plans are made"
        silent = [each for each in self._ranks if each.rank not in reports]
        for each in silent:
            each.ask_where()
        time.sleep(WHERE_S)
        for each in silent:
            text = f"no answer within {limit:.0f} s{step}{each.where()}"
            reports[each.rank] = Report(each.rank, "hung", text, False)

    def _ended(self, rank: int, cell: Cell, end: float) -> Report:
        """The report of a rank whose pipe is closed."""
        each = self._ranks[rank]
        self._events.unregister(each)
        status = each.status(end - time.monotonic())
        if status is None:
            return Report(rank, "hung", "the process does not end", False)
        if cell.beside.kills and rank == len(self._ranks) - 1:
            return Report(rank, "killed", f"exit status {status}", False)
        if cell.beside.leaves and status == 0:
            return Report(rank, "right", "exit status 0", False)
        return Report(rank, "died", f"exit status {status}: {each.tail()}", False)

    def _tell_all(self, message: Message) -> None:
        for each in self._ranks:
            each.tell(message)

    def _next(self, end: float) -> Optional[tuple[int, Optional[Message]]]:
        """The next message of any rank; None after `end` (time.monotonic)."""
        while not self._pending:
            left = end - time.monotonic()
            open_ranks = [each for each in self._ranks if each.is_open]
            if left <= 0 or not open_ranks:
                return None
            for key, _ in self._events.select(left):
                each = key.fileobj
                assert isinstance(each, _Rank)
                self._pending += [(each.rank, message) for message in each.read()]
        return self._pending.pop(0)
