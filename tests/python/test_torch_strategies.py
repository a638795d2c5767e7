"""The strategies that a world of the layers for PyTorch may use: their names, and configs by hand for a forced one."""

import json
import os
import unittest
from types import SimpleNamespace
from unittest import mock

import built
import fake_torch

torch = fake_torch.install()

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import run, run_library  # noqa: E402
from overlaptune.torch.answers import Terms, chosen, chosen_or_sequential, heard, told  # noqa: E402
from overlaptune.torch.strategies import VARIABLE, allowed_ways  # noqa: E402

PROBLEM = ot.Problem(ot.Op.GEMM_REDUCE_SCATTER, 4096, 8192, 1024, 4)
ANSWER = ot.Answer("signaled ctas=16 transport=peer_access wait=kernel groups=512,512", measured_us=3.5)
#: Some of the ways that run.h has.
WAYS = ("sequential/ring", "sequential/peer_access", "chunked/ring", "signaled/ring", "signaled/symmetric",
        "signaled/peer_access", "waiting/copy_engine", "waiting/peer_access", "peer_store")


class WithWays(unittest.TestCase):
    def setUp(self):
        known = mock.patch.object(run, "ways", lambda: WAYS)
        known.start()
        self.addCleanup(known.stop)


class Names(WithWays):
    def test_they_are_those_of_the_command_line(self):
        self.assertEqual(allowed_ways(None), ())
        self.assertEqual(allowed_ways(["signaled", "waiting/peer_access", "signaled"]),
                         ("signaled", "waiting/peer_access"))
        self.assertEqual(allowed_ways("chunked , peer_store"), ("chunked", "peer_store"))

    def test_the_variable_is_the_default(self):
        with mock.patch.dict(os.environ, {VARIABLE: "waiting, sequential/peer_access"}):
            ways = ("waiting", "sequential/peer_access")
            self.assertEqual(allowed_ways(None), ways)
            self.assertEqual(allowed_ways(["chunked"]), ("chunked",))
        with mock.patch.dict(os.environ, {VARIABLE: " "}):
            self.assertEqual(allowed_ways(None), ())

    def test_others_are_refused_with_the_list(self):
        names = "sequential, chunked, signaled, waiting, peer_store"
        for wishes, way in (("wating", "wating"), (["copy_engine"], "copy_engine"), ("signaled,", ""),
                            ("chunked/peer_access", "chunked/peer_access"), ("waiting/", "waiting/"), ([], "")):
            words = f"strategies: '{way}'; expected one or more of {names}, and for one transport only, of sequential/ring"
            with self.assertRaisesRegex(ot.ArgumentError, words):
                allowed_ways(wishes)
        with mock.patch.dict(os.environ, {VARIABLE: "fast"}):
            with self.assertRaisesRegex(ot.ArgumentError, f"^{VARIABLE}: 'fast'"):
                allowed_ways(None)

    def test_one_rank_needs_no_library_to_know_them(self):
        with mock.patch.object(run, "ways", side_effect=ot.LibraryError("none")):
            self.assertEqual(layers.World(fake_torch.Group(ranks=1), strategies=["waiting"])._terms.ways, ())


class Asked:
    """A database with the best answer of some strategies, which keeps what it was asked for."""

    def __init__(self, *answers):
        self.answers, self.terms = answers, []

    def query(self, problem, launch, *, strategies, free_sms, exclusive):
        self.terms.append((launch, strategies and list(strategies), free_sms, exclusive))
        for answer in self.answers:
            if strategies is None or answer.strategy in strategies:
                return answer
        raise ot.NotFoundError("nothing was measured")


