"""The examples, on databases that the command line tuned."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import built


def list_configs(*arguments: str) -> "subprocess.CompletedProcess[str]":
    script = built.SOURCE / "examples/list_configs.py"
    return subprocess.run([sys.executable, str(script), *arguments], capture_output=True, text=True,
                          env={**os.environ, "OVERLAPTUNE_DB": ""})


class ListConfigs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.database = str(Path(folder.name) / "a.db")
        cls.model = ["--model", str(built.SOURCE / "examples/models/llama-3-8b.json"), "--tp", "4",
                     "--tokens", "1024,2048"]
        built.tune(Path(cls.database), *cls.model, "--sequence-parallel=both")

    def listed(self, *arguments: str):
        done = list_configs("--db", self.database, "--platform", built.SIMULATED, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split() for line in done.stdout.splitlines()[1:]]

    def test_the_problems_are_those_that_were_tuned(self):
        report = built.tool_json("query", "--db", self.database, "--op", "gemm_all_reduce",
                                 "--m", "2048", "--n", "4096", "--k", "3584", "--dtype", "bf16",
                                 "--ranks", "4")
        plain = self.listed(*self.model)
        self.assertEqual([row[0] for row in plain], ["o", "down"] * 2)
        parallel = self.listed(*self.model, "--sequence-parallel")
        self.assertEqual([row[0] for row in parallel], ["o", "down", "qkv", "gate_up"] * 2)
        for row in plain + parallel:
            self.assertEqual(row[2], "exact", row)
            self.assertEqual(row[-1], "(simulated)", row)
        self.assertEqual(plain[3][1:6], ["2048", "exact", f"{report['measured_us']:.1f}",
                                         f"{report['baseline_us']:.1f}",
                                         report["config"]["strategy"]])

    def test_experts_are_the_problems_that_were_tuned(self):
        model = ["--model", str(built.SOURCE / "examples/models/mixtral-8x7b.json"), "--tp", "4", "--tokens", "1024",
                 "--sequence-parallel"]
        built.tune(Path(self.database), *model)
        listed = self.listed(*model)
        self.assertEqual([(row[0], row[2]) for row in listed],
                         [(name, "exact") for name in ("o", "qkv", "combine")])

    def test_what_was_not_tuned_is_predicted(self):
        model = [*self.model[:-1], "3072"]
        self.assertEqual([row[2] for row in self.listed(*model)], ["predicted"] * 2)

    def test_errors_are_one_line(self):
        for arguments, text in (
            ([*self.model, "--db", "/nowhere.db"], "no such file"),
            ([*self.model[:3], "5", *self.model[4:], "--db", self.database, "--platform",
              built.SIMULATED], "num_attention_heads = 32: expected a multiple of --tp 5"),
            ([*self.model, "--db", self.database], "no platform of real GPUs"),
        ):
            done = list_configs(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
