"""The layer as `overlaptune step` predicts it: its time, and what each operation takes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Optional

from layer_shape import PRODUCTS

#: The operations without a product, by the names of `overlaptune step`.
OTHERS = ("attention norm", "rope", "attention", "mlp norm", "activation")
PREFIX, SUFFIX = "forward ", " 0"  #: of the names of the tasks of one layer


def quantising(product: str) -> str:
    """The operation before a product of 8-bit operands."""
    return f"quantise {product}"


def name_of(task: str) -> str:
    if not task.startswith(PREFIX) or not task.endswith(SUFFIX):
        raise ValueError(f"overlaptune step: task '{task}': expected the forward pass of one layer")
    return task[len(PREFIX):-len(SUFFIX)]


def prediction_of(document: dict[str, Any]) -> dict[str, Any]:
    """From the document of `overlaptune step --scope layer --json`. `works` has what may be stored: the operations that
    are no GEMM, with `work`, `amount` (bytes, or operations of attention) and `us`; `dtypes` has those of the products.
    `operations` has the products with `gemm_us`, `collective_us` (None: there is no collective) and `overlapped_us` (None:
    no config is known that overlaps them), and `beside_fused` of products and attention: the factor on their time where
    products are overlapped."""
    tasks = {name_of(task["name"]): task for task in document["tasks"]}
    overlapped = {name_of(fusion["compute"]): fusion for fusion in document["fusions"]}
    collectives = {name.split(" of ")[1]: task for name, task in tasks.items() if " of " in name}
    operations: dict[str, dict[str, Any]] = {}
    for name in (*OTHERS, *(name for name in map(quantising, PRODUCTS) if name in tasks)):
        operations[name] = {"us": tasks[name]["us"], "beside_fused": tasks[name].get("beside_fused", 1.0),
                            "source": tasks[name]["cost_source"]}
    for name in PRODUCTS:
        collective: Optional[dict[str, Any]] = collectives.get(name)
        fusion: Optional[dict[str, Any]] = overlapped.get(name)
        operations[name] = {"gemm_us": tasks[name]["us"], "beside_fused": tasks[name].get("beside_fused", 1.0),
                            "collective_us": collective["us"] if collective else None,
                            "overlapped_us": fusion["us"] if fusion else None,
                            "source": fusion["cost_source"] if fusion else tasks[name]["cost_source"]}
    known = {*operations, *(name for name in tasks if " of " in name)}
    if set(tasks) != known:
        raise ValueError(f"overlaptune step: operations {', '.join(sorted(set(tasks) - known))}: the measured layer has "
                         "no such operations")
    works = {name: {"work": task["work"], "amount": task["amount"], "us": task["us"]}
             for name, task in tasks.items() if "work" in task}
    return {"tokens": document["tokens"], "fingerprint": document["fingerprint"], "works": works,
            "dtypes": {name: tasks[name]["dtype"] for name in PRODUCTS}, "sequential_us": document["sequential_us"],
            "tuned_us": document["operations_us"], "platform": document["platform"], "notes": document["notes"],
            "operations": operations}


def ask(program: str, model: Path, tokens: int, ranks: int, sequence_parallel: bool, flags: list[str]) -> dict[str, Any]:
    """Asks `overlaptune step` for one layer; `flags` name the database, the platform and the rates."""
    done = subprocess.run([program, "step", "--model", str(model), "--tp", str(ranks), "--tokens", str(tokens), "--scope",
                           "layer", "--sequence-parallel", "yes" if sequence_parallel else "no", "--json", *flags],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"overlaptune step: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return prediction_of(json.loads(done.stdout))
