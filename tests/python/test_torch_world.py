"""A world of the layers for PyTorch, on stand-ins: what its ranks agree on, what runs where an answer cannot, and
how it ends."""

import copy
import dataclasses
import json
import os
import pickle
import threading
import time
import unittest
import warnings
from unittest import mock

import fake_torch

torch = fake_torch.install()

from fake_plans import RANKS, WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import run  # noqa: E402
from overlaptune.torch import exchange  # noqa: E402

SIGNALED = ot.Answer("signaled ctas=16 transport=peer_access groups=8,8", measured_us=12.5, reason="tuned")


def database(answer):
    """One that always answers so; an error is raised."""
    class Answers(ot.Database):
        def __init__(self):
            pass

        def query(self, problem, launch, **terms):
            if isinstance(answer, Exception):
                raise answer
            return answer
    return Answers()


class Summary(WithPlans):
    def test_each_problem_has_a_line_with_its_source_and_its_runs(self):
        tuned = ot.Answer("signaled ctas=16 transport=peer_access groups=8,8", ot.Source.EXACT, "validated in May")
        world = layers.World(database=database(tuned), families=False)
        layer = layers.RowParallelLinear(world, 64, 128, sequence_parallel=False)
        layer.prepare([8, 16])
        for rows in (8, 8, 24):
            if rows == 24:
                world._world.refused = ["signaled"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                layer(fake_torch.Tensor((rows, 16)))
        name = "gemm_all_reduce of m={} n=128 k=16 in bf16 on 4 ranks"
        answered = "signaled by peer_access, exact: validated in May"
        lines = world.summary().splitlines()
        self.assertEqual(lines[:2], [f"{name.format(16)}, 0 runs, {answered}", f"{name.format(8)}, 2 runs, {answered}"])
        self.assertRegex(lines[2], "m=24 .* 1 runs, fallen back: sequential instead of the answer, because .*not on this machine")
        self.assertEqual(len(lines), 3)

    def test_few_rows_run_the_programs_own_product(self):
        seen = []

        def own(op, x, weight):
            seen.append((op, x.shape))
            return x

        world = layers.World(threshold=16, own_product=own)
        layer = layers.RowParallelLinear(world, 64, 128, sequence_parallel=False)
        for rows in (15, 16):
            layer(fake_torch.Tensor((rows, 16)))
        self.assertEqual(seen, [(ot.Op.GEMM_ALL_REDUCE, (15, 16))])
        self.assertEqual([call[1].m for call in world._world.calls if call[0] == "run"], [16])
        self.assertEqual(world.summary().splitlines()[1], "fewer than 16 rows, 1 runs, the program's own product")

    def test_ranks_with_different_thresholds_are_refused(self):
        self.store.says[2] = lambda text: "0" if text == "16" else text
        with self.assertRaisesRegex(ot.ArgumentError, "threshold: 16 on rank 0 of the group, 0 on rank 2"):
            layers.World(threshold=16)

    def test_a_world_without_runs_says_so(self):
        self.assertEqual(layers.World().summary(), "no runs")


class Agreement(WithPlans):
    def setUp(self):
        super().setUp()
        self.asked = self.problem(ot.Op.GEMM_ALL_REDUCE, 8, 128, 16)

    def rank_0_says(self, **values):
        self.store.says[0] = lambda text: json.dumps({**json.loads(text), **values})

    def test_all_ranks_run_rank_0s_answer(self):
        self.rank_0_says(answer=dataclasses.asdict(SIGNALED))
        self.assertEqual(self.world.answer(self.asked), run.SEQUENTIAL)
        self.assertEqual(self.world.plan(self.asked).strategy, "signaled")
        self.assertEqual(self.world.answer(self.asked), SIGNALED)
        self.assertEqual(self.world.fallbacks, {})

    def test_a_database_that_fails_on_rank_0_is_the_reason_of_sequential(self):
        world = layers.World(database=database(ot.DatabaseError("damaged")))
        self.assertEqual(world.plan(self.asked).strategy, "sequential")
        self.assertEqual(world.answer(self.asked).reason, "no answer: damaged")

    def test_different_problems_are_an_error_on_every_rank(self):
        self.rank_0_says(problem="another one")
        with self.assertRaisesRegex(ot.ArgumentError, "rank 0 of the group meets another one and rank 1 .*m=8"):
            self.world.plan_or_none(self.asked)
        self.assertEqual(self.calls, [])

    def test_a_rank_that_does_not_come_is_named(self):
        world = layers.World(time_limit=0.05)
        self.store.absent.update({2, 3})
        with self.assertRaisesRegex(ot.UnavailableError, "plan for .*m=8.*rank 2, 3 of the group did not come within 0.05"):
            world.plan_or_none(self.asked)

    def test_the_limit_may_come_from_the_environment(self):
        with mock.patch.dict(os.environ, {exchange.LIMIT_VARIABLE: "2.5"}):
            self.assertEqual((exchange.limit_of(None), exchange.limit_of(7)), (2.5, 7))
        self.assertEqual(exchange.limit_of(None), 300)
        for text, words in (("soon", "'soon': expected seconds"), ("-1", "more than 0")):
            with mock.patch.dict(os.environ, {exchange.LIMIT_VARIABLE: text}):
                with self.assertRaisesRegex(ot.ArgumentError, words):
                    layers.World()

    def test_it_is_found_out_before_nccl_waits(self):
        del torch.cuda.calls[:]
        self.store.absent.add(3)
        with self.assertRaisesRegex(ot.UnavailableError, "making a world: rank 3 of the group did not come"):
            layers.World(time_limit=0.05)
        self.assertEqual(torch.cuda.calls, [])

    def test_a_store_that_has_ended_is_named(self):
        with mock.patch.object(self.store, "set", side_effect=RuntimeError("Broken pipe")):
            with self.assertRaisesRegex(ot.UnavailableError, "store of PyTorch's process groups: Broken pipe"):
                self.world.plan(self.asked)

    def test_the_all_reduce_that_makes_the_communicator_has_a_limit(self):
        torch.cuda.calls.append("late")
        with self.assertRaisesRegex(ot.UnavailableError, "all-reduce within 0.01 s"):
            layers.World(time_limit=0.01)

    def test_files_are_opened_on_every_rank_or_on_none(self):
        self.store.says[2] = lambda text: {'""': '"no such file"', "false": "true"}.get(text, text)
        with self.assertRaisesRegex(ot.ArgumentError, "database: rank 2 of the group: no such file"):
            layers.World()
        self.store.says.clear()
        with self.assertRaisesRegex(ot.NotFoundError, "/nowhere.db"):  # this rank's own error
            layers.World(database="/nowhere.db")

    def test_messages_pass_between_ranks(self):
        heard = {}

        class Shared(fake_torch.Store):
            def set(self, name, text):
                self.values[name] = text

        store = Shared()

        def rank(number):
            mine = exchange.Exchange(fake_torch.Group(ranks=2), number, 2, 5.0)
            mine._prefix = "here"
            time.sleep(0.02 * number)
            heard[number] = [mine.all_of([number, turn], "test") for turn in range(3)]

        with mock.patch.object(torch.distributed.distributed_c10d, "_get_default_store", lambda: store):
            threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(heard[0], [[[0, turn], [1, turn]] for turn in range(3)])
        self.assertEqual(heard[0], heard[1])


class Fallbacks(WithPlans):
    def setUp(self):
        super().setUp()
        self.world = layers.World(database=database(SIGNALED))
        self.library = self.world._world
        self.calls = self.library.calls
        self.layer = layers.RowParallelLinear(self.world, 64, 128)
        self.met = self.problem(ot.Op.GEMM_REDUCE_SCATTER, 8, 128, 16)
        del torch.cuda.calls[:]

    def forward(self, rows=8):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            y = self.layer(fake_torch.Tensor((rows, 16)))
        self.assertEqual(y.shape, (rows // RANKS, 128))
        return [str(warning.message) for warning in said]

    def test_an_answer_that_cannot_run_is_followed_by_sequential(self):
        self.library.refused = ["signaled"]
        said = self.forward()
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], "m=8 n=128 k=16 in bf16 on 4 ranks runs sequential instead of the answer, because "
                                  "signaled by peer_access: .*not on this machine")
        self.assertIn(self.world.fallbacks[self.met], said[0])
        self.assertEqual(self.world._plans[self.met].strategy, "sequential")
        self.assertEqual(self.forward(), [])
        self.assertEqual((len(self.made()), self.calls[-1][0]), (2, "run"))
        self.assertRegex(self.world.answer(self.met).reason, "not on this machine")

    def test_then_pytorch_runs_it(self):
        self.library.refused = ["signaled", "sequential"]
        self.assertRegex(self.forward()[0], "runs PyTorch's own product and collective instead .*signaled.*; sequential")
        self.assertEqual(torch.cuda.calls, ["reduce_scatter"])
        self.assertEqual(self.forward(), [])  # no plan is tried again
        self.assertEqual((len(self.made()), len(self.world.fallbacks)), (2, 1))
        self.assertEqual(self.world._plans, {})
        self.assertRegex(self.world.answer(self.met).reason, "PyTorch's own")
        self.library.refused = []
        self.layer.prepare([8])
        self.assertEqual((self.forward(), self.world.fallbacks, self.calls[-1][0]), ([], {}, "run"))

    def test_memory_that_is_short_is_such_a_case(self):
        self.library.most = 7
        self.assertRegex(self.forward()[0], "PyTorch's own")

    def test_a_graph_without_a_plan_holds_pytorchs_product(self):
        with mock.patch.object(torch.cuda, "capturing", True):
            self.assertRegex(self.forward()[0], "PyTorch's own .*while a graph is captured; call `prepare`")
            self.assertEqual(self.forward(), [])
            with self.assertRaisesRegex(ot.ArgumentError, "m=8.*`prepare`"):
                self.layer.prepare([8])
        self.assertEqual((self.calls, torch.cuda.calls), ([], ["reduce_scatter"] * 2))
        self.assertEqual(self.forward(), [])
        self.assertEqual((self.calls[-1][0], self.world.fallbacks), ("run", {}))

    def test_prepare_and_plan_raise(self):
        self.library.refused = ["signaled", "sequential"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for call in (lambda: self.layer.prepare([8]), lambda: self.world.plan(self.met)):
                with self.assertRaisesRegex(ot.ArgumentError, "sequential: not on this machine"):
                    call()
        self.assertEqual(self.forward(), [])

    def test_a_world_that_has_died_raises_always(self):
        self.library.refused = ["signaled", "sequential"]
        self.forward()
        self.library.died = True
        for rows in (8, 16):
            with self.assertRaisesRegex(ot.UnavailableError, "rank 2 did not come"):
                self.layer(fake_torch.Tensor((rows, 16)))
        with self.assertRaisesRegex(ot.UnavailableError, "rank 2"):
            self.world.check()


class End(WithPlans):
    def test_the_world_ends_and_then_its_plans(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([8])
        self.world.plan_with(self.problem(ot.Op.GEMM_REDUCE_SCATTER, 16, 128, 16), run.SEQUENTIAL)
        del self.calls[:]
        self.world.close()
        self.world.close()
        self.assertEqual([len(call) for call in self.calls], [1, 2, 2])
        with self.assertRaisesRegex(ot.ArgumentError, "the world is closed"):
            layers.RowParallelLinear(self.world, 64, 128)(fake_torch.Tensor((8, 16)))
        with self.assertRaisesRegex(ot.ArgumentError, "the world is closed"):
            self.world.check()

    def test_as_long_as_graphs_hold_plans_everything_stays(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        layer.prepare([8])
        self.world._world.graphs = True
        with self.assertRaisesRegex(ot.ArgumentError, "graphs hold plans"):
            self.world.close()
        layer(fake_torch.Tensor((8, 16)))
        self.assertEqual(self.calls[-1][0], "run")
        self.world._world.graphs = False
        self.world.close()
        self.assertEqual(self.calls[-1][0], "close")

    def test_a_rank_that_does_not_come_to_the_end_ends_it_here(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([8])
        with mock.patch.object(self.world._world, "close", side_effect=ot.UnavailableError("rank 2 did not come")):
            with self.assertRaises(ot.UnavailableError):
                self.world.close()
            self.world.close()
        self.assertEqual((self.calls[-1][0], self.world._plans), ("close", {}))

    def test_without_its_group_no_other_rank_is_waited_for(self):
        with mock.patch.object(torch.distributed, "get_rank", side_effect=ValueError("not initialized")):
            self.world.close()
        self.assertEqual(self.calls, [("abort",), ("close",)])

    def test_a_block_ends_its_world(self):
        with self.world as world:
            self.assertIs(world, self.world)
        self.assertEqual(self.calls, [("close",)])
        with self.assertRaises(KeyError), layers.World() as world:
            calls = world._world.calls
            raise KeyError
        self.assertEqual(calls, [("abort",)])

    def test_copies_of_a_model_share_it(self):
        model = {"layer": layers.RowParallelLinear(self.world, 64, 128)}
        twin = copy.deepcopy(model)
        self.assertIsNot(twin["layer"], model["layer"])
        self.assertIs(twin["layer"].world, self.world)
        self.assertIs(copy.copy(self.world), self.world)
        with self.assertRaisesRegex(ot.ArgumentError, r"cannot be pickled; save the state_dict\(\)"):
            pickle.dumps(model)


class OneRank(unittest.TestCase):
    def test_it_needs_no_library_and_no_plan(self):
        with mock.patch.object(run, "World", None), mock.patch.object(run, "sizes", None):
            world = layers.World(fake_torch.Group(backend=None, ranks=1), "there.db")
            for kind in (layers.RowParallelLinear, layers.ColumnParallelLinear):
                for parallel in (True, False):
                    layer = kind(world, 64, 128, sequence_parallel=parallel)
                    layer.prepare([8])
                    self.assertEqual(layer(fake_torch.Tensor((8, 3, 64))).shape, (8, 3, 128))
                    with self.assertRaisesRegex(ot.ArgumentError, "the last one of 64"):
                        layer(fake_torch.Tensor((8, 32)))
            problem = ot.Problem(ot.Op.GEMM_ALL_REDUCE, 8, 128, 64, 1)
            self.assertIn("one rank", world.answer(problem).reason)
            with self.assertRaisesRegex(ot.ArgumentError, "one rank has no plans"):
                world.plan(problem)
            world.check()
            world.abort()
            world.close()


if __name__ == "__main__":
    unittest.main()
