"""Cases of 8-bit operands, against products of their numbers in double precision."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from overlaptune import ArgumentError
from overlaptune.torch import (
    ColumnParallelLinear,
    RowParallelLinear,
    Scaled,
    World,
    quantized,
    scaled_all_gather_gemm,
    scaled_gemm_all_reduce,
    scaled_gemm_reduce_scatter,
)

#: Largest error of a result in bf16, with sums of 8-bit products as tensor cores keep them.
TOLERANCE = 0.005
#: Largest error by rounding operands to 8 bits: half a step of 3 bits each, less what averages out.
ROUNDING = 0.06


def wide(scaled: Scaled) -> torch.Tensor:
    if scaled.scales.numel() == 1:
        return scaled.values.double() * scaled.scales.double()
    return scaled.values.double() * scaled.scales.double().reshape(*scaled.values.shape[:-1], 1)


def error_of(y: torch.Tensor, right: torch.Tensor) -> float:
    return float(((y.double() - right).norm() / right.norm()).item())


def expect_close(what: str, y: torch.Tensor, right: torch.Tensor, tolerance: float) -> None:
    error = error_of(y, right)
    if y.shape != right.shape or not error <= tolerance:
        raise AssertionError(f"{what}: {tuple(y.shape)}, relative error {error:.2e}, at most {tolerance:.0e}")


def drawn(rows: int, columns: int, world: World) -> torch.Tensor:
    """Rows of very different sizes."""
    sizes = torch.exp(torch.randn(rows, 1, device=world.device))
    return (torch.randn(rows, columns, device=world.device) * sizes).to(torch.bfloat16)


def check_products(world: World) -> None:
    """Each function, with either kind of scales, result and sums; rows that no tile divides, and a row of zeros."""
    for dtype, scales, exact in ((torch.bfloat16, "rows", False), (torch.float16, "rows", True),
                                 (torch.bfloat16, "tensor", False)):
        for function, rows in ((scaled_gemm_all_reduce, 1001), (scaled_gemm_reduce_scatter, 500 * world.size),
                               (scaled_all_gather_gemm, 260)):
            x, weight = drawn(rows, 1040, world), drawn(528, 1040, world) * 0.02
            x[3] = 0
            # One scale is the same on all ranks. The largest numbers are beyond it, and become the largest of 8 bits.
            of_x = quantized(x, scales, 0.05 if scales == "tensor" else None)
            of_weight = quantized(weight, scales)
            y = function(of_x, of_weight, world, dtype, exact)
            a, b = wide(of_x), wide(of_weight)
            if function is scaled_all_gather_gemm:
                whole = torch.empty((rows * world.size, 1040), dtype=a.dtype, device=a.device)
                dist.all_gather_into_tensor(whole, a, group=world.group)
                a = whole
            right = a @ b.t()
            if function is not scaled_all_gather_gemm:
                dist.all_reduce(right, group=world.group)
            if function is scaled_gemm_reduce_scatter:
                right = right.chunk(world.size)[world.rank]
            expect_close(f"{function.__name__}, {scales}, {dtype}", y, right, TOLERANCE)


def check_layers(world: World) -> None:
    """A pair of layers before and after they have 8 bits, eager and compiled; no gradient."""
    up = ColumnParallelLinear(world, 1024, 512 * world.size, bias=True)
    down = RowParallelLinear(world, 512 * world.size, 1024, bias=True)
    x = torch.randn(256, 1024, device=world.device, dtype=torch.bfloat16)
    with torch.no_grad():
        right = down(torch.relu(up(x)))
        for layer in (up, down):
            layer.quantize()
            layer.prepare([256 * world.size])
        expect_close("layers of 8 bits", down(torch.relu(up(x))), right.double(), ROUNDING)
        pair: Any = torch.compile(lambda x: down(torch.relu(up(x))), fullgraph=True)
        expect_close("compiled layers of 8 bits", pair(x), right.double(), ROUNDING)
        exact = RowParallelLinear(world, 512 * world.size, 1024)
        half = torch.randn(256, 512, device=world.device, dtype=torch.bfloat16)
        right = exact(half).double()
        exact.quantize(exact=True)
        expect_close("a layer with exact sums", exact(half), right, ROUNDING)
    try:
        up(x.requires_grad_())
    except ArgumentError:
        return
    raise AssertionError("an input that needs a gradient was taken")


def check_gathered_rows(world: World) -> None:
    """Any number of rows on each rank, with scales that travel four at a time; columns of a transposed input."""
    for rows in (1, 3, 6):
        x, weight = quantized(drawn(rows, 512, world)), quantized(drawn(256, 512, world) * 0.02)
        a = wide(x)
        whole = torch.empty((rows * world.size, 512), dtype=a.dtype, device=a.device)
        dist.all_gather_into_tensor(whole, a, group=world.group)
        expect_close(f"{rows} gathered rows", scaled_all_gather_gemm(x, weight, world), whole @ wide(weight).t(), TOLERANCE)
    transposed = quantized(drawn(512, 64, world).t())
    y = scaled_gemm_all_reduce(transposed, weight, world)
    right = wide(transposed) @ wide(weight).t()
    dist.all_reduce(right, group=world.group)
    expect_close("a transposed input", y, right, TOLERANCE)


def check_new_weights(world: World) -> None:
    """Weights that a layer of 8 bits gets later; those of 16 bits are refused by load_state_dict."""
    layer = RowParallelLinear(world, 512 * world.size, 1024, sequence_parallel=False)
    other = RowParallelLinear(world, 512 * world.size, 1024, sequence_parallel=False)
    x = torch.randn(256, 512, device=world.device, dtype=torch.bfloat16)
    dist.broadcast(x, 0, group=world.group)
    layer.quantize()
    with torch.no_grad():
        right = other(x).double()
        before = layer.weight.data_ptr()
        layer.requantize(other.weight)
        expect_close("a new weight", layer(x), right, ROUNDING)
    if layer.weight.data_ptr() != before:
        raise AssertionError("the new weight has another address, which graphs do not know")
    kept = layer.weight.view(torch.uint8).clone()
    try:
        layer.load_state_dict(other.state_dict(), strict=False)
    except RuntimeError as error:
        if "requantize" not in str(error) or not torch.equal(kept, layer.weight.view(torch.uint8)):
            raise AssertionError(f"refused with '{error}', or after the weight was changed") from error
        return
    raise AssertionError("a weight of 16 bits was taken without its scales")


CASES = {"products_of_8_bits": check_products, "layers_of_8_bits": check_layers,
         "gathered_rows_of_8_bits": check_gathered_rows, "new_weights_of_8_bits": check_new_weights}
