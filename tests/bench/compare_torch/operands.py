"""Operands of a problem on this rank, PyTorch's plain product and collective on them, and the right result."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist

from overlaptune import Dtype, Op, Problem


@dataclass
class Operands:
    problem: Problem
    x: torch.Tensor
    weight: torch.Tensor
    reference: torch.Tensor  #: in fp32

    def gathered(self) -> torch.Tensor:
        """The input of the product: x, or for all_gather_gemm the x of all ranks."""
        return gathered(self.problem, self.x)

    def result(self) -> torch.Tensor:
        """Memory for a result."""
        return torch.empty(self.reference.shape, dtype=self.x.dtype, device="cuda")

    def relative_error(self, y: torch.Tensor) -> float:
        squares = torch.stack([(y.float() - self.reference).square().sum(), self.reference.square().sum()])
        dist.all_reduce(squares)
        return float((squares[0] / squares[1]).sqrt().item())


def gathered(problem: Problem, x: torch.Tensor) -> torch.Tensor:
    if problem.op != Op.ALL_GATHER_GEMM:
        return x
    whole = torch.empty((problem.m, problem.k), dtype=x.dtype, device="cuda")
    dist.all_gather_into_tensor(whole, x)
    return whole


def exchanged(problem: Problem, partial: torch.Tensor) -> torch.Tensor:
    """The product of this rank after its collective. An all-reduce works in place."""
    if problem.op == Op.ALL_GATHER_GEMM:
        return partial
    if problem.op == Op.GEMM_ALL_REDUCE:
        dist.all_reduce(partial)
        return partial
    if problem.op == Op.GEMM_REDUCE_SCATTER:
        part = torch.empty((problem.m // problem.ranks, problem.n), dtype=partial.dtype, device="cuda")
        dist.reduce_scatter_tensor(part, partial)
        return part
    received = torch.empty_like(partial)
    dist.all_to_all_single(received, partial)
    return received


def plain(problem: Problem, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return exchanged(problem, gathered(problem, x) @ weight.t())


def operands_of(problem: Problem) -> Operands:
    dtype = torch.float16 if problem.dtype == Dtype.FP16 else torch.bfloat16
    rows = problem.m // problem.ranks if problem.op == Op.ALL_GATHER_GEMM else problem.m
    x = torch.randn(rows, problem.k, device="cuda").to(dtype)
    # The results are of the order of 1, which fp16 can hold for any k.
    weight = (torch.randn(problem.n, problem.k, device="cuda") * problem.k**-0.5).to(dtype)
    return Operands(problem, x, weight, plain(problem, x.float(), weight.float()))
