"""Linear layers whose weight is divided among the ranks of a world. They have no bias: where a
model has one, add it to the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

import torch

from ..errors import ArgumentError
from ..values import Op
from .functions import (
    gathered_column_parallel,
    replicated_column_parallel,
    row_parallel,
)
from .products import DTYPES, problem_of
from .world import World


def _divided(features: int, name: str, world: World) -> int:
    if features < 1 or features % world.size != 0:
        raise ArgumentError(
            f"{name} = {features}: expected a multiple of {world.size}, the number of ranks"
        )
    return features // world.size


class _ParallelLinear(torch.nn.Module):
    #: The op of the product, or None where it has no collective.
    op: Optional[Op]

    def __init__(
        self,
        world: World,
        op: Optional[Op],
        shape: tuple[int, int],
        in_features: int,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.op = op
        if dtype not in DTYPES:
            raise ArgumentError(f"dtype: {dtype}; expected torch.bfloat16 or torch.float16")
        self.world = world
        self.weight = torch.nn.Parameter(
            torch.empty(shape, dtype=dtype, device=world.device)
        )
        # The bound of torch.nn.Linear. Each rank draws its part by itself: docs/torch.md says how
        # to seed the ranks.
        bound = float(in_features**-0.5)
        torch.nn.init.uniform_(self.weight, -bound, bound)

    def prepare(self, rows: Iterable[int]) -> None:
        """Makes the plans for inputs of these numbers of rows (tokens, on all ranks together), so
        that no later call has to, and no CUDA graph is captured without them. The largest comes
        first, so that the world's memory grows once. Problems without a plan are tried again.
        Raises what World.plan does. Collective. Where inputs will be cast by torch.autocast, call
        it under autocast."""
        if self.op is None or self.world.size == 1:
            return
        for count in sorted(set(rows) - {0}, reverse=True):
            self.world.plan(problem_of(self.world, self.op, self.weight, count))

    def extra_repr(self) -> str:
        n, k = self.weight.shape
        return f"{n} x {k} on rank {self.world.rank} of {self.world.size}, op={self.op}"


class RowParallelLinear(_ParallelLinear):
    """y = the sum over the ranks of x @ weight.T.

    x       [..., in_features / ranks], with the same tokens on every rank
    weight  [out_features, in_features / ranks], this rank's columns of the whole weight
    y       with sequence_parallel this rank's part of the sum, [first / ranks, ..., out_features],
            where x has the first dimension `first`; otherwise the whole sum, the same on all ranks
    """

    op: Op

    def __init__(
        self,
        world: World,
        in_features: int,
        out_features: int,
        *,
        sequence_parallel: bool = True,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        shape = (out_features, _divided(in_features, "in_features", world))
        op = Op.GEMM_REDUCE_SCATTER if sequence_parallel else Op.GEMM_ALL_REDUCE
        super().__init__(world, op, shape, in_features, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return row_parallel(x, self.weight, self.world, self.op)


class ColumnParallelLinear(_ParallelLinear):
    """y = x @ weight.T, of which each rank has its columns.

    x       with sequence_parallel this rank's part of the tokens, [first / ranks, ...,
            in_features], which is gathered from all ranks; otherwise all tokens, the same on every
            rank
    weight  [out_features / ranks, in_features], this rank's rows of the whole weight
    y       [first, ..., out_features / ranks]

    Without sequence_parallel there is no collective, and so no plan.
    """

    def __init__(
        self,
        world: World,
        in_features: int,
        out_features: int,
        *,
        sequence_parallel: bool = True,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        shape = (_divided(out_features, "out_features", world), in_features)
        op = Op.ALL_GATHER_GEMM if sequence_parallel else None
        super().__init__(world, op, shape, in_features, dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.op is None:
            return replicated_column_parallel(x, self.weight, self.world)
        return gathered_column_parallel(x, self.weight, self.world)
