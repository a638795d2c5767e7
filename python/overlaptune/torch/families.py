"""The families of a world: plans of one weight for any number of rows, made once by all ranks. A new
number of rows then costs no meeting of the ranks."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from .. import run
from ..errors import ArgumentError
from ..values import Answer, Dtype, Op, Problem, Source
from .exchange import Exchange
from .fallbacks import UNMADE

#: Scales of gathered rows travel so many at a time (run.h): each rank brings a multiple, with zeros where it has fewer rows.
SCALES_TOGETHER = 4
#: Numbers of rows of a weight that get plans of their own. The next one makes the family: a program
#: with few of them, as one that trains, needs none.
PLANS_BEFORE = 2


@dataclass(frozen=True)
class Weight:
    op: Op
    n: int
    k: int
    ranks: int
    dtype: Dtype

    def __str__(self) -> str:
        return f"{self.op} of n={self.n} k={self.k} on {self.ranks} ranks"


def weight_of(problem: Problem) -> Weight:
    return Weight(problem.op, problem.n, problem.k, problem.ranks, problem.dtype)


class FamilyPlan:
    """A family with one number of rows, as a plan."""

    def __init__(self, family: run.Family, problem: Problem) -> None:
        self.problem = problem
        self._family = family

    @property
    def answer(self) -> Answer:
        config = self._family.config(self.problem.m)
        return Answer(config, Source.PREDICTED, "by the recipe of its weight")

    def run(self, a: int, b: int, c: int, stream: int) -> None:
        self._family.run(self.problem.m, a, b, c, stream)

    def run_scaled(
        self, a: int, a_scales: int, b: int, b_scales: int, c: int, stream: int
    ) -> None:
        self._family.run_scaled(self.problem.m, a, a_scales, b, b_scales, c, stream)

    def buffers(self) -> tuple[Optional[int], Optional[int]]:
        return self._family.buffers(self.problem.m)

    @functools.cached_property
    def takes_results(self) -> bool:
        return self._family.takes_results(self.problem.m)

    def close(self) -> None:
        """Nothing: the family is closed with its world."""


class Families:
    """
    make       makes a family of a recipe for up to so many rows; collective, and its errors of UNMADE
               are met by all ranks
    recipe     this rank's recipe for the weight of a problem and as many rows as it has; None where
               there is none. It raises nothing
    exchange   messages between the ranks
    most_rows  rows that a family serves at least; 0: there are no families
    """

    def __init__(
        self,
        make: Callable[[str, int], run.Family],
        recipe: Callable[[Problem], Optional[str]],
        exchange: Exchange,
        most_rows: int,
    ) -> None:
        self._make, self._recipe, self._exchange = make, recipe, exchange
        self._most_rows = most_rows
        self._families: dict[Weight, run.Family] = {}
        self._met: defaultdict[Weight, set[int]] = defaultdict(set)
        #: Weights that have no family, and numbers of rows that theirs cannot run.
        self._without: set[Weight] = set()
        self._unserved: set[Problem] = set()
        self._all: list[run.Family] = []

    def try_again(self, problem: Problem) -> None:
        """Forgets that the weight of a problem, or its rows, were refused. All ranks do so alike."""
        self._without.discard(weight_of(problem))
        self._unserved.discard(problem)

    def plan(self, problem: Problem) -> Optional[FamilyPlan]:
        """The plan by the family that the weight has; None where it has none for these rows. Not
        collective."""
        family = self._families.get(weight_of(problem))
        if family is None or problem.m > family.most_rows or problem in self._unserved:
            return None
        try:
            family.buffers(problem.m)  # makes the plan, so that running it raises nothing
        except ArgumentError:  # on all ranks, because what it depends on is the same there
            self._unserved.add(problem)
            return None
        return FamilyPlan(family, problem)

    def plan_of_new(self, problem: Problem) -> Optional[FamilyPlan]:
        """The same, for a problem that has no plan: makes a family first where it is time for one.
        Collective: all ranks meet the same problems in the same order. Raises ArgumentError on all
        ranks if their problems differ."""
        weight = weight_of(problem)
        self._met[weight].add(problem.m)
        is_time = len(self._met[weight]) > PLANS_BEFORE and weight not in self._without
        if self._most_rows == 0 or not is_time or problem in self._unserved:
            return None
        most_rows = self._most_rows
        while most_rows < problem.m:
            most_rows *= 2
        most_rows += -most_rows % (SCALES_TOGETHER * problem.ranks)  # as every op and dtype divides them
        recipe = self._agreed(weight, most_rows)
        if recipe is None:
            self._without.add(weight)
            return None
        try:
            family = self._make(recipe, most_rows)
        except UNMADE as error:
            self._without.add(weight)
            warnings.warn(
                f"overlaptune: {weight} has no family of plans, because {error}; each number of rows "
                "gets a plan of its own",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        self._families[weight] = family
        self._all.append(family)
        return self.plan(problem)

    def close(self) -> None:
        for family in self._all:
            family.close()
        self._all.clear()
        self._families.clear()

    def _agreed(self, weight: Weight, most_rows: int) -> Optional[str]:
        """Rank 0's recipe."""
        problem = Problem(weight.op, most_rows, weight.n, weight.k, weight.ranks, weight.dtype)
        # Other ranks may be making a plan, whose messages have a problem too.
        message = {"problem": f"a family for {problem}", "recipe": self._recipe(problem)}
        messages = self._exchange.all_of(message, f"a family for {weight}")
        for rank, other in enumerate(messages):
            if other["problem"] != messages[0]["problem"]:
                raise ArgumentError(
                    f"a family: rank 0 of the group meets {messages[0]['problem']} and rank {rank} "
                    f"{other['problem']}; expected the same problems in the same order on all ranks"
                )
        recipe: Optional[str] = messages[0]["recipe"]
        return recipe
