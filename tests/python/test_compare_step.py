"""The measurements of scripts/compare-step, what it expects of `overlaptune step`, and its tables from raw numbers."""

import gzip
import importlib
import json
import os
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import built

sys.path[:0] = [str(built.SOURCE / folder)
                for folder in ("tests/bench/compare_step", "tests/bench/compare_torch", "examples")]

import layer_shape  # noqa: E402
import layer_times  # noqa: E402
import prediction  # noqa: E402
import question  # noqa: E402
import step_table  # noqa: E402
from list_configs import products  # noqa: E402
from overlaptune import Dtype, Op  # noqa: E402

MODELS = built.SOURCE / "examples/models"


def config_of(name):
    return json.loads((MODELS / f"{name}.json").read_text())


class Shapes(unittest.TestCase):
    def test_products_are_those_of_the_other_scripts(self):
        for name in ("llama-3-70b", "llama-3-8b", "mistral-7b", "qwen2.5-72b", "qwen3-32b"):
            for tp in (1, 2, 8, 16):
                shape = layer_shape.shape_of(config_of(name), tp)
                for sequence in (True, False):
                    expected = {product: (op, n, k) for product, op, n, k in products(config_of(name), tp, sequence)}
                    made = {product: shape.problem(product, 1024, 2, sequence) for product in layer_shape.PRODUCTS}
                    self.assertEqual({product: (problem.op, problem.n, problem.k)
                                      for product, problem in made.items() if problem is not None}, expected, name)

    def test_fewer_ranks_have_the_shapes_of_more_in_a_smaller_model(self):
        config = config_of("llama-3-70b")
        for tp, ranks in ((8, 2), (16, 2), (8, 8)):  # 16 ranks have half a head of keys each, and so a whole one
            shape = layer_shape.shape_of(config, tp)
            self.assertEqual(layer_shape.shape_of(layer_shape.model_of(config, shape, ranks), ranks), shape)
        self.assertEqual((shape.qkv, shape.rotated, shape.width), (1280, 1152, 3584))

    def test_other_layers_are_refused(self):
        config = config_of("llama-3-8b")
        for change, words in (({"hidden_act": "gelu"}, "hidden_act = gelu: expected silu"),
                              ({"num_local_experts": 8}, "expected a dense model"),
                              ({"num_key_value_heads": 6}, "num_key_value_heads = 6: expected a multiple or a divisor")):
            with self.assertRaisesRegex(ValueError, words):
                layer_shape.shape_of({**config, **change}, 8)


