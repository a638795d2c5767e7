"""The layers for PyTorch, on a stand-in for PyTorch and for the library of plans: which plans they ask
for, with which operands, and what they refuse."""

import unittest
from types import SimpleNamespace
from unittest import mock

import built
import fake_torch

torch = fake_torch.install()

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import run  # noqa: E402

RANKS = fake_torch.RANKS


class Plans:
    """The world of run.h, which keeps the calls; a problem takes as many bytes as it has rows."""

    def __init__(self, comm, allow_multicast):
        self.comm, self.calls, self.most = comm, [], None

    def reserve(self, size):
        self.calls.append(("reserve", size))
        if self.most is not None and size > self.most:
            raise ot.OutOfMemoryError(f"{size} bytes")

    def plan(self, problem, answer):
        self.calls.append(("plan", problem))
        return SimpleNamespace(run=lambda *operands: self.calls.append(("run", problem, *operands)),
                               close=lambda: self.calls.append(("close", problem)))

    def platform(self):
        return ot.Platform("sim:there", machine="cuda")

    def close(self):
        self.calls.append(("close",))


class Answers(ot.Database):
    """A database that keeps the questions."""

    def __init__(self, paths, platform):
        self.asked = [(paths, platform)]

    def query(self, problem, launch):
        self.asked.append((problem, launch))
        return run.SEQUENTIAL


class WithPlans(unittest.TestCase):
    def setUp(self):
        for patch in (mock.patch.object(run, "World", Plans),
                      mock.patch.object(run, "sizes",
                                        lambda problem, answer: SimpleNamespace(
                                          shared_bytes=problem.m, temporary_bytes=100)),
                      mock.patch.object(torch.cuda, "calls", [])):
            patch.start()
            self.addCleanup(patch.stop)
        self.world = layers.World()
        self.calls = self.world._world.calls

    def problem(self, op, m, n, k, dtype=ot.Dtype.BF16):
        return ot.Problem(op, m, n, k, RANKS, dtype)


