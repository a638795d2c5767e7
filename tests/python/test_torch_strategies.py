"""The strategies that a world of the layers for PyTorch may use: their names, and configs by hand for a forced one."""

import dataclasses
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
from overlaptune.torch.forced import forced  # noqa: E402
from overlaptune.torch.strategies import TRANSPORTS, VARIABLE, Way, allowed_ways  # noqa: E402

SEQUENTIAL, SIGNALED, WAITING, PEER_STORE = (ot.Strategy.SEQUENTIAL, ot.Strategy.SIGNALED, ot.Strategy.WAITING,
                                             ot.Strategy.PEER_STORE)
PROBLEM = ot.Problem(ot.Op.GEMM_REDUCE_SCATTER, 4096, 8192, 1024, 4)
ANSWER = dataclasses.replace(run.SEQUENTIAL, strategy=SIGNALED, transport=ot.Transport.PEER_ACCESS, comm_ctas=16,
                             block_m=128, wave_groups=(512, 512), measured_us=3.5, wait=ot.Wait.KERNEL)


class Names(unittest.TestCase):
    def test_they_are_those_of_the_command_line(self):
        self.assertEqual(allowed_ways(None), ())
        self.assertEqual(allowed_ways([SIGNALED, "waiting/peer_access", "signaled"]),
                         (Way(SIGNALED), Way(WAITING, ot.Transport.PEER_ACCESS)))
        self.assertEqual(allowed_ways("chunked , peer_store/peer_access"), (Way(ot.Strategy.CHUNKED), Way(PEER_STORE)))

    def test_the_variable_is_the_default(self):
        with mock.patch.dict(os.environ, {VARIABLE: "waiting, sequential/peer_access"}):
            ways = (Way(WAITING), Way(SEQUENTIAL, ot.Transport.PEER_ACCESS))
            self.assertEqual(allowed_ways(None), ways)
            self.assertEqual(layers.World(fake_torch.Group(ranks=1))._terms.ways, ways)
            self.assertEqual(allowed_ways(["chunked"]), (Way(ot.Strategy.CHUNKED),))
        with mock.patch.dict(os.environ, {VARIABLE: " "}):
            self.assertEqual(allowed_ways(None), ())

    def test_others_are_refused_with_the_list(self):
        names = "sequential, chunked, signaled, waiting, peer_store"
        for wishes, words in (("wating", f"strategies: 'wating'; expected one of {names}"),
                              ([ot.Strategy.COPY_ENGINE], f"'copy_engine'; expected one of {names}"),
                              ("signaled,", "strategies: ''; expected one of"),
                              ("chunked/peer_access", "'chunked/peer_access': .* expected one of ring, symmetric$"),
                              ("waiting/", "waiting has no such transport; expected one of copy_engine, peer_access"),
                              ([], f"strategies: none; expected one or more of {names}")):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                allowed_ways(wishes)
        with mock.patch.dict(os.environ, {VARIABLE: "fast"}):
            with self.assertRaisesRegex(ot.ArgumentError, f"^{VARIABLE}: 'fast'"):
                layers.World(fake_torch.Group(ranks=1))


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


