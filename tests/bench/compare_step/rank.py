"""One rank of scripts/compare-step, under torchrun: rank.py QUESTION, the file that question.py wrote. Rank 0 prints the
tables; exits with 1 where a result is wrong."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Optional

import torch
import torch.distributed as dist
from captured import Captured
from checks import Result, Way, errors_of, is_right, run_once
from layer import Product, Stack, forward, stack_of, weights_of
from layer_shape import LayerShape
from operations import attention_tflops, calls_of
from pointwise import EAGER, Pointwise
from products import Plans, Problems, by_async_tp, by_plans, by_torch, config_of, in_fp32, plans_of, problems_of, shared_bytes
from ranks import pointwise_for, say, start
from rounds import Rounds
from single_operations import graph_of
from step_table import layer_figures, report
from tracing import trace
from ways import enable_symmetric_memory

from overlaptune import Database
from overlaptune.run import SEQUENTIAL
from overlaptune.torch import World

OPERATION_ROUNDS, OPERATION_TURN = 3, 0.2  #: the second one as a part of a layer's turn


def captured_way(stack: Stack, pointwise: Pointwise, product: Product) -> Way:
    last: list[Result] = []

    def call() -> None:
        last[:] = [forward(stack, pointwise, product, stack.h.dtype)]

    replay = Captured(call)
    return Way(replay, last[0])


def async_tp_way(stack: Stack, pointwise: Pointwise) -> tuple[Optional[Way], str]:
    """PyTorch's asynchronous tensor parallelism, or why a rank cannot capture it."""
    way: Optional[Way] = None
    why = ""
    try:
        enable_symmetric_memory()
        way = captured_way(stack, pointwise, by_async_tp(stack.h.dtype))
    except Exception as error:  # it is no part of PyTorch's interface, and changes with releases
        why = " ".join(str(error).split())[:200] or type(error).__name__
    failed = torch.tensor([float(bool(why))], device="cuda")
    dist.all_reduce(failed, dist.ReduceOp.MAX)
    return (way, "") if failed.item() == 0 else (None, why or "another rank cannot capture it")


class Comparison:
    """The world, and the graphs that were captured. NCCL remembers their memory, so they stay as long as the world."""

    def __init__(self, question: dict[str, Any]) -> None:
        self.question = question
        self.shape = LayerShape(**question["shape"])
        file, platform = question["database"], question["platform"]
        # Without families: answers are compared, not recipes.
        self.world = World(database=Database(file, platform) if platform else file, families=False,
                           result_bytes=4 << 30)  # for the graphs of all ways
        #: None: ranks that share a GPU have no platform.
        self.platform = self.world.platform().name if question["ranks_per_gpu"] == 1 else None
        self.layers = weights_of(self.shape, question["layers"])
        self.kept: list[object] = []
        self.ways: dict[int, dict[str, Way]] = {}  #: by tokens
        self.problems: dict[int, Problems] = {
            tokens: problems_of(self.shape, tokens, question["ranks"], question["sequence_parallel"])
            for tokens in question["tokens"]}
        answers = [self.world.answer, lambda problem: SEQUENTIAL]
        self.world.reserve(max(shared_bytes(each, answers) for each in self.problems.values()))
        # The world does not grow under graphs: all plans are made before the first one is captured.
        self.plans: dict[int, dict[str, Plans]] = {
            tokens: {"sequential": plans_of(self.world, problems, lambda problem: SEQUENTIAL),
                     "tuned": plans_of(self.world, problems, self.world.answer)}
            for tokens, problems in self.problems.items()}
        say("plans are made")

    def measured(self, tokens: int, predicted: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The raw numbers of one number of tokens, and how the pointwise operations ran."""
        question, problems = self.question, self.problems[tokens]
        stack = stack_of(self.shape, self.layers, tokens, question["sequence_parallel"])
        pointwise, how = pointwise_for(question, stack)
        planned = {name: by_plans(self.world, plans, stack.h.dtype) for name, plans in self.plans[tokens].items()}
        products: dict[str, Product] = {**planned, "torch": by_torch(problems, stack.h.dtype)}
        ways = {name: captured_way(stack, pointwise, product) for name, product in products.items()}
        no_async_tp = "it has no product with an all-reduce"
        if question["sequence_parallel"]:
            way, no_async_tp = async_tp_way(stack, pointwise)
            if way is not None:
                ways["async_tp"] = way
        times = Rounds(question["round_ms"]).timed([way.replay for way in ways.values()], question["rounds"])
        count = question["layers"]
        reference = forward(stack, EAGER, in_fp32(problems), torch.float32)
        input_sum = stack.h.float() + stack.residual.float()
        results = {name: run_once(way, input_sum) for name, way in ways.items()}
        errors = errors_of(results, (reference[0], reference[1] - input_sum))
        alone = self._alone(stack, pointwise, problems, planned) if question["operations"] else None
        self.kept += [stack, pointwise, ways]
        self.ways[tokens] = ways
        measured = {"tokens": tokens, "predicted": predicted,
                    "times_us": {name: [us / count for us in each] for name, each in zip(ways, times)},
                    "no_async_tp": no_async_tp, "errors": errors, "right": is_right(errors),
                    "configs": {name: config_of(self.world, problem) for name, problem in problems.items()},
                    "alone_us": alone,
                    "attention_tflops": attention_tflops(stack, tokens, alone["attention"]) if alone else None}
        return measured, how

    def _alone(self, stack: Stack, pointwise: Pointwise, problems: Problems,
               planned: dict[str, Product]) -> dict[str, float]:
        """Microseconds of each operation: the median of few rounds."""
        calls = calls_of(stack, pointwise, problems, planned)
        graphs = {name: graph_of(call, stack.layers) for name, call in calls.items()}
        self.kept += [calls, graphs]
        rounds = Rounds(OPERATION_TURN * self.question["round_ms"])
        times = rounds.timed([replay for replay, _ in graphs.values()], OPERATION_ROUNDS)
        return {name: sorted(each)[len(each) // 2] / runs for (name, (_, runs)), each in zip(graphs.items(), times)}


def save(raw: dict[str, Any], file: str) -> None:
    if file and dist.get_rank() == 0:
        Path(file).write_text(json.dumps(raw, indent=1) + "\n")


def main() -> None:
    question: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    start(question)
    comparison = Comparison(question)
    raw: dict[str, Any] = {
        **{name: value for name, value in question.items() if name not in ("predictions", "operations", "tokens", "json")},
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())), "measured_on": comparison.platform, "passes": []}
    for predicted in question["predictions"]:
        measured, raw["pointwise"] = comparison.measured(predicted["tokens"], predicted)
        raw["passes"].append(measured)
        row = layer_figures(measured)
        say(f"{predicted['tokens']} tokens: sequential {row['sequential']:.1f} µs, tuned {row['tuned']:.1f} µs, "
            f"results {'right' if measured['right'] else 'WRONG'}")
        save(raw, question["json"])  # a run that is cut off leaves what it has
    if comparison.world.rank == 0:
        print(report(raw), flush=True)
    if question["trace"]:
        trace(question, comparison.ways, raw["passes"], lambda: save(raw, question["json"]))
    dist.barrier()
    torch.cuda.synchronize()
    # Graphs, plans and communicators end with the process.
    os._exit(0 if all(measured["right"] for measured in raw["passes"]) else 1)


if __name__ == "__main__":
    main()
