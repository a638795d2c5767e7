"""The parts of scripts/neighbours that need no GPU: which cells it runs, whether their configs are legal, what it expects,
its table, and what it does with ranks that hang, die or answer wrong."""

import ast
import contextlib
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

import built

PROGRAM = built.SOURCE / "tests/gpu/neighbours"
FAKE_RANK = Path(__file__).with_name("fake_neighbours_rank.py")
sys.path[:0] = [str(PROGRAM)]

import job  # noqa: E402
import main  # noqa: E402
from campaign import Campaign  # noqa: E402
from cells import UNSET, Cell, Choice, cell_of, cells, phases  # noqa: E402
from neighbours import BY_NAME, LIMIT_S, NEIGHBOURS  # noqa: E402
from table import counted, summary, table  # noqa: E402
from verdicts import BAD, Report, Result, Verdict, judged  # noqa: E402
from ways import TILES, Way, config_of, plain, problem_of, rows, variants  # noqa: E402

ROWS = [f"{strategy}/{transport}" for strategy, transport in rows()]


class Types(unittest.TestCase):
    def test_types_hold(self):
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not here (apt-get install mypy)")
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(
                ["mypy", "--config-file", str(built.SOURCE / "python/pyproject.toml"), "--cache-dir", cache,
                 str(built.SOURCE / "python/overlaptune"), *map(str, PROGRAM.glob("*.py"))],
                capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Ways(unittest.TestCase):
    def test_every_row_has_all_that_its_strategy_has(self):
        ways = {f"{a}/{b}": variants(a, b) for a, b in rows()}
        self.assertEqual({row: len(found) for row, found in ways.items()}, {
            "sequential/ring": 4, "sequential/symmetric": 3, "sequential/copy_engine": 2, "sequential/peer_access": 4,
            "chunked/ring": 4, "chunked/symmetric": 3, "signaled/ring": 18, "signaled/symmetric": 12,
            "signaled/copy_engine": 3, "signaled/peer_access": 18, "waiting/copy_engine": 3, "waiting/peer_access": 3,
            "peer_store/peer_access": 9})
        for found in ways.values():
            self.assertEqual(len(found), len(set(found)))

    def test_configs_are_legal(self):
        """`overlaptune run` refuses a config that core/config/check.hpp refuses, on 2 and on 4 ranks. The simulated machine has no
        collective by copy engines, which is found out behind all that makes a config legal."""
        for ranks in (2, 4):
            for row in rows():
                for way in variants(*row):
                    problem, config = problem_of(way, ranks), config_of(way, ranks)
                    text = f"{problem.op}:{problem.m},{problem.n},{problem.k}:bf16:{ranks}"
                    done = subprocess.run(
                        [built.PROGRAM, "run", "--machine", "sim:h200-nvlink-x4", "--problem", text, "--config", config],
                        capture_output=True, text=True, env={**os.environ, "OVERLAPTUNE_DB": ""})
                    is_legal = done.returncode == 0 or "transport copy_engine: not on this machine" in done.stderr
                    self.assertTrue(is_legal, f"{way}, {ranks} ranks: {config}: {done.stderr}")


class Cells(unittest.TestCase):
    def test_every_row_meets_every_neighbour(self):
        found = cells(Choice())
        met = {(way.row, cell.neighbour) for cell in found for way in cell.ways}
        self.assertLessEqual({(row, name) for row in ROWS for name in BY_NAME}, met)

    def test_concurrent_neighbours_meet_every_row_with_every_number_of_connections(self):
        met = {(cell.way.row, cell.neighbour, cell.connections) for cell in cells(Choice())}
        for name in ("alone", "posted_receive", "reversed_order", "full_smem_kernel", "cooperative_kernel", "null_stream",
                     "two_worlds_same_order"):
            self.assertLessEqual({(row, name, count) for row in ROWS for count in ("1", "4", UNSET)}, met)

    def test_ops_tiles_waits_and_launches_take_turns(self):
        found = [cell for cell in cells(Choice()) if not cell.way.is_plain]
        for strategy, transport in rows():
            of_row = [cell for cell in found if cell.way.row == f"{strategy}/{transport}"]
            tried = {cell.way for cell in of_row}
            for field in ("op", "tile", "wait"):
                self.assertEqual({getattr(way, field) for way in tried},
                                 {getattr(way, field) for way in variants(strategy, transport)}, (strategy, transport))
            self.assertEqual({cell.launch for cell in of_row}, {"eager", "graph"})
            self.assertEqual({cell.turn % 2 for cell in of_row}, {0, 1})
        for name in ("waiting", "peer_store"):
            tiles = {cell.way.tile for cell in found if cell.way.strategy == name}
            self.assertEqual(tiles, set(TILES))

    def test_all_takes_the_product(self):
        choice = Choice(neighbours=("alone",), connections=("1",), all=True)
        plans = [cell for cell in cells(choice) if not cell.way.is_plain]
        self.assertEqual(len(plans), 2 * sum(len(variants(*row)) for row in rows()))
        self.assertEqual(len(set(plans)), len(plans))

    def test_plain_work_comes_before_the_plans_that_it_stands_in_for(self):
        found = cells(Choice())
        for place, cell in enumerate(found):
            if cell.connections == UNSET or cell.way.is_plain or cell.plain_key is None:
                continue
            before = [other for other in found[:place] if other.way.is_plain and other.plain_key == cell.plain_key]
            self.assertEqual(len(before), 1, str(cell))
        self.assertFalse([cell for cell in found if cell.way.is_plain and cell.connections == UNSET])

    def test_what_ends_a_job_comes_last(self):
        quick, slow = phases(cells(Choice()))
        self.assertFalse([cell for cell in quick if cell.beside.ends_job])
        for lane in slow.values():
            ends = [cell.beside.ends_job for cell in lane]
            self.assertEqual(ends, sorted(ends))

    def test_a_choice_is_kept(self):
        found = cells(Choice(("late_3s",), ("peer_store/peer_access",), (UNSET,)))
        self.assertEqual([(cell.neighbour, cell.way.row, cell.connections) for cell in found],
                         [("late_3s", "peer_store/peer_access", UNSET)])

    def test_cells_pass_through_json(self):
        for cell in cells(Choice()):
            self.assertEqual(cell_of(json.loads(json.dumps(dataclasses.asdict(cell)))), cell)


def cell(neighbour="alone", way=None, connections="1", launch="eager"):
    return Cell(connections, neighbour, (way or variants("peer_store", "peer_access")[0],), launch)


def reports(*outcomes):
    return [Report(rank, *outcome.partition(": ")[::2]) for rank, outcome in enumerate(outcomes)]


class Expectations(unittest.TestCase):
    def verdict(self, neighbour, *outcomes, way=None):
        return judged(cell(neighbour, way), reports(*outcomes))

    def test_each_neighbour_has_a_function_and_a_limit(self):
        functions = {node.name for name in ("streams", "graphs", "worlds", "failures")
                     for node in ast.walk(ast.parse((PROGRAM / f"{name}.py").read_text()))
                     if isinstance(node, ast.FunctionDef)}
        self.assertLessEqual(set(BY_NAME), functions)
        self.assertEqual(len({each.short for each in NEIGHBOURS}), len(NEIGHBOURS))
        for each in NEIGHBOURS:
            self.assertGreater(each.limit_s, LIMIT_S + 1)

    def test_right_is_right_on_all_ranks(self):
        self.assertEqual(self.verdict("alone", "right", "right").verdict, Verdict.RIGHT)
        wrong = self.verdict("alone", "right", "wrong: relative error nan")
        self.assertEqual((wrong.verdict, wrong.text), (Verdict.WRONG, "rank 1: wrong: relative error nan"))
        failed = self.verdict("alone", "parted", "error: UnavailableError: no GPU")
        self.assertEqual(failed.verdict, Verdict.UNEXPECTED_ERROR)
        self.assertEqual(failed.text, "rank 1: error: UnavailableError: no GPU; expected right")

    def test_a_rank_that_is_too_late_is_an_error_on_all(self):
        late = "error: UnavailableError: rank 1 did not come within 5 s"
        self.assertEqual(self.verdict("late_10s", late, late).verdict, Verdict.EXPECTED_ERROR)
        for outcomes in ((late, "right"), ("right", "right"), (late, "error: CUDA"), (late, "parted")):
            self.assertEqual(self.verdict("late_10s", *outcomes).verdict, Verdict.UNEXPECTED_ERROR, outcomes)
        ring = variants("sequential", "ring")[0]
        self.assertEqual(self.verdict("late_10s", "right", "right", way=ring).verdict, Verdict.RIGHT)
        self.assertEqual(self.verdict("late_10s", late, "right", way=ring).verdict, Verdict.UNEXPECTED_ERROR)

    def test_refusals(self):
        memory = "refused: OutOfMemoryError: not enough memory"
        self.assertEqual(self.verdict("memory_full", memory, memory).verdict, Verdict.EXPECTED_ERROR)
        self.assertEqual(self.verdict("memory_full", memory, "refused: another rank cannot").verdict,
                         Verdict.UNEXPECTED_ERROR)
        graphs = "refused: ArgumentError: 1 CUDA graph holds a plan"
        self.assertEqual(self.verdict("close_live_graph", graphs, graphs).verdict, Verdict.EXPECTED_ERROR)
        self.assertEqual(self.verdict("close_live_graph", "right", "right").verdict, Verdict.RIGHT)

    def test_the_others_get_an_error_when_a_rank_is_killed(self):
        error = "error: UnavailableError: rank 1 did not come"
        self.assertEqual(self.verdict("killed_rank", error, "killed: exit status -9").verdict, Verdict.EXPECTED_ERROR)
        self.assertEqual(self.verdict("killed_rank", "broken: 900 runs ended", "killed").verdict, Verdict.UNEXPECTED_ERROR)
        self.assertEqual(self.verdict("killed_rank", "hung: the plan", "killed").verdict, Verdict.HUNG)

    def test_what_a_machine_lacks_is_not_possible(self):
        self.assertEqual(self.verdict("green_context", *2 * ["not possible: no cuGreenCtxCreate"]).verdict,
                         Verdict.NOT_POSSIBLE)


class Table(unittest.TestCase):
    def test_counts(self):
        for verdicts, text in (({}, "-"), ({Verdict.RIGHT: 2, Verdict.EXPECTED_ERROR: 1}, "3"),
                               ({Verdict.RIGHT: 2, Verdict.HUNG: 1}, "2!1h"),
                               ({Verdict.UNEXPECTED_ERROR: 1, Verdict.WRONG: 2}, "0!1e2w"),
                               ({Verdict.RIGHT: 1, Verdict.NOT_POSSIBLE: 1}, "1+1n")):
            self.assertEqual(counted(Counter(verdicts)), text)

    def test_rows_and_columns(self):
        ring = variants("sequential", "ring")[0]
        both = Cell("1", "exit_without_close", (ring, variants("peer_store", "peer_access")[0]), "eager")
        results = [Result(cell("alone", plain("gemm_all_reduce")), Verdict.RIGHT), Result(cell("alone", ring), Verdict.RIGHT),
                   Result(cell("posted_receive"), Verdict.HUNG, "rank 0: hung: the plan"), Result(both, Verdict.RIGHT)]
        left = [cell("late_3s", ring)]
        lines = [line.split() for line in table(results, left).split("\n\n")[0].splitlines()]
        self.assertEqual(lines, [["alone", "recv", "late3", "exit"], ["plain/nccl", "1", "-", "-", "-"],
                                 ["sequential/ring", "1", "-", "-", "1"],
                                 ["peer_store/peer_access", "-", "0!1h", "-", "1"]])
        text = summary(results, left)
        self.assertTrue(text.startswith("3 tried, 2 right, 0 expected error, 0 not possible, 0 unexpected error, 1 hung, "
                                        "0 wrong, 1 not tried\n"), text)
        self.assertIn("hung: posted_receive, peer_store/peer_access gemm_reduce_scatter 128x256 cluster=1, eager, "
                      "connections=1: rank 0: hung: the plan", text)


class Jobs(unittest.TestCase):
    """The driver with ranks that need no GPU."""

    maxDiff = None

    def setUp(self):
        path = os.pathsep.join([str(PROGRAM), os.environ["PYTHONPATH"]])
        for patch in (mock.patch.dict(os.environ, {"PYTHONPATH": path}), mock.patch.object(job, "PREPARE_S", 3.0)):
            patch.start()
            self.addCleanup(patch.stop)
        self.started, self.rank_program = [], FAKE_RANK

    def start(self):
        made = job.Job(2, [sys.executable, str(self.rank_program)])
        self.started.append(made)
        return made

    def ran(self, chosen, endings=None, **options):
        """The results of cells, by neighbour and row. No process is left."""
        with mock.patch.dict(os.environ, {"NEIGHBOURS_FAKE": json.dumps(endings or {})}):
            campaign = Campaign(self.start, **options)
            campaign.run(chosen)
        for made in self.started:
            for rank in made._ranks:
                self.assertIsNotNone(rank.process.poll())
        return campaign

    def verdicts(self, campaign):
        return {f"{result.cell.neighbour} {result.cell.way.row}": result.verdict for result in campaign.results}

    def chosen(self, neighbours, of_rows=("sequential/ring", "peer_store/peer_access"), connections=(UNSET,)):
        return cells(Choice(tuple(neighbours), tuple(of_rows), tuple(connections)))

    def test_cells_that_end_right_share_a_job(self):
        campaign = self.ran(self.chosen(["alone", "null_stream", "late_3s"], connections=("1", UNSET)))
        self.assertEqual(Counter(result.verdict for result in campaign.results), {Verdict.RIGHT: len(campaign.results)})
        self.assertEqual(campaign.not_tried, [])

    def test_a_job_that_hangs_is_ended_and_another_goes_on(self):
        for how in ("hang", "hang later"):
            hangs = dataclasses.replace(BY_NAME["alone"], limit_s=1.0)
            with mock.patch.dict(BY_NAME, {"alone": hangs}):
                campaign = self.ran(self.chosen(["alone", "null_stream"]), {"alone sequential/ring": ["right", how]})
            self.assertEqual(self.verdicts(campaign), {
                "alone peer_store/peer_access": Verdict.RIGHT, "alone sequential/ring": Verdict.HUNG,
                "null_stream peer_store/peer_access": Verdict.RIGHT, "null_stream sequential/ring": Verdict.RIGHT})
            text = next(each.text for each in campaign.results if each.verdict == Verdict.HUNG)
            self.assertIn("rank 1: hung: no answer within " + ("3 s while plans are made" if how == "hang" else "1 s"), text)

    def test_a_rank_that_dies_is_an_error_with_the_end_of_its_log(self):
        campaign = self.ran(self.chosen(["alone", "null_stream"]), {"alone peer_store/peer_access": ["right", "die"]})
        self.assertEqual(self.verdicts(campaign)["alone peer_store/peer_access"], Verdict.UNEXPECTED_ERROR)
        self.assertEqual(Counter(self.verdicts(campaign).values())[Verdict.RIGHT], 3)
        bad = next(each.text for each in campaign.results if each.verdict == Verdict.UNEXPECTED_ERROR)
        self.assertIn("rank 1: died: exit status 9: terminate called", bad)

    def test_a_wrong_result_ends_no_job_and_a_lost_context_does(self):
        campaign = self.ran(self.chosen(["alone", "null_stream"]), {
            "alone sequential/ring": ["wrong: relative error nan", "meet again"],
            "null_stream sequential/ring": "lost: CUDA error"})
        found = self.verdicts(campaign)
        self.assertEqual(found["alone sequential/ring"], Verdict.WRONG)
        self.assertEqual(found["null_stream sequential/ring"], Verdict.UNEXPECTED_ERROR)
        self.assertEqual(found["null_stream peer_store/peer_access"], Verdict.RIGHT)

    def test_each_neighbour_does_its_steps(self):
        """On stand-ins for PyTorch and for worlds, with which all ends as expected."""
        self.rank_program = FAKE_RANK.with_name("neighbours_without_gpus.py")
        campaign = self.ran(cells(Choice(rows=("sequential/ring", "peer_store/peer_access"))))
        self.assertEqual([str((each.cell, each.text)) for each in campaign.results if each.verdict in BAD], [])
        found = {(each.cell.neighbour, each.verdict) for each in campaign.results if not each.cell.way.is_plain}
        failing = {"memory_full", "close_live_graph", "late_10s", "two_worlds_other_order", "killed_rank"}
        self.assertEqual(found, {(name, Verdict.EXPECTED_ERROR if name in failing else Verdict.RIGHT) for name in BY_NAME})

    def test_an_unexpected_error_on_all_ranks_ends_the_job_and_a_refusal_does_not(self):
        for how, jobs in (("error: UnavailableError: rank 1 did not come", 2), ("refused: ArgumentError: no", 1)):
            self.started.clear()
            campaign = self.ran(self.chosen(["alone"]), {"alone peer_store/peer_access": how})
            self.assertEqual(self.verdicts(campaign), {"alone peer_store/peer_access": Verdict.UNEXPECTED_ERROR,
                                                       "alone sequential/ring": Verdict.RIGHT})
            begun = [made for made in self.started if made.was_begun]
            self.assertEqual(len(begun), jobs, how)

    def test_plans_are_not_run_where_plain_work_hangs(self):
        chosen = self.chosen(["posted_receive"], connections=("1", UNSET))
        campaign = self.ran(chosen, {"posted_receive plain/nccl": "hung: the plan has not ended"})
        by_connections = {(each.cell.connections, each.cell.way.is_plain): each.verdict for each in campaign.results}
        self.assertEqual(by_connections, {("1", True): Verdict.HUNG, ("1", False): Verdict.NOT_POSSIBLE,
                                          (UNSET, False): Verdict.RIGHT})

    def test_cells_that_end_the_processes(self):
        error = "error: UnavailableError: rank 1 did not come"
        campaign = self.ran(self.chosen(["killed_rank", "exit_without_close", "destroy_process_group"],
                                        connections=(UNSET,)), {"killed_rank": [error, "die later"]})
        self.assertEqual(Counter(each.cell.neighbour for each in campaign.results),
                         {"killed_rank": 2, "exit_without_close": 1, "destroy_process_group": 1})
        self.assertEqual({each.cell.neighbour: each.verdict for each in campaign.results},
                         {"killed_rank": Verdict.EXPECTED_ERROR, "exit_without_close": Verdict.RIGHT,
                          "destroy_process_group": Verdict.RIGHT})

    def test_a_process_that_ends_badly_is_no_good_exit(self):
        campaign = self.ran(self.chosen(["exit_without_close"]), {"exit_without_close": ["right", "die"]})
        self.assertEqual([each.verdict for each in campaign.results], [Verdict.UNEXPECTED_ERROR])

    def test_time_leaves_cells(self):
        chosen = self.chosen(["alone", "null_stream"])
        campaign = self.ran(chosen, time_s=0.0)
        self.assertEqual((campaign.results, campaign.not_tried), ([], chosen))

    def test_ranks_that_do_not_start(self):
        with mock.patch.dict(os.environ, {"NEIGHBOURS_FAKE_START": "die"}):
            campaign = self.ran(self.chosen(["alone"]))
        self.assertEqual(len(campaign.not_tried), 2)
        self.assertRegex(campaign.failures[0], "rank [01] ended: no NCCL here")

    def program(self, *arguments, endings=None):
        """Exit status, output and rows of --json of the whole driver."""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()), mock.patch.object(main, "RANK_PROGRAM", FAKE_RANK), \
                mock.patch.dict(os.environ, {"NEIGHBOURS_FAKE": json.dumps(endings or {})}):
            file = Path(folder) / "cells.json"
            status = main.main([*arguments, "--json", str(file)])
            rows_of_file = json.loads(file.read_text())["cells"] if file.exists() else None
        return status, out.getvalue(), rows_of_file

    def test_the_exit_status(self):
        few = ["--only", "alone,memory_full", "--ways", "peer_store/peer_access", "--connections", "unset"]
        memory = "refused: OutOfMemoryError: memory"
        status, out, found = self.program(*few, endings={"memory_full": memory})
        self.assertEqual(status, 0, out)
        self.assertIn("2 tried, 1 right, 1 expected error", out)
        self.assertEqual([(row["neighbour"], row["verdict"]) for row in found],
                         [("alone", "right"), ("memory_full", "expected error")])
        status, out, _ = self.program(*few, endings={"memory_full": [memory, "wrong: nan"]})
        self.assertEqual(status, 1)
        self.assertIn("wrong: memory_full", out)
        self.assertEqual(self.program("--ways", "peer_store/ring")[0], 2)
        with mock.patch.dict(os.environ, {"NEIGHBOURS_FAKE_START": "no_gpus"}):
            status, out, _ = self.program(*few)
        self.assertEqual((status, out), (77, "skipped: 1 GPU\n"))


if __name__ == "__main__":
    unittest.main()