class Permission(unittest.TestCase):
    best = (ANSWER, dataclasses.replace(ANSWER, strategy=PEER_STORE, transport=ot.Transport.RING))

    def chosen(self, *names, database=True):
        self.database = Asked(*self.best) if database else None
        with mock.patch.object(run, "sizes", lambda problem, config: SimpleNamespace()):
            return chosen(self.database, PROBLEM, Terms(ways=allowed_ways(names) if names else ()))

    def asked(self):
        return [strategies for _, strategies, _, _ in self.database.terms]

    def test_the_database_is_asked_for_what_is_allowed(self):
        self.assertIs(self.chosen(), ANSWER)
        self.assertEqual(self.asked(), [None])
        self.assertIs(self.chosen("waiting", "signaled/peer_access"), ANSWER)
        self.assertEqual(self.asked(), [[SIGNALED, WAITING]])
        self.assertIs(self.chosen("peer_store/peer_access"), self.best[1])
        self.assertEqual(self.asked(), [[PEER_STORE]])

    def test_the_other_terms_are_those_of_the_world(self):
        database = Asked(ANSWER)
        chosen(database, PROBLEM, Terms(ot.Launch.EAGER, (), 8, True))
        self.assertEqual(database.terms, [(ot.Launch.EAGER, None, 8, True)])

    def test_where_a_transport_is_not_allowed_the_other_strategies_are_asked_for(self):
        self.assertIs(self.chosen("signaled/ring", "peer_store"), self.best[1])
        self.assertEqual(self.asked(), [[SIGNALED, PEER_STORE], [PEER_STORE]])

    def test_among_several_it_is_sequential_and_says_why(self):
        answer = self.chosen("waiting", "signaled/ring")
        self.assertEqual((answer.strategy, answer.reason),
                         (SEQUENTIAL, "no answer is allowed; allowed: waiting, signaled/ring (nothing was measured)"))
        answer = self.chosen("signaled/ring", "signaled/symmetric")
        self.assertIn("(best of the allowed strategies: signaled by peer_access)", answer.reason)
        answer = self.chosen("waiting", "signaled", database=False)
        self.assertEqual(answer.reason, "no answer is allowed; allowed: waiting, signaled (no database)")

    def test_a_single_one_is_forced_where_no_answer_has_it(self):
        for database in (True, False):
            answer = self.chosen("signaled/ring", database=database)
            self.assertEqual((answer.strategy, answer.transport), (SIGNALED, ot.Transport.RING))
            self.assertEqual(answer.reason, "signaled/ring is forced; this config was not tuned")
        self.assertEqual(self.chosen("waiting").strategy, WAITING)
        self.assertIs(self.chosen("signaled"), ANSWER)
        self.assertIs(self.chosen("sequential", database=False), run.SEQUENTIAL)

    def test_a_problem_that_breaks_a_rule_is_no_matter_of_permission(self):
        database = SimpleNamespace(query=mock.Mock(side_effect=ot.ArgumentError("m = 3")))
        with self.assertRaisesRegex(ot.ArgumentError, "m = 3"):
            chosen(database, PROBLEM, Terms(ways=allowed_ways(["signaled"])))
        self.assertEqual(chosen_or_sequential(database, PROBLEM, Terms()).reason, "no answer: m = 3")

    def test_answers_arrive_as_they_were_told(self):
        self.assertEqual(heard(told(ANSWER)), ANSWER)
        self.assertIs(type(heard(told(ANSWER)).wait), ot.Wait)


@unittest.skipIf(built.RUN_LIBRARY is None, "the library of plans is not built here")
class Forced(unittest.TestCase):
    """The library accepts the configs by hand wherever the strategy has the op."""

    def setUp(self):
        variable = mock.patch.dict(os.environ, {run_library.VARIABLE: str(built.RUN_LIBRARY)})
        variable.start()
        self.addCleanup(variable.stop)

    def test_each_strategy_runs_every_shape_of_its_ops(self):
        gathers, sends = {ot.Op.ALL_GATHER_GEMM}, {ot.Op.GEMM_ALL_REDUCE, ot.Op.GEMM_REDUCE_SCATTER}
        by_nccl = {ot.Transport.RING, ot.Transport.SYMMETRIC, ot.Transport.SYMMETRIC_THEN_RING}
        for op in gathers | sends:
            for ranks in (2, 4, 100):
                for rows, n in ((1, 8), (1000, 264), (4096, 28672), (30000, 512)):
                    problem = ot.Problem(op, rows * (1 if op == ot.Op.GEMM_ALL_REDUCE else ranks), n, 1024, ranks)
                    for strategy, transports in TRANSPORTS.items():
                        wrong_op = op in sends if strategy == WAITING else op in gathers and strategy in (SIGNALED, PEER_STORE)
                        for transport in (None, *transports):
                            if transport == ot.Transport.COPY_ENGINE and op in sends:
                                continue  # copies add nothing up
                            config = forced(problem, Way(strategy, transport))
                            self.assertEqual(config is None, wrong_op, (problem, strategy, transport))
                            if config is not None and strategy not in (PEER_STORE, SEQUENTIAL):
                                self.assertGreater(config.comm_ctas, 0 if transport in by_nccl else -1)

    def test_there_is_something_to_overlap(self):
        for strategy, op in ((SIGNALED, PROBLEM.op), (PEER_STORE, PROBLEM.op), (WAITING, ot.Op.ALL_GATHER_GEMM)):
            config = forced(dataclasses.replace(PROBLEM, op=op), Way(strategy))
            self.assertGreater(len(config.wave_groups), 1, strategy)


if __name__ == "__main__":
    unittest.main()
