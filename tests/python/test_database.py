"""Answers of the package, compared with those of the command line, and errors."""

import itertools
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import built
import overlaptune as ot

TUNED = ot.Problem(ot.Op.GEMM_ALL_REDUCE, m=4096, n=4096, k=1024, ranks=4)
CHUNKED = ot.Problem(ot.Op.GEMM_REDUCE_SCATTER, m=8192, n=4096, k=1024, ranks=4)
NOT_TUNED = ot.Problem(ot.Op.ALL_GATHER_GEMM, m=6144, n=4096, k=1024, ranks=4)


def line(problem: ot.Problem) -> str:
    return (f"{problem.op}:{problem.m},{problem.n},{problem.k}:{problem.dtype}:{problem.ranks}")


def fingerprint(platform: dict[str, Any]) -> str:
    """The fingerprint of a platform: FNV-1a over its fields, docs/database.md."""
    fields = {name: value for name, value in platform.items() if name != "fingerprint"}
    fields["multicast_allowed"] = "true" if fields["multicast_allowed"] else "false"
    value = 0xCBF29CE484222325
    for byte in "".join(f"{name}={text}\n" for name, text in fields.items()).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def make_real(simulated: Path, real: Path) -> None:
    """Makes a database of a platform that was measured out of one that was simulated."""
    exported = real.with_suffix(".json")
    built.tool("db", "export", "--db", str(simulated), "--out", str(exported))
    document = json.loads(exported.read_text())
    (platform,) = document["platforms"]
    before = platform["fingerprint"]
    platform["machine"] = "cuda"
    exported.write_text(json.dumps(document).replace(before, fingerprint(platform)))
    built.tool("db", "import", str(exported), "--db", str(real))


def question(database: Path, problem: ot.Problem) -> list[str]:
    return ["query", "--db", str(database), "--problem", line(problem)]


def of_the_tool(database: Path, problem: ot.Problem):
    return built.tool_json(*question(database, problem))


class WithDatabase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.file = cls.folder / "simulated.db"
        cls.tuned = built.tune(cls.file, "--problem", line(TUNED), "--problem", line(CHUNKED))
        (cls.platform,) = json.loads(built.tool("db", "export", "--db", str(cls.file)))["platforms"]
        del cls.platform["fingerprint"]

    def open(self, platform=built.SIMULATED):
        return ot.Database(self.file, platform)


