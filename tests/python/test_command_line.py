"""`python -m overlaptune`, beside the program's own answers."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import built
from overlaptune.__main__ import as_json
from overlaptune.values import Answer

TUNED = "gemm_all_reduce:2048,1024,512:bf16:4"


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.database = str(Path(cls.folder.name) / "f.db")
        built.tune(Path(cls.database), "--problem", TUNED)

    def run_package(self, *arguments, **environment):
        return subprocess.run([sys.executable, "-m", "overlaptune", *arguments], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def query(self, *arguments, **environment):
        return self.run_package("query", "--platform", built.SIMULATED, *arguments, **environment)

    def test_a_query_answers_as_the_program_does(self):
        theirs = built.tool_json("query", "--db", self.database, "--problem", TUNED)
        done = self.query("--db", self.database, "--problem", "gemm_all_reduce:2k,1k,512:bf16:4", "--json")
        ours = json.loads(done.stdout)
        for name in ("source", "reason", "measured_us", "baseline_us"):
            self.assertEqual(ours[name], theirs[name])
        self.assertEqual(ours["strategy"], theirs["config"]["strategy"])
        self.assertEqual(ours.get("transport"), theirs["config"].get("transport"))
        self.assertEqual(ours["config"].split()[0], ours["strategy"])

    def test_a_field_that_the_strategy_does_not_use_is_not_named(self):
        for config, named in (
            ("peer_store tile=128x128x64 stages=6 cluster=2 swizzle=8 groups=32", []),
            ("sequential transport=ring", ["transport"]),
        ):
            with self.subTest(config):
                fields = json.loads(as_json(Answer(config)))
                self.assertEqual([name for name in fields if name == "transport"], named)
                self.assertEqual(fields["strategy"], config.split()[0])

    def test_text_and_the_usual_database(self):
        done = self.query("--problem", TUNED, OVERLAPTUNE_DB=self.database)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("answer: exact\n", done.stdout)
        self.assertIn(f"problem: {TUNED}, graph\n", done.stdout)

    def test_versions(self):
        done = self.run_package("--version")
        self.assertEqual(done.stdout, f"overlaptune {built.VERSION}, library {built.VERSION}\n")

    def test_errors_are_a_line_and_have_the_codes_of_the_program(self):
        broken = Path(self.folder.name) / "broken.db"
        broken.write_text("no database")
        for arguments, code, words in (
            (("--db", str(broken), "--problem", TUNED), 4, "broken.db"),
            (("--db", "absent.db", "--problem", TUNED), 2, "absent.db"),
            (("--db", self.database, "--problem", "gemm_all_reduce:2k,1k:bf16:4"), 2, "expected OP:M,N,K:dtype:ranks"),
            (("--db", self.database, "--problem", "gemm:2k,1k,1k:bf16:4"), 2, "expected one of gemm_all_reduce"),
            (("--db", self.database, "--problem", "gemm_all_reduce:2x,1k,1k:bf16:4"), 2, "size '2x'"),
            (("--db", self.database, "--problem", "gemm_all_reduce:2k,1001,1k:bf16:4"), 2, "1001"),
        ):
            with self.subTest(arguments):
                done = self.query(*arguments)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertEqual(self.run_package().returncode, 2)


if __name__ == "__main__":
    unittest.main()
