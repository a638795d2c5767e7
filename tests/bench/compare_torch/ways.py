"""The ways to run a problem that are compared. `sequential` and `ours` are replays of captured plans, as are the GEMM
and NCCL's collective alone; PyTorch's operators are called one by one."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric_memory
from captured import Captured
from operands import EXACT, Operands, exchanged, for_scaled_mm, gathered, input_of, multiplied, plain, result_dtype

from overlaptune import Answer, ArgumentError, Error, Op, Problem, run
from overlaptune.run import Plan
from overlaptune.torch import Scaled, World

#: Transports of `sequential` with their numbers of CTAs.
SEQUENTIALS = (("ring", 0), ("symmetric", 0), ("copy_engine", 0), ("peer_access", 16), ("peer_access", 32))
SMALLEST = 16  #: the smallest n or k


@dataclass
class Way:
    kind: str  #: as in table.py
    name: str
    call: Callable[[], Any]
    result: Optional[Callable[[], torch.Tensor]] = None  #: what to check after a call


@dataclass
class Ways:
    """Ways that exist here, and why others do not."""

    found: list[Way]
    skipped: list[dict[str, str]]

    def add(self, kind: str, name: str, make: Callable[[], Way]) -> None:
        """Adds a way that has run once, or the reason why all ranks go without it. Collective, as making it may be."""
        why = ""
        try:
            way = make()
            way.call()
            torch.cuda.synchronize()
        except (Error, RuntimeError, AttributeError, TypeError) as error:
            why = " ".join(str(error).split())[:200] or type(error).__name__
        failed = torch.tensor([float(bool(why))], device="cuda")
        dist.all_reduce(failed, dist.ReduceOp.MAX)
        if failed.item() == 0:
            self.found.append(way)
        else:
            self.skipped.append({"kind": kind, "way": name, "why": why or "another rank cannot"})


class Lent:
    """Memory of the library, as PyTorch takes it: elements of 16 bits."""

    def __init__(self, address: int, shape: tuple[int, int]) -> None:
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<i2", "data": (address, False), "version": 3}


def group_name() -> str:
    return str(dist.group.WORLD.group_name)


def enable_symmetric_memory() -> None:
    """For the operators of torch.ops.symm_mem, on the group of all ranks. Collective."""
    enable = getattr(symmetric_memory, "enable_symm_mem_for_group", None)
    if enable is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # releases that need no such call say so
            enable(group_name())


def shared_matrix(problem: Problem, dtype: torch.dtype) -> torch.Tensor:
    """An m x n matrix that all ranks reach, PyTorch's symmetric memory."""
    device = torch.device("cuda", torch.cuda.current_device())
    matrix = symmetric_memory.empty(problem.m, problem.n, dtype=dtype, device=device)
    symmetric_memory.rendezvous(matrix, group_name())
    return matrix


def of_plan(kind: str, name: str, world: World, plan: Plan, operands: Operands) -> Way:
    """A captured plan. The result lies in shared memory where the plan exchanges it there, as that of PyTorch's two-shot
    all-reduce does; else it is in the caller's memory."""
    shared = plan.buffers()[1]
    y = operands.result()
    if shared is not None:
        lent = torch.as_tensor(Lent(shared, (y.shape[0], y.shape[1])), device="cuda")
        y = lent.view(y.dtype)

    def call() -> None:
        if operands.x_scales is None:
            return world.enqueue(plan, operands.x, operands.weight, y)
        x_scales, weight_scales = operands.scales()
        return world.enqueue_scaled(plan, operands.x, x_scales, operands.weight, weight_scales, y)

    replay = Captured(call)
    # A collective alone comes with another product, whose result is not that of the problem.
    return Way(kind, name, replay, None if kind == "collective" else lambda: y)


