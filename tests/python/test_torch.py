"""The layers for PyTorch, on a stand-in for PyTorch and for the library of plans: which plans they ask
for, with which operands, and what they refuse."""

import unittest
from types import SimpleNamespace
from unittest import mock

import built
import fake_torch

torch = fake_torch.install()

from fake_plans import WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import run  # noqa: E402

class Answers(ot.Database):
    """A database that keeps the questions."""

    def __init__(self, paths, platform):
        self.asked = [(paths, platform)]

    def query(self, problem, launch, **terms):
        self.asked.append((problem, launch))
        return run.SEQUENTIAL


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
            shape_of = torch.library.shapes[str(problem.op)]
            self.assertEqual(shape_of(fake_torch.Tensor(x), layer.weight, self.world.number).shape, y)

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
        self.assertEqual(self.made(), [self.problem(ot.Op.GEMM_REDUCE_SCATTER, rows, 128, 16, ot.Dtype.FP16)
                                       for rows in (8, 16)])
        self.assertEqual(len([call for call in self.calls if call[0] == "run"]), 6)

    def test_operands_are_whole_and_aligned(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for x in (fake_torch.Tensor((8, 16), address=4096 + 8),
                  fake_torch.Tensor((8, 16), contiguous=False)):
            layer(x)
            self.assertEqual(self.calls[-1][2], 1 << 20)  # the address of a copy
        layer.weight = fake_torch.Tensor((128, 16), address=4096 + 2)
        layer(fake_torch.Tensor((8, 16)))
        self.assertEqual(self.calls[-1][2:4], (4096, 1 << 20))

    def test_16_bytes_are_aligned_enough(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        layer.weight = fake_torch.Tensor((128, 16), address=8192 + 16)
        layer(fake_torch.Tensor((8, 16), address=4096 + 48))
        self.assertEqual(self.calls[-1][2:4], (4096 + 48, 8192 + 16))

    def test_the_null_stream_is_a_stream(self):
        with mock.patch.object(torch.cuda, "stream", 0):
            layers.RowParallelLinear(self.world, 64, 128)(fake_torch.Tensor((8, 16)))
        self.assertEqual(self.calls[-1][-1], 0)

    def test_no_rows_need_no_plan(self):
        for kind, shape, result in ((layers.RowParallelLinear, (0, 3, 16), (0, 3, 128)),
                                    (layers.RowParallelLinear, (4, 0, 16), (1, 0, 128)),
                                    (layers.ColumnParallelLinear, (0, 64), (0, 32))):
            layer = kind(self.world, 64, 128)
            layer.prepare([0])
            self.assertEqual(layer(fake_torch.Tensor(shape)).shape, result)
        self.assertEqual(self.calls, [])

    def test_autocast_chooses_the_type(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for autocast, x, weight, dtype in (("fp16", "fp32", "bf16", ot.Dtype.FP16), ("bf16", "bf16", "fp32", ot.Dtype.BF16)):
            layer.weight = fake_torch.Tensor((128, 16), weight)
            with mock.patch.object(torch, "autocast_dtype", autocast):
                layer.prepare([8])
                del self.calls[:]
                self.assertEqual(layer(fake_torch.Tensor((8, 16), x)).dtype, autocast)
            self.assertEqual(self.calls[0][1], self.problem(ot.Op.GEMM_REDUCE_SCATTER, 8, 128, 16, dtype))
        with mock.patch.object(torch, "autocast_dtype", "bf16"), self.assertRaisesRegex(ot.ArgumentError, "x: fp64"):
            layer(fake_torch.Tensor((8, 16), "fp64"))


class RowsThatTheRanksDoNotDivide(WithPlans):
    """Rank 1 of 4 has the part that torch.chunk gives it; the plan is that of the next multiple."""

    def test_they_are_scattered(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for shape, result, m in (((6, 16), (2, 128), 8), ((5, 3, 16), (2, 3, 128), 24), ((3, 16), (1, 128), 4),
                                 ((1, 16), (0, 128), 4)):
            self.assertEqual(layer(fake_torch.Tensor(shape), uneven=True).shape, result)
            self.assertIn(self.problem(ot.Op.GEMM_REDUCE_SCATTER, m, 128, 16), self.made())

    def test_they_are_gathered(self):
        layer = layers.ColumnParallelLinear(self.world, 64, 128)
        for first, shape, m in ((6, (2, 64), 8), (5, (2, 3, 64), 24), (1, (0, 64), 4)):
            self.assertEqual(layer(fake_torch.Tensor(shape), first).shape, (first, *shape[1:-1], 32))
            self.assertIn(self.problem(ot.Op.ALL_GATHER_GEMM, m, 32, 64), self.made())
        with self.assertRaisesRegex(ot.ArgumentError, r"shape \(3, 64\); expected .* of 2, the part of 6 that rank 1 of 4"):
            layer(fake_torch.Tensor((3, 64)), 6)

    def test_they_are_prepared(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([5, 6, 8, 0])
        layers.RowParallelLinear(self.world, 64, 128, sequence_parallel=False).prepare([5])
        self.assertEqual(self.made(), [self.problem(ot.Op.GEMM_REDUCE_SCATTER, 8, 128, 16),
                                       self.problem(ot.Op.GEMM_ALL_REDUCE, 5, 128, 16)])


class Memory(WithPlans):
    def reserved(self):
        return [call[1] for call in self.calls if call[0] == "reserve"]

    def test_it_never_shrinks_and_the_gpu_need_not_be_idle(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for rows in (8, 4, 16):
            layer.prepare([rows])
        self.world.close()
        self.assertEqual(self.reserved(), [8, 8, 16])
        self.assertNotIn("synchronize", torch.cuda.calls)

    def test_memory_that_pytorch_keeps_is_given_back_where_it_is_needed(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        for free, rows, given_back in ((108, 8, []), (107, 8, []), (99, 8, ["empty_cache"]), (115, 16, ["empty_cache"])):
            del torch.cuda.calls[:]
            with mock.patch.object(torch.cuda, "free", free):
                self.world._plans.clear()
                layer.prepare([rows])
            self.assertEqual(torch.cuda.calls, given_back, free)

    def test_the_largest_is_prepared_first(self):
        layers.RowParallelLinear(self.world, 64, 128).prepare([8, 32, 16, 8])
        self.assertEqual(self.reserved(), [32, 32, 32])

    def test_where_it_cannot_grow_the_plans_that_are_there_get_theirs_back(self):
        layer = layers.RowParallelLinear(self.world, 64, 128)
        layer.prepare([8])
        self.world._world.most = 16
        with self.assertWarns(RuntimeWarning), self.assertRaises(ot.OutOfMemoryError):
            layer.prepare([32])
        self.assertEqual(self.reserved(), [8, 32, 8])
        layer(fake_torch.Tensor((8, 16)))
        self.assertEqual(self.calls[-1][0], "run")


class Configs(WithPlans):
    def test_what_a_world_promises_reaches_the_library(self):
        options = {"allow_multicast": True, "exclusive": True, "free_sms": 8, "time_limit": 20.0}
        self.assertEqual(layers.World(**options)._world.options, {**options, "result_bytes": 1 << 30})
        self.assertEqual(layers.World(result_bytes=0)._world.options, {
            "allow_multicast": False, "exclusive": False, "free_sms": 0, "time_limit": None, "result_bytes": 0})

    def test_without_a_database_it_is_sequential(self):
        answer = self.world.answer(self.problem(ot.Op.GEMM_ALL_REDUCE, 8, 128, 16))
        self.assertEqual((answer.strategy, answer.reason), ("sequential", "no database"))

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

    def test_groups(self):
        other = SimpleNamespace(name=lambda: "gloo")
        for group, words in ((fake_torch.Group(other), "is gloo of PyTorch .* expected NCCL"),
                             (fake_torch.Group(fake_torch.Backend(0)), "set_device")):
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