class Predictions(unittest.TestCase):
    def asked(self, *flags, sequence=True):
        return prediction.ask(built.PROGRAM, MODELS / "llama-3-8b.json", 8192, 2, sequence, list(flags))

    def test_the_operations_add_up_to_the_layer(self):
        for sequence in (True, False):
            predicted = self.asked("--machine", "sim:h200-nvlink-x2", sequence=sequence)
            operations = predicted["operations"]
            others = sum(operations[name]["us"] for name in prediction.OTHERS)
            of_products = [operations[name] for name in layer_shape.PRODUCTS]
            apart = sum(each["gemm_us"] + (each["collective_us"] or 0) for each in of_products)
            self.assertAlmostEqual(others + apart, predicted["sequential_us"], places=6)
            tuned = sum(operations[name]["us"] * operations[name]["beside_fused"] for name in prediction.OTHERS)
            for each in of_products:
                beside_fused = each["gemm_us"] * each["beside_fused"] + (each["collective_us"] or 0)
                tuned += min(beside_fused, each["overlapped_us"] or beside_fused)
            self.assertAlmostEqual(tuned, predicted["tuned_us"], places=6)
            self.assertLess(predicted["tuned_us"], predicted["sequential_us"])
            self.assertEqual([name for name in layer_shape.PRODUCTS if operations[name]["collective_us"] is None],
                             [] if sequence else ["qkv", "gate_up"])

    def test_a_model_of_8_bits_has_its_inputs_quantised(self):
        predicted = prediction.ask(built.PROGRAM, MODELS / "llama-3-70b-fp8.json", 8192, 2, True,
                                   ["--machine", "sim:h200-nvlink-x2"])
        self.assertEqual(predicted["dtypes"], dict.fromkeys(layer_shape.PRODUCTS, "e4m3_rows_bf16"))
        self.assertEqual([name for name in predicted["operations"] if name not in layer_shape.PRODUCTS],
                         [*prediction.OTHERS, *(f"quantise {name}" for name in layer_shape.PRODUCTS)])
        # Half of 8192 rows of 8192, read twice in 16 bits and written in 8.
        self.assertEqual(predicted["works"]["quantise qkv"]["amount"], 4096 * 8192 * 5)
        self.assertEqual(set(self.asked("--machine", "sim:h200-nvlink-x2")["dtypes"].values()), {"bf16"})

    def test_what_step_refuses_is_said(self):
        with self.assertRaisesRegex(ValueError, "overlaptune step: .*/nowhere.db"):
            self.asked("--db", "/nowhere.db")

    def test_an_operation_that_is_not_measured_is_found_out(self):
        document = built.tool_json("step", "--machine", "sim:h200-nvlink-x2", "--model", str(MODELS / "llama-3-8b.json"),
                                   "--tp", "2", "--tokens", "1k", "--scope", "layer")
        document["tasks"].append({**document["tasks"][0], "name": "forward dropout 0"})
        with self.assertRaisesRegex(ValueError, "operations dropout: the measured layer has no such"):
            prediction.prediction_of(document)
        document["tasks"][-1]["name"] = "backward qkv 0"
        with self.assertRaisesRegex(ValueError, "'backward qkv 0': expected the forward pass"):
            prediction.prediction_of(document)


class Questions(unittest.TestCase):
    def made(self, *arguments):
        return question.question_of(question.parsed(["-", "--db", "f.db", *arguments]))

    def test_the_default_is_llama_3_70b_with_sequence_parallelism(self):
        made = self.made("--tp", "2", "--tp-shapes", "8")
        self.assertEqual((made["tokens"], made["layers"], made["sequence_parallel"], made["operations"]),
                         ([1024, 4096, 16384], 4, True, True))
        self.assertEqual([self.made("--tp", "2", *more)["trace"] for more in ((), ("--trace",))], [False, True])
        shape = layer_shape.LayerShape(**json.loads(json.dumps(made["shape"])))
        self.assertEqual(shape.problem("down", 4096, 2, True).k, 3584)
        self.assertEqual(shape.problem("gate_up", 4096, 2, True).op, Op.ALL_GATHER_GEMM)

    def test_predictions_are_for_the_shapes_that_are_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "f.db"
            built.tool("probe", "--machine", "sim:h200-nvlink-x2", "--db", str(database), "--quick")
            options = question.parsed(["-", "--program", built.PROGRAM, "--db", str(database), "--tp", "2", "--tp-shapes",
                                       "8", "--tokens", "4k,1k", "--attention-tflops", "100",
                                       "--platform", "sim:h200-nvlink-x2"])
            predicted = question.predictions_of(options, question.question_of(options))
        self.assertEqual([each["tokens"] for each in predicted], [1024, 4096])
        # Half of 2 x 2 x tokens^2 x 8 heads x 128, at 1e8 operations a microsecond.
        self.assertAlmostEqual(predicted[1]["operations"]["attention"]["us"], 2 * 4096**2 * 1024 / 1e8, delta=5)

    def test_fp16_is_read_by_both_of_its_names(self):
        config = config_of("llama-3-70b")
        for key in ("torch_dtype", "dtype"):
            named = {name: value for name, value in config.items() if name != "torch_dtype"}
            shape = layer_shape.shape_of({**named, key: "float16"}, 8)
            self.assertEqual((shape.dtype, shape.product_dtype("qkv")), ("float16", Dtype.FP16))

    def test_errors_name_the_thing(self):
        for arguments, words in ((["--tp", "1"], "--tp 1: expected 2 or more"),
                                 (["--tp", "2", "--tokens", "1k,five"], "--tokens '1k,five': expected numbers"),
                                 (["--tp", "2", "--tokens", "1001"], "1001: expected a multiple of 2"),
                                 (["--tp", "4", "--ranks-per-gpu", "3", "--platform", "p"], "expected a divisor of --tp 4"),
                                 (["--tp", "2", "--ranks-per-gpu", "2"], "--platform: missing beside --ranks-per-gpu"),
                                 (["--tp", "2", "--model", str(MODELS / "mixtral-8x7b.json")], "expected a dense model"),
                                 (["--tp", "3"], "num_key_value_heads = 8: expected .* of 3")):
            with self.assertRaisesRegex(ValueError, words):
                self.made(*arguments)


    def test_one_rank_is_enough_to_store(self):
        made = self.made("--tp", "1", "--tp-shapes", "8", "--store")
        self.assertEqual((made["ranks"], made["store"], made["tokens"]), (1, True, [128, 512, 2048, 8192, 32768]))
        self.assertEqual(self.made("--tp", "1", "--store", "--tokens", "4k")["tokens"], [4096])
        self.assertFalse(self.made("--tp", "2")["store"])


