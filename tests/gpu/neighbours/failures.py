"""Neighbours that end, or have no memory, or do not come; and what happens at the end of a world and of a process."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from typing import Optional

import torch
import torch.distributed as dist
from beside import Beside, Outcome
from neighbours import LIMIT_S
from patience import PATIENCE_S, Broken, Hung, bounded, finish, told
from session import CLOSE_S, Session, is_refusal
from subjects import OfPlan
from ways import CTAS
from worlds import failed_ranks, replace_worlds

from overlaptune import ArgumentError, Error, Op, OutOfMemoryError, Problem
from overlaptune.run import SEQUENTIAL

#: Bytes that stay free on the rank without memory: less than the plan that is refused needs.
LEFT_BYTES = 256 << 20
#: Runs before a rank is killed.
RUNS_BEFORE = 50
SURVIVORS_S = 15.0


def late_10s(b: Beside) -> Optional[Outcome]:
    """One rank comes later than the limit: all ranks get the error, the world is dead, and another one works."""
    s = b.session
    late_s = 2 * LIMIT_S
    b.begin_round()
    if s.rank == b.odd_rank:
        time.sleep(late_s)
    failure, took_s = b.attempt(late_s + PATIENCE_S)
    failed = s.meet(failure is not None)
    if not any(failed):
        return None
    if not all(failed) or failure is None:
        raise Broken(f"error on the ranks {failed_ranks(failed)} only: {told(failure) or 'not on this one'}")
    if "did not come" not in str(failure):
        raise failure
    if s.rank != b.odd_rank and took_s > LIMIT_S + 1:
        raise Broken(f"the error came after {took_s:.1f} s; expected {LIMIT_S + 1:.0f} s at most: {told(failure)}")
    again, _ = b.attempt(PATIENCE_S)
    if again is None or "did not come" not in str(again):
        raise Broken(f"the next call on the dead world: {told(again) or 'no error'}; expected the same error")
    replace_worlds(b)
    return Outcome("error", told(failure))


def memory_full(b: Beside) -> Outcome:
    """One rank has no memory for another plan, which all ranks must refuse. The plan that is there goes on."""
    s = b.session
    assert isinstance(b.subject, OfPlan)
    s.release_graphs()  # the world's memory may not grow under them
    # Ring: memory for operands is missing; peer access: also memory of the world.
    config = f"sequential ctas={CTAS} transport=peer_access" if b.turn % 2 == 1 else SEQUENTIAL.config
    large = Problem(op=Op.GEMM_ALL_REDUCE, m=32768, n=16384, k=8192, ranks=s.size)
    filled = None
    if s.rank == b.odd_rank:
        torch.cuda.empty_cache()
        filled = torch.empty(torch.cuda.mem_get_info()[0] - LEFT_BYTES, dtype=torch.uint8, device="cuda")
    s.meet()
    refusal: Optional[Error] = None
    try:
        b.subject.world.plan_with(large, config)
    except Error as error:
        refusal = error
    finally:
        del filled
        torch.cuda.empty_cache()
    s.meet()
    if refusal is None:
        raise Broken("the plan without memory was made")
    if not isinstance(refusal, OutOfMemoryError):
        raise refusal
    b.call = s.launched(lambda: b.subject.enqueue(b.operands), b.launch)
    b.run_right()
    return Outcome("refused", told(refusal))


def close_live_graph(b: Beside) -> Optional[Outcome]:
    """A world is closed while a graph holds its plan. This may end it, or be refused on all ranks until the graph is
    gone. Another world goes on."""
    s = b.session
    world = s.new_world("first", [b.way])
    subject = OfPlan(world, b.way)
    graph = s.captured(lambda: subject.enqueue(b.operands))
    held = dataclasses.replace(b, subject=subject, call=graph.replay)
    held.run_right()
    refusal: Optional[ArgumentError] = None
    try:
        bounded("close with a live graph", CLOSE_S, world.close)
    except ArgumentError as error:
        refusal = error
    refused = s.meet(refusal is not None)
    if len(set(refused)) > 1:
        raise Broken(f"close was refused on the ranks {failed_ranks(refused)} only: {told(refusal) or 'not here'}")
    if refusal is not None:
        held.run_right()
    graph.reset()
    if refusal is not None:
        bounded("close after the graph", CLOSE_S, world.close)
    b.run_right()
    return None if refusal is None else Outcome("refused", told(refusal))


def killed_rank(b: Beside) -> Outcome:
    """The last rank is killed between two runs of the plan. The others get an error, in time."""
    s = b.session
    is_victim = s.rank == s.size - 1
    b.begin_round()
    end = time.monotonic() + SURVIVORS_S
    runs = 0
    while time.monotonic() < end:
        begun = time.monotonic()
        if is_victim and runs == RUNS_BEFORE:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            finish(b.start(), LIMIT_S + PATIENCE_S, "the plan without a rank")
            b.subject.check()
        except Hung:
            raise
        except Exception as error:  # an error of the library, or of the GPU whose peer is gone
            took_s = time.monotonic() - begun
            if took_s > LIMIT_S + 1:
                raise Broken(f"the error came after {took_s:.1f} s: {told(error)}") from error
            return Outcome("error", told(error))
        runs += 1
    raise Broken(f"{runs} runs ended without an error, and one rank is dead")


def destroy_process_group(s: Session, plans: list[Beside]) -> Optional[Outcome]:
    """PyTorch's process groups end before the world. The world may end, or refuse to in words."""
    s.meet()
    for each in plans:
        each.run_right()
    bounded("destroy_process_group", CLOSE_S, dist.destroy_process_group)
    try:
        s.close_worlds()
    except Error as error:
        if is_refusal(error):
            return Outcome("refused", told(error))
        raise
    return None


def exit_without_close(s: Session, plans: list[Beside]) -> None:
    """The process ends with a world, its plans, and a graph that holds one."""
    s.meet()
    for each in plans:
        each.run_right()
    last = plans[-1]
    last.call = s.launched(lambda: last.subject.enqueue(last.operands), "graph")
    last.run_right()
