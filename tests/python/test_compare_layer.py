"""The layer of scripts/compare-step on tensors without numbers: which products run in which order, on which operands."""

import dataclasses
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
from overlaptune import Answer, Dtype, Error, Op  # noqa: E402
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

    def enqueue_scaled(self, plan, a, a_scales, b, b_scales, c):
        scales = (a_scales.shape, b_scales.shape, a_scales.dtype, b_scales.dtype)
        self.ran.append((plan.problem, a.shape, b.shape, c.shape, {a.dtype, b.dtype}, c.dtype, scales))


def made(sequence, layers=2, shape=SHAPE):
    world = World()
    stack = layer.stack_of(shape, layer.weights_of(shape, layers), TOKENS, sequence)
    problems = products.problems_of(shape, TOKENS, RANKS, sequence)
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
            for dtype, product in (("bf16", products.by_torch(problems, "bf16")), ("fp32", products.in_fp32(problems))):
                del ATTENDED[:]
                h, residual = layer.forward(stack, pointwise.EAGER, product, dtype)
                self.assertEqual((h.shape, h.dtype, residual.dtype), (stack.h.shape, dtype, dtype))
                self.assertEqual(ATTENDED, [((1, 16, TOKENS, 128), (1, 4, TOKENS, 128), (1, 4, TOKENS, 128), {"bf16"},
                                             True, True)] * 2)


class LayersOf8Bits(unittest.TestCase):
    #: A file may leave products in 16 bits.
    SHAPE = dataclasses.replace(SHAPE, dtypes={**SHAPE.dtypes, **dict.fromkeys(("qkv", "o", "down"), "e4m3_rows_bf16")})

    def test_plans_have_operands_of_8_bits_and_a_scale_for_each_row(self):
        for sequence in (True, False):
            stack, problems, product, world = made(sequence, 1, self.SHAPE)
            h, residual = layer.forward(stack, pointwise.EAGER, product, "bf16")
            self.assertEqual((h.dtype, residual.dtype), ("bf16", "bf16"))
            of_8_bits = [each for each in world.ran if each[0].dtype == Dtype.E4M3_ROWS_BF16]
            self.assertEqual([each[0] for each in of_8_bits],
                             [problems[name] for name in ("qkv", "o", "down") if problems[name] is not None])
            for problem, a, b, c, operands, result, scales in of_8_bits:
                self.assertEqual((operands, result, b), ({"e4m3"}, "bf16", (problem.n, problem.k)))
                self.assertEqual(scales, ((a[0],), (problem.n,), "fp32", "fp32"))
            self.assertEqual({each[4] == {"bf16"} for each in world.ran if len(each) == 5}, {True} if sequence else set())

    def test_pytorchs_layer_and_the_reference(self):
        for sequence in (True, False):
            stack, problems, _, _ = made(sequence, 1, self.SHAPE)
            for dtype, product in (("bf16", products.by_torch(problems, "bf16")), ("fp32", products.in_fp32(problems))):
                h, residual = layer.forward(stack, pointwise.EAGER, product, dtype)
                self.assertEqual((h.shape, h.dtype, residual.dtype), (stack.h.shape, dtype, dtype))

    def test_each_operation_is_measured_alone(self):
        stack, problems, product, world = made(True, 1, self.SHAPE)
        calls = operations.calls_of(stack, pointwise.EAGER, problems, {"sequential": product, "tuned": product})
        self.assertEqual({name for name in calls if name.startswith("quantise")}, {"quantise qkv", "quantise o", "quantise down"})
        for call in calls.values():
            call(stack.layers[0])
        for name in ("qkv", "o", "down"):
            rows = ROWS if name == "qkv" else TOKENS
            self.assertEqual(calls[f"quantise {name}"](stack.layers[0]).values.shape, (rows, problems[name].k))


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
        self.assertIsInstance(products.by_torch(problems, "bf16")("qkv", Tensor((4, SHAPE.hidden)), Tensor((8, SHAPE.hidden))),
                              Tensor)


if __name__ == "__main__":
    unittest.main()
