"""Tensors for results that the peers of a rank store into, so that no rank copies them once more."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Optional

import torch

from .. import run

#: Results that get other memory after one for which there was no room, before the next one is tried.
PAUSE = 64


class Results:
    """Memory of a world for results, as pools of PyTorch's allocator: their tensors are as any others, also for
    record_stream, and live as long as somebody holds them. Where there is none, tensors have other memory of PyTorch's,
    and plans copy to them.

    world   of the library
    device  the GPU of this rank
    bytes   for results on each rank; 0: none"""

    def __init__(self, world: run.World, device: torch.device, bytes: int) -> None:
        self._world, self._device = world, device
        #: Pools by the number of the capture that they are for, 0 of none. What a graph writes, nothing else may use.
        self._pools: dict[int, Any] = {}
        self._pause = 0
        self._serves = bytes > 0 and hasattr(torch.cuda, "MemPool")

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        stream = torch.cuda.current_stream(self._device)
        if not self._serves or self._is_paused() or _is_of_graph_tree(stream):
            return torch.empty(shape, dtype=dtype, device=self._device)
        capture = self._world.begin_pool(stream.cuda_stream)
        if capture is None:  # there was no room for the last one, or the world has ended
            self._clear_captures()
            self._pause = PAUSE
            return torch.empty(shape, dtype=dtype, device=self._device)
        pool = self._pools.get(capture)
        if pool is None:
            pool = self._pools[capture] = torch.cuda.MemPool(_allocator())
        with torch.cuda.use_mem_pool(pool, self._device):
            return torch.empty(shape, dtype=dtype, device=self._device)

    def clear(self) -> None:
        """Gives back what no tensor and no graph has. Tensors stay what they are."""
        self._clear_captures()
        self._pools.pop(0, None)

    def _clear_captures(self) -> None:
        """Ends the pools of captures. PyTorch ends none while a graph is captured. (What a tensor of an ended pool has,
        comes back with torch.cuda.empty_cache() only: so the pool of no capture stays.)"""
        if not torch.cuda.is_current_stream_capturing():
            for capture in [each for each in self._pools if each != 0]:
                del self._pools[capture]

    def _is_paused(self) -> bool:
        self._pause = max(0, self._pause - 1)
        return self._pause > 0


def _is_of_graph_tree(stream: torch.cuda.Stream) -> bool:
    """Whether torch.compile records a CUDA graph on the stream (mode="reduce-overhead"): all tensors that it meets then
    have to be of a pool of its own."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is None:
        return False
    manager = trees.get_manager(stream.device_index, create_if_none_exists=False)
    return manager is not None and getattr(manager, "stream", stream) == stream


_allocators: list[Any] = []


def _allocator() -> Any:
    """PyTorch's handle of the library's functions. Memory is given back by it when the process ends, and so it is never
    destroyed."""
    if not _allocators:
        made = torch.cuda.memory.CUDAPluggableAllocator(run.library_path(), "ovt_pool_allocate", "ovt_pool_free")
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        _allocators.append(made)
    return _allocators[0].allocator()
