"""Tensor-parallel linear layers of PyTorch that overlap their matrix product with its collective.

    from overlaptune.torch import ColumnParallelLinear, RowParallelLinear, World

    world = World(database="cluster.db")  # on every rank, after torch.distributed was started
    up = ColumnParallelLinear(world, 8192, 28672)
    down = RowParallelLinear(world, 28672, 8192)
    y = down(act(up(x)))  # x and y: this rank's part of the tokens

It needs PyTorch with its NCCL backend, and liboverlaptune-run.so. docs/torch.md has the rules.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        "overlaptune.torch needs PyTorch, which is not installed here (pip install torch)"
    ) from None

from .functions import all_gather_gemm, gemm_all_reduce, gemm_reduce_scatter
from .layers import ColumnParallelLinear, RowParallelLinear
from .scaled import Scaled, quantized, scaled_all_gather_gemm, scaled_gemm_all_reduce, scaled_gemm_reduce_scatter
from .world import World

__all__ = [
    "ColumnParallelLinear",
    "RowParallelLinear",
    "Scaled",
    "World",
    "all_gather_gemm",
    "gemm_all_reduce",
    "gemm_reduce_scatter",
    "quantized",
    "scaled_all_gather_gemm",
    "scaled_gemm_all_reduce",
    "scaled_gemm_reduce_scatter",
]