class Answers(WithDatabase):
    def test_a_recipe_is_that_of_the_command_line(self):
        with self.open() as database:
            recipe = database.recipe(TUNED)
            self.assertEqual(recipe, built.tool_json(*question(self.file, TUNED), "--family")["text"])
            few = database.recipe(TUNED, strategies=["sequential"])
            self.assertTrue(all(" sequential " in line for line in few.splitlines()[1:]), few)
            with self.assertRaisesRegex(ot.ArgumentError, "n = 4095"):
                database.recipe(ot.Problem(ot.Op.GEMM_ALL_REDUCE, m=8, n=4095, k=8, ranks=4))

    def test_equal_to_those_of_the_command_line(self):
        with self.open() as database:
            for problem in (TUNED, CHUNKED, NOT_TUNED):
                answer = database.query(problem)
                wanted = of_the_tool(self.file, problem)
                self.assertEqual(str(answer.source), wanted["source"])
                self.assertEqual(answer.reason, wanted["reason"])
                for field in ("predicted_us", "measured_us", "baseline_us"):
                    self.assertEqual(getattr(answer, field), wanted[field], field)
                config = {name: value for name, value in wanted["config"].items() if value is not None}
                self.assertEqual((answer.strategy, answer.transport),
                                 (config["strategy"], config.get("transport", "")))
                self.assertEqual(answer.config, built.tool(*question(self.file, problem)).splitlines()[1])
                fields = answer.fields
                self.assertEqual(int(fields.get("ctas", 0)), config.get("comm_ctas", 0))
                self.assertEqual([int(tiles) for tiles in fields.get("groups", "").split(",") if tiles],
                                 config.get("wave_groups", []))

    def test_sources(self):
        with self.open() as database:
            self.assertEqual(database.query(TUNED).source, ot.Source.EXACT)
            self.assertEqual(database.query(NOT_TUNED).source, ot.Source.PREDICTED)
            too_many = ot.Problem(ot.Op.GEMM_ALL_REDUCE, m=4096, n=4096, k=1024, ranks=8)
            baseline = database.query(too_many, ot.Launch.EAGER)
            self.assertEqual(baseline.source, ot.Source.BASELINE)
            self.assertEqual((baseline.config, baseline.measured_us), ("sequential ctas=0 transport=ring", None))
            self.assertIn("4 GPUs", baseline.reason)

    def test_what_the_program_allows_is_part_of_the_question(self):
        document = json.loads(built.tool("db", "export", "--db", str(self.file)))
        strategies = ("sequential", "chunked", "signaled", "waiting", "peer_store")
        with self.open() as database:
            for problem in (TUNED, CHUNKED):
                winner = database.query(problem)
                candidates = [each for run in document["tuning_runs"] for each in run["candidates"]
                              if each["problem"]["op"] == str(problem.op) and each["verdict"] == "valid"]
                for count in range(1, len(strategies) + 1):
                    for allowed in itertools.combinations(strategies, count):
                        speedups = {each["measured"]["median_us"]: each["speedup"]["median"] if each["speedup"] else 1
                                    for each in candidates if each["config"].split()[0] in allowed}
                        if not speedups:
                            with self.assertRaisesRegex(ot.NotFoundError, "no answer of the allowed strategies"):
                                database.query(problem, strategies=allowed)
                            continue
                        answer = database.query(problem, strategies=allowed)
                        self.assertEqual(answer.source, ot.Source.EXACT, allowed)
                        self.assertIn(answer.strategy, allowed)
                        if winner.strategy in allowed:
                            self.assertEqual(answer, winner)
                        else:
                            self.assertEqual(speedups[answer.measured_us], max(speedups.values()), allowed)
                text = database.explain(problem, strategies=["sequential"], free_sms=4)
                self.assertIn("allowed: sequential\nfree SMs: 4\nanswer: predicted\n", text)
            fewer = database.query(TUNED, free_sms=64, exclusive=True)
            self.assertEqual((fewer.source, fewer.measured_us), (ot.Source.PREDICTED, None))
            self.assertGreater(fewer.predicted_us, database.query(TUNED).measured_us)

    def test_terms_that_no_question_has(self):
        with self.open() as database:
            for terms, words in (({"strategies": []}, "strategies: none; expected one or more"),
                                 ({"strategies": [9]}, "strategies: strategy '9': expected one of sequential, "),
                                 ({"strategies": ["sequential", ""]}, "strategies: strategy '': expected"),
                                 ({"strategies": ["signaled\0"]}, "strategies = 'signaled.x00': expected"),
                                 ({"free_sms": -1}, "free_sms = -1"),
                                 ({"free_sms": 2**32}, "free_sms = 4294967296: does not fit"),
                                 ({"free_sms": 500}, "free_sms = 500: expected fewer than the")):
                for call in (database.query, database.explain):
                    with self.assertRaisesRegex(ot.ArgumentError, words):
                        call(TUNED, **terms)

    def test_the_whole_explanation(self):
        with self.open() as database:
            text = database.explain(TUNED)
            self.assertIn(f"problem: {line(TUNED)}, graph\n", text)
            self.assertTrue(text.endswith("us (simulated)\n"), text)
        many = [self.file] * 100  # longer than the first guess of its length
        with ot.Database(many, built.SIMULATED) as database:
            text = database.explain(TUNED)
            self.assertGreater(len(text), 2000)
            self.assertEqual(text.count("database: "), 100)
            self.assertTrue(text.endswith("us (simulated)\n"), text)

    def test_a_platform_that_is_described(self):
        with self.open(ot.Platform(**self.platform)) as database:
            self.assertEqual(database.query(TUNED).source, ot.Source.EXACT)
        with self.open(ot.Platform(**{**self.platform, "nccl_version": "2.99"})) as database:
            answer = database.query(TUNED)
            self.assertEqual(answer.source, ot.Source.BASELINE)
            self.assertIn("nccl_version", answer.reason)

    def test_the_default_is_the_real_platform_of_the_variables_database(self):
        file = self.folder / "real.db"
        make_real(self.file, file)
        os.environ["OVERLAPTUNE_DB"] = str(file)
        self.addCleanup(os.environ.pop, "OVERLAPTUNE_DB")
        with ot.Database() as database:
            self.assertEqual(database.query(TUNED).source, ot.Source.EXACT)

    def test_reload_sees_what_was_tuned_meanwhile(self):
        file = self.folder / "growing.db"
        built.tune(file, "--problem", line(CHUNKED))
        with ot.Database(str(file), built.SIMULATED) as database:
            self.assertEqual(database.query(TUNED).source, ot.Source.PREDICTED)
            built.tune(file, "--problem", line(TUNED))
            database.reload()
            self.assertEqual(database.query(TUNED).source, ot.Source.EXACT)