class Products(WithPlans):
    def test_each_layer_asks_for_its_problem_and_keeps_the_leading_dimensions(self):
        row, column = layers.RowParallelLinear, layers.ColumnParallelLinear
        for kind, parallel, x, y, problem in (
            (row, True, (8, 3, 16), (2, 3, 128), self.problem(ot.Op.GEMM_REDUCE_SCATTER, 24, 128, 16)),
            (row, False, (5, 3, 16), (5, 3, 128), self.problem(ot.Op.GEMM_ALL_REDUCE, 15, 128, 16)),
            (column, True, (2, 3, 64), (8, 3, 32), self.problem(ot.Op.ALL_GATHER_GEMM, 24, 32, 64)),
        ):
            layer = kind(self.world, 64, 128, sequence_parallel=parallel)
            del self.calls[:]
            result = layer(fake_torch.Tensor(x))
            self.assertEqual(result.shape, y)
            self.assertEqual(self.calls[1:], [("plan", problem), ("run", problem, 4096, 8192, 8192, 77)])

    def test_a_column_without_sequence_parallelism_has_no_plan(self):
        layer = layers.ColumnParallelLinear(self.world, 64, 128, sequence_parallel=False)
        self.assertEqual(layer(fake_torch.Tensor((5, 64))).shape, (5, 32))
        layer.prepare([8])
        self.assertEqual(self.calls, [])

    def test_layers_of_one_shape_share_the_plan_of_each_number_of_rows(self):
        pair = [layers.RowParallelLinear(self.world, 64, 128, dtype="fp16") for _ in range(2)]
        for rows in (8, 16, 8):
            for layer in pair:
                layer(fake_torch.Tensor((rows, 16), "fp16"))
        made = [call[1] for call in self.calls if call[0] == "plan"]
        self.assertEqual(made, [self.problem(ot.Op.GEMM_REDUCE_SCATTER, rows, 128, 16, ot.Dtype.FP16)
                                for rows in (8, 16)])
        self.assertEqual(len([call for call in self.calls if call[0] == "run"]), 6)

    def test_operands_are_whole_and_aligned(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for x in (fake_torch.Tensor((8, 16), address=4096 + 128),
                  fake_torch.Tensor((8, 16), contiguous=False)):
            layer(x)
            self.assertEqual(self.calls[-1][2], 1 << 20)  # the address of a copy


class Memory(WithPlans):
    def reserved(self):
        return [call[1] for call in self.calls if call[0] == "reserve"]

    def test_it_never_shrinks_and_nothing_runs_while_it_grows(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        del torch.cuda.calls[:]
        layer.prepare([8])
        self.assertEqual(torch.cuda.calls, ["synchronize"])
        layer.prepare([4])
        layer.prepare([16])
        self.assertEqual(self.reserved(), [8, 8, 16])

    def test_memory_that_pytorch_keeps_is_given_back_where_it_is_needed(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for free, given_back in ((108, []), (107, ["empty_cache"])):
            del torch.cuda.calls[:]
            with mock.patch.object(torch.cuda, "free", free):
                self.world._plans.clear()
                layer.prepare([8])
            self.assertEqual(torch.cuda.calls, [*given_back, "synchronize"])

    def test_the_largest_is_prepared_first(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([8, 32, 16, 8])
        self.assertEqual(self.reserved(), [32, 32, 32])

    def test_where_it_cannot_grow_the_plans_that_are_there_get_theirs_back(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        layer.prepare([8])
        self.world._world.most = 16
        with self.assertRaises(ot.OutOfMemoryError):
            layer.prepare([32])
        self.assertEqual(self.reserved(), [8, 32, 8])
        layer(fake_torch.Tensor((8, 16)))
        self.assertEqual(self.calls[-1][0], "run")

    def test_plans_end_before_their_world(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([8])
        problem = self.problem(ot.Op.GEMM_REDUCE_SCATTER, 16, 128, 16)
        self.world.plan_with(problem, run.SEQUENTIAL)
        del self.calls[:]
        self.world.close()
        self.assertEqual([len(call) for call in self.calls], [2, 2, 1])


class Configs(WithPlans):
    def test_without_a_database_it_is_sequential(self):
        answer = self.world.answer(self.problem(ot.Op.GEMM_ALL_REDUCE, 8, 128, 16))
        self.assertEqual((answer.strategy, answer.reason), (ot.Strategy.SEQUENTIAL, "no database"))

    def test_files_are_opened_for_the_platform_of_the_ranks_and_asked_for_the_launch(self):
        with mock.patch("overlaptune.torch.world.Database", Answers):
            world = layers.World(database="a.db", launch=ot.Launch.EAGER)
            database = world._database
            self.assertIs(layers.World(database=database)._database, database)
        problem = self.problem(ot.Op.GEMM_ALL_REDUCE, 8, 128, 16)
        world.answer(problem)
        self.assertEqual(database.asked, [(["a.db"], ot.Platform("sim:there", machine="cuda")),
                                          (problem, ot.Launch.EAGER)])


class Wrong(WithPlans):
    def test_inputs(self):
        row = layers.RowParallelLinear(self.world, 64, 128)
        column = layers.ColumnParallelLinear(self.world, 64, 128, sequence_parallel=False)
        for layer, x, words in (
            (row, fake_torch.Tensor((8, 16), "fp32"), "fp32 on cuda:0; expected bf16 on cuda:0"),
            (row, fake_torch.Tensor((8, 16), device="cpu"), "bf16 on cpu; expected bf16 on cuda:0"),
            (row, fake_torch.Tensor((8, 64)), r"shape \(8, 64\); expected .* the last one of 16"),
            (row, fake_torch.Tensor((16,)), "two dimensions or more"),
            (row, fake_torch.Tensor((6, 16)), "a multiple of 4, the number of ranks"),
            (column, fake_torch.Tensor((8, 16)), "the last one of 64"),
        ):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                layer(x)
        self.assertEqual(self.calls, [])

    def test_weights_that_were_replaced(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for weight, words in (
            (fake_torch.Tensor((128, 16), contiguous=False), "weight: on cuda:0; expected contiguous"),
            (fake_torch.Tensor((128, 16), device="cpu"), "weight: on cpu; .* on cuda:0"),
            (fake_torch.Tensor((128, 16), "fp32"), "x: bf16 .* expected fp32"),
        ):
            layer.weight = weight
            with self.assertRaisesRegex(ot.ArgumentError, words):
                layer(fake_torch.Tensor((8, 16)))
        with self.assertRaisesRegex(ot.ArgumentError, "weight: fp32; expected"):
            layer(fake_torch.Tensor((8, 16), "fp32"))
        self.assertEqual(self.calls, [])

    def test_layers(self):
        for make, words in (
            (lambda: layers.RowParallelLinear(self.world, 66, 128), "in_features = 66: .* 4"),
            (lambda: layers.ColumnParallelLinear(self.world, 64, 0), "out_features = 0: .* 4"),
            (lambda: layers.RowParallelLinear(self.world, 64, 128, dtype="fp32"), "fp32; expected"),
        ):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                make()

    def test_a_graph_that_meets_new_rows_says_what_to_do(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        layer.prepare([8])
        with mock.patch.object(torch.cuda, "capturing", True):
            layer(fake_torch.Tensor((8, 16)))
            with self.assertRaisesRegex(ot.ArgumentError, "m=16.*`prepare`"):
                layer(fake_torch.Tensor((16, 16)))

    def test_groups(self):
        other = SimpleNamespace(name=lambda: "gloo")
        for group, words in ((fake_torch.Group(other), "is gloo of PyTorch .* expected NCCL"),
                             (fake_torch.Group(fake_torch.Backend(0)), "set_device"),
                             (fake_torch.Group(ranks=1), "1 ranks, .* expected two or more")):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                layers.World(group)
        with mock.patch.object(torch.distributed, "is_initialized", lambda: False):
            with self.assertRaisesRegex(ot.ArgumentError, "init_process_group"):
                layers.World()


class Imports(unittest.TestCase):
    def test_without_pytorch_it_says_what_is_missing(self):
        done = built.python("import sys; sys.modules['torch'] = None\nimport overlaptune.torch")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1],
                         "^ImportError: overlaptune.torch needs PyTorch, .*pip install torch")

    def test_the_package_itself_needs_neither(self):
        code = ("import sys, overlaptune, overlaptune.run\n"
                "print([name for name in sys.modules if name.split('.')[0] == 'torch'])")
        done = built.python(code, OVERLAPTUNE_RUN_LIBRARY="/nowhere/lib.so")
        self.assertEqual((done.stdout.strip(), done.stderr), ("[]", ""))


if __name__ == "__main__":
    unittest.main()
