"""The ranks of a process group, their memory, and the plans that were made on them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Optional, Union

import torch
import torch.distributed as dist

from .. import run
from ..database import Database, PathLike
from ..errors import ArgumentError, OutOfMemoryError
from ..values import Answer, Launch, Platform, Problem

Databases = Union[Database, PathLike, Iterable[PathLike], None]


def _communicator(group: Any, device: torch.device) -> int:
    """PyTorch's NCCL communicator of this group and GPU. Nothing runs on it when this returns."""
    backend = group._get_backend(device)
    if not hasattr(backend, "_comm_ptr"):
        raise ArgumentError(
            f"group: its backend for CUDA is {backend.name()} of PyTorch {torch.__version__}; "
            "expected NCCL (init_process_group('nccl')) of PyTorch 2.7 or later"
        )
    # PyTorch makes the communicator when it first needs it.
    dist.all_reduce(torch.zeros(1, device=device), group=group)
    torch.cuda.synchronize(device)
    pointer = int(backend._comm_ptr())
    if pointer == 0:
        raise ArgumentError(
            f"group: PyTorch has no communicator on {device}, the current device; call "
            "torch.cuda.set_device with this rank's GPU before init_process_group"
        )
    return pointer


class World:
    """The ranks of a process group, with plans for the problems that its layers have met.

    group     a process group with the NCCL backend, at least two ranks; None: all ranks. The GPU is
              the current one.
    database  where the configs come from: one or several files of tuning results, which are opened
              for the platform of these ranks, or an open Database. None: `sequential` for all.
    launch    how layers will be run: GRAPH if they are captured into CUDA graphs, else EAGER. It
              chooses the configs.
    allow_multicast
              NCCL may use NVLink multicast. Otherwise NCCL_NVLS_ENABLE must be 0 before the process
              makes its first communicator.

    Making a world, a plan or an end of it is collective: all ranks of the group do it in the same
    order, and so they meet the same problems in the same order. One thread at a time may use a
    world and its layers. Plans share the world's memory, so no two of them may run on the GPU at
    once: use one stream, or order the streams.
    """

    def __init__(
        self,
        group: Optional[Any] = None,
        database: Databases = None,
        *,
        launch: Launch = Launch.GRAPH,
        allow_multicast: bool = False,
    ) -> None:
        if not dist.is_initialized():
            raise ArgumentError("no process group; call torch.distributed.init_process_group first")
        self.group: Any = dist.group.WORLD if group is None else group
        self.rank: int = dist.get_rank(self.group)
        self.size: int = dist.get_world_size(self.group)
        if self.rank < 0 or self.size < 2:
            raise ArgumentError(
                f"group: {self.size} ranks, of which this process is rank {self.rank}; expected "
                "two or more, and a rank of the group"
            )
        self.device = torch.device("cuda", torch.cuda.current_device())
        self.launch = Launch(launch)
        self._reserved = 0
        self._plans: dict[Problem, run.Plan] = {}
        self._others: list[run.Plan] = []
        self._world = run.World(_communicator(self.group, self.device), allow_multicast)
        self._database = self._opened(database)

    def platform(self) -> Platform:
        """The platform of these ranks as tuning describes it. Collective."""
        return self._world.platform()

    def answer(self, problem: Problem) -> Answer:
        """The config that the world runs a problem with, and the reason."""
        if self._database is None:
            return run.SEQUENTIAL
        return self._database.query(problem, self.launch)

    def plan(self, problem: Problem) -> run.Plan:
        """The plan of a problem. It is made when the problem is first met, which is collective and
        may take seconds. The world's memory then grows if it has to; this is refused (ArgumentError
        on every rank) as long as a CUDA graph holds a plan of the world: delete the graphs first,
        and capture them again."""
        plan = self._plans.get(problem)
        if plan is None:
            plan = self._plans[problem] = self._made(problem, self.answer(problem))
        return plan

    def plan_with(self, problem: Problem, answer: Answer) -> run.Plan:
        """Another plan, with the config of the given answer. Collective."""
        plan = self._made(problem, answer)
        self._others.append(plan)
        return plan

    def reserve(self, shared_bytes: int) -> None:
        """Makes the world's memory at least this large (run.sizes says what a plan needs), so that
        making plans need not. Collective; on every rank nothing of the world may run."""
        torch.cuda.synchronize(self.device)
        # Every rank calls this, also where it has enough: another rank may have another answer,
        # which making the plan finds out.
        try:
            self._world.reserve(max(shared_bytes, self._reserved))
        except OutOfMemoryError:  # on every rank; the plans that are there go on
            self._world.reserve(self._reserved)
            raise
        self._reserved = max(shared_bytes, self._reserved)

    def enqueue(self, plan: run.Plan, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        """Enqueues a plan on the current stream."""
        stream = torch.cuda.current_stream(self.device).cuda_stream
        plan.run(a.data_ptr(), b.data_ptr(), c.data_ptr(), stream)

    def close(self) -> None:
        """Ends the plans and the world. Collective. Graphs that they were captured into must have
        been deleted, and nothing may run."""
        torch.cuda.synchronize(self.device)
        for plan in (*self._plans.values(), *self._others):
            plan.close()
        self._plans.clear()
        self._others.clear()
        self._world.close()

    def _opened(self, database: Databases) -> Optional[Database]:
        if database is None or isinstance(database, Database):
            return database
        paths = [database] if isinstance(database, (str, os.PathLike)) else list(database)
        return Database(paths, self.platform())

    def _made(self, problem: Problem, answer: Answer) -> run.Plan:
        if torch.cuda.is_current_stream_capturing():
            raise ArgumentError(
                f"{problem}: has no plan yet, and none can be made while a graph is captured; call "
                "`prepare` or run the layer once before, on every rank"
            )
        sizes = run.sizes(problem, answer)
        # PyTorch keeps freed memory, of which the library sees nothing.
        if torch.cuda.mem_get_info(self.device)[0] < sizes.shared_bytes + sizes.temporary_bytes:
            torch.cuda.empty_cache()
        self.reserve(sizes.shared_bytes)
        return self._world.plan(problem, answer)
