"""Operands of a problem on this rank, PyTorch's plain product and collective on them, and the right result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

import torch
import torch.distributed as dist

from overlaptune import Dtype, Op, Problem
from overlaptune.torch import Scaled, quantized

FP16 = tuple(dtype for dtype in Dtype if "FP16" in dtype.name)
#: Scales of 8-bit operands, by dtype.
SCALES = {dtype: "rows" if "ROWS" in dtype.name else "tensor" for dtype in Dtype if "E4M3" in dtype.name}
#: Dtypes whose sums are exact.
EXACT = tuple(dtype for dtype in Dtype if "EXACT" in dtype.name)
#: Of x where all ranks have one scale: standard normal numbers are below 5.6.
STATIC_SCALE = 5.6 / 448


@dataclass
class Operands:
    problem: Problem
    x: torch.Tensor
    weight: torch.Tensor
    reference: torch.Tensor  #: in fp32
    x_scales: Optional[torch.Tensor] = None  #: of 8-bit operands
    weight_scales: Optional[torch.Tensor] = None

    def scales(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Those of 8-bit operands."""
        assert self.x_scales is not None and self.weight_scales is not None
        return self.x_scales, self.weight_scales

    def result(self) -> torch.Tensor:
        """Memory for a result."""
        return torch.empty(self.reference.shape, dtype=result_dtype(self.problem), device="cuda")

    def relative_error(self, y: torch.Tensor) -> float:
        squares = torch.stack([(y.float() - self.reference).square().sum(), self.reference.square().sum()])
        dist.all_reduce(squares)
        return float((squares[0] / squares[1]).sqrt().item())


def result_dtype(problem: Problem) -> torch.dtype:
    return torch.float16 if problem.dtype in FP16 else torch.bfloat16


def gathered(problem: Problem, x: torch.Tensor) -> torch.Tensor:
    """The input of the product: x, or for all_gather_gemm the x of all ranks."""
    if problem.op != Op.ALL_GATHER_GEMM:
        return x
    moved = x.view(torch.uint8) if x.dtype == torch.float8_e4m3fn else x  # NCCL knows no 8-bit numbers here
    whole = torch.empty((problem.m, *x.shape[1:]), dtype=moved.dtype, device="cuda")
    dist.all_gather_into_tensor(whole, moved)
    return whole.view(x.dtype)


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


def for_scaled_mm(x_scales: torch.Tensor, weight_scales: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """In the shapes that PyTorch takes: a column and a row, or one number each."""
    if weight_scales.numel() == 1:
        return x_scales, weight_scales
    return x_scales.reshape(-1, 1), weight_scales.reshape(1, -1)


def scaled_product(x: Scaled, weight: Scaled, dtype: torch.dtype, fast: bool = True, out: Any = None) -> torch.Tensor:
    """PyTorch's product of 8-bit operands, without a collective."""
    of_x, of_weight = for_scaled_mm(x.scales, weight.scales)
    y: torch.Tensor = torch._scaled_mm(x.values, weight.values.t(), scale_a=of_x, scale_b=of_weight, out_dtype=dtype,
                                       use_fast_accum=fast, out=out)
    return y


def multiplied(operands: Operands, x: torch.Tensor, x_scales: Optional[torch.Tensor], out: Any = None) -> torch.Tensor:
    """The product of an x like that of the operands with their weight."""
    if x_scales is None:
        weight = operands.weight.t()
        return x @ weight if out is None else torch.matmul(x, weight, out=out)
    assert operands.weight_scales is not None
    return scaled_product(Scaled(x, x_scales), Scaled(operands.weight, operands.weight_scales),
                          result_dtype(operands.problem), operands.problem.dtype not in EXACT, out)


def input_of(operands: Operands) -> tuple[torch.Tensor, Optional[torch.Tensor]]:
    """The input of the product, with its scales."""
    problem, scales = operands.problem, operands.x_scales
    if scales is not None and scales.numel() > 1:
        scales = gathered(problem, scales)
    return gathered(problem, operands.x), scales


def plain(operands: Operands) -> torch.Tensor:
    return exchanged(operands.problem, multiplied(operands, *input_of(operands)))


def wide(scaled: Scaled) -> torch.Tensor:
    """The numbers of a matrix in fp32."""
    return scaled.values.float() * scaled.scales.reshape(-1, 1)


def operands_of(problem: Problem) -> Operands:
    rows = problem.m // problem.ranks if problem.op == Op.ALL_GATHER_GEMM else problem.m
    x = torch.randn(rows, problem.k, device="cuda")
    # The results are of the order of 1, which fp16 can hold for any k.
    weight = torch.randn(problem.n, problem.k, device="cuda") * problem.k**-0.5
    if problem.dtype not in SCALES:
        x, weight = x.to(result_dtype(problem)), weight.to(result_dtype(problem))
        right = Operands(problem, x.float(), weight.float(), x)
        return Operands(problem, x, weight, plain(right))
    scales = SCALES[problem.dtype]
    of_x = quantized(x, scales, STATIC_SCALE if scales == "tensor" else None)
    of_weight = quantized(weight, scales)
    right = Operands(problem, wide(of_x), wide(of_weight), x)
    return Operands(problem, of_x.values, of_weight.values, plain(right), of_x.scales, of_weight.scales)
