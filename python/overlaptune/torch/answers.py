"""The config that a world tries for a problem: the answer of its database, if it is allowed. And
the form in which ranks tell each other answers."""

from __future__ import annotations

import dataclasses
from typing import Any, Optional

from .. import run
from ..database import Database
from ..errors import Error
from ..values import Answer, Launch, Problem, Source, Strategy, Transport, Wait
from .forced import forced
from .strategies import Way, config_name


def sequential(reason: str) -> Answer:
    return dataclasses.replace(run.SEQUENTIAL, reason=reason)


def permitted(answer: Answer, problem: Problem, ways: tuple[Way, ...]) -> Answer:
    """The answer if one of `ways` (all, if empty) allows it. Otherwise, if there is only one way, a
    config of it by hand, where it can run the problem; else `sequential`, which needs no
    permission. The query library has no filter yet; one that gives the best allowed answer takes
    the place of this function."""
    if not ways or any(way.allows(answer) for way in ways):
        return answer
    config = forced(problem, ways[0]) if len(ways) == 1 else None
    if config is not None:
        return config
    allowed = ", ".join(map(str, ways))
    return sequential(f"the answer, {config_name(answer)}, is not allowed; allowed: {allowed}")


def chosen(
    database: Optional[Database], problem: Problem, launch: Launch, ways: tuple[Way, ...]
) -> Answer:
    """The config for a problem. Raises what the database raises: ArgumentError for a problem that
    breaks a rule."""
    answer = run.SEQUENTIAL if database is None else database.query(problem, launch)
    return permitted(answer, problem, ways)


def chosen_or_sequential(
    database: Optional[Database], problem: Problem, launch: Launch, ways: tuple[Way, ...]
) -> Answer:
    """Like `chosen`, but `sequential` where the database raises an error, which is the reason."""
    try:
        return chosen(database, problem, launch, ways)
    except Error as error:
        return sequential(f"no answer: {error}")


def is_sequential(answer: Answer) -> bool:
    """Whether it is the config of run.SEQUENTIAL, which every machine has."""
    ours = run.SEQUENTIAL
    return (answer.strategy, answer.transport, answer.comm_ctas) == (
        ours.strategy,
        ours.transport,
        ours.comm_ctas,
    )


def told(answer: Answer) -> dict[str, Any]:
    """An Answer as a value of JSON."""
    return dataclasses.asdict(answer)


def heard(message: dict[str, Any]) -> Answer:
    """The Answer of `told`."""
    values = dict(message)
    for name, kind in (
        ("source", Source),
        ("strategy", Strategy),
        ("transport", Transport),
        ("wait", Wait),
        ("wave_groups", tuple),
    ):
        values[name] = kind(values[name])
    return Answer(**values)
