"""Memory of PyTorch's for a world: symmetric memory, which is mapped on the GPUs of all ranks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ..errors import UnavailableError
from .exchange import Exchange

#: Has PyTorch make no objects of NVLink multicast with its symmetric memory.
NO_MULTICAST = "TORCH_SYMM_MEM_DISABLE_MULTICAST"


@dataclass(frozen=True, eq=False)
class Symmetric:
    """`tensor` keeps the memory; `peers` are the addresses on this GPU of each rank's part."""

    tensor: Any
    peers: list[int]
    bytes: int

    def keep(self) -> None:
        """Keeps the memory for the plans of a world, until `give_up` or for good."""
        _kept.add(self)

    def give_up(self) -> None:
        """Leaves the memory to PyTorch, once all ranks have ended the world."""
        _kept.discard(self)


#: Memory of worlds that live, and of those that some ranks ended without the others: nothing tells
#: when the last kernel of a peer that may use it has ended.
_kept: set[Symmetric] = set()


@contextmanager
def _multicast(allowed: bool) -> Iterator[None]:
    """PyTorch reads the variable in a rendezvous."""
    before = os.environ.get(NO_MULTICAST)
    if not allowed:
        os.environ[NO_MULTICAST] = "1"
    try:
        yield
    finally:
        if before is not None:
            os.environ[NO_MULTICAST] = before
        elif not allowed:
            del os.environ[NO_MULTICAST]


def symmetric(
    group: Any, device: torch.device, size: int, allow_multicast: bool, exchange: Exchange
) -> Symmetric:
    """Allocates `size` bytes on every rank. Collective; all ranks give the same size. Where PyTorch
    cannot, or GPUs do not reach one another, that rank raises its error, and the others raise
    UnavailableError."""

    def allocated() -> Any:
        from torch.distributed import _symmetric_memory as memory

        return memory.empty(size, dtype=torch.uint8, device=device)

    def met() -> list[int]:
        from torch.distributed import _symmetric_memory as memory

        with _multicast(allow_multicast):
            return [int(each) for each in memory.rendezvous(tensor, group).buffer_ptrs]

    # The rendezvous would wait for a rank that has no memory.
    tensor = _on_all(exchange, allocated, "allocating PyTorch's symmetric memory")
    peers = _on_all(exchange, met, "PyTorch's rendezvous for symmetric memory")
    return Symmetric(tensor, peers, size)


def _on_all(exchange: Exchange, step: Callable[[], Any], purpose: str) -> Any:
    """The result of a step. An error of one rank is met by all of them."""
    try:
        result = step()
    except Exception as error:
        exchange.all_of(f"{type(error).__name__}: {error}", purpose)
        raise
    for rank, text in enumerate(exchange.all_of("", purpose)):
        if text:
            raise UnavailableError(f"{purpose}: rank {rank} of the group: {text}")
    return result
