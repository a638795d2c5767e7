"""Products of 8-bit operands (e4m3) with their collective. torch.compile traces them, as those of functions.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Optional

import torch
import torch.distributed as dist

from ..errors import ArgumentError
from ..values import Dtype, Op, Problem
from .families import SCALES_TOGETHER
from .products import ALIGNMENT, first_of_result, gathered, rows_of, scattered_sum
from .registry import world_of
from .world import World

#: The largest number of torch.float8_e4m3fn.
LARGEST = 448.0
#: Numbers of columns of 8-bit operands, and of results, are multiples of it (cuBLASLt, "cublasLtMatmul": FP8 kernels).
COLUMNS_TOGETHER = 16

#: By scales, type of the result, and whether sums are exact.
_DTYPES = {
    ("rows", torch.bfloat16, False): Dtype.E4M3_ROWS_BF16,
    ("rows", torch.float16, False): Dtype.E4M3_ROWS_FP16,
    ("tensor", torch.bfloat16, False): Dtype.E4M3_TENSOR_BF16,
    ("tensor", torch.float16, False): Dtype.E4M3_TENSOR_FP16,
    ("rows", torch.bfloat16, True): Dtype.E4M3_ROWS_BF16_EXACT,
    ("rows", torch.float16, True): Dtype.E4M3_ROWS_FP16_EXACT,
    ("tensor", torch.bfloat16, True): Dtype.E4M3_TENSOR_BF16_EXACT,
    ("tensor", torch.float16, True): Dtype.E4M3_TENSOR_FP16_EXACT,
}


@dataclass(frozen=True)
class Scaled:
    """A tensor of 8-bit numbers with its scales: values[..., i] * scales[...] with a scale for each row, or
    values * scales[0].

    values  torch.float8_e4m3fn, [..., k]
    scales  torch.float32, as many as values has rows, or one
    """

    values: torch.Tensor
    scales: torch.Tensor


def quantized(x: torch.Tensor, scales: str = "rows", scale: Optional[float] = None) -> Scaled:
    """x in 8 bits. Numbers beyond the range of 8 bits become the largest ones.

    scales  "rows": a scale for each row, from its largest number; "tensor": one, from the largest of all
    scale   a scale that is known before (static), for "tensor"; numbers are divided by it

    "tensor" looks at this rank's x only: where ranks share a scale (scaled_all_gather_gemm), give them a known one.
    A row of zeros has the scale 1. These are operations of PyTorch: under torch.compile one or two kernels. The products
    refuse what needs a gradient: quantise a parameter under torch.no_grad."""
    wide = x.float()
    if scale is not None:
        if scales != "tensor":
            raise ArgumentError("scale: a known scale is one for the whole tensor; expected scales='tensor'")
        check_scale("scale", scale)
        factors = torch.full((1,), scale, dtype=torch.float32, device=x.device)
        return Scaled(_in_8_bits(wide / factors), factors)
    if scales == "tensor":
        largest = wide.abs().amax().reshape(1) if x.numel() > 0 else wide.new_zeros(1)
    elif scales == "rows":
        largest = wide.abs().amax(-1)
    else:
        raise ArgumentError(f"scales: {scales!r}; expected 'rows' or 'tensor'")
    factors = torch.where(largest > 0, largest / LARGEST, torch.ones_like(largest))
    divided = wide / (factors if scales == "tensor" else factors.unsqueeze(-1))
    return Scaled(_in_8_bits(divided), factors.flatten())


def check_scale(name: str, scale: float) -> None:
    """Raises ArgumentError for a number that nothing can be divided by."""
    if not 0 < scale < math.inf:
        raise ArgumentError(f"{name} = {scale}: expected a number above 0, and finite")


def _in_8_bits(x: torch.Tensor) -> torch.Tensor:
    return x.clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)


def scaled_gemm_all_reduce(
    x: Scaled, weight: Scaled, world: World, dtype: torch.dtype = torch.bfloat16, exact: bool = False
) -> torch.Tensor:
    """The sum over the ranks of x @ weight.T, the same on all of them. Each rank's product is rounded to `dtype` where it
    travels.

    x       [..., k] with its scales, weight [n, k] with its own; both with a scale for each row, or both with one
    dtype   torch.bfloat16 or torch.float16, of the result [..., n]
    exact   sums are kept in fp32 every 128 products; else as tensor cores keep them ("fast accumulation"). Slower

    It has no gradient: tensor cores multiply 8-bit operands only along rows. Collective, as the other functions here."""
    return _product(Op.GEMM_ALL_REDUCE, x, weight, world, dtype, exact)


def scaled_gemm_reduce_scatter(
    x: Scaled, weight: Scaled, world: World, dtype: torch.dtype = torch.bfloat16, exact: bool = False
) -> torch.Tensor:
    """This rank's part of that sum: of the first dimension of x, a multiple of the number of ranks."""
    return _product(Op.GEMM_REDUCE_SCATTER, x, weight, world, dtype, exact)


