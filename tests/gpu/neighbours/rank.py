"""One rank of a job: it takes cells from the driver (job.py), runs each, and reports how it ended."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import time
import traceback
from types import ModuleType
from typing import Any, Callable, Optional

import failures
import graphs
import streams
import torch
import torch.distributed as dist
import worlds
from beside import Outcome, prepared
from cells import UNSET, Cell, cell_of
from link import Link, Parted
from patience import Broken, Hung, NotPossible, Wrong, told
from session import Session, is_refusal

MODULES: tuple[ModuleType, ...] = (streams, graphs, worlds, failures)
#: Exceptions of a neighbour with their outcomes; the text of these is the exception's own.
OUTCOMES = ((Hung, "hung"), (Wrong, "wrong"), (Broken, "broken"), (NotPossible, "not possible"), (Parted, "parted"))


def function_of(name: str) -> Callable[..., Optional[Outcome]]:
    found: Callable[..., Optional[Outcome]] = next(
        getattr(module, name) for module in MODULES if hasattr(module, name)
    )
    return found


def outcome_of(error: Exception) -> Outcome:
    for kind, outcome in OUTCOMES:
        if isinstance(error, kind):
            return Outcome(outcome, str(error))
    return Outcome("refused" if is_refusal(error) else "error", told(error))


def run(session: Session, cell: Cell) -> Outcome:
    """Runs a cell. Whatever it raises is its outcome."""
    try:
        function = function_of(cell.neighbour)
        if cell.beside.all_rows:
            plans = [prepared(session, way, cell.launch, cell.turn) for way in cell.ways]
            ended = function(session, plans)
        else:
            ended = function(prepared(session, cell.way, cell.launch, cell.turn))
        return ended or Outcome("right", "")
    except Exception as error:
        if not isinstance(error, Parted):
            traceback.print_exc()  # to the log of this rank
        return outcome_of(error)


def reported(session: Session, cell: Cell) -> dict[str, Any]:
    begun = time.monotonic()
    outcome = run(session, cell)
    alive = outcome.outcome != "hung"
    if alive and not cell.beside.leaves and not cell.beside.ends_job:
        alive = session.is_alive()
        if alive:
            session.release_graphs()
    return {
        "outcome": outcome.outcome,
        "text": outcome.text,
        "alive": alive,
        "seconds": round(time.monotonic() - begun, 3),
    }


def begun(link: Link) -> Session:
    """Takes a GPU and makes the communicators, when the driver says so."""
    message = link.next()
    if message["connections"] == UNSET:
        os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
    else:
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = message["connections"]
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if torch.cuda.device_count() < size:
        text = f"PyTorch sees {torch.cuda.device_count()} GPUs; {size} ranks need one each"
        link.say("no_gpus", text=text)
        os._exit(77)
    torch.cuda.set_device(rank)
    dist.init_process_group(
        "nccl",
        init_method=f"file://{message['rendezvous']}",
        rank=rank,
        world_size=size,
        device_id=torch.device("cuda", rank),
    )
    return Session(link, rank, size)


def main() -> None:
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)  # the driver asks where a rank hangs
    link = Link()
    session = begun(link)
    link.say("ready")
    while True:
        cell = cell_of(link.next()["cell"])
        report = reported(session, cell)
        if cell.beside.leaves and report["outcome"] == "right":
            sys.exit(0)  # how this ends is what is tried
        link.say("end", **report)


if __name__ == "__main__":
    main()