class Permission(WithWays):
    best = (ANSWER, ot.Answer("peer_store groups=512,512"))

    def chosen(self, *names, database=True):
        self.database = Asked(*self.best) if database else None
        with mock.patch.object(run, "untuned", lambda problem, way: f"{way.partition('/')[0]} by hand"):
            return chosen(self.database, PROBLEM, Terms(ways=allowed_ways(names) if names else ()))

    def asked(self):
        return [strategies for _, strategies, _, _ in self.database.terms]

    def test_the_database_is_asked_for_what_is_allowed(self):
        self.assertIs(self.chosen(), ANSWER)
        self.assertEqual(self.asked(), [None])
        self.assertIs(self.chosen("waiting", "signaled/peer_access"), ANSWER)
        self.assertEqual(self.asked(), [["waiting", "signaled"]])
        self.assertIs(self.chosen("peer_store"), self.best[1])
        self.assertEqual(self.asked(), [["peer_store"]])

    def test_the_other_terms_are_those_of_the_world(self):
        database = Asked(ANSWER)
        chosen(database, PROBLEM, Terms(ot.Launch.EAGER, (), 8, True))
        self.assertEqual(database.terms, [(ot.Launch.EAGER, None, 8, True)])

    def test_where_a_transport_is_not_allowed_the_other_strategies_are_asked_for(self):
        self.assertIs(self.chosen("signaled/ring", "peer_store"), self.best[1])
        self.assertEqual(self.asked(), [["signaled", "peer_store"], ["peer_store"]])

    def test_among_several_it_is_sequential_and_says_why(self):
        answer = self.chosen("waiting", "signaled/ring")
        self.assertEqual((answer.strategy, answer.reason),
                         ("sequential", "no answer is allowed; allowed: waiting, signaled/ring (nothing was measured)"))
        answer = self.chosen("signaled/ring", "signaled/symmetric")
        self.assertIn("(best of the allowed strategies: signaled by peer_access)", answer.reason)
        answer = self.chosen("waiting", "signaled", database=False)
        self.assertEqual(answer.reason, "no answer is allowed; allowed: waiting, signaled (no database)")

    def test_a_single_one_is_forced_where_no_answer_has_it(self):
        for database in (True, False):
            answer = self.chosen("signaled/ring", database=database)
            self.assertEqual(answer, ot.Answer("signaled by hand", reason="signaled/ring is forced; this config was not tuned"))
        self.assertEqual(self.chosen("waiting").strategy, "waiting")
        self.assertIs(self.chosen("signaled"), ANSWER)
        self.assertIs(self.chosen("sequential", database=False), run.SEQUENTIAL)

    def test_a_problem_that_breaks_a_rule_is_no_matter_of_permission(self):
        database = SimpleNamespace(query=mock.Mock(side_effect=ot.ArgumentError("m = 3")))
        with self.assertRaisesRegex(ot.ArgumentError, "m = 3"):
            chosen(database, PROBLEM, Terms(ways=allowed_ways(["signaled"])))
        self.assertEqual(chosen_or_sequential(database, PROBLEM, Terms()).reason, "no answer: m = 3")

    def test_answers_arrive_as_they_were_told(self):
        self.assertEqual(heard(json.loads(json.dumps(told(ANSWER)))), ANSWER)
        self.assertIs(type(heard(told(ANSWER)).source), ot.Source)

    def test_one_that_cannot_run_the_problem_is_not_forced(self):
        with mock.patch.object(run, "untuned", side_effect=ot.ArgumentError("cannot run")):
            answer = chosen(None, PROBLEM, Terms(ways=("waiting",)))
        self.assertEqual(answer.reason, "no answer is allowed; allowed: waiting (no database)")


@unittest.skipIf(built.RUN_LIBRARY is None, "the library of plans is not built here")
class Forced(unittest.TestCase):
    def test_the_library_knows_ways_and_their_configs(self):
        with mock.patch.dict(os.environ, {run_library.VARIABLE: str(built.RUN_LIBRARY)}):
            self.assertEqual(set(WAYS) - set(run.ways()), set())
            answer = chosen(None, PROBLEM, Terms(ways=allowed_ways("signaled")))
        self.assertEqual((answer.strategy, answer.transport), ("signaled", "peer_access"))
        self.assertIn("forced", answer.reason)


if __name__ == "__main__":
    unittest.main()