class StoredTimes(unittest.TestCase):
    """Times that nobody measured, through a database and back."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.database = str(self.folder / "f.db")
        built.tool("probe", "--machine", "sim:h200-nvlink-x2", "--db", self.database, "--quick")
        self.platform = json.loads(built.tool("db", "export", "--db", self.database))["platforms"][0]

    def predicted(self, *more, ranks=2):
        return prediction.ask(built.PROGRAM, MODELS / "llama-3-8b.json", 1024, ranks, True, ["--db", self.database, *more])

    def stored(self, run, file="times.json"):
        return layer_times.stored(built.PROGRAM, self.database, layer_times.document_of(self.platform, run),
                                  self.folder / file)

    def test_rows_have_medians_and_tenths(self):
        row = layer_times.row_of(layer_times.probe_of("all_gather", 64, 2), [5.0, 1.0, 2.0, 3.0, 4.0])
        self.assertEqual(row["probe"], {"kind": "layer", "work": "all_gather", "amount": 64, "ranks": 2})
        self.assertEqual(row["time"], {"median_us": 3.0, "p10_us": 1.4, "p90_us": 4.6, "count": 5})
        self.assertEqual(layer_times.probe_of("norm", 64, 2)["ranks"], 1)

    def test_works_are_those_of_the_layer(self):
        works = self.predicted()["works"]
        self.assertEqual({name: each["work"] for name, each in works.items()},
                         {"attention norm": "norm", "rope": "rope", "attention": "attention", "mlp norm": "norm",
                          "activation": "activation", "all_gather of qkv": "all_gather",
                          "reduce_scatter of o": "reduce_scatter", "all_gather of gate_up": "all_gather",
                          "reduce_scatter of down": "reduce_scatter"})
        # 512 tokens of 4096 numbers, read and written twice; half of 2 x 2 x 1024^2 x 16 heads x 128.
        self.assertEqual(works["mlp norm"]["amount"], 4 * 512 * 4096 * 2)
        self.assertEqual(works["attention"]["amount"], 2 * 1024**2 * 2048)

    def test_what_is_stored_is_predicted(self):
        before = self.predicted()
        run = layer_times.new_run(self.platform, "0.1.0 with PyTorch", "host", "compare-step --store")
        tripled = {each["work"]: each for each in before["works"].values() if each["work"] in ("norm", "all_gather")}
        run["measurements"] = [layer_times.row_of(layer_times.probe_of(work, each["amount"], 2), [each["us"] * 3] * 5)
                               for work, each in tripled.items()]  # both norms have one amount, and both all-gathers
        self.assertEqual(self.stored(run), "")
        # The rest comes later in the run.
        rope = before["works"]["rope"]
        run["measurements"].append(layer_times.row_of(layer_times.probe_of("rope", rope["amount"], 2), [77.0] * 5))
        self.assertEqual(self.stored(run), "")
        after = self.predicted()["works"]
        for name, each in before["works"].items():
            expected = 77.0 if name == "rope" else each["us"] * (3 if each["work"] in ("norm", "all_gather") else 1)
            self.assertAlmostEqual(after[name]["us"], expected, places=6, msg=name)
        runs = json.loads(built.tool("db", "export", "--db", self.database))["probe_runs"]
        [made] = [each for each in runs if each["uid"] == run["uid"]]
        self.assertEqual((made["host"], made["program_version"], len(made["measurements"])),
                         ("host", "0.1.0 with PyTorch", 3))

    def test_what_cannot_be_stored_stays_in_its_file(self):
        run = layer_times.new_run(self.platform, "0.1.0", "host", "compare-step --store")
        run["measurements"] = [layer_times.row_of(layer_times.probe_of("norm", 0, 1), [1.0, 2.0])]
        why = self.stored(run, "kept.json")
        self.assertRegex(why, "not stored: .*amount is 0; expected 1 to .*; the times are in .*kept.json: repeat `overlaptune")
        self.assertEqual(len(why.splitlines()), 1)
        self.assertEqual(json.loads((self.folder / "kept.json").read_text())["probe_runs"][0]["uid"], run["uid"])

    def test_a_simulated_platform_is_refused(self):
        with self.assertRaisesRegex(ValueError, "sim:h200-nvlink-x2 is simulated: expected a platform of GPUs"):
            layer_times.platform_row(built.PROGRAM, self.database, self.platform["fingerprint"])
        with self.assertRaisesRegex(ValueError, "overlaptune db export: .*nowhere.db"):
            layer_times.platform_row(built.PROGRAM, "/nowhere.db", "")

    def calibrated(self, ranks_per_gpu, rank=0):
        """Runs calibrate.py with operations that take a microsecond for each million of their amount."""
        distributed = types.SimpleNamespace(get_rank=lambda: rank, get_world_size=lambda: 2)
        torch = types.ModuleType("torch")
        torch.compiler = types.SimpleNamespace(reset=lambda: None)
        torch.cuda = types.SimpleNamespace(synchronize=lambda: None)
        torch.dtype = object
        torch.Tensor = object
        torch.distributed = types.ModuleType("torch.distributed")
        vars(torch.distributed).update(vars(distributed))
        predicted = self.predicted()
        works = predicted["works"]

        class Rounds:
            def __init__(self, turn_ms, alone=False):
                self.alone = alone

            def timed(self, replays, rounds):
                return [[16 * works[replay]["amount"] / 1e6] * rounds for replay in replays]

        stack = types.SimpleNamespace(layers=[{}])
        singles = {name: name for name in prediction.OTHERS}
        modules = {"torch": torch, "torch.distributed": torch.distributed,
                   "layer": mock.Mock(stack_of=lambda *_: stack, weights_of=lambda *_: [{}]),
                   "ranks": mock.Mock(pointwise_for=lambda *_: ("kernels", "compiled")),
                   "rounds": types.SimpleNamespace(Rounds=Rounds),
                   "single_operations": types.SimpleNamespace(
                       COLD_BYTES=1, RUNS=16, Call=object, graph_of=lambda call, layers: (call, 16),
                       single_calls=lambda *_: singles)}
        question = {"shape": dict(hidden=4096, heads=16, kv_heads=4, head_dim=128, width=7168, dtype="bfloat16",
                                  epsilon=1e-5, rope_theta=1e4, dtypes=dict.fromkeys(layer_shape.PRODUCTS, "bf16")),
                    "ranks": 2, "ranks_per_gpu": ranks_per_gpu, "sequence_parallel": True, "json": "",
                    "program": built.PROGRAM, "database": self.database, "stored_platform": self.platform,
                    "run": layer_times.new_run(self.platform, "0.1.0", "host", "compare-step --store")}
        names = {"all_gather": "all_gather of qkv", "reduce_scatter": "reduce_scatter of o"}
        with mock.patch.dict(sys.modules, modules):
            sys.modules.pop("calibrate", None)
            calibrate = importlib.import_module("calibrate")
            calibrate.call_of = lambda work, amount, dtype: names[work]
            done = self.folder / f"done.{predicted['tokens']}"
            if rank > 0:
                done.touch()  # as rank 0 does
            calibration = calibrate.Calibration(question, str(self.folder / "done"))
            calibration.measure(predicted)
            self.assertTrue(done.exists())
            return calibration, calibration.store() if rank == 0 else ""

    def test_all_operations_are_measured_once_and_stored(self):
        calibration, why = self.calibrated(1)
        self.assertEqual(why, "")
        self.assertEqual([(row["work"], row["name"]) for row in calibration.rows],
                         [("norm", "attention norm"), ("rope", "rope"), ("attention", "attention"),
                          ("activation", "activation"), ("all_gather", "all_gather of qkv"),
                          ("reduce_scatter", "reduce_scatter of o")])
        for name, each in self.predicted()["works"].items():
            self.assertAlmostEqual(each["us"], each["amount"] / 1e6, places=6, msg=name)
        self.assertEqual([name for name in os.listdir(self.folder) if "layer-" in name], [])
        table = layer_times.table_of(calibration.rows)
        self.assertEqual(len(table.splitlines()), 2 + 6)

    def test_ranks_that_share_a_gpu_measure_no_collectives(self):
        calibration, why = self.calibrated(2)
        self.assertEqual(why, "")
        self.assertEqual([row["work"] for row in calibration.rows], ["norm", "rope", "attention", "activation"])

    def test_other_ranks_take_part_in_collectives_only(self):
        calibration, _ = self.calibrated(1, rank=1)
        self.assertEqual([row["work"] for row in calibration.rows], ["all_gather", "reduce_scatter"])
        self.assertEqual(self.calibrated(2, rank=1)[0].rows, [])


class MeasuredLayers(unittest.TestCase):
    """Layers of Llama-3-70B with the widths of TP=8, as docs/results has them, lie in the ranges of their predictions."""

    def predictions(self, day, ranks, sequence):
        with tempfile.TemporaryDirectory() as folder:
            database, model, document = (Path(folder) / name for name in ("f.db", "m.json", "f.json"))
            document.write_bytes(gzip.decompress((built.SOURCE / f"docs/results/{day}.json.gz").read_bytes()))
            built.tool("db", "import", "--db", str(database), str(document))
            config = config_of("llama-3-70b")
            model.write_text(json.dumps(layer_shape.model_of(config, layer_shape.shape_of(config, 8), ranks)))
            return {tokens: built.tool_json("step", "--db", str(database), "--model", str(model), "--tp", str(ranks),
                                            "--tokens", str(tokens), "--scope", "layer", "--sequence-parallel", sequence)
                    for tokens in (1024, 4096, 16384)}

    def expect_between(self, document, what, us):
        low, high = document[f"{what}low_us"], document[f"{what}high_us"]
        self.assertLess(low, us, f"{what} {document.get('name', '')}")
        self.assertGreater(high, us, f"{what} {document.get('name', '')}")
        self.assertLess(high, 2 * low + 20)

    def test_layers_and_operations_on_four_gpus(self):
        predictions = self.predictions("2026-11-28-h200-nvlink-x4", 4, "no")
        sequential = {1024: 570, 4096: 2077, 16384: 8815}
        # Way `sequential`; a product with a collective is the time with the part in which no GEMM runs, and without it.
        measured = {"attention norm": (16.6, 68.9, 265.7), "rope": (4.1, 7.2, 25.8), "attention": (18.7, 98.7, 1018.4),
                    "mlp norm": (16.2, 69.2, 265.8), "activation": (7.7, 21.0, 79.9), "qkv": (29.7, 112.6, 436.4),
                    "gate_up": (168.2, 603.8, 2437.7), "o": (125.1 - 99.9, 426.8 - 336.4, 1591.8 - 1238.0),
                    "down": (174.4 - 98.5, 637.7 - 340.5, 2419.9 - 1234.0), "all_reduce of o": (99.9, 336.4, 1238.0),
                    "all_reduce of down": (98.5, 340.5, 1234.0)}
        for place, (tokens, document) in enumerate(predictions.items()):
            self.expect_between(document, "sequential_", sequential[tokens])
            tasks = {prediction.name_of(task["name"]): task for task in document["tasks"]}
            self.assertEqual(set(tasks), set(measured))
            for name, task in tasks.items():
                self.expect_between(task, "", measured[name][place])

    def test_layers_on_two_gpus(self):
        predictions = self.predictions("2026-11-29-h200-nvlink-x2", 2, "yes")
        for tokens, sequential, tuned in ((1024, 565.9, 467.4), (4096, 1965.1, 1703.6), (16384, 8506.3, 7152.0)):
            self.expect_between(predictions[tokens], "sequential_", sequential)
            self.expect_between(predictions[tokens], "operations_", tuned)


# Times of one layer with 100 us in norms and so on; sequential takes 400 + 40, tuned 400 - 50 + 10.
OPERATIONS = {name: {"us": 20.0, "beside_fused": 1.0, "source": "memory rate"} for name in prediction.OTHERS}
OPERATIONS.update({name: {"gemm_us": 50.0, "beside_fused": 1.0, "collective_us": 25.0, "overlapped_us": None, "source": "predicted"}
                   for name in layer_shape.PRODUCTS})
OPERATIONS["o"] = {"gemm_us": 50.0, "beside_fused": 1.0, "collective_us": 25.0, "overlapped_us": 55.0, "source": "measured"}
OPERATIONS["down"] = {"gemm_us": 50.0, "beside_fused": 1.0, "collective_us": 25.0, "overlapped_us": 80.0, "source": "predicted"}
ALONE = {name: 25.0 for name in prediction.OTHERS}
for product in layer_shape.PRODUCTS:
    ALONE.update({f"{product} gemm": 50.0, f"{product} collective": 20.0, f"{product} sequential": 60.0,
                  f"{product} tuned": 44.0})


def measured(**changes):
    return {"tokens": 4096, "right": True, "configs": {name: "signaled (exact)" for name in layer_shape.PRODUCTS},
            "predicted": {"sequential_us": 400.0, "tuned_us": 380.0, "platform": "h200-nvlink-x2", "notes": ["a note"],
                          "operations": OPERATIONS},
            # The second round is slow for all.
            "times_us": {"sequential": [410.0, 500.0, 400.0], "tuned": [369.0, 475.0, 380.0], "torch": [450.0] * 3},
            "no_async_tp": "no operator",
            "errors": {"torch": 0.003, "sequential": 0.003, "tuned": 0.004, "tuned to sequential": 0.004,
                       "tuned to torch": 0.005},
            "alone_us": ALONE, "attention_tflops": 123.4, **changes}


def raw(*passes, **changes):
    return {"gpu": "H", "ranks": 2, "ranks_per_gpu": 1, "torch": "2.11", "nccl": "2.28", "model": "m.json", "tp_shapes": 8,
            "sequence_parallel": True, "layers": 4, "rounds": 3, "pointwise": "compiled", "measured_on": "h200-nvlink-x2",
            "passes": list(passes), **changes}


class Tables(unittest.TestCase):
    def cells(self, text, first):
        """The rows of the table whose header begins with a word."""
        lines = text.splitlines()
        begin = next(number for number, line in enumerate(lines) if line.startswith(f"| {first} "))
        rows = []
        for line in lines[begin + 2:]:
            if not line.startswith("|"):
                break
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        return rows

    def test_a_layer(self):
        rows = self.cells(step_table.report(raw(measured())), "tokens")
        # Medians 410 and 380; gains of the rounds 10, 5 and 5 %; predicted 100 * (1 - 380 / 400) = 5.
        self.assertEqual(rows, [["4096", "410.0", "400.0", "-2.4", "380.0", "380.0", "0.0", "5.0", "5.0", "0.0", "450.0", "-"]])
        times = {**measured()["times_us"], "async_tp": [430.0, 440.0, 420.0]}
        found = measured(times_us=times, errors={**measured()["errors"], "async_tp": 0.0031}, no_async_tp="")
        text = step_table.report(raw(found))
        self.assertEqual(self.cells(text, "tokens")[0][-1], "430.0")
        self.assertIn("async-TP 3.10e-03", text)

    def test_operations_and_their_sums(self):
        rows = {row[0]: row[1:] for row in self.cells(step_table.report(raw(measured())), "operation")}
        self.assertEqual(rows["rope"], ["20.0", "25.0", "-20.0", "", "", "", "memory rate"])
        self.assertEqual(rows["o: collective"][:3], ["25.0", "20.0", "25.0"])
        self.assertEqual(rows["o: both"], ["75.0", "60.0", "25.0", "55.0", "44.0", "25.0", "signaled (exact); measured"])
        self.assertEqual(rows["down: both"][3], "75.0")  # not 80: nobody would overlap that
        # 5 x 20 + 4 x 75 and 5 x 25 + 4 x 60; tuned: one of 55 instead of 75; 5 x 25 + 4 x 44.
        self.assertEqual(rows["sum"][:5], ["400.0", "365.0", "9.6", "380.0", "301.0"])

    def test_a_product_without_a_collective(self):
        operations = {**OPERATIONS, "qkv": {"gemm_us": 50.0, "collective_us": None, "overlapped_us": None, "source": "p"}}
        alone = {name: us for name, us in ALONE.items() if not name.startswith("qkv ") or name == "qkv gemm"}
        found = measured(alone_us=alone)
        found["predicted"] = {**found["predicted"], "operations": operations}
        rows = {row[0]: row[1:] for row in self.cells(step_table.report(raw(found)), "operation")}
        self.assertNotIn("qkv: both", rows)
        self.assertEqual(rows["sum"][0], "375.0")

    def test_the_summary(self):
        text = step_table.report(raw(measured()))
        self.assertIn("Largest error of a layer's time: 2.4 % (target 4, floor 8); largest difference of a gain: 0.0 points",
                      text)
        # 5 x 5 us more: 425 beside 410, 405 beside 380.
        self.assertIn("predicted sequential 425.0 µs (+3.7 %), tuned 405.0 µs (+6.6 %); attention ran at 123 TFLOP/s", text)
        self.assertIn("4096 tokens: right; relative errors", text)
        self.assertIn("async-TP none (no operator)", text)
        self.assertTrue(text.endswith("Prediction: a note"))
        self.assertNotIn("not the platform", text)
        other = step_table.report(raw(measured(right=False), measured_on="h100-nvlink-x2"))
        self.assertIn("predictions are those of h200-nvlink-x2, which is not the platform of these ranks", other)
        self.assertIn("4096 tokens: WRONG", other)

    def test_without_operations(self):
        text = step_table.report(raw(measured(alone_us=None, attention_tflops=None)))
        self.assertNotIn("| operation", text)
        self.assertNotIn("as measured alone", text)

    def test_ranks_that_share_a_gpu_have_no_errors_of_times(self):
        text = step_table.report(raw(measured(), ranks_per_gpu=2, measured_on=None))
        self.assertIn("RANKS SHARE A GPU", text)
        self.assertEqual(self.cells(text, "tokens")[0][3], "-")
        self.assertEqual({row[3] for row in self.cells(text, "operation")}, {""})
        self.assertNotIn("Largest error", text)


if __name__ == "__main__":
    unittest.main()