def torchs_overlap(operands: Operands) -> Way:
    """PyTorch's asynchronous tensor parallelism; where it has none, its fastest product and collective."""
    problem, x, weight = operands.problem, operands.x, operands.weight.t()
    last: list[torch.Tensor] = []

    def keep(y: torch.Tensor) -> None:
        last[:] = [y]

    if operands.x_scales is not None and problem.op in (Op.ALL_GATHER_GEMM, Op.GEMM_REDUCE_SCATTER):
        return torchs_scaled_overlap(operands)
    if problem.op == Op.ALL_GATHER_GEMM:
        gather = torch.ops.symm_mem.fused_all_gather_matmul
        return Way("torch", "fused_all_gather_matmul",
                   lambda: keep(gather(x, [weight], 0, group_name(), return_A=False)[1][0]), lambda: last[0])
    if problem.op == Op.GEMM_REDUCE_SCATTER:
        scatter = torch.ops.symm_mem.fused_matmul_reduce_scatter
        return Way("torch", "fused_matmul_reduce_scatter",
                   lambda: keep(scatter(x, weight, "sum", 0, group_name())), lambda: last[0])
    if problem.op == Op.GEMM_ALL_TO_ALL:
        return Way("torch", "matmul, all_to_all_single", lambda: keep(plain(operands)), lambda: last[0])
    sums = shared_matrix(problem, result_dtype(problem))
    reduce = torch.ops.symm_mem.two_shot_all_reduce_

    def product_and_sum() -> None:
        multiplied(operands, x, operands.x_scales, sums)
        reduce(sums, "sum", group_name())

    return Way("torch", "matmul, two_shot_all_reduce_", product_and_sum, lambda: sums)


def torchs_scaled_overlap(operands: Operands) -> Way:
    """The same for 8-bit operands. Scales of rows are those of this rank's rows."""
    problem = operands.problem
    of_x, of_weight = operands.scales()
    x, weight = Scaled(operands.x, of_x), Scaled(operands.weight, of_weight)
    dtype, fast = result_dtype(problem), problem.dtype not in EXACT
    last: list[torch.Tensor] = []
    gathers = problem.op == Op.ALL_GATHER_GEMM
    overlapped = gathered_scaled_product if gathers else scattered_scaled_product

    def call() -> None:
        last[:] = [overlapped(x, weight, dtype, fast)]

    name = "fused_all_gather_scaled_matmul" if gathers else "fused_scaled_matmul_reduce_scatter"
    return Way("torch", name, call, lambda: last[0])


def gathered_scaled_product(x: Scaled, weight: Scaled, dtype: torch.dtype, fast: bool = True) -> torch.Tensor:
    """The rows of all ranks times a weight of this one, by PyTorch's asynchronous tensor parallelism."""
    of_x, of_weight = for_scaled_mm(x.scales, weight.scales)
    y: torch.Tensor = torch.ops.symm_mem.fused_all_gather_scaled_matmul(
        x.values, [weight.values.t()], of_x, [of_weight], 0, group_name(), [None], [None], [dtype], [fast])[1][0]
    return y


def scattered_scaled_product(x: Scaled, weight: Scaled, dtype: torch.dtype, fast: bool = True) -> torch.Tensor:
    """This rank's rows of the sum over the ranks, likewise."""
    of_x, of_weight = for_scaled_mm(x.scales, weight.scales)
    shape = [x.values.shape[0], weight.values.shape[0]]
    y: torch.Tensor = torch.ops.symm_mem.fused_scaled_matmul_reduce_scatter(
        x.values, weight.values.t(), of_x, of_weight, "sum", 0, 0, group_name(), shape, None, None, dtype, fast)
    return y


def plain_way(operands: Operands) -> Way:
    last: list[torch.Tensor] = []

    def call() -> None:
        last[:] = [plain(operands)]

    return Way("plain", "matmul, NCCL", Captured(call), lambda: last[0])


def gemm_alone(operands: Operands, library: str) -> Way:
    a, scales = input_of(operands)
    c = torch.empty((a.shape[0], operands.problem.n), dtype=result_dtype(operands.problem), device="cuda")
    before = torch.backends.cuda.preferred_blas_library()
    torch.backends.cuda.preferred_blas_library(library)
    try:
        return Way("gemm", library, Captured(lambda: multiplied(operands, a, scales, c)))
    finally:
        torch.backends.cuda.preferred_blas_library(before)


