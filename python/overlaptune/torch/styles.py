"""Styles for torch.distributed.tensor.parallel.parallelize_module: they make the linear layers of a model layers of
this package, in place.

    parallelize_module(model, mesh["tp"], {
        "layers.*.mlp.up": ColwiseOverlap(world), "layers.*.mlp.down": RowwiseOverlap(world)})

State dicts have their parameters as DTensors, as those of PyTorch's own styles (shards.py). With `dtensors=True` the
parameters are DTensors, too: then torch.distributed.checkpoint has optimizer states whole, clip_grad_norm_ takes the norm
over all ranks, and fully_shard divides them over both dimensions of a mesh."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.tensor import Placement, Replicate, Shard
from torch.distributed.tensor.parallel import ParallelStyle

from ..errors import ArgumentError
from .layers import ColumnParallelLinear, RowParallelLinear
from .shards import as_dtensors, make_dtensors
from .world import World


class _Overlap(ParallelStyle):
    _layer: Any
    _placements: dict[str, Placement]

    def __init__(self, world: World, *, sequence_parallel: bool = True, dtensors: bool = False) -> None:
        super().__init__()
        self._world, self._sequence_parallel = world, sequence_parallel
        self._divide = make_dtensors if dtensors else as_dtensors

    def _apply(self, module: torch.nn.Module, device_mesh: Any) -> torch.nn.Module:
        if not isinstance(module, torch.nn.Linear):
            raise ArgumentError(f"{type(module).__name__}: expected a torch.nn.Linear for {type(self).__name__}")
        if device_mesh.ndim != 1 or device_mesh.size() != self._world.size:
            raise ArgumentError(
                f"a mesh of {device_mesh.ndim} dimensions and {device_mesh.size()} ranks: expected one dimension and "
                f"the {self._world.size} ranks of the world"
            )
        here, there = (dist.get_process_group_ranks(group) for group in (device_mesh.get_group(), self._world.group))
        if here != there:
            raise ArgumentError(f"a mesh of the ranks {here}: expected those of the world, {there}")
        layer: torch.nn.Module = self._layer.from_linear(
            self._world, module, sequence_parallel=self._sequence_parallel, in_place=True
        )
        self._divide(layer, device_mesh, self._placements)
        return layer


class RowwiseOverlap(_Overlap):
    """torch.nn.Linear to RowParallelLinear; the input is this rank's part of the features."""

    _layer = RowParallelLinear
    _placements = {"weight": Shard(1), "bias": Replicate()}


class ColwiseOverlap(_Overlap):
    """torch.nn.Linear to ColumnParallelLinear; the output is this rank's part of the features."""

    _layer = ColumnParallelLinear
    _placements = {"weight": Shard(0), "bias": Shard(0)}
