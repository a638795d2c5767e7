"""The config that a world tries for a problem: the answer of its database to the world's terms. And
the form in which ranks tell each other answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Optional

from .. import run
from ..database import Database
from ..errors import ArgumentError, Error, NotFoundError
from ..values import Answer, Launch, Problem, Source
from .strategies import allows, config_name, strategy_of


def sequential(reason: str) -> Answer:
    return dataclasses.replace(run.SEQUENTIAL, reason=reason)


@dataclass(frozen=True)
class Terms:
    """The terms of a world: all that it asks of its database beside the problem. `ways` that are empty allow all."""

    launch: Launch = Launch.GRAPH
    ways: tuple[str, ...] = ()
    free_sms: int = 0
    exclusive: bool = False

    def allow(self, answer: Answer) -> bool:
        return not self.ways or any(allows(way, answer) for way in self.ways)


def _answered(database: Database, problem: Problem, terms: Terms) -> Answer:
    """The best answer that the terms allow. The database knows strategies: where its answer has a
    transport that is not allowed, it is asked for the other strategies. Raises what the database
    raises, and NotFoundError where it has no such answer."""
    left = list(dict.fromkeys(map(strategy_of, terms.ways)))
    refused: list[str] = []
    while left or not terms.ways:
        answer = database.query(
            problem,
            terms.launch,
            strategies=left or None,
            free_sms=terms.free_sms,
            exclusive=terms.exclusive,
        )
        if terms.allow(answer):
            return answer
        refused.append(config_name(answer))
        if answer.strategy not in left:
            break
        left.remove(answer.strategy)
    raise NotFoundError(f"best of the allowed strategies: {', '.join(refused)}")


def forced(problem: Problem, way: str) -> Optional[Answer]:
    """A config that nobody tuned, or None where the strategy cannot run the problem."""
    try:
        config = run.untuned(problem, way)
    except ArgumentError:
        return None
    return Answer(config, reason=f"{way} is forced; this config was not tuned")


def chosen(database: Optional[Database], problem: Problem, terms: Terms) -> Answer:
    """The config for a problem: the best allowed answer. Where there is none and only one way is
    allowed, a config of it by hand, if it can run the problem; else `sequential`, which needs no
    permission. Raises what the database raises: ArgumentError for a problem that breaks a rule."""
    try:
        if database is not None:
            return _answered(database, problem, terms)
        why = "no database"
        if terms.allow(run.SEQUENTIAL):
            return run.SEQUENTIAL
    except NotFoundError as error:
        why = str(error)
    config = forced(problem, terms.ways[0]) if len(terms.ways) == 1 else None
    if config is not None:
        return config
    allowed = ", ".join(terms.ways)
    return sequential(f"no answer is allowed; allowed: {allowed} ({why})")


def chosen_or_sequential(database: Optional[Database], problem: Problem, terms: Terms) -> Answer:
    """Like `chosen`, but `sequential` where the database raises an error, which is the reason."""
    try:
        return chosen(database, problem, terms)
    except Error as error:
        return sequential(f"no answer: {error}")


def recipe_or_none(database: Optional[Database], problem: Problem, terms: Terms) -> Optional[str]:
    """The recipe for the weight of a problem and up to as many rows as it has. None where the terms
    name transports, which recipes do not know, or where there is none."""
    try:
        if database is None:
            return run.recipe_of(problem, run.SEQUENTIAL, problem.m) if not terms.ways else None
        if any("/" in way for way in terms.ways):
            return None
        return database.recipe(
            problem,
            terms.launch,
            strategies=terms.ways or None,
            free_sms=terms.free_sms,
            exclusive=terms.exclusive,
        )
    except Error:
        return None


def is_sequential(answer: Answer) -> bool:
    """Whether it has the config of run.SEQUENTIAL, which every machine has."""
    return answer.config == run.SEQUENTIAL.config


def told(answer: Answer) -> dict[str, Any]:
    """An Answer as a value of JSON."""
    return dataclasses.asdict(answer)


def heard(message: dict[str, Any]) -> Answer:
    """The Answer of `told`."""
    return dataclasses.replace(Answer(**message), source=Source(message["source"]))
