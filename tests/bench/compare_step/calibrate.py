"""One rank of scripts/compare-step --store, under torchrun: calibrate.py QUESTION, the file that question.py wrote.
Measures the operations of a layer that are no products, and stores their times. Exits with 1 where it cannot."""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from layer import Stack, dtype_of, normal, stack_of, weights_of
from layer_shape import LayerShape
from layer_times import COLLECTIVES, document_of, probe_of, row_of, stored, table_of
from ranks import pointwise_for, say, start
from rounds import Rounds
from single_operations import COLD_BYTES, RUNS, Call, graph_of, single_calls

ROUNDS, TURN_MS = 5, 200.0
ELEMENT_BYTES = 2  #: bf16 and fp16


def call_of(work: str, amount: int, dtype: torch.dtype) -> Call:
    """NCCL's collective over a whole buffer of `amount` bytes, as PyTorch calls it, from buffers that are not in the L2
    cache. The sums of an all-reduce, which is in place, are of zeros, so that they stay finite."""
    ranks, elements = dist.get_world_size(), amount // ELEMENT_BYTES
    copies = min(RUNS, math.ceil(COLD_BYTES / amount))
    wholes = itertools.cycle([torch.zeros((elements,), dtype=dtype, device="cuda") if work == "all_reduce" else
                              normal((elements,), 1, dtype) for _ in range(copies)])
    if work == "all_reduce":
        return lambda layer: dist.all_reduce(next(wholes))
    parts = itertools.cycle([normal((elements // ranks,), 1, dtype) for _ in range(copies)])
    if work == "all_gather":
        return lambda layer: dist.all_gather_into_tensor(next(wholes), next(parts))
    return lambda layer: dist.reduce_scatter_tensor(next(parts), next(wholes))


class Calibration:
    """`turns`: beginning of the names of files by which rank 0 says that it is done."""

    def __init__(self, question: dict[str, Any], turns: str) -> None:
        self.question, self.turns = question, turns
        self.shape = LayerShape(**question["shape"])
        self.layers = weights_of(self.shape, 1)
        self.alone, self.together = Rounds(TURN_MS, alone=True), Rounds(TURN_MS)
        self.run = question["run"]
        self.rows: list[dict[str, Any]] = []  #: of the table
        self.kept: list[object] = []  #: graphs of collectives: NCCL remembers their memory

    def measure(self, predicted: dict[str, Any]) -> None:
        """All operations of one number of tokens, each amount of a work once."""
        stack = stack_of(self.shape, self.layers, predicted["tokens"], self.question["sequence_parallel"])
        torch.compiler.reset()  # its limit of compiled shapes is small; older graphs are not replayed any more
        pointwise, how = pointwise_for(self.question, stack)
        if how not in ("compiled", "eager"):
            say(f"compare-step: --store: {how}: expected a compiler, or --pointwise eager to store the times of PyTorch's "
                "own operations")
            leave(1)
        tokens = predicted["tokens"]
        qkv, gate_up = (normal((tokens, columns), 1, dtype_of(self.shape))
                        for columns in (self.shape.qkv, 2 * self.shape.width))
        torch.cuda.synchronize()
        done = Path(f"{self.turns}.{tokens}")
        if dist.get_rank() == 0:
            for name, call in single_calls(stack, pointwise, qkv, gate_up).items():
                self._add(predicted, name, call, stack, self.alone)
            done.touch()
        # The others wait on the host: a collective would run on the GPU, which they may share with rank 0.
        while not done.exists():
            time.sleep(0.02)
        if self.question["ranks_per_gpu"] > 1:
            return  # they would run in turn
        for name, task in predicted["works"].items():
            if task["work"] in COLLECTIVES:
                self._add(predicted, name, call_of(task["work"], task["amount"], dtype_of(self.shape)), stack,
                          self.together)

    def _add(self, predicted: dict[str, Any], name: str, call: Call, stack: Stack, rounds: Rounds) -> None:
        task = predicted["works"][name]
        probe = probe_of(task["work"], task["amount"], self.question["ranks"])
        if any(known["probe"] == probe for known in self.run["measurements"]):
            return
        replay, runs = graph_of(call, stack.layers)
        if rounds is self.together:
            self.kept.append(replay)
        [times] = rounds.timed([replay], ROUNDS)
        row = row_of(probe, [us / runs for us in times])
        self.run["measurements"].append(row)
        self.rows.append({"tokens": predicted["tokens"], "name": name, "work": task["work"], "amount": task["amount"],
                          "assumed_us": task["us"], "us": row["time"]["median_us"]})

    def store(self) -> str:
        """All that was measured so far. Why it is not stored, or nothing."""
        file = Path(self.question["json"] or f"{self.question['database']}.layer-{self.run['uid'][:8]}.json")
        why = stored(self.question["program"], self.question["database"],
                     document_of(self.question["stored_platform"], self.run), file)
        if not why and not self.question["json"]:
            file.unlink()
        return why


def leave(status: int) -> None:
    """Graphs and communicators end with the process. torchrun ends the other ranks where one has failed."""
    sys.stdout.flush()
    if status == 0:
        dist.barrier()
        torch.cuda.synchronize()
    os._exit(status)


def main() -> None:
    question: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    start(question)
    here, expected = torch.cuda.get_device_name(), question["stored_platform"]["gpu_model"]
    if here != expected:
        say(f"compare-step: --store: this GPU is '{here}', that of {question['stored_platform']['name']} is '{expected}': "
            "expected the platform of these GPUs")
        leave(1)
    calibration = Calibration(question, f"{sys.argv[1]}.done")
    calibration.run["program_version"] += (f" with PyTorch {torch.__version__}, NCCL "
                                           f"{'.'.join(map(str, torch.cuda.nccl.version()))}")
    failed = ""
    for predicted in question["predictions"]:
        calibration.measure(predicted)
        if dist.get_rank() == 0:  # a run that is cut off leaves what it has
            failed = calibration.store()
            say(f"{predicted['tokens']} tokens: {failed or 'stored'}")
    if dist.get_rank() == 0:
        print(table_of(calibration.rows), flush=True)
        if question["ranks_per_gpu"] > 1:
            print("\nRanks share a GPU: collectives were not measured. The other times are of one rank alone.")
    status = torch.tensor([float(bool(failed))], device="cuda")
    dist.all_reduce(status, dist.ReduceOp.MAX)
    leave(int(status.item()))


if __name__ == "__main__":
    main()
