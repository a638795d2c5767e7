"""Results that a world lends: they stay where the ranks store them, in the world's memory, and are not copied out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Optional

import torch

from ..errors import ArgumentError
from .planner import AnyPlan


class _Place:
    """Memory of the library, as PyTorch takes it: elements of 16 bits."""

    def __init__(self, address: int, shape: tuple[int, ...]) -> None:
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<i2", "data": (address, False), "version": 3}


class Lending:
    """What a world has lent. A result's time ends with the next run of a layer, which may overwrite it, or with the
    block in which it was lent."""

    def __init__(self) -> None:
        self._is_open = self._poisons = False
        self._lent: Optional[torch.Tensor] = None

    @contextmanager
    def block(self, poison: bool) -> Iterator[None]:
        if self._is_open:
            raise ArgumentError("the world lends already; blocks of `lend` do not nest")
        if torch.is_grad_enabled():
            raise ArgumentError("gradients would need results that are overwritten; lend under torch.no_grad()")
        self._is_open, self._poisons = True, poison
        try:
            yield
        finally:
            self.end()
            self._is_open = False

    def end(self) -> None:
        """Ends the time of what is lent, before another plan is looked up: making one may free the memory."""
        if self._lent is not None and self._poisons:
            self._lent.fill_(math.nan)
        self._lent = None

    def place(self, plan: AnyPlan, shape: tuple[int, ...], x: torch.Tensor) -> Optional[torch.Tensor]:
        """Memory of the world for a result of this shape; None where nothing is lent, or the caller's memory is as
        good."""
        address = plan.buffers()[1] if self._is_open else None
        if address is None:
            return None
        self._lent = torch.as_tensor(_Place(address, shape), device=x.device).view(x.dtype)
        return self._lent
