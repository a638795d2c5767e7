"""Strategies that a world may run: `World(strategies=…)`, or the variable OVERLAPTUNE_STRATEGIES. A
*way* is the name of a strategy, by any transport or by the one behind a slash."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Optional

from .. import run
from ..errors import ArgumentError
from ..values import Answer

VARIABLE = "OVERLAPTUNE_STRATEGIES"

Wishes = Optional[Iterable[str]]


def strategy_of(way: str) -> str:
    return way.partition("/")[0]


def config_name(answer: Answer) -> str:
    """The name of a config, as in "waiting by copy_engine"."""
    return f"{answer.strategy} by {answer.transport}" if answer.transport else answer.strategy


def allows(way: str, answer: Answer) -> bool:
    return way in (answer.strategy, f"{answer.strategy}/{answer.transport}")


def allowed_ways(wishes: Wishes) -> tuple[str, ...]:
    """The ways that a world may run, each once and in their order; empty: all.

    wishes  ways; a text has several with commas between them. None: the variable says it, and
            without the variable all are allowed.
    Raises ArgumentError for a name that is not known."""
    origin = "strategies"
    if wishes is None:
        wishes, origin = os.environ.get(VARIABLE, ""), VARIABLE
        if not wishes.strip():
            return ()
    names = wishes.split(",") if isinstance(wishes, str) else wishes
    ways = tuple(dict.fromkeys(str(name).strip() for name in names))
    known = run.ways()
    strategies = tuple(dict.fromkeys(map(strategy_of, known)))
    for way in ways or ("",):
        if way not in (*strategies, *known):
            raise ArgumentError(
                f"{origin}: '{way}'; expected one or more of {', '.join(strategies)}, and for one "
                f"transport only, of {', '.join(way for way in known if '/' in way)}"
            )
    return ways
