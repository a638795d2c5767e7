"""The table of scripts/compare-torch from raw numbers, and its problems."""

import sys
import unittest

import built

sys.path[:0] = [str(built.SOURCE / "tests/bench/compare_torch"), str(built.SOURCE / "examples")]

import problems  # noqa: E402
import table  # noqa: E402


def way(kind, name, times, right=None, error=None, late=0):
    return {"kind": kind, "way": name, "times_us": times, "right": right, "relative_error": error, "late": late}


# Three rounds, of which the second is slow for all.
WAYS = [way("sequential", "ring", [100, 130, 104]), way("sequential", "symmetric", [90, 150, 92]),
        way("plain", "matmul, NCCL", [1, 1, 1]), way("torch", "fused", [84, 120, 88]),
        way("ours", "signaled", [60, 80, 64]), way("gemm", "cublas", [40, 41, 42]), way("gemm", "cublaslt", [39, 50, 50]),
        way("collective", "NCCL", [55, 56, 57]), way("collective", "smallest", [47, 48, 49])]


def raw(*measured):
    return {"gpu": "H", "ranks": 2, "torch": "2.11", "nccl": "2.28", "rounds": 3, "problems": list(measured)}


def problem(ways, name="p", skipped=()):
    return {"problem": name, "ways": ways, "skipped": list(skipped)}


class Figures(unittest.TestCase):
    def test_of_one_problem(self):
        found = table.figures(problem(WAYS))
        # Medians: symmetric 92 is less than ring 104; the ideal is the longer of 41 and 48.
        self.assertEqual((found["sequential"], found["torch"], found["ours"]), (92, 88, 64))
        self.assertEqual(found["strategy"], "signaled")
        # Ratios of the rounds: 1.5, 1.875, 1.4375 and 1.4, 1.5, 1.375.
        self.assertAlmostEqual(found["over_sequential"], 1.5)
        self.assertAlmostEqual(found["over_torch"], 1.4)
        self.assertAlmostEqual(found["of_ideal"], 48 / 64)

    def test_of_what_is_missing(self):
        found = table.figures(problem([each for each in WAYS if each["kind"] not in ("ours", "collective")]))
        self.assertEqual((found["sequential"], found["torch"]), (92, 88))
        for name in ("ours", "strategy", "over_sequential", "over_torch", "of_ideal"):
            self.assertIsNone(found[name], name)


class Table(unittest.TestCase):
    def rows(self, document):
        return [[cell.strip() for cell in line.strip("|").split("|")]
                for line in table.table(document).splitlines() if line.startswith("|")]

    def test_rows_and_means(self):
        twice = [dict(each, times_us=[2 * time for time in each["times_us"]]) if each["kind"] == "sequential" else each
                 for each in WAYS]
        rows = self.rows(raw(problem(WAYS, "first"), problem(twice, "second"), problem([], "third")))
        self.assertEqual(rows[0][:4], ["problem", "sequential µs", "PyTorch µs", "ours µs"])
        self.assertEqual(rows[2], ["first", "92.0", "88.0", "64.0", "signaled", "1.500", "1.400", "0.750"])
        self.assertEqual(rows[3][1], "184.0")
        self.assertEqual(rows[4], ["third", *["-"] * 7])
        # sqrt(1.5 * 3), sqrt(1.4 * 1.4), sqrt(0.75 * 0.75)
        self.assertEqual(rows[5][5:], ["2.121", "1.400", "0.750"])

    def test_what_is_wrong_late_or_left_out_stands_below(self):
        ways = [way("ours", "signaled", [1, 2], right=False, error=0.5), way("torch", "fused", [1, 2], True, 0.001, 1),
                way("sequential", "ring", [1, 2], right=False)]
        document = raw(problem(ways, "p", [{"kind": "gemm", "way": "cublaslt", "why": "no such library"}]))
        text = table.table(document)
        self.assertIn("WRONG results:\np: ours (signaled): relative error 5.00e-01\n"
                      "p: sequential (ring): relative error not finite\n", text)
        self.assertIn("\np: torch (fused): 1 of 2 rounds\n", text)
        self.assertTrue(text.endswith("Left out:\np: gemm (cublaslt): no such library"), text)
        self.assertEqual(len(table.wrong_ways(document)), 2)


class Problems(unittest.TestCase):
    def texts(self, *arguments):
        return [problems.text_of(each) for each in problems.chosen(list(arguments))]

    def test_the_default_is_each_product_of_llama_3_70b(self):
        texts = self.texts("--ranks", "2", "--tokens", "1k")
        self.assertEqual(sorted(texts), sorted(
            [f"all_gather_gemm:1024,{n},8192:bf16:2" for n in (1280, 7168)] +
            [f"{op}:1024,8192,{k}:bf16:2" for k in (1024, 3584)
             for op in ("gemm_all_reduce", "gemm_reduce_scatter", "gemm_all_to_all")]))
        self.assertEqual(len(self.texts("--ranks", "8")), 32)
        self.assertEqual(self.texts("--ranks", "4", "--tokens", "1k", "--op", "all_gather_gemm", "--tp", "4"),
                         [f"all_gather_gemm:1024,{n},8192:bf16:4" for n in (2560, 14336)])

    def test_named_problems_keep_their_order(self):
        texts = ["gemm_all_to_all:4096,8192,1024:fp16:8", "all_gather_gemm:1024,1280,8192:bf16:8"]
        self.assertEqual(self.texts("--problem", texts[0].replace("4096", "4k"), "--problem", texts[1]), texts)

    def test_errors_name_the_thing(self):
        one = "gemm_all_reduce:8,8,8:bf16:"
        for arguments, words in ((["--problem", "gemm:1,2,3:bf16:8"], "'gemm:1,2,3:bf16:8': expected OP:M,N,K"),
                                 (["--problem", one + "x"], "expected OP:M,N,K"),
                                 (["--problem", one + "2", "--problem", one + "4"], "the same number of ranks"),
                                 (["--ranks", "2", "--op", "gather"], "--op gather: expected gemm_all_reduce"),
                                 (["--ranks", "2", "--tp", "5"], "expected a multiple of --tp 5"), ([], "--ranks")):
            with self.assertRaisesRegex(ValueError, words):
                problems.chosen(arguments)


if __name__ == "__main__":
    unittest.main()
