"""Tensors for results that the peers of a rank store into, so that no rank copies them once more."""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
import weakref
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
        # Before PyTorch 2.8 a pool is for all threads. Other allocators than PyTorch's own have none.
        has_pools = hasattr(torch._C, "_cuda_beginAllocateCurrentThreadToPool")
        self._serves = bytes > 0 and has_pools and torch.cuda.get_allocator_backend() == "native"
        #: A pool serves one thread at a time.
        self._lock = threading.Lock()
        weakref.finalize(self, _retire, self._pools)

    def empty(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """A tensor of this shape, in the results or elsewhere. It is not initialised."""
        stream = torch.cuda.current_stream(self._device)
        if self._serves and not _is_of_graph_tree(stream):
            with self._lock:
                found = None if self._is_paused() else self._found(stream, shape, dtype)
            if found is not None:
                return found
        return torch.empty(shape, dtype=dtype, device=self._device)

    def clear(self) -> None:
        """Gives back what no tensor and no graph has. Tensors stay what they are."""
        with self._lock:
            _end(self._pools, list(self._pools))

    def _found(self, stream: torch.cuda.Stream, shape: Sequence[int], dtype: torch.dtype) -> Optional[torch.Tensor]:
        """A tensor in the results, or None."""
        capture = self._world.begin_pool(stream.cuda_stream)
        if capture is not None:
            try:
                return self._in_pool(capture, shape, dtype)
            except torch.OutOfMemoryError:
                _end(self._pools, [each for each in self._pools if each not in (0, capture)])
        self._pause = PAUSE
        return None

    def _in_pool(self, capture: int, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        pool = self._pools.get(capture)
        if pool is None:
            pool = self._pools[capture] = torch.cuda.MemPool(_allocator())
        with torch.cuda.use_mem_pool(pool, self._device):
            return torch.empty(shape, dtype=dtype, device=self._device)

    def _is_paused(self) -> bool:
        self._pause = max(0, self._pause - 1)
        return self._pause > 0


#: Pools of nobody. PyTorch ends the process where a pool ends while a graph is captured.
_retired: list[Any] = []


def _retire(pools: dict[int, Any]) -> None:
    _retired.extend(pools.values())
    pools.clear()


def _end(pools: dict[int, Any], captures: list[int]) -> None:
    """Ends some of the pools, and all of nobody, or the next time. What tensors of an ended pool have comes back by
    torch.cuda.empty_cache() only."""
    _retired.extend(pools.pop(each) for each in captures)
    if not torch.cuda.is_current_stream_capturing():
        _retired.clear()


def _is_of_graph_tree(stream: torch.cuda.Stream) -> bool:
    """Whether torch.compile records a CUDA graph on the stream (mode="reduce-overhead"): all tensors that it meets then
    have to be of a pool of its own."""
    trees = sys.modules.get("torch._inductor.cudagraph_trees")
    if trees is None:
        return False
    try:
        manager = trees.get_manager(stream.device_index, create_if_none_exists=False)
    except AssertionError:  # a thread that has none
        return False
    return manager is not None and getattr(manager, "stream", stream) == stream


@functools.lru_cache(maxsize=None)
def _allocator() -> Any:
    """PyTorch's handle of the library's functions. Memory is given back by it when the process ends, and so it is never
    destroyed."""
    made = torch.cuda.memory.CUDAPluggableAllocator(run.library_path(), "ovt_pool_allocate", "ovt_pool_free")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made.allocator()