def scaled_all_gather_gemm(
    x: Scaled, weight: Scaled, world: World, dtype: torch.dtype = torch.bfloat16, exact: bool = False
) -> torch.Tensor:
    """The x of all ranks, one after the other, times this rank's weight.T. Each rank's rows have their own scales (rows that
    are no multiple of 4 cost a copy of x and of the result); one scale for the whole x is the same on all ranks."""
    return _product(Op.ALL_GATHER_GEMM, x, weight, world, dtype, exact)


def kind_of(scales: torch.Tensor, rows: int) -> str:
    """Whether there is a scale for each of these rows, or one for all."""
    if scales.numel() not in (1, rows):
        raise ArgumentError(f"scales: {scales.numel()} of them; expected 1, or {rows}, one for each row")
    return "tensor" if scales.numel() == 1 else "rows"


def problem_of_scaled(
    world: World, op: Op, weight: Scaled, rows: int, dtype: torch.dtype, exact: bool
) -> Problem:
    n, k = weight.values.shape
    wanted = (kind_of(weight.scales, n), dtype, bool(exact))
    if wanted not in _DTYPES:
        raise ArgumentError(f"dtype: {dtype}; expected torch.bfloat16 or torch.float16")
    return Problem(op, rows, n, k, world.size, _DTYPES[wanted])


def _product(
    op: Op, x: Scaled, weight: Scaled, world: World, dtype: torch.dtype, exact: bool
) -> torch.Tensor:
    check_weight(weight)
    _check(x, weight, world)
    if world.size == 1:
        return _multiplied(x, weight, dtype, exact)
    operator = getattr(torch.ops.overlaptune, f"scaled_{op}")
    y: torch.Tensor = operator(x.values, x.scales, weight.values, weight.scales, dtype, exact, world.number)
    return y


def check_weight(weight: Scaled) -> None:
    n, k = weight.values.shape
    if n % COLUMNS_TOGETHER != 0 or k % COLUMNS_TOGETHER != 0:
        raise ArgumentError(f"weight: {n} x {k}; expected multiples of {COLUMNS_TOGETHER}, as 8-bit products need")


def _check(x: Scaled, weight: Scaled, world: World) -> None:
    for name, each in (("x", x), ("weight", weight)):
        if torch.is_grad_enabled() and (each.values.requires_grad or each.scales.requires_grad):
            raise ArgumentError(
                f"{name}: needs a gradient; products of 8-bit operands have none: quantise and call them under no_grad"
            )
        if each.values.dtype != torch.float8_e4m3fn or each.scales.dtype != torch.float32:
            raise ArgumentError(
                f"{name}: {each.values.dtype} with scales in {each.scales.dtype}; expected torch.float8_e4m3fn and "
                "torch.float32, as `quantized` makes them"
            )
        if each.values.device != world.device or each.scales.device != world.device:
            raise ArgumentError(f"{name}: on {each.values.device}; expected {world.device}, as the world")
    if x.values.dim() < 2 or x.values.shape[-1] != weight.values.shape[1]:
        raise ArgumentError(
            f"x: shape {tuple(x.values.shape)}; expected two dimensions or more, the last one of "
            f"{weight.values.shape[1]}"
        )
    rows = x.values.numel() // x.values.shape[-1]
    expected = rows if kind_of(weight.scales, weight.values.shape[0]) == "rows" else 1
    if x.scales.numel() != expected:
        raise ArgumentError(
            f"x: {x.scales.numel()} scales; expected {expected}: one for each row of x and of the weight, or one for each "
            "of the two"
        )


