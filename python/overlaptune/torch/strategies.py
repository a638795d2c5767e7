"""Strategies that a world may run: `World(strategies=…)`, or the variable OVERLAPTUNE_STRATEGIES."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional, Union

from ..errors import ArgumentError
from ..values import Answer, Strategy, Transport

VARIABLE = "OVERLAPTUNE_STRATEGIES"

#: The transports of each strategy (core/*_traits.hpp); the first one is the transport of
#: `forced`, where none is named. `peer_store` has no choice, and its answers do not name it.
TRANSPORTS: dict[Strategy, tuple[Transport, ...]] = {
    Strategy.SEQUENTIAL: (
        Transport.RING,
        Transport.SYMMETRIC,
        Transport.COPY_ENGINE,
        Transport.PEER_ACCESS,
    ),
    Strategy.CHUNKED: (Transport.RING, Transport.SYMMETRIC),
    Strategy.SIGNALED: (
        Transport.PEER_ACCESS,
        Transport.RING,
        Transport.SYMMETRIC,
        Transport.SYMMETRIC_THEN_RING,
        Transport.COPY_ENGINE,
    ),
    Strategy.WAITING: (Transport.COPY_ENGINE, Transport.PEER_ACCESS),
    Strategy.PEER_STORE: (Transport.PEER_ACCESS,),
}

Wishes = Union[Iterable[Union[Strategy, str]], None]


def config_name(answer: Answer) -> str:
    """As in "waiting by copy_engine"."""
    if answer.strategy == Strategy.PEER_STORE:
        return str(answer.strategy)
    return f"{answer.strategy} by {answer.transport}"


@dataclass(frozen=True)
class Way:
    """A strategy, by one transport or (None) by any."""

    strategy: Strategy
    transport: Optional[Transport] = None

    def allows(self, answer: Answer) -> bool:
        return answer.strategy == self.strategy and self.transport in (None, answer.transport)

    def __str__(self) -> str:
        named = "" if self.transport is None else f"/{self.transport}"
        return f"{self.strategy}{named}"


def _names(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def _named(text: str, origin: str) -> Way:
    name, slash, by = text.strip().partition("/")
    found = [each for each in TRANSPORTS if str(each) == name]
    if not found:
        raise ArgumentError(
            f"{origin}: '{text.strip()}'; expected one of {_names(TRANSPORTS)}, and for one "
            "transport only its name behind a slash, as in waiting/peer_access"
        )
    if not slash:
        return Way(found[0])
    known = TRANSPORTS[found[0]]
    transports = [each for each in known if str(each) == by]
    if not transports:
        raise ArgumentError(
            f"{origin}: '{text.strip()}': {name} has no such transport; expected one of "
            f"{_names(known)}"
        )
    return Way(found[0], transports[0] if found[0] != Strategy.PEER_STORE else None)


def _way(wish: Union[Strategy, str], origin: str) -> Way:
    # A Strategy prints its name, and a reserved one is no key of TRANSPORTS.
    return _named(wish if isinstance(wish, str) else str(wish), origin)


def allowed_ways(wishes: Wishes) -> tuple[Way, ...]:
    """The ways that a world may run, each once and in their order; empty: all.

    wishes  strategies or their names; a text has several names with commas between them. None:
            the variable says it, and without the variable all are allowed.
    Raises ArgumentError for a name that is not known."""
    origin = "strategies"
    if wishes is None:
        wishes, origin = os.environ.get(VARIABLE, ""), VARIABLE
        if not wishes.strip():
            return ()
    if isinstance(wishes, str):
        wishes = wishes.split(",")
    ways = tuple(dict.fromkeys(_way(wish, origin) for wish in wishes))
    if not ways:
        raise ArgumentError(f"{origin}: none; expected one or more of {_names(TRANSPORTS)}")
    return ways
