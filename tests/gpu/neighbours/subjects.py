"""Subjects that run beside a neighbour: a plan of a world; or plain work, PyTorch's own product and collective with one
kernel that depends on them."""

from __future__ import annotations

import inspect
from typing import Any, Union

import torch
import torch.distributed as dist
from operands import Operands
from patience import NotPossible
from ways import Way, config_of, problem_of

from overlaptune import ArgumentError, Op, Problem
from overlaptune.run import Plan
from overlaptune.torch import World


def made_world(group: Any, limit_s: float) -> World:
    """A world whose plans wait this long for a rank, where the package can be told so."""
    known = inspect.signature(World.__init__).parameters
    options: dict[str, Any] = {"time_limit": limit_s} if "time_limit" in known else {}
    return World(group, **options)


class OfPlan:
    def __init__(self, world: World, way: Way) -> None:
        self.world = world
        self.problem: Problem = problem_of(way, world.size)
        try:
            self.plan: Plan = world.plan_with(self.problem, config_of(way, world.size))
        except ArgumentError as error:
            if "symmetric kernels of NCCL" in str(error):  # this release cannot end them
                raise NotPossible(str(error)) from None
            raise

    def enqueue(self, operands: Operands) -> None:
        """On the current stream."""
        self.world.enqueue(self.plan, operands.a, operands.b, operands.c)

    def check(self) -> None:
        """Raises UnavailableError where a rank did not come. Earlier releases have no such call."""
        check = getattr(self.world, "check", None)
        if check is not None:
            check()


class OfPlain:
    def __init__(self, group: Any, way: Way) -> None:
        self.problem = problem_of_plain(way, dist.get_world_size(group))
        self._group = group
        problem = self.problem
        rows = problem.m
        self._gathered = torch.empty(rows, problem.k, dtype=torch.bfloat16, device="cuda")
        self._partial = torch.empty(rows, problem.n, dtype=torch.bfloat16, device="cuda")
        self._received = torch.empty(rows, problem.n, dtype=torch.bfloat16, device="cuda")

    def enqueue(self, operands: Operands) -> None:
        op, b = self.problem.op, operands.b.t()
        if op == Op.ALL_GATHER_GEMM:
            dist.all_gather_into_tensor(self._gathered, operands.a, group=self._group)
            torch.mm(self._gathered, b, out=operands.c)
            return
        torch.mm(operands.a, b, out=self._partial)
        if op == Op.GEMM_ALL_REDUCE:
            dist.all_reduce(self._partial, group=self._group)
            operands.c.copy_(self._partial)
        elif op == Op.GEMM_REDUCE_SCATTER:
            part = self._received[: operands.c.shape[0]]
            dist.reduce_scatter_tensor(part, self._partial, group=self._group)
            operands.c.copy_(part)
        else:
            dist.all_to_all_single(self._received, self._partial, group=self._group)
            operands.c.copy_(self._received)

    def check(self) -> None:
        """PyTorch's own error handling says nothing here."""


Subject = Union[OfPlan, OfPlain]


def problem_of_plain(way: Way, ranks: int) -> Problem:
    return problem_of(way, ranks)


def subject_of(way: Way, world_or_group: Any) -> Subject:
    if way.is_plain:
        return OfPlain(world_or_group, way)
    return OfPlan(world_or_group, way)
