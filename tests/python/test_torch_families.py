"""Families of plans in the layers for PyTorch, on stand-ins: when a weight gets one, and that a new number of rows is no
collective step then."""

import json
import unittest
import warnings
from unittest import mock

import fake_torch

torch = fake_torch.install()

from fake_plans import RANKS, WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import run  # noqa: E402

SEQUENTIAL = run.SEQUENTIAL.config


class Answers(ot.Database):
    """A database that has a recipe, or an error, and keeps what it was asked."""

    def __init__(self, recipe="signaled recipe"):
        self.recipes, self.asked = recipe, []

    def query(self, problem, launch, **terms):
        return run.SEQUENTIAL

    def recipe(self, problem, launch, **terms):
        self.asked.append((problem, launch, terms))
        if isinstance(self.recipes, Exception):
            raise self.recipes
        return self.recipes


class Families(WithPlans):
    def setUp(self):
        super().setUp()
        ways = ("sequential/ring", "signaled/ring", "waiting/peer_access")
        for name, value in (("ways", lambda: ways), ("untuned", lambda problem, way: SEQUENTIAL)):
            patch = mock.patch.object(run, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def layer(self, world=None, **options):
        self.used = world or layers.World(**{"families": True, **options})
        self.calls = self.used._world.calls
        return layers.RowParallelLinear(self.used, 64, 128, sequence_parallel=False)

    def run_rows(self, layer, *rows):
        for count in rows:
            layer(fake_torch.Tensor((count, 16)))

    def kinds(self):
        return [call[:3] if call[0] == "family" else call[:2] if call[0] == "run family" else call[0]
                for call in self.calls if call[0] in ("plan", "run", "family", "run family")]

    def exchanges(self):
        return self.used._planner._exchange._calls

    def test_the_third_number_of_rows_makes_it(self):
        layer = self.layer()
        self.run_rows(layer, 8, 16, 8, 16)
        self.assertEqual(self.kinds(), ["plan", "run", "plan", "run", "run", "run"])
        self.run_rows(layer, 24)
        self.assertEqual(self.kinds()[6:], [("family", SEQUENTIAL, 8192), ("run family", 24)])

    def test_from_then_on_no_rank_meets_another(self):
        layer = self.layer()
        self.run_rows(layer, 8, 16, 24)
        met, calls = self.exchanges(), len(self.calls)
        self.run_rows(layer, 100, 8192, 24, 8)
        self.assertEqual(self.exchanges(), met)
        self.assertEqual([call[:2] for call in self.calls[calls:-1]],
                         [("run family", 100), ("run family", 8192), ("run family", 24)])
        self.assertEqual(self.calls[-1][0], "run")  # the plan that is there goes on

    def test_a_plan_can_be_made_while_a_graph_is_captured(self):
        layer = self.layer()
        self.run_rows(layer, 8, 16, 24)
        with mock.patch.object(torch.cuda, "is_current_stream_capturing", lambda: True):
            self.run_rows(layer, 32)
        self.assertEqual(self.kinds()[-1], ("run family", 32))
        self.assertEqual(self.used.fallbacks, {})

    def test_each_weight_has_its_own(self):
        world = layers.World(families=True)
        one = self.layer(world)
        other = layers.RowParallelLinear(world, 64, 256, sequence_parallel=False)
        self.run_rows(one, 8, 16, 24)
        self.run_rows(other, 8, 16)
        self.assertEqual(sum(call[0] == "family" for call in self.calls), 1)
        self.run_rows(other, 24)
        self.assertEqual(sum(call[0] == "family" for call in self.calls), 2)

    def test_more_rows_than_it_serves_make_a_larger_one(self):
        layer = self.layer(most_rows=64)
        self.run_rows(layer, 8, 16, 24, 65, 300, 64)
        self.assertEqual([call for call in self.kinds() if call[0] == "family"],
                         [("family", SEQUENTIAL, 64), ("family", SEQUENTIAL, 128), ("family", SEQUENTIAL, 512)])
        self.assertEqual(self.kinds()[-1], ("run family", 64))

    def test_memory_is_reserved_for_the_most_rows(self):
        layer = self.layer(most_rows=640)
        self.run_rows(layer, 8, 16, 24)
        self.assertIn(("reserve", 640), self.calls)

    def test_the_database_of_rank_0_says_the_recipe(self):
        answers = Answers()
        layer = self.layer(database=answers, launch=ot.Launch.EAGER, free_sms=4, strategies="signaled")
        self.run_rows(layer, 8, 16, 24)
        problem = ot.Problem(ot.Op.GEMM_ALL_REDUCE, 8192, 128, 16, RANKS)
        terms = {"strategies": ("signaled",), "free_sms": 4, "exclusive": False}
        self.assertEqual(answers.asked, [(problem, ot.Launch.EAGER, terms)])
        self.assertIn(("family", "signaled recipe", 8192), self.kinds())
        self.store.says[0] = lambda text: json.dumps({**json.loads(text), "recipe": "rank 0's"}) \
            if "recipe" in text else text
        other = layers.RowParallelLinear(self.used, 64, 256, sequence_parallel=False)
        self.run_rows(other, 8, 16, 24)
        self.assertIn(("family", "rank 0's", 8192), self.kinds())

    def test_summary_and_answer_name_what_runs(self):
        layer = self.layer(database=Answers("signaled ctas=16 transport=ring"))
        self.run_rows(layer, 8, 16, 24, 24)
        problem = ot.Problem(ot.Op.GEMM_ALL_REDUCE, 24, 128, 16, RANKS)
        self.assertEqual(self.used.answer(problem).config, "signaled ctas=16 transport=ring")
        self.assertRegex(self.used.summary().splitlines()[2],
                         "m=24 .* 2 runs, signaled by ring, .*: by the recipe of its weight")

    def test_without_a_recipe_each_number_of_rows_has_a_plan(self):
        for answers, options in ((Answers(ot.NotFoundError("nothing")), {}), (Answers(), {"strategies": "waiting/peer_access"}),
                                 (None, {"strategies": "sequential"})):
            with self.subTest(options=options):
                layer = self.layer(database=answers, **options)
                self.run_rows(layer, 8, 16, 24, 32)
                self.assertEqual(self.kinds(), 4 * ["plan", "run"])

    def test_families_can_be_switched_off(self):
        layer = self.layer(families=False)
        self.run_rows(layer, 8, 16, 24, 32)
        self.assertEqual(self.kinds(), 4 * ["plan", "run"])

    def test_ranks_that_differ_are_refused(self):
        self.store.says[2] = lambda text: "64" if text == "128" else text
        with self.assertRaisesRegex(ot.ArgumentError, "most_rows: 128 on rank 0 of the group, 64 on rank 2"):
            layers.World(families=True, most_rows=128)

    def test_where_none_can_be_made_a_warning_says_why_once(self):
        layer = self.layer()
        self.used._world.no_family = ot.OutOfMemoryError("too little is free")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.run_rows(layer, 8, 16, 24, 32)
        self.assertEqual(len(said), 1)
        self.assertRegex(str(said[0].message), "n=128 k=16 on 4 ranks has no family of plans, because too little is free")
        self.assertEqual([kind for kind in self.kinds() if kind in ("plan", "run")], 4 * ["plan", "run"])

    def test_prepare_tries_again(self):
        layer = self.layer()
        self.used._world.no_family = ot.OutOfMemoryError("too little is free")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.run_rows(layer, 8, 16, 24)
        self.used._world.no_family = None
        self.run_rows(layer, 32)
        self.assertEqual(self.kinds()[-2:], ["plan", "run"])  # a forward pass does not
        layer.prepare([40])
        self.run_rows(layer, 48)
        self.assertEqual(self.kinds()[-2:], [("family", SEQUENTIAL, 8192), ("run family", 48)])

    def test_ranks_that_do_not_divide_the_most_rows_get_one_too(self):
        world = layers.World(most_rows=1000)
        layer = layers.RowParallelLinear(world, 64, 128)  # a reduce-scatter: rows are multiples of the ranks
        for count in (8, 16, 24):
            layer(fake_torch.Tensor((count, 16)))
        most = next(call[2] for call in world._world.calls if call[0] == "family")
        self.assertEqual((most % RANKS, most >= 1000), (0, True))

    def test_plans_whose_memory_is_lost_are_made_anew(self):
        layer = self.layer(families=False)
        self.run_rows(layer, 8)
        self.used._world.most = 4  # less than there was
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.run_rows(layer, 16, 8)
        self.assertEqual(self.kinds(), ["plan", "run"])  # PyTorch's own, twice
        self.used._world.most = None
        layer.prepare([8])
        self.run_rows(layer, 8)
        self.assertEqual(self.kinds()[2:], ["plan", "run"])

    def test_rows_that_it_cannot_run_have_a_plan(self):
        layer = self.layer()
        self.used._world.unserved = [32]
        self.run_rows(layer, 8, 16, 24, 32, 32, 40)
        self.assertEqual(self.kinds()[-4:], ["plan", "run", "run", ("run family", 40)])

    def test_a_rank_that_makes_a_plan_meanwhile_is_named(self):
        layer = self.layer()
        self.run_rows(layer, 8, 16)
        self.store.says[2] = lambda text: json.dumps({"problem": "another one", "answer": {}})
        with self.assertRaisesRegex(ot.ArgumentError, "rank 0 of the group meets a family for .*m=8192.* and rank 2 another one"):
            self.run_rows(layer, 24)

    def test_it_ends_with_the_world(self):
        layer = self.layer()
        self.run_rows(layer, 8, 16, 24)
        self.used.close()
        self.assertIn(("close family", SEQUENTIAL), self.calls)


if __name__ == "__main__":
    unittest.main()
