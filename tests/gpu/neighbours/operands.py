"""Operands of a problem and its right result. Every rank makes the inputs of all ranks from seeds, so that the result
needs no communication."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from patience import Wrong

from overlaptune import Op, Problem

#: Most relative error (Frobenius norm) of a right result: rings round each partial sum to bf16. One tile of a thousand
#: that is missing gives 0.03.
MOST_ERROR = 0.01


@dataclass
class Operands:
    problem: Problem
    a: torch.Tensor
    b: torch.Tensor
    c: torch.Tensor
    reference: torch.Tensor  #: in fp32

    def poison(self) -> None:
        """Fills the result with NaN, on the current stream."""
        self.c.fill_(float("nan"))

    def check(self, what: str = "the result") -> None:
        """Raises Wrong. Only after the work that writes the result is known to have ended."""
        error = relative_error(self.c, self.reference)
        if not error <= MOST_ERROR:  # also NaN
            raise Wrong(f"{what}: relative error {error:.2e}; expected {MOST_ERROR} at most")

    def elsewhere(self, c: torch.Tensor) -> Operands:
        """The operands of this problem with the result in other memory."""
        return Operands(self.problem, self.a, self.b, c, self.reference)


def relative_error(c: torch.Tensor, reference: torch.Tensor) -> float:
    difference = torch.linalg.vector_norm(c.float() - reference)
    return float((difference / torch.linalg.vector_norm(reference)).item())


def result_rows(problem: Problem) -> int:
    return problem.m // problem.ranks if problem.op == Op.GEMM_REDUCE_SCATTER else problem.m


def _seeded(rows: int, columns: int, seed: int, scale: float) -> torch.Tensor:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return (torch.randn(rows, columns, generator=generator, device="cuda") * scale).to(torch.bfloat16)


def _inputs(problem: Problem, rank: int, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    rows = problem.m // problem.ranks if problem.op == Op.ALL_GATHER_GEMM else problem.m
    seed = 10_000 * (number + 1) + 2 * rank
    # Results are of the order of 1.
    return (
        _seeded(rows, problem.k, seed, 1.0),
        _seeded(problem.n, problem.k, seed + 1, problem.k**-0.5),
    )


def _reference(problem: Problem, me: int, number: int) -> torch.Tensor:
    block = problem.m // problem.ranks
    own = slice(me * block, (me + 1) * block)
    parts = []
    for rank in range(problem.ranks):
        a, b = _inputs(problem, rank, number)
        if problem.op in (Op.ALL_GATHER_GEMM, Op.ALL_TO_ALL_GEMM):
            b = _inputs(problem, me, number)[1]
        if problem.op not in (Op.ALL_GATHER_GEMM, Op.GEMM_ALL_REDUCE):
            a = a[own]
        parts.append(a.float() @ b.float().t())
    if problem.op in (Op.ALL_GATHER_GEMM, Op.GEMM_ALL_TO_ALL, Op.ALL_TO_ALL_GEMM):
        return torch.cat(parts)
    return torch.stack(parts).sum(0)


def operands_of(problem: Problem, me: int, number: int) -> Operands:
    """Set `number` of the operands on rank `me`, on the current stream."""
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = _inputs(problem, me, number)
    c = torch.empty(result_rows(problem), problem.n, dtype=torch.bfloat16, device="cuda")
    return Operands(problem, a, b, c, _reference(problem, me, number))
