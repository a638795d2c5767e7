"""Fallbacks that run instead of an answer, and their reasons: kept for the program, and said once."""

from __future__ import annotations

import warnings

from ..errors import ArgumentError, OutOfMemoryError, UnavailableError
from ..values import Problem

#: Errors of making a plan, which all ranks meet together: all of them try the next config then.
UNMADE = (ArgumentError, OutOfMemoryError, UnavailableError)

PYTORCHS_OWN = "PyTorch's own product and collective"


def problem_name(problem: Problem) -> str:
    return f"{problem.op} of m={problem.m} n={problem.n} k={problem.k} in {problem.dtype} on {problem.ranks} ranks"


class Fallbacks(dict[Problem, str]):
    """The problems that run otherwise than answered, with the text of the last time."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[tuple[Problem, str]] = set()

    def add(self, problem: Problem, instead: str, reason: str) -> None:
        """Keeps what runs instead, and warns if that is new for this problem."""
        self[problem] = f"{instead} instead of the answer, because {reason}"
        if (problem, instead) in self._said:
            return
        self._said.add((problem, instead))
        warnings.warn(
            f"overlaptune: {problem_name(problem)} runs {self[problem]}",
            RuntimeWarning,
            stacklevel=2,
        )
