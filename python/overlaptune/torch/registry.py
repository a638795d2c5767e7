"""Numbers of worlds. PyTorch's operators take numbers and tensors, but no objects of a program."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import ArgumentError

if TYPE_CHECKING:
    from .world import World

_numbers = itertools.count()
_worlds: weakref.WeakValueDictionary[int, World] = weakref.WeakValueDictionary()
#: Lists of the worlds whose operators run meanwhile.
_listening: list[list[World]] = []


def register(world: World) -> int:
    """A number that no other world of this process has or had."""
    number = next(_numbers)
    _worlds[number] = world
    return number


def world_of(number: int) -> World:
    """Raises ArgumentError where the world is gone: it must live as long as what was compiled with it."""
    world = _worlds.get(number)
    if world is None:
        raise ArgumentError(f"world {number} of this process no longer exists; expected one that lives")
    for worlds in _listening:
        if world not in worlds:
            worlds.append(world)
    return world


@contextlib.contextmanager
def worlds_used() -> Iterator[list[World]]:
    """A list of the worlds whose operators run inside the `with`."""
    worlds: list[World] = []
    _listening.append(worlds)
    try:
        yield worlds
    finally:
        _listening[:] = [each for each in _listening if each is not worlds]
