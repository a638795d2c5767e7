"""The plans of a world: rank 0's answer for each problem, or the next config that can run. Every
method that makes something is collective, and its errors of `UNMADE` are met by all ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Optional, Union

import torch

from .. import run
from ..errors import ArgumentError, Error, OutOfMemoryError, UnavailableError
from ..values import Answer, Problem, answer_with
from .answers import heard, is_sequential, sequential, told
from .exchange import Exchange
from .fallbacks import PYTORCHS_OWN, UNMADE, Fallbacks, problem_name
from .families import Families, FamilyPlan
from .strategies import config_name

AnyPlan = Union[run.Plan, FamilyPlan]


class Planner:
    """
    world     of the library
    answer    this rank's answer for a problem; it raises nothing
    recipe    this rank's recipe for the weight and the rows of a problem, or None; it raises nothing
    exchange  messages between the ranks
    most_rows
              rows that families of plans serve; 0: no families
    """

    def __init__(
        self,
        world: run.World,
        device: torch.device,
        answer: Callable[[Problem], Answer],
        recipe: Callable[[Problem], Optional[str]],
        exchange: Exchange,
        fallbacks: Fallbacks,
        most_rows: int,
    ) -> None:
        self._world, self._device = world, device
        self._answer, self._exchange = answer, exchange
        self._fallbacks = fallbacks
        self._families = Families(self._made_family, recipe, exchange, most_rows)
        self._reserved = 0
        self._configs: dict[Problem, Answer] = {}
        self._runs: Counter[Problem] = Counter()
        #: Problems for which no plan could be made; `plan` tries again.
        self._without: set[Problem] = set()
        self.plans: dict[Problem, AnyPlan] = {}
        self.others: list[run.Plan] = []

    def config(self, problem: Problem) -> Optional[Answer]:
        """The config of a problem that was met; None for other problems."""
        if problem in self._without:
            return sequential(self._fallbacks.get(problem, PYTORCHS_OWN))
        plan = self.plans.get(problem)
        if isinstance(plan, FamilyPlan):
            return plan.answer
        return self._configs.get(problem)

    def plan(self, problem: Problem) -> AnyPlan:
        """The plan of a problem. Raises an error of `UNMADE` where none can be made."""
        plan = self._known(problem)
        if plan is not None:
            return plan
        self._refuse_capture(problem)
        self._families.try_again(problem)
        made = self._first(problem)
        if isinstance(made, Error):
            raise made
        return made

    def plan_or_none(self, problem: Problem) -> Optional[AnyPlan]:
        """The plan of a problem. None where none can be made, or not now because a graph is being
        captured; that is among the fallbacks then. A problem without a plan is not tried again.
        Raises where the world has died, and where ranks meet different problems."""
        self._runs[problem] += 1
        plan = self._known(problem)
        if plan is not None:
            return plan
        if problem not in self._without:
            if not torch.cuda.is_current_stream_capturing():
                made = self._first(problem)
                return None if isinstance(made, Error) else made
            self._fallbacks.add(
                problem,
                PYTORCHS_OWN,
                "it has no plan, and none can be made while a graph is captured; call `prepare` or "
                "run the layer once before, on every rank",
            )
        self._world.check()
        return None

    def _known(self, problem: Problem) -> Optional[AnyPlan]:
        """The plan that is there, or that a family makes on this rank alone, also while a graph is
        captured."""
        plan = self.plans.get(problem)
        if plan is None:
            plan = self._families.plan(problem)
            if plan is not None:
                self._keep(problem, plan)
        return plan

    def _keep(self, problem: Problem, plan: AnyPlan) -> None:
        self.plans[problem] = plan
        self._without.discard(problem)

    def summary(self) -> list[str]:
        """A line for each problem, in the order in which they were met."""
        lines = []
        for problem in dict.fromkeys((*self._configs, *self.plans, *self._runs)):
            answer = self.config(problem)
            fallen_back = self._fallbacks.get(problem)
            if fallen_back is not None:
                what = f"fallen back: {fallen_back}"
            elif answer is None:
                what = "no plan"
            else:
                what = f"{config_name(answer)}, {answer.source}: {answer.reason}"
            lines.append(f"{problem_name(problem)}, {self._runs[problem]} runs, {what}")
        return lines

    def plan_with(self, problem: Problem, config: Union[Answer, str]) -> run.Plan:
        """Another plan, with the config of an answer or of a line."""
        self._refuse_capture(problem)
        plan = self._made(problem, answer_with(config))
        self.others.append(plan)
        return plan

    def reserve(self, shared_bytes: int) -> None:
        """Makes the world's memory at least this large."""
        # Every rank calls this, also where it has enough: another rank may have another answer,
        # which making the plan finds out.
        try:
            self._world.reserve(max(shared_bytes, self._reserved))
        except OutOfMemoryError:  # on every rank; the plans that are there go on
            self._restore()
            raise
        self._reserved = max(shared_bytes, self._reserved)

    def _restore(self) -> None:
        """Reserves what was there before. Where not even that can be had, the plans that need it are forgotten, and layers
        make them anew."""
        try:
            self._world.reserve(self._reserved)
        except OutOfMemoryError:
            self._reserved = 0
            self.others += [plan for plan in self.plans.values() if isinstance(plan, run.Plan)]
            self.plans.clear()

    def close(self) -> None:
        """Ends the world, and then its plans. Raises ArgumentError as long as CUDA graphs hold
        plans; everything is as before then. Raises UnavailableError where a rank does not come; the
        world has ended here then."""
        try:
            self._world.close()
        except UnavailableError:
            self._end_plans()
            raise
        self._end_plans()

    def _end_plans(self) -> None:
        for plan in (*self.plans.values(), *self.others):
            plan.close()
        self._families.close()
        self.plans.clear()
        self.others.clear()
        self._configs.clear()
        self._without.clear()

    def _refuse_capture(self, problem: Problem) -> None:
        if torch.cuda.is_current_stream_capturing():
            raise ArgumentError(
                f"{problem}: has no plan yet, and none can be made while a graph is captured; call "
                "`prepare` or run the layer once before, on every rank"
            )

    def _first(self, problem: Problem) -> Union[AnyPlan, Error]:
        """The first plan of a problem, or the last error if no config can run."""
        of_family = self._families.plan_of_new(problem)
        self._world.check()
        if of_family is not None:
            self._keep(problem, of_family)
            self._fallbacks.pop(problem, None)
            return of_family
        answer = self._agreed(problem)
        configs = [answer] if is_sequential(answer) else [answer, run.SEQUENTIAL]
        reasons: list[str] = []
        last: Error = ArgumentError("no config")
        for config in configs:
            try:
                plan = self._made(problem, config)
            except UNMADE as error:
                self._world.check()  # a world that has died is no reason to try something else
                reasons.append(f"{config_name(config)}: {error}")
                last = error
                continue
            self._keep(problem, plan)
            why = "; ".join(reasons)
            self._configs[problem] = sequential(why) if reasons else config
            if reasons:
                self._fallbacks.add(problem, config.strategy, why)
            else:
                self._fallbacks.pop(problem, None)
            return plan
        self._without.add(problem)
        self._fallbacks.add(problem, PYTORCHS_OWN, "; ".join(reasons))
        return last

    def _agreed(self, problem: Problem) -> Answer:
        """Rank 0's answer. Raises ArgumentError on all ranks if their problems differ."""
        message = {"problem": str(problem), "answer": told(self._answer(problem))}
        messages = self._exchange.all_of(message, f"a plan for {problem}")
        for rank, other in enumerate(messages):
            if other["problem"] != messages[0]["problem"]:
                raise ArgumentError(
                    f"a plan: rank 0 of the group meets {messages[0]['problem']} and rank {rank} "
                    f"{other['problem']}; expected the same problems in the same order on all ranks"
                )
        return heard(messages[0]["answer"])

    def _made(self, problem: Problem, answer: Answer) -> run.Plan:
        self._make_room(run.sizes(problem, answer))
        return self._world.plan(problem, answer)

    def _made_family(self, recipe: str, most_rows: int) -> run.Family:
        self._make_room(run.recipe_sizes(recipe, most_rows))
        return self._world.family(recipe, most_rows)

    def _make_room(self, sizes: run.Sizes) -> None:
        grows = sizes.shared_bytes > self._reserved
        needed = sizes.temporary_bytes + (sizes.shared_bytes if grows else 0)
        # PyTorch keeps freed memory, of which the library sees nothing. Giving it back waits for
        # the GPU (cudaFree does), so it is given back only where it is needed.
        if torch.cuda.mem_get_info(self._device)[0] < needed:
            torch.cuda.empty_cache()
        self.reserve(sizes.shared_bytes)
