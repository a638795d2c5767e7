"""Replays of a captured pass without a pause, under NVML or under PyTorch's profiler. All ranks run the same numbers of
replays, because a replay waits for the other ranks."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

import torch
import torch.distributed as dist
from busy_times import busy_times
from clocks import Gpu, Sample, summary
from kernel_order import Kernel
from rounds import Replay
from timing import largest
from torch.profiler import ProfilerActivity, profile

WATCHED_MS = 400.0  #: at least: the energy counter must step several times
AHEAD_MS = 100.0  #: of the host before the GPU, so that no reading of NVML makes a pause
SAMPLE_S = 0.01  #: from one reading to the next
PATIENCE_S = 180.0  #: with one way; several times what it takes
REPLAYS = 3  #: whose kernels count
MOST_KERNELS = 200_000  #: to record; the profiler's buffers hold a few times as many
MARK = "spin_kernel"  #: the kernel of torch.cuda._sleep, which no pass has


def replays_in(ms: float, replay_us: float) -> int:
    return max(1, math.ceil(1e3 * ms / replay_us))


def gpu_here() -> Optional[Gpu]:
    """This rank's; None where NVML is missing."""
    try:
        return Gpu(str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid))
    except (OSError, AttributeError):
        return None


def why_no_profiler() -> str:
    """The reason why a rank cannot profile; empty where all can. The first use of the profiler also takes seconds."""
    why = ""
    try:
        with profile(activities=[ProfilerActivity.CUDA]):
            torch.cuda._sleep(1)
    except Exception as error:  # CUPTI may be missing, forbidden or in use
        why = " ".join(str(error).split())[:200] or type(error).__name__
    failed = largest([[float(bool(why))]])[0][0]
    return (why or "another rank cannot profile") if failed else ""


def kernels_since_mark(profiler: Any) -> list[Kernel]:
    """What ran on the GPU behind the mark, in the order in which it began."""
    events = [event for event in profiler.profiler.kineto_results.events()
              if event.device_type() == torch.autograd.DeviceType.CUDA]
    events.sort(key=lambda event: int(event.start_ns()))
    found = [Kernel(event.name(), event.start_ns(), event.start_ns() + event.duration_ns(), event.device_resource_id())
             for event in events]
    marks = [place for place, kernel in enumerate(found) if MARK in kernel.name]
    return found[marks[-1] + 1:] if marks else found


@contextmanager
def patience() -> Iterator[None]:
    """Ends the process where its replays do not end: whatever would clean up waits for the GPU."""
    def end() -> None:
        print(f"compare-step: --trace: replays took more than {PATIENCE_S:.0f} s", file=sys.stderr, flush=True)
        os._exit(1)

    timer = threading.Timer(PATIENCE_S, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def of_all_ranks(mine: dict[str, Any]) -> list[dict[str, Any]]:
    everyone: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, mine)
    return everyone


class Steady:
    """`layers`: in a pass. Its functions are collective; they return the figures of all ranks. `replay_us` is the same on
    all ranks."""

    def __init__(self, round_ms: float, layers: int) -> None:
        self._round_ms, self._layers = round_ms, layers
        self._gpu = gpu_here()

    def clocks(self, replay: Replay, replay_us: float) -> list[dict[str, Any]]:
        """Readings begin when the first replays have settled the clock, and end before the GPU runs out of replays."""
        settling, ahead = (replays_in(ms, replay_us) for ms in (self._round_ms, AHEAD_MS))
        watched = replays_in(max(WATCHED_MS, self._round_ms), replay_us)
        ended = [torch.cuda.Event(enable_timing=True) for _ in range(settling + watched + ahead)]
        samples: list[Sample] = []
        with patience():
            torch.cuda.synchronize()
            dist.barrier()
            for number, event in enumerate(ended):
                replay()
                event.record()
                if number >= ahead:
                    self._wait_for(ended[number - ahead], samples if number - ahead >= settling else None)
            torch.cuda.synchronize()
        us = 1e3 * float(ended[settling - 1].elapsed_time(ended[settling + watched - 1])) / watched
        return of_all_ranks(summary(samples, us / self._layers, self._gpu.power_limit_mw() if self._gpu else None))

    def busy(self, replay: Replay, replay_us: float) -> list[dict[str, Any]]:
        """From the last replays of as many as settle the clock. Only rank 0 lists its kernels."""
        mine = len(self._kernels(replay, 1))
        most = max(1, round(largest([[float(mine)]])[0][0]))
        settling = min(replays_in(self._round_ms, replay_us), MOST_KERNELS // most)
        found = busy_times(self._kernels(replay, settling + REPLAYS + 1), mine, REPLAYS, self._layers)
        return of_all_ranks(found if dist.get_rank() == 0 else {**found, "kernels": []})

    def _wait_for(self, event: torch.cuda.Event, samples: Optional[list[Sample]]) -> None:
        while True:
            if self._gpu and samples is not None:
                if not samples or time.perf_counter() - samples[-1].at_s >= SAMPLE_S:
                    samples.append(self._gpu.sample())
            if event.query():
                return
            time.sleep(0.0002)

    def _kernels(self, replay: Replay, replays: int) -> list[Kernel]:
        """The ranks begin together when all have started their profilers, which takes them different times."""
        torch.cuda.synchronize()
        with patience(), profile(activities=[ProfilerActivity.CUDA]) as profiler:
            dist.barrier()
            torch.cuda._sleep(1)
            for _ in range(replays):
                replay()
            torch.cuda.synchronize()
        return kernels_since_mark(profiler)