class Wrong(WithDatabase):
    def test_each_status_is_an_exception(self):
        text = self.folder / "text.db"
        text.write_text("no database at all")
        for file, platform, kind, words in (
            (self.folder / "none.db", None, ot.NotFoundError, "no such file"),
            (text, None, ot.DatabaseError, "not an SQLite database"),
            (self.file, None, ot.NotFoundError, "no platform of real GPUs"),
            (self.file, "b200", ot.NotFoundError, "'b200'"),
            (self.file, "", ot.ArgumentError, "name"),
        ):
            with self.assertRaisesRegex(kind, words) as caught:
                ot.Database(file, platform)
            self.assertEqual(caught.exception.status, kind.status)
            self.assertIsInstance(caught.exception, ot.Error)

    def test_values_that_do_not_fit_are_not_cut(self):
        with self.open() as database:
            for change, words in (
                ({"m": 2**64 + 4096}, "m = 18446744073709555712"),
                ({"ranks": 2**32 + 4}, "ranks = 4294967300"),
                ({"n": 4096.5}, "n = 4096.5"),
                ({"op": 17}, "op = 17"),
                ({"op": "gemm_all_reduce"}, "op = 'gemm_all_reduce'"),
                ({"k": 4095}, "k = 4095"),
                ({"m": 0}, "m = 0"),
            ):
                problem = ot.Problem(**{**TUNED.__dict__, **change})
                with self.assertRaisesRegex(ot.ArgumentError, words):
                    database.query(problem)
            with self.assertRaisesRegex(ot.ArgumentError, "launch"):
                database.query(TUNED, "graph")
        for name in ("x" * 256, "x" * 300, "a\0b"):
            with self.assertRaisesRegex(ot.ArgumentError, "name"):
                self.open(name)
        with self.assertRaisesRegex(ot.ArgumentError, "NUL"):
            ot.Database("a\0b")

    def test_a_closed_database(self):
        database = self.open()
        database.close()
        database.close()
        for call in (lambda: database.query(TUNED), lambda: database.explain(TUNED),
                     database.reload):
            with self.assertRaisesRegex(ot.ArgumentError, "closed"):
                call()

    def test_closing_waits_for_nobody_and_breaks_nothing(self):
        for _ in range(20):
            database = self.open()
            ended = []

            def ask(database=database, ended=ended):
                try:
                    while True:
                        assert database.query(TUNED).source == ot.Source.EXACT
                except ot.ArgumentError:
                    ended.append(True)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            database.close()
            for thread in threads:
                thread.join()
            self.assertEqual(len(ended), 4)


if __name__ == "__main__":
    unittest.main()
