"""The layer of scripts/compare-step on tensors without numbers: which products run in which order, on which operands."""

import json
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

import built
import shape_torch
from shape_torch import RANKS, Tensor

ATTENDED = []


def attention(q, k, v, is_causal, enable_gqa):
    ATTENDED.append((q.shape, k.shape, v.shape, {q.dtype, k.dtype, v.dtype}, is_causal, enable_gqa))
    return q


torch = shape_torch.install(attention)
sys.path[:0] = [str(built.SOURCE / folder)
                for folder in ("tests/bench/compare_step", "tests/bench/compare_torch", "examples")]

import calibrate  # noqa: E402
import layer  # noqa: E402
import operations  # noqa: E402
import pointwise  # noqa: E402
import products  # noqa: E402
import single_operations  # noqa: E402
from layer_shape import PRODUCTS, shape_of  # noqa: E402
from overlaptune import Answer, Error, Op  # noqa: E402
from prediction import OTHERS  # noqa: E402

TOKENS, ROWS = 64, 64 // RANKS
CONFIG = json.loads((built.SOURCE / "examples/models/llama-3-8b.json").read_text())
SHAPE = shape_of(CONFIG, RANKS)


class World:
    """Plans that keep their operands."""

    def __init__(self):
        self.ran = []

    def answer(self, problem):
        return Answer("sequential ctas=16 transport=peer_access")

    def plan_with(self, problem, answer):
        return SimpleNamespace(problem=problem, answer=answer)

    def result(self, plan, shape, dtype):
        return torch.empty(shape, dtype=dtype, device="cuda:0")

    def enqueue(self, plan, a, b, c):
        self.ran.append((plan.problem, a.shape, b.shape, c.shape, {a.dtype, b.dtype, c.dtype}))


def made(sequence, layers=2):
    world = World()
    stack = layer.stack_of(SHAPE, layer.weights_of(SHAPE, layers), TOKENS, sequence)
    problems = products.problems_of(SHAPE, TOKENS, RANKS, sequence)
    plans = products.plans_of(world, problems, world.answer)
    return stack, problems, products.by_plans(world, plans, "bf16"), world


class Layers(unittest.TestCase):
    def test_plans_run_in_order_on_operands_of_their_problems(self):
        stack, problems, product, world = made(True)
        h, residual = layer.forward(stack, pointwise.EAGER, product, "bf16")
        self.assertEqual((h.shape, residual.shape, h.dtype), ((ROWS, SHAPE.hidden), (ROWS, SHAPE.hidden), "bf16"))
        self.assertEqual([each[0] for each in world.ran], [problems[name] for name in PRODUCTS] * 2)
        for problem, a, b, c, dtypes in world.ran:
            gathers = problem.op == Op.ALL_GATHER_GEMM
            self.assertEqual(a, (ROWS if gathers else TOKENS, problem.k))
            self.assertEqual(b, (problem.n, problem.k))
            self.assertEqual(c, (TOKENS if gathers else ROWS, problem.n))
            self.assertEqual(dtypes, {"bf16"})

    def test_plain_tp_has_plans_for_sums_alone(self):
        stack, problems, product, world = made(False)
        h, _ = layer.forward(stack, pointwise.EAGER, product, "bf16")
        self.assertEqual(h.shape, (TOKENS, SHAPE.hidden))
        self.assertEqual([each[0] for each in world.ran], [problems["o"], problems["down"]] * 2)
        self.assertEqual({each[3] for each in world.ran}, {(TOKENS, SHAPE.hidden)})

    def test_pytorchs_layer_and_the_reference_have_the_same_shapes_and_attention(self):
        for sequence in (True, False):
            stack, problems, _, _ = made(sequence)
            for dtype in ("bf16", "fp32"):
                del ATTENDED[:]
                h, residual = layer.forward(stack, pointwise.EAGER, products.by_torch(problems), dtype)
                self.assertEqual((h.shape, h.dtype, residual.dtype), (stack.h.shape, dtype, dtype))
                self.assertEqual(ATTENDED, [((1, 16, TOKENS, 128), (1, 4, TOKENS, 128), (1, 4, TOKENS, 128), {"bf16"},
                                             True, True)] * 2)


class Operations(unittest.TestCase):
    def test_each_operation_of_the_prediction_is_measured_alone(self):
        for sequence, kinds in ((True, {name: ("gemm", "collective", "sequential", "tuned") for name in PRODUCTS}),
                                (False, {"qkv": ("gemm",), "gate_up": ("gemm",),
                                         **{name: ("gemm", "collective", "sequential", "tuned")
                                            for name in ("o", "down")}})):
            stack, problems, product, world = made(sequence)
            calls = operations.calls_of(stack, pointwise.EAGER, problems, {"sequential": product, "tuned": product})
            self.assertEqual(set(calls), {*OTHERS, *(f"{name} {kind}" for name in kinds for kind in kinds[name])})
            for call in calls.values():
                call(stack.layers[0])
            self.assertEqual({each[0] for each in world.ran}, {each for each in problems.values() if each is not None})

    def test_collectives_alone_have_the_bytes_that_are_stored(self):
        for work, name, whole in (("all_gather", "all_gather_into_tensor", 0), ("reduce_scatter", "reduce_scatter_tensor", 1),
                                  ("all_reduce", "all_reduce", 0)):
            with mock.patch.object(calibrate.dist, name, side_effect=getattr(calibrate.dist, name)) as ran:
                call = calibrate.call_of(work, 4096 * SHAPE.hidden * 2, "bf16")
                for _ in range(3):
                    call(None)
            self.assertEqual([each.args[whole].shape for each in ran.call_args_list], [(4096 * SHAPE.hidden,)] * 3)

    def test_copies_leave_the_l2_cache(self):
        stack = made(True)[0]
        copies = single_operations.in_turn(stack.residual)
        self.assertEqual([next(copies).shape for _ in range(20)], [stack.residual.shape] * 20)

    def test_the_rate_of_attention(self):
        stack = made(True)[0]
        # Half of two products of 2 x 4096 x 4096 x 128 operations for each of 16 heads, in 1000 us.
        self.assertAlmostEqual(operations.attention_tflops(stack, 4096, 1000), 2 * 4096**2 * 128 * 16 / 1e9)


class Plans(unittest.TestCase):
    def test_a_plan_that_cannot_be_made_is_named(self):
        world = World()
        problems = products.problems_of(SHAPE, TOKENS, RANKS, True)
        with mock.patch.object(world, "plan_with", side_effect=Error("no windows here")):
            with self.assertRaisesRegex(SystemExit, r"compare-step: qkv \(all_gather_gemm, sequential .*\): no windows here"):
                products.plans_of(world, problems, world.answer)

    def test_the_config_is_said_with_its_source(self):
        problems = products.problems_of(SHAPE, TOKENS, RANKS, False)
        self.assertEqual([products.config_of(World(), problems[name]) for name in ("qkv", "o")],
                         ["", "sequential ctas=16 transport=peer_access (baseline)"])
        self.assertIsInstance(products.by_torch(problems)("qkv", Tensor((4, SHAPE.hidden)), Tensor((8, SHAPE.hidden))),
                              Tensor)


if __name__ == "__main__":
    unittest.main()