def _multiplied(x: Scaled, weight: Scaled, dtype: torch.dtype, exact: bool) -> torch.Tensor:
    """By PyTorch, without a collective. With scales of rows it has results in bf16 only."""
    values = x.values.reshape(-1, x.values.shape[-1]).contiguous()
    of_x, of_weight = x.scales, weight.scales
    if of_weight.numel() > 1:
        of_x, of_weight = of_x.reshape(-1, 1), of_weight.reshape(1, -1)
    y: torch.Tensor = torch._scaled_mm(
        values, weight.values.t(), scale_a=of_x, scale_b=of_weight,
        out_dtype=dtype if of_weight.numel() == 1 else torch.bfloat16, use_fast_accum=not exact,
    )
    return y.to(dtype).reshape(*x.values.shape[:-1], weight.values.shape[0])


def _by_pytorch(
    op: Op, x: Scaled, weight: Scaled, world: World, dtype: torch.dtype, exact: bool
) -> torch.Tensor:
    if op == Op.ALL_GATHER_GEMM:
        whole = gathered(x.values.view(torch.uint8), world).view(torch.float8_e4m3fn)
        x = Scaled(whole, x.scales if weight.scales.numel() == 1 else gathered(x.scales, world))
    y = _multiplied(x, weight, dtype, exact)
    if op == Op.GEMM_REDUCE_SCATTER:
        return scattered_sum(y, world)
    if op == Op.GEMM_ALL_REDUCE:
        dist.all_reduce(y, group=world.group)
    return y


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.contiguous()
    return tensor if tensor.data_ptr() % ALIGNMENT == 0 else tensor.clone()


def _run(
    op: Op, x: Scaled, weight: Scaled, world: World, dtype: torch.dtype, exact: bool
) -> torch.Tensor:
    rows = rows_of(world, op, x.values)
    shape = (first_of_result(op, x.values.shape[0], world.size), *x.values.shape[1:-1], weight.values.shape[0])
    if rows == 0:
        return torch.empty(shape, dtype=dtype, device=x.values.device)
    if rows < world.threshold:
        world.runs_below_threshold += 1
        return _by_pytorch(op, x, weight, world, dtype, exact)
    if op == Op.ALL_GATHER_GEMM and weight.scales.numel() > 1 and rows // world.size % SCALES_TOGETHER != 0:
        return _with_whole_groups(x, weight, world, dtype, exact).reshape(shape)
    plan = world.plan_or_none(problem_of_scaled(world, op, weight, rows, dtype, exact))
    if plan is None:
        return _by_pytorch(op, x, weight, world, dtype, exact)
    of_x, of_weight = (Scaled(_aligned(each.values), _aligned(each.scales)) for each in (x, weight))
    y = world.result(plan, shape, dtype)
    world.enqueue_scaled(plan, of_x.values, of_x.scales, of_weight.values, of_weight.scales, y)
    return y


def _with_whole_groups(
    x: Scaled, weight: Scaled, world: World, dtype: torch.dtype, exact: bool
) -> torch.Tensor:
    """The product of gathered rows, as rows. Those of each rank travel with zeros behind them."""
    k = x.values.shape[-1]
    rows = x.values.numel() // k
    missing = -rows % SCALES_TOGETHER
    values = x.values.reshape(rows, k).view(torch.uint8)  # torch.cat and padding know no 8-bit numbers everywhere
    padded = Scaled(
        torch.nn.functional.pad(values, (0, 0, 0, missing)).view(torch.float8_e4m3fn),
        torch.nn.functional.pad(x.scales, (0, missing), value=1.0),
    )
    y = _run(Op.ALL_GATHER_GEMM, padded, weight, world, dtype, exact)
    n = y.shape[-1]
    return y.reshape(world.size, rows + missing, n)[:, :rows].reshape(-1, n)


def define(op: Op, define_operator: Any) -> None:
    """Defines the operator of an op (operators.py)."""

    def run(
        x: torch.Tensor, x_scales: torch.Tensor, weight: torch.Tensor, weight_scales: torch.Tensor, dtype: torch.dtype,
        exact: bool, world: int,
    ) -> torch.Tensor:
        return _run(op, Scaled(x, x_scales), Scaled(weight, weight_scales), world_of(world), dtype, exact)

    def shape(
        x: torch.Tensor, x_scales: torch.Tensor, weight: torch.Tensor, weight_scales: torch.Tensor, dtype: torch.dtype,
        exact: bool, world: int,
    ) -> torch.Tensor:
        first = first_of_result(op, x.shape[0], world_of(world).size)
        return x.new_empty((first, *x.shape[1:-1], weight.shape[0]), dtype=dtype)

    arguments = "Tensor x, Tensor x_scales, Tensor weight, Tensor weight_scales, ScalarType dtype, bool exact"
    define_operator(f"scaled_{op}", arguments, run, shape)
