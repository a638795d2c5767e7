"""A call as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Captured:
    """A graph does not hold the tensors that it reads and writes: this does, with the call. Else PyTorch would give their
    memory to others, and a replay would write there."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        call()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            call()

    def __call__(self) -> None:
        self._graph.replay()
