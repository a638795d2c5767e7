"""A stand-in for the library of plans, and a test case with a world on it. fake_torch is installed before the import."""

from __future__ import annotations

import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import fake_torch

import overlaptune as ot
import overlaptune.torch as layers
from overlaptune import run

RANKS = fake_torch.RANKS
torch = sys.modules["torch"]


class Plans:
    """The world of run.h, which keeps the calls; a problem takes as many bytes as it has rows."""

    def __init__(self, comm, **options):
        self.comm, self.options, self.calls, self.most = comm, options, [], None
        self.graphs = self.died = False
        self.refused = []  # strategies that cannot run
        self.no_family = None  # the error of making one
        self.unserved = []  # rows that no family can run

    def reserve(self, size):
        self.calls.append(("reserve", size))
        if self.most is not None and size > self.most:
            raise ot.OutOfMemoryError(f"{size} bytes")

    def plan(self, problem, answer):
        self.calls.append(("plan", problem))
        if answer.strategy in self.refused:
            raise ot.ArgumentError(f"strategy {answer.strategy}: not on this machine")
        return SimpleNamespace(strategy=answer.strategy, takes_results=False,
                               run=lambda *operands: self.calls.append(("run", problem, *operands)),
                               run_scaled=lambda *operands: self.calls.append(("run_scaled", problem, *operands)),
                               close=lambda: self.calls.append(("close", problem)))

    def family(self, recipe, most_rows):
        self.calls.append(("family", recipe, most_rows))
        if self.no_family is not None:
            raise self.no_family
        return Family(self, recipe, most_rows)

    def platform(self):
        self.calls.append(("platform",))
        return ot.Platform("sim:there", machine="cuda")

    def check(self):
        if self.died:
            raise ot.UnavailableError("the world has died: rank 2 did not come")

    def abort(self):
        self.calls.append(("abort",))
        self.died = True

    def close(self):
        if self.graphs:
            raise ot.ArgumentError("2 graphs hold plans")
        self.calls.append(("close",))


class Family:
    """A family of run.h. The recipe that the stand-in makes is the config itself."""

    def __init__(self, plans, recipe, most_rows):
        self.plans, self.recipe, self.most_rows = plans, recipe, most_rows

    def buffers(self, rows):
        if rows in self.plans.unserved:
            raise ot.ArgumentError("no algorithm")
        return None, None

    def takes_results(self, rows):
        return False

    def config(self, rows):
        return self.recipe

    def run(self, rows, *operands):
        self.plans.calls.append(("run family", rows, *operands))

    def close(self):
        self.plans.calls.append(("close family", self.recipe))


class WithPlans(unittest.TestCase):
    def setUp(self):
        self.store = torch.distributed.distributed_c10d._get_default_store()
        for patch in (mock.patch.object(run, "World", Plans),
                      mock.patch.object(run, "sizes",
                                        lambda problem, answer: SimpleNamespace(
                                          shared_bytes=problem.m, temporary_bytes=100)),
                      mock.patch.object(run, "recipe_sizes",
                                        lambda recipe, most_rows: SimpleNamespace(
                                          shared_bytes=most_rows, temporary_bytes=100)),
                      mock.patch.object(run, "recipe_of",
                                        lambda problem, answer, most_rows: answer.config),
                      mock.patch.object(torch.cuda, "calls", []),
                      mock.patch.object(self.store, "says", {}),
                      mock.patch.object(self.store, "absent", set())):
            patch.start()
            self.addCleanup(patch.stop)
        self.world = layers.World(families=False)  # test_torch_families.py has those with them
        self.calls = self.world._world.calls

    def problem(self, op, m, n, k, dtype=ot.Dtype.BF16):
        return ot.Problem(op, m, n, k, RANKS, dtype)

    def made(self):
        return [call[1] for call in self.calls if call[0] == "plan"]
