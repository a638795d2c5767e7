"""Lists how to run each product of a transformer layer that has a collective beside it.

    pip install ./python        # or the wheel of `ninja wheel`
    python3 examples/list_configs.py --db cluster.db --model examples/models/llama-3-70b.json \\
        --tp 8 --tokens 1k,4k --sequence-parallel

The model is a Hugging Face config.json of the llama, qwen, mixtral or deepseek family, with gated MLPs.
Experts are shared out among the ranks, with balanced routing: `combine` is their down product and the
all-to-all behind it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overlaptune import Database, Dtype, Error, Op, Problem


def divided(config: dict[str, Any], field: str, tp: int) -> int:
    size = int(config[field])
    if size % tp != 0:
        raise ValueError(f"{field} = {size}: expected a multiple of --tp {tp}")
    return size // tp


def first_of(config: dict[str, Any], *fields: str) -> int:
    """The first of the fields that is there and not null; 0 where none is."""
    return next((int(config[field]) for field in fields if config.get(field) is not None), 0)


def experts_of(config: dict[str, Any]) -> tuple[int, int, int]:
    """The experts of a layer, how many of them a token passes, and their width."""
    return (first_of(config, "num_local_experts", "num_experts", "n_routed_experts"),
            first_of(config, "num_experts_per_tok", "experts_per_token"),
            first_of(config, "moe_intermediate_size", "intermediate_size"))


def products(config: dict[str, Any], tp: int, sequence: bool) -> Iterator[tuple[str, Op, int, int]]:
    """Yields name, op, n and k of each product on one rank. qkv and gate_up have a collective only under
    sequence parallelism. Of layers with experts only the expert that every token passes has a product here."""
    hidden = int(config["hidden_size"])
    heads = divided(config, "num_attention_heads", tp)
    experts, _, expert_width = experts_of(config)
    is_dense = not experts or bool(config.get("first_k_dense_replace"))
    width = divided(config, "intermediate_size", tp) if is_dense else 0
    shared = first_of(config, "shared_expert_intermediate_size") or first_of(config, "n_shared_experts") * expert_width
    shared = shared // tp if experts else 0
    latent = bool(config.get("kv_lora_rank"))  # q, k and v come from low-rank factors
    head_dim = int(config.get("head_dim") or hidden // int(config["num_attention_heads"]))
    # With fewer KV heads than ranks, several ranks have the same head.
    kv_heads = max(1, int(config.get("num_key_value_heads") or heads * tp) // tp)
    reduce = Op.GEMM_REDUCE_SCATTER if sequence else Op.GEMM_ALL_REDUCE
    mlps = [(prefix, n) for prefix, n in (("", width), ("shared_", shared)) if n]
    yield "o", reduce, hidden, heads * int(config.get("v_head_dim") or head_dim)
    for prefix, n in mlps:
        yield f"{prefix}down", reduce, hidden, n
    if sequence:
        if not latent:
            yield "qkv", Op.ALL_GATHER_GEMM, (heads + 2 * kv_heads) * head_dim, hidden
        for prefix, n in mlps:
            yield f"{prefix}gate_up", Op.ALL_GATHER_GEMM, 2 * n, hidden


def problems(config: dict[str, Any], tp: int, tokens: int, sequence: bool) -> Iterator[tuple[str, Problem]]:
    """Yields the name and the problem of each product, with that of the experts under sequence parallelism."""
    dtype = Dtype.FP16 if config.get("torch_dtype") == "float16" else Dtype.BF16
    for name, op, n, k in products(config, tp, sequence):
        yield name, Problem(op, tokens, n, k, tp, dtype)
    experts, per_token, width = experts_of(config)
    if sequence and experts and per_token and experts % tp == 0:
        rows = -(-tokens * per_token // tp**2) * tp  # each rank sends as many to each other one
        yield "combine", Problem(Op.GEMM_ALL_TO_ALL, rows, int(config["hidden_size"]), width, tp, dtype)


def size(text: str) -> int:
    """A number as the command line takes it: 4096, 4k."""
    return int(text[:-1]) * 1024 if text.endswith("k") else int(text)


def microseconds(time: float | None) -> str:
    return "-" if time is None else f"{time:.1f}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--db", type=Path, help="tuning database (default: the one that OVERLAPTUNE_DB names)")
    parser.add_argument("--model", type=Path, required=True, help="a Hugging Face config.json")
    parser.add_argument("--tp", type=int, required=True, help="GPUs that the model is divided over")
    parser.add_argument("--tokens", required=True, help="tokens of a pass, as in 1k,4k")
    parser.add_argument("--sequence-parallel", action="store_true")
    parser.add_argument("--platform", help="stored platform, as in sim:h200-nvlink-x8; needed for simulated machines")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    config = json.loads(args.model.read_text())
    with Database(args.db, args.platform) as database:
        print(f"{'product':14} {'tokens':>7} {'source':9} {'us':>9} {'sequential':>10}  config")
        for tokens in map(size, args.tokens.split(",")):
            for name, problem in problems(config, args.tp, tokens, args.sequence_parallel):
                answer = database.query(problem)
                time = answer.predicted_us if answer.measured_us is None else answer.measured_us
                mark = " (simulated)" if "(simulated)" in database.explain(problem) else ""
                print(f"{name:14} {tokens:>7} {answer.source!s:9} {microseconds(time):>9} "
                      f"{microseconds(answer.baseline_us):>10}  {answer.config}{mark}")


if __name__ == "__main__":
    try:
        main()
    except KeyError as error:
        sys.exit(f"list_configs: the model's config has no {error}")
    except (Error, OSError, ValueError) as error:
        sys.exit(f"list_configs: {error}")
