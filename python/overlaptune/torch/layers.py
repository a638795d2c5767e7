"""Linear layers whose weight is divided among the ranks of a world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional, TypeVar

import torch

from ..errors import ArgumentError
from ..values import Op, Problem
from .families import SCALES_TOGETHER
from .functions import all_gather_gemm, gemm_all_reduce, gemm_reduce_scatter, replicated_gemm
from .products import DTYPES, largest_part, problem_of_shape
from .scaled import (
    Scaled, check_scale, check_weight, problem_of_scaled, quantized, scaled_all_gather_gemm, scaled_gemm_all_reduce,
    scaled_gemm_reduce_scatter
)
from .shards import part
from .world import World


_SCALED: dict[Optional[Op], Any] = {
    Op.GEMM_ALL_REDUCE: scaled_gemm_all_reduce,
    Op.GEMM_REDUCE_SCATTER: scaled_gemm_reduce_scatter,
    Op.ALL_GATHER_GEMM: scaled_all_gather_gemm,
}


#: The compute capability of the first GPUs whose tensor cores multiply e4m3 (Ada).
_FIRST_WITH_8_BITS = (8, 9)


def _divided(features: int, name: str, world: World) -> int:
    if features < 1 or features % world.size != 0:
        raise ArgumentError(
            f"{name} = {features}: expected a multiple of {world.size}, the number of ranks"
        )
    return features // world.size


def _part(tensor: torch.Tensor, dim: int, world: World, name: str, divided: bool) -> torch.Tensor:
    """This rank's part of a whole tensor, or of one that is divided already, in memory of its own on the world's GPU."""
    kept = tensor.detach()
    if not divided:
        _divided(tensor.shape[dim], name, world)
        kept = kept.chunk(world.size, dim)[world.rank]
    return kept.to(world.device).clone(memory_format=torch.contiguous_format)


class _ParallelLinear(torch.nn.Module):
    world: World
    #: The op of the product, or None where it has no collective.
    op: Optional[Op]
    weight: torch.nn.Parameter
    bias: Optional[torch.nn.Parameter]
    #: This rank's part of the weight. (Wrappers such as FSDP2 make other parts of the parameter.)
    own_shape: tuple[int, int]
    #: Of a weight of 8 bits, with the type of results and the scale of inputs.
    weight_scales: torch.Tensor
    _result: Optional[torch.dtype] = None
    _exact: bool = False
    _input_scale: Optional[float] = None

    def __init__(
        self,
        world: World,
        op: Optional[Op],
        shape: tuple[int, int],
        in_features: int,
        dtype: torch.dtype,
        bias: Optional[int],
    ) -> None:
        super().__init__()
        if dtype not in DTYPES:
            raise ArgumentError(f"dtype: {dtype}; expected torch.bfloat16 or torch.float16")
        self.world, self.op, self.own_shape = world, op, shape
        self.weight = torch.nn.Parameter(
            torch.empty(shape, dtype=dtype, device=world.device)
        )
        # The bound of torch.nn.Linear. Each rank draws its part by itself: docs/torch.md says how
        # to seed the ranks.
        bound = float(in_features**-0.5)
        torch.nn.init.uniform_(self.weight, -bound, bound)
        self.bias = None
        if bias is not None:
            self.bias = torch.nn.Parameter(torch.zeros(bias, dtype=dtype, device=world.device))

    def prepare(self, rows: Iterable[int]) -> None:
        """Makes the plans for inputs of these numbers of rows (tokens, on all ranks together; rows that
        are divided are rounded up to a multiple of the ranks: give those of an input with more leading
        dimensions as its first one rounded up has them), so that no later call has to, and no CUDA graph is captured without them. The largest comes
        first, so that the world's memory grows once. Problems without a plan are tried again. Numbers below the world's
        threshold need none.
        Raises what World.plan does. Collective. Where inputs will be cast by torch.autocast, call
        it under autocast."""
        if self.op is None or self.world.size == 1:
            return
        unit = 1 if self.op == Op.GEMM_ALL_REDUCE else self.world.size
        if self._result is not None and self.op == Op.ALL_GATHER_GEMM and self.weight_scales.numel() > 1:
            unit *= SCALES_TOGETHER
        counts = {largest_part(count, unit) * unit for count in rows if count >= max(1, self.world.threshold)}
        for count in sorted(counts, reverse=True):
            self.world.plan(self._problem(self.op, count))

    def quantize(
        self, scales: str = "rows", input_scale: Optional[float] = None, exact: bool = False
    ) -> None:
        """From now on the product is one of 8-bit operands (docs/torch.md, "8 bits"), without a gradient. The weight
        becomes torch.float8_e4m3fn, with the buffer `weight_scales`; inputs are quantised in each call, before they
        travel.

        scales       "rows": a scale for each row of the weight, and for each token; "tensor": one for each matrix
        input_scale  the scale of inputs, for "tensor": known before (static). None: found in each call (dynamic), which
                     needs all ranks' inputs where these are gathered, and so is refused there
        exact        as scaled_gemm_all_reduce takes it"""
        if self.op is None:
            raise ArgumentError("quantize: the layer has no collective; expected one with sequence_parallel, or a row layer")
        if self._result is not None:
            raise ArgumentError("quantize: the weight has 8 bits already")
        if scales == "tensor" and input_scale is None and self.op == Op.ALL_GATHER_GEMM:
            raise ArgumentError(
                "quantize: inputs of all ranks share a scale, which no rank finds alone; expected an input_scale, or "
                "scales='rows'"
            )
        if input_scale is not None:
            if scales == "rows":
                raise ArgumentError("quantize: input_scale: expected scales='tensor'")
            check_scale("quantize: input_scale", input_scale)
        if self.weight.dtype not in DTYPES:
            raise ArgumentError(
                f"quantize: the weight is {self.weight.dtype}; expected torch.bfloat16 or torch.float16, the type of results"
            )
        capability = torch.cuda.get_device_capability(self.world.device)
        if capability < _FIRST_WITH_8_BITS:
            raise ArgumentError(
                f"quantize: a GPU of compute capability {capability[0]}.{capability[1]}; expected at least "
                f"{_FIRST_WITH_8_BITS[0]}.{_FIRST_WITH_8_BITS[1]}, which has 8-bit products"
            )
        own = part(self.weight.detach())
        if tuple(own.shape) != self.own_shape:
            raise ArgumentError(
                f"quantize: the weight has shape {tuple(own.shape)} here; expected {self.own_shape}, this rank's part of the "
                "tensor-parallel group: quantize before fully_shard"
            )
        weight = quantized(own, scales)
        check_weight(weight)
        self._result, self._input_scale = self.weight.dtype, input_scale
        self._exact = exact
        self.weight = torch.nn.Parameter(weight.values, requires_grad=False)
        self.register_buffer("weight_scales", weight.scales)
        if self.bias is not None:  # ranks add it to different rows: their gradients would differ
            self.bias = torch.nn.Parameter(part(self.bias.detach()), requires_grad=False)

    def requantize(self, weight: torch.Tensor) -> None:
        """Gives a layer of 8 bits the numbers of another weight, of 16 or 32 bits and this rank's, [n, k]. They take the
        place of the old ones, also in CUDA graphs."""
        if self._result is None:
            raise ArgumentError("requantize: the weight has 16 bits; expected a layer after `quantize`")
        if weight.shape != self.weight.shape or weight.dtype == torch.float8_e4m3fn:
            raise ArgumentError(
                f"requantize: {weight.dtype} of shape {tuple(weight.shape)}; expected 16 or 32 bits, {tuple(self.weight.shape)}"
            )
        new = quantized(weight.detach(), self._scales())
        self.weight.data.copy_(new.values)
        self.weight_scales.copy_(new.scales)

    def _scales(self) -> str:
        return "rows" if self.weight_scales.numel() > 1 else "tensor"

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, metadata: Any, strict: bool, missing: Any, unexpected: Any, errors: Any
    ) -> None:
        """Refuses a weight of 16 bits for one of 8, and the reverse: PyTorch would cast the numbers without their scales."""
        given = state_dict.get(prefix + "weight")
        if given is not None and (given.dtype == torch.float8_e4m3fn) != (self._result is not None):
            errors.append(
                f"{prefix}weight: {given.dtype}, where the layer has {self.weight.dtype}; load weights of 16 bits before "
                "`quantize` (or give them to `requantize`), and weights of 8 bits after it"
            )
            return
        super()._load_from_state_dict(state_dict, prefix, metadata, strict, missing, unexpected, errors)

    def _scaled(self, x: torch.Tensor) -> torch.Tensor:
        """The product of 8-bit operands."""
        if torch.is_grad_enabled() and x.requires_grad:
            raise ArgumentError("x: needs a gradient; products of 8-bit operands have none: call them under no_grad")
        operand = quantized(x, self._scales(), self._input_scale)
        weight = Scaled(self.weight, self.weight_scales)
        y = _SCALED[self.op](operand, weight, self.world, self._result, self._exact)
        return y if self.bias is None else y + self.bias

    def _problem(self, op: Op, rows: int) -> Problem:
        if self._result is None:
            return problem_of_shape(self.world, op, self.own_shape, self.weight.dtype, rows)
        weight = Scaled(self.weight, self.weight_scales)
        return problem_of_scaled(self.world, op, weight, rows, self._result, self._exact)

    def extra_repr(self) -> str:
        n, k = self.own_shape
        return f"{n} x {k} on rank {self.world.rank} of {self.world.size}, op={self.op}"


class RowParallelLinear(_ParallelLinear):
    """y = the sum over the ranks of x @ weight.T.

    x       [..., in_features / ranks], with the same tokens on every rank
    weight  [out_features, in_features / ranks], this rank's columns of the whole weight
    bias    [out_features], the same on every rank, added once; None without `bias`. It begins at 0
    y       with sequence_parallel this rank's part of the sum, [first / ranks, ..., out_features],
            where x has the first dimension `first` (with layer(x, uneven=True), torch.chunk divides
            one that is no multiple of the ranks); otherwise the whole sum, the same on all ranks
    """

    op: Op

    def __init__(
        self,
        world: World,
        in_features: int,
        out_features: int,
        *,
        sequence_parallel: bool = True,
        bias: bool = False,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        shape = (out_features, _divided(in_features, "in_features", world))
        super().__init__(
            world, self._op(sequence_parallel), shape, in_features, dtype, shape[0] if bias else None
        )

    @staticmethod
    def _op(sequence_parallel: bool) -> Op:
        return Op.GEMM_REDUCE_SCATTER if sequence_parallel else Op.GEMM_ALL_REDUCE

    @classmethod
    def from_linear(
        cls, world: World, linear: Any, *, sequence_parallel: bool = True, divided: bool = False, in_place: bool = False
    ) -> RowParallelLinear:
        """The layer with the weight and bias of a torch.nn.Linear. The weight is whole, the same on every rank, and this
        rank's columns are taken; or, if it is `divided`, this rank's columns already. With `in_place` the module itself
        becomes the layer, so that the model that holds it needs no change."""
        weight = _part(linear.weight, 1, world, "in_features", divided)
        bias = None if linear.bias is None else _part(linear.bias, 0, world, "out_features", True)
        return _layer_of(cls, linear, in_place, world, cls._op(sequence_parallel), weight, bias)

    def forward(self, x: torch.Tensor, uneven: bool = False) -> torch.Tensor:
        if self._result is not None:
            if uneven and x.shape[0] % self.world.size != 0:
                raise ArgumentError("uneven: products of 8-bit operands take parts of equal size; expected False")
            return self._scaled(x)
        if self.op == Op.GEMM_REDUCE_SCATTER:
            return gemm_reduce_scatter(x, self.weight, self.world, self.bias, uneven)
        return gemm_all_reduce(x, self.weight, self.world, self.bias)


class ColumnParallelLinear(_ParallelLinear):
    """y = x @ weight.T, of which each rank has its columns.

    x       with sequence_parallel this rank's part of the tokens, [first / ranks, ...,
            in_features], which is gathered from all ranks; otherwise all tokens, the same on every
            rank
    weight  [out_features / ranks, in_features], this rank's rows of the whole weight
    bias    [out_features / ranks], this rank's part; None without `bias`. It begins at 0
    y       [first, ..., out_features / ranks]

    Without sequence_parallel there is no collective, and so no plan. Where the parts of x differ, as
    those of RowParallelLinear may, the layer is called with its whole first dimension: layer(x, first).
    """

    def __init__(
        self,
        world: World,
        in_features: int,
        out_features: int,
        *,
        sequence_parallel: bool = True,
        bias: bool = False,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        shape = (_divided(out_features, "out_features", world), in_features)
        super().__init__(
            world, self._op(sequence_parallel), shape, in_features, dtype, shape[0] if bias else None
        )

    @staticmethod
    def _op(sequence_parallel: bool) -> Optional[Op]:
        return Op.ALL_GATHER_GEMM if sequence_parallel else None

    @classmethod
    def from_linear(
        cls, world: World, linear: Any, *, sequence_parallel: bool = True, divided: bool = False, in_place: bool = False
    ) -> ColumnParallelLinear:
        """The layer with the weight and bias of a torch.nn.Linear. Both are whole, the same on every rank, and this rank's
        rows are taken; or, if they are `divided`, this rank's rows already. `in_place`: as for RowParallelLinear."""
        weight = _part(linear.weight, 0, world, "out_features", divided)
        bias = None if linear.bias is None else _part(linear.bias, 0, world, "out_features", divided)
        return _layer_of(cls, linear, in_place, world, cls._op(sequence_parallel), weight, bias)

    def forward(self, x: torch.Tensor, first: Optional[int] = None) -> torch.Tensor:
        if self.op is None:
            return replicated_gemm(x, self.weight, self.world, self.bias)
        if self._result is not None:
            if first is not None:
                raise ArgumentError("first: products of 8-bit operands take parts of equal size; expected None")
            return self._scaled(x)
        return all_gather_gemm(x, self.weight, self.world, self.bias, first)


_Layer = TypeVar("_Layer", bound=_ParallelLinear)


def _layer_of(
    kind: type[_Layer],
    linear: Any,
    in_place: bool,
    world: World,
    op: Optional[Op],
    weight: torch.Tensor,
    bias: Optional[torch.Tensor],
) -> _Layer:
    if weight.dtype not in DTYPES:
        raise ArgumentError(f"weight: {weight.dtype}; expected torch.bfloat16 or torch.float16")
    learned = linear.weight.requires_grad, bias is not None and linear.bias.requires_grad
    if in_place:  # as fully_shard of PyTorch does: its parent's reference and its hooks stay
        layer: _Layer = linear
        layer.__class__ = kind
    else:
        layer = kind.__new__(kind)
        torch.nn.Module.__init__(layer)
    layer.world, layer.op = world, op
    layer.own_shape = (weight.shape[0], weight.shape[1])
    layer.weight = torch.nn.Parameter(weight, requires_grad=learned[0])
    layer.bias = None if bias is None else torch.nn.Parameter(bias, requires_grad=learned[1])
    return layer
