"""Memory of PyTorch's for a world: symmetric memory, which is mapped on the GPUs of all ranks."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class Symmetric(NamedTuple):
    """`tensor` keeps the memory; `peers` are the addresses on this GPU of each rank's part."""

    tensor: Any
    peers: list[int]
    bytes: int


def symmetric(group: Any, device: torch.device, size: int) -> Symmetric:
    """Allocates `size` bytes on every rank. Collective; all ranks give the same size. Raises what
    PyTorch does where GPUs cannot reach one another."""
    from torch.distributed import _symmetric_memory as memory

    tensor = memory.empty(size, dtype=torch.uint8, device=device)
    peers = memory.rendezvous(tensor, group).buffer_ptrs
    return Symmetric(tensor, [int(each) for each in peers], size)
