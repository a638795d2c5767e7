"""Runs the cells in jobs. A job that hangs is ended, and another one goes on with the cells that are left."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Optional

from cells import Cell, phases
from job import Job, JobFailed
from table import told_at_once
from verdicts import Result, Verdict, judged

Start = Callable[[], Job]
#: Jobs in a row that may fail to start.
MOST_FAILED_STARTS = 2


class Campaign:
    """`start` makes the processes of a job; `time_s` after now no further cell is begun (None: no limit)."""

    def __init__(
        self,
        start: Start,
        time_s: Optional[float] = None,
        on_result: Callable[[Result], None] = lambda result: None,
    ) -> None:
        self._start = start
        self._end = None if time_s is None else time.monotonic() + time_s
        self._on_result = on_result
        self._lock = threading.Lock()
        self.results: list[Result] = []
        self.not_tried: list[Cell] = []
        self.failures: list[str] = []  #: why jobs did not start

    def run(self, cells: Sequence[Cell], at_once: bool = True) -> None:
        """`at_once`: slow cells of all numbers of connections at the same time. Raises NoGpus."""
        quick, slow = phases(cells)
        _Lane(self).run(quick)
        if not at_once:
            for lane in slow.values():
                _Lane(self).run(lane)
            return
        errors: list[BaseException] = []
        lanes = [threading.Thread(target=self._caught, args=(lane, errors)) for lane in slow.values()]
        for thread in lanes:
            thread.start()
        for thread in lanes:
            thread.join()
        if errors:
            raise errors[0]

    def stop(self) -> None:
        """Begins no further cell."""
        self._end = time.monotonic()

    def _caught(self, cells: Sequence[Cell], errors: list[BaseException]) -> None:
        try:
            _Lane(self).run(cells)
        except Exception as error:  # told by the thread that waits for this one
            errors.append(error)

    def is_late(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def add(self, result: Result) -> None:
        with self._lock:
            self.results.append(result)
            self._on_result(result)

    def leave(self, cells: Sequence[Cell], why: str = "") -> None:
        with self._lock:
            self.not_tried += cells
            if why:
                self.failures.append(why)

    def started(self) -> Job:
        return self._start()


class _Lane:
    """Cells that are run one after another, in as many jobs as they need."""

    def __init__(self, campaign: Campaign) -> None:
        self._campaign = campaign
        self._job: Optional[Job] = None
        self._spare: Optional[Job] = None  # has imported PyTorch when it is needed
        self._connections = ""
        self._plain_hung: set[tuple[str, str, str, str]] = set()

    def run(self, cells: Sequence[Cell]) -> None:
        left = deque(cells)
        try:
            while left and not self._campaign.is_late():
                cell = left.popleft()
                if cell.plain_key in self._plain_hung and not cell.way.is_plain:
                    text = "plain PyTorch does not end here either"
                    self._campaign.add(Result(cell, Verdict.NOT_POSSIBLE, text))
                    continue
                try:
                    job = self._ready_for(cell.connections)
                except JobFailed as failed:
                    self._campaign.leave([cell, *left], str(failed))
                    return
                self._run(job, cell, bool(left))
            self._campaign.leave(list(left))
        finally:
            for each in (self._job, self._spare):
                if each is not None:
                    each.end()

    def _run(self, job: Job, cell: Cell, has_more: bool) -> None:
        if has_more and self._spare is None:
            self._spare = self._campaign.started()
        result = judged(cell, job.run(cell))
        if cell.way.is_plain and result.verdict == Verdict.HUNG and cell.plain_key is not None:
            self._plain_hung.add(cell.plain_key)
        # Behind an error that nothing has dealt with, the world may be dead. A refusal changes nothing.
        failed = result.verdict == Verdict.UNEXPECTED_ERROR
        refused = all(each.outcome == "refused" for each in result.reports)
        if cell.beside.ends_job or not job.usable or (failed and not refused):
            self._end_job()
        self._campaign.add(result)

    def _ready_for(self, connections: str) -> Job:
        """The job, or another one where it has ended or has another number of connections. Raises JobFailed."""
        if self._job is not None and self._connections != connections:
            self._end_job()
        failed: Optional[JobFailed] = None
        for _ in range(MOST_FAILED_STARTS):
            if self._job is not None:
                return self._job
            self._job, self._spare = self._spare or self._campaign.started(), None
            self._connections = connections
            try:
                self._job.begin(connections)
            except JobFailed as why:
                failed = why
                self._end_job()
        if self._job is not None:
            return self._job
        raise failed or JobFailed("no job")

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.end()
            self._job = None


def say_progress(result: Result) -> None:
    """A line for what is not as expected, when it is seen: a run may be cut off."""
    text = told_at_once(result)
    if text:
        print(text, file=sys.stderr, flush=True)