def collective_alone(operands: Operands) -> Way:
    """NCCL's collective, on zeros, which an all-reduce leaves as they are."""
    problem = operands.problem
    if problem.op == Op.ALL_GATHER_GEMM:
        return Way("collective", "NCCL", Captured(lambda: gathered(problem, operands.x)))
    partial = torch.zeros((problem.m, problem.n), dtype=result_dtype(problem), device="cuda")
    return Way("collective", "NCCL", Captured(lambda: exchanged(problem, partial)))


def two_shot_alone(operands: Operands) -> Way:
    sums = shared_matrix(operands.problem, result_dtype(operands.problem))
    sums.zero_()
    reduce = torch.ops.symm_mem.two_shot_all_reduce_
    return Way("collective", "two_shot_all_reduce_", lambda: reduce(sums, "sum", group_name()))


def smallest(problem: Problem) -> Problem:
    """The problem with the same collective and the smallest product; its time is an upper limit of the collective's."""
    if problem.op == Op.ALL_GATHER_GEMM:
        return dataclasses.replace(problem, n=SMALLEST)
    return dataclasses.replace(problem, k=SMALLEST)


def of_smallest(operands: Operands) -> Operands:
    small = smallest(operands.problem)
    if small.op == Op.ALL_GATHER_GEMM:
        scales = operands.weight_scales
        return Operands(small, operands.x, operands.weight[:SMALLEST].contiguous(), operands.reference[:, :SMALLEST],
                        operands.x_scales, None if scales is None else scales[:SMALLEST].contiguous())
    return Operands(small, operands.x[:, :SMALLEST].contiguous(), operands.weight[:, :SMALLEST].contiguous(),
                    operands.reference, operands.x_scales, operands.weight_scales)


class Plans:
    """Plans of one problem, all made before any of them is captured: a world does not grow under captured plans."""

    def __init__(self, world: World, ways: Ways) -> None:
        self._world, self._ways = world, ways
        self._made: list[tuple[str, str, Plan, Operands]] = []

    def make(self, kind: str, name: str, operands: Operands, answer: Answer) -> None:
        try:
            self._made.append((kind, name, self._world.plan_with(operands.problem, answer), operands))
        except Error as error:  # on every rank
            self._ways.skipped.append({"kind": kind, "way": name, "why": str(error)})

    def capture(self) -> None:
        for kind, name, plan, operands in self._made:
            self._ways.add(kind, name, lambda: of_plan(kind, name, self._world, plan, operands))

    def close(self) -> None:
        """Ends the plans, after the graphs that they were captured into."""
        self._ways.found.clear()
        for _, _, plan, _ in self._made:
            plan.close()


def sequentials(problem: Problem) -> Iterator[tuple[str, Answer]]:
    """The configs of `sequential` that carry the collective of a problem, each with a name."""
    for transport, ctas in SEQUENTIALS:
        answer = Answer(f"sequential ctas={ctas} transport={transport}")
        try:
            run.sizes(problem, answer)
        except ArgumentError:
            continue
        yield f"{transport} x {ctas}" if ctas > 0 else transport, answer


def shared_bytes(problem: Problem, world: World) -> int:
    """The world's memory that the plans of a problem need."""
    asked = [(each, answer) for each in (problem, smallest(problem)) for _, answer in sequentials(each)]
    return max(run.sizes(each, answer).shared_bytes for each, answer in [*asked, (problem, world.answer(problem))])


def add_plans(plans: Plans, world: World, operands: Operands, has_database: bool) -> None:
    small = of_smallest(operands)
    for name, answer in sequentials(operands.problem):
        plans.make("sequential", name, operands, answer)
        plans.make("collective", f"{name}, smallest GEMM", small, answer)
    if has_database:
        answer = world.answer(operands.problem)
        plans.make("ours", answer.strategy, operands, answer)


def add_torchs(ways: Ways, operands: Operands) -> None:
    ways.add("plain", "matmul, NCCL", lambda: plain_way(operands))
    ways.add("torch", "overlap", lambda: torchs_overlap(operands))
    for library in ("cublas", "cublaslt"):
        ways.add("gemm", library, lambda: gemm_alone(operands, library))
    ways.add("collective", "NCCL", lambda: collective_alone(operands))
    if operands.problem.op == Op.GEMM_ALL_REDUCE:
        ways.add("collective", "two_shot_all_reduce_", lambda: two_shot_alone(operands))
