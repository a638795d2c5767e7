"""The examples, on databases that the command line tuned."""

import importlib.util
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

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


def sequence_groups():
    """The example as a module, with as much of PyTorch as its import touches."""
    torch = types.ModuleType("torch")
    torch.autograd, torch.nn = types.SimpleNamespace(Function=object), types.ModuleType("torch.nn")
    torch.nn.Module, torch.nn.functional = object, types.ModuleType("torch.nn.functional")
    torch.distributed = types.ModuleType("torch.distributed")
    names = {"torch": torch, "torch.nn": torch.nn, "torch.nn.functional": torch.nn.functional,
             "torch.distributed": torch.distributed}
    spec = importlib.util.spec_from_file_location("sequence_groups", built.SOURCE / "examples/sequence_groups.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, names):
        spec.loader.exec_module(module)
    return module


class SequenceGroups(unittest.TestCase):
    """The times beside those of a plan that the command line made."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        lengths, plan = (Path(folder.name) / name for name in ("lengths.txt", "plan.json"))
        lengths.write_text("".join(f"{length}\n" for length in [30_000, 20_000, *[4000] * 6]))
        costs = built.SOURCE / "examples/sequence_costs/flexsp-a100.json"
        document = built.tool_json("sequences", "--lengths", str(lengths), "--gpus", "4", "--gpus-per-node", "4",
                                   "--batch", "8", "--max-length", "32k", "--costs", str(costs), "--model", "gpt-7b",
                                   "--memory", "60G", "--out", str(plan))
        cls.batch = document["batches"][0]
        cls.example = sequence_groups()

    def test_measured_times_are_those_of_all_layers_beside_the_predicted_ones(self):
        plans = {"planned": self.batch["micro_batches"], "static": self.batch["static_micro_batches"]}
        # 4 of 32 layers run; they take a tenth more than predicted, and once much more.
        measured = {name: [[factor * part["time_us"] / 8 for part in parts] for factor in (1.1, 1.1, 3)]
                    for name, parts in plans.items()}
        rows = self.example.compared(plans, measured, 4, 32)
        self.assertEqual(len(rows), 2 + sum(map(len, plans.values())))
        whole = {name: times for name, what, *times in rows if what == "all"}
        self.assertAlmostEqual(whole["planned"][1], self.batch["time_us"] / 1e3)
        self.assertAlmostEqual(whole["static"][1], self.batch["static_us"] / 1e3)
        for row in rows:
            self.assertAlmostEqual(row[2], 1.1 * row[3])
            self.assertAlmostEqual(row[4], 100 * (1 / 1.1 - 1))
        lines = self.example.table_of(rows).splitlines()
        self.assertEqual(len(lines), 2 + len(rows))
        self.assertRegex(lines[2], r"^\| planned \| all \| [0-9.]+ \| [0-9.]+ \| -9\.1 \|$")
        first = self.batch["micro_batches"][0]["groups"][0]
        self.assertIn(f"{first['tokens']} tokens on {first['degree']}", lines[3])


class PlanSampler(unittest.TestCase):
    """The share of each rank in a plan that the command line made, beside the file of lengths."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        lengths, cls.file = (Path(folder.name) / name for name in ("lengths.txt", "plan.json"))
        cls.lengths = [30_000, 90_000, 20_000, *range(4000, 4021)]  # the second one is too long
        lengths.write_text("".join(f"{length}\n" for length in cls.lengths))
        costs = built.SOURCE / "examples/sequence_costs/flexsp-a100.json"
        cls.plan = built.tool_json("sequences", "--lengths", str(lengths), "--gpus", "4", "--gpus-per-node", "4",
                                   "--batch", "11", "--max-length", "32k", "--costs", str(costs), "--model", "gpt-7b",
                                   "--memory", "60G", "--pad", "2", "--out", str(cls.file))
        script = built.SOURCE / "examples/sequence_sampler.py"
        spec = importlib.util.spec_from_file_location("sequence_sampler", script)
        cls.example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(cls.example)

    def test_every_sequence_goes_to_all_gpus_of_one_group(self):
        samplers = [self.example.PlanSampler(self.plan, rank) for rank in range(4)]
        owners = {}
        for rank, sampler in enumerate(samplers):
            self.assertEqual(len(list(sampler)), len(sampler))
            for number, indices in enumerate(sampler):
                for index in indices:
                    owners.setdefault(index, []).append((number, rank))
        self.assertEqual(sorted(owners), [0, *range(2, 24)][:22])  # two whole batches of 11
        for index, places in owners.items():
            numbers, ranks = {number for number, _ in places}, [rank for _, rank in places]
            self.assertEqual(len(numbers), 1)
            group = samplers[ranks[0]].groups[numbers.pop()]
            self.assertEqual(ranks, list(range(group["first_gpu"], group["first_gpu"] + group["degree"])))
            at = group["indices"].index(index)
            self.assertEqual(group["lengths"][at], self.lengths[index])
            padded = group["sequences"][at]
            self.assertEqual(padded % (2 * group["degree"]), 0)
            self.assertLess(padded - self.lengths[index], 2 * group["degree"])

    def test_the_table_names_every_sample_of_the_batch_or_refuses_an_idle_rank(self):
        for batch, document in enumerate(self.plan["batches"]):
            used = [sum(group["degree"] for group in part["groups"]) for part in document["micro_batches"]]
            if min(used) < 4:
                with self.assertRaisesRegex(ValueError, "has no sequence in micro-batch"):
                    self.example.sample_id_groups(self.plan, batch)
                continue
            table = self.example.sample_id_groups(self.plan, batch)
            self.assertEqual({sample for part in table for rank in part for sample in rank}, set(range(11)))
            self.assertTrue(all(len(part) == 4 for part in table))

    def test_a_rank_that_the_plan_does_not_have_is_refused(self):
        with self.assertRaisesRegex(ValueError, "expected 0 to 3"):
            self.example.PlanSampler(self.plan, 4)


if __name__ == "__main__":
    unittest.main()
