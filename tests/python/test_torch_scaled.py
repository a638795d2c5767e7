"""Products of 8-bit operands for PyTorch, on a stand-in for PyTorch and for the library of plans: which plans they ask for,
with which operands, and what they refuse."""

import sys
import unittest

import fake_torch

torch = fake_torch.install()

from fake_plans import WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402
from overlaptune import Op  # noqa: E402
from overlaptune.torch.scaled import check_scale  # noqa: E402


def scaled(shape, scales, dtype="e4m3", of_scales="fp32"):
    """A matrix at address 4096, its scales at 12288."""
    return layers.Scaled(fake_torch.Tensor(shape, dtype), fake_torch.Tensor((scales,), of_scales, address=12288))


class ScaledProducts(WithPlans):
    def test_each_asks_for_its_problem_with_the_dtype_of_its_scales(self):
        for function, op, x, first, m in (
            (layers.scaled_gemm_all_reduce, Op.GEMM_ALL_REDUCE, (5, 3, 64), 5, 15),
            (layers.scaled_gemm_reduce_scatter, Op.GEMM_REDUCE_SCATTER, (8, 3, 64), 2, 24),
            (layers.scaled_all_gather_gemm, Op.ALL_GATHER_GEMM, (8, 3, 64), 32, 96),
        ):
            rows = x[0] * x[1]
            for scales, dtype, exact, expected in (
                ((rows, 32), "bf16", False, ot.Dtype.E4M3_ROWS_BF16), ((1, 1), "fp16", False, ot.Dtype.E4M3_TENSOR_FP16),
                ((rows, 32), "fp16", True, ot.Dtype.E4M3_ROWS_FP16_EXACT), ((1, 1), "bf16", True, ot.Dtype.E4M3_TENSOR_BF16_EXACT),
            ):
                del self.calls[:]
                y = function(scaled(x, scales[0]), scaled((32, 64), scales[1]), self.world, dtype, exact)
                self.assertEqual((y.shape, y.dtype), ((first, 3, 32), dtype))
                problem = ot.Problem(op, m, 32, 64, fake_torch.RANKS, expected)
                self.assertEqual([call for call in self.calls if call[0] == "run_scaled"],
                                 [("run_scaled", problem, 4096, 12288, 4096, 12288, 8192, 77)])
                shape_of = torch.library.shapes[f"scaled_{op}"]
                shown = shape_of(fake_torch.Tensor(x, "e4m3"), None, fake_torch.Tensor((32, 64), "e4m3"), None, dtype, exact,
                                 self.world.number)
                self.assertEqual((shown.shape, shown.dtype), ((first, 3, 32), dtype))

    def test_scales_that_do_not_fit_are_refused(self):
        weight = scaled((32, 64), 32)
        for x, words in (
            (scaled((8, 64), 1), "1 scales; expected 8"),
            (scaled((8, 64), 7), "7 scales; expected 8"),
            (scaled((8, 64), 8, of_scales="bf16"), "expected torch.float8_e4m3fn and torch.float32"),
            (scaled((8, 64), 8, dtype="bf16"), "expected torch.float8_e4m3fn and torch.float32"),
            (scaled((8, 32), 8), "the last one of 64"),
        ):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                layers.scaled_gemm_all_reduce(x, weight, self.world)
        with self.assertRaisesRegex(ot.ArgumentError, "31 of them; expected 1, or 32"):
            layers.scaled_gemm_all_reduce(scaled((8, 64), 8), scaled((32, 64), 31), self.world)
        with self.assertRaisesRegex(ot.ArgumentError, "dtype: fp32; expected torch.bfloat16 or torch.float16"):
            layers.scaled_gemm_all_reduce(scaled((8, 64), 8), weight, self.world, "fp32")

    def test_what_needs_a_gradient_is_refused(self):
        x = scaled((8, 64), 8)
        x.values.requires_grad = True
        with self.assertRaisesRegex(ot.ArgumentError, "x: needs a gradient; .* under no_grad"):
            layers.scaled_gemm_all_reduce(x, scaled((32, 64), 32), self.world)

    def test_sizes_that_8_bit_products_do_not_have_are_refused(self):
        for n, k in ((24, 64), (32, 72)):
            with self.assertRaisesRegex(ot.ArgumentError, f"weight: {n} x {k}; expected multiples of 16"):
                layers.scaled_gemm_all_reduce(scaled((8, k), 8), scaled((n, k), n), self.world)

    def test_scales_that_nothing_can_be_divided_by_are_refused(self):
        for scale in (0.0, -1.0, float("nan"), float("inf")):
            with self.assertRaisesRegex(ot.ArgumentError, "s = .*: expected a number above 0, and finite"):
                check_scale("s", scale)

    def test_a_compiler_keeps_operators_whose_results_nobody_uses(self):
        kept = sys.modules["torch.fx.node"].kept
        for op in (Op.GEMM_ALL_REDUCE, Op.GEMM_REDUCE_SCATTER, Op.ALL_GATHER_GEMM):
            for name in (str(op), f"scaled_{op}", str(op).replace("gemm_", "").replace("_gemm", "")):
                self.assertIn(getattr(torch.ops.overlaptune, name), kept)


if __name__ == "__main__":
    unittest.main()
