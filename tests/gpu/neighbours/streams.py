"""Neighbours that are other work on the same GPU: other streams, other groups' messages, foreign kernels."""

from __future__ import annotations

import time

import driver_api
import torch
import torch.distributed as dist
from beside import Beside
from patience import PATIENCE_S, Wrong, finish_stream, recorded
from session import Session

ROUNDS = 3
KERNEL_S = 0.005


def alone(b: Beside) -> None:
    for _ in range(ROUNDS):
        b.run_right()


def null_stream(b: Beside) -> None:
    """The plan on the legacy default stream."""
    for _ in range(ROUNDS):
        b.run_right(torch.cuda.default_stream())


def _fill_token(s: Session, value: float) -> None:
    with torch.cuda.stream(s.side):
        s.token.fill_(value)
    finish_stream(s.side, PATIENCE_S, "filling the message")


def _check_token(s: Session, value: float, what: str) -> None:
    if not bool((s.token == value).all().item()):
        raise Wrong(what)


def posted_receive(b: Beside) -> None:
    """A receive of another group waits on the GPU before the plan begins; its message is sent behind the peer's plan.
    """
    s = b.session
    partner = s.rank ^ 1
    for receiver in (0, 1):
        _fill_token(s, float(s.rank))
        b.begin_round()
        receives = s.rank % 2 == receiver
        work = None
        if partner >= s.size:
            event = b.start()
        elif receives:
            with torch.cuda.stream(s.side):
                work = dist.irecv(s.token, src=partner, group=s.other)
            time.sleep(0.1)
            event = b.start()
        else:
            time.sleep(0.05)
            event = b.start()
            with torch.cuda.stream(s.main):
                work = dist.isend(s.token, dst=partner, group=s.other)
        b.ends_right(event)
        if work is None:
            continue
        with torch.cuda.stream(s.side):
            work.wait()
        finish_stream(s.side, PATIENCE_S, "the message")
        if receives:
            _check_token(s, float(partner), "the message")


def reversed_order(b: Beside) -> None:
    """One rank issues an all-reduce of another group behind its plan, on another stream; the other ranks reach their
    plan only after this all-reduce."""
    s = b.session
    for leader in (b.odd_rank, (b.odd_rank + 1) % s.size):
        _fill_token(s, 1.0)
        b.begin_round()
        if s.rank == leader:
            event = b.start()
            time.sleep(0.1)
            with torch.cuda.stream(s.side):
                dist.all_reduce(s.token, group=s.other)
        else:
            time.sleep(0.05)
            with torch.cuda.stream(s.main):
                dist.all_reduce(s.token, group=s.other)
            event = b.start()
        b.ends_right(event)
        finish_stream(s.side, PATIENCE_S, "the all-reduce")
        _check_token(s, float(s.size), "the all-reduce")


def late_3s(b: Beside) -> None:
    """One rank's plan waits for a kernel of 3 s, which is less than the limit."""
    s = b.session
    b.begin_round()
    if s.rank == b.odd_rank:
        driver_api.spin(s.side, 3.0)
        s.main.wait_event(recorded(s.side))
    b.ends_right(b.start(), 3.0 + PATIENCE_S)


def full_smem_kernel(b: Beside) -> None:
    """A kernel that leaves no shared memory on any SM, and that waits for nothing."""
    s = b.session
    for kernel_first in (True, False):
        b.begin_round()
        event = None if kernel_first else b.start()
        driver_api.spin(s.side, KERNEL_S, s.sms, driver_api.MOST_SHARED_BYTES)
        b.ends_right(event or b.start())
        finish_stream(s.side, PATIENCE_S, "the kernel with all shared memory")


def cooperative_kernel(b: Beside) -> None:
    """A kernel whose CTAs, one for each SM, wait for one another."""
    s = b.session
    for kernel_first in (True, False):
        counter = torch.zeros(1, dtype=torch.int32, device="cuda")
        finish_stream(torch.cuda.current_stream(), PATIENCE_S, "the counter")
        b.begin_round()
        event = None if kernel_first else b.start()
        driver_api.spin_together(s.side, KERNEL_S, s.sms, counter)
        b.ends_right(event or b.start())
        finish_stream(s.side, PATIENCE_S, "the cooperative kernel")


def green_context(b: Beside) -> None:
    """The plan on a stream that has 64 SMs."""
    with driver_api.green_stream(64) as stream:
        for _ in range(ROUNDS):
            b.run_right(stream)
