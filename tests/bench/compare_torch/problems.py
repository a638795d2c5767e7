"""The problems to compare, one a line: those that are named, or the products of a model's layer.

problems.py [--problem OP:M,N,K:dtype:ranks]... [--model FILE] [--tokens LIST] [--tp N] [--ranks N] [--op LIST]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from list_configs import products, size
from overlaptune import Dtype, Op, Problem

PROBLEM = re.compile(r"(\w+):(\d+k?),(\d+k?),(\d+k?):(\w+):(\d+)")
LLAMA_3_70B = Path(__file__).parents[3] / "examples/models/llama-3-70b.json"


def text_of(problem: Problem) -> str:
    return f"{problem.op}:{problem.m},{problem.n},{problem.k}:{problem.dtype}:{problem.ranks}"


def parsed(text: str) -> Problem:
    found = PROBLEM.fullmatch(text)
    ops, dtypes = {str(op): op for op in Op}, {str(dtype): dtype for dtype in Dtype}
    if found is None or found[1] not in ops or found[5] not in dtypes:
        raise ValueError(f"problem '{text}': expected OP:M,N,K:dtype:ranks, as in "
                         "gemm_reduce_scatter:4096,8192,1024:bf16:8")
    return Problem(ops[found[1]], size(found[2]), size(found[3]), size(found[4]), int(found[6]), dtypes[found[5]])


def of_model(model: Path, tokens: list[int], tp: int, ranks: int) -> Iterator[Problem]:
    """The products of each rank of tensor parallelism over `tp` GPUs: under sequence parallelism, without it,
    and with the exchange of experts in place of the sum."""
    config = json.loads(model.read_text())
    dtype = Dtype.FP16 if config.get("torch_dtype") == "float16" else Dtype.BF16
    for count in tokens:
        gathered = list(products(config, tp, sequence=True))
        summed = [(op, n, k) for _, op, n, k in products(config, tp, sequence=False)]
        shapes = [(op, n, k) for _, op, n, k in gathered] + summed
        shapes += [(Op.GEMM_ALL_TO_ALL, n, k) for _, n, k in summed]
        for op, n, k in shapes:
            yield Problem(op, count, n, k, ranks, dtype)


def chosen(arguments: list[str]) -> list[Problem]:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--problem", action="append", default=[])
    parser.add_argument("--model", type=Path, default=LLAMA_3_70B)
    parser.add_argument("--tokens", default="1k,4k,8k,16k")
    parser.add_argument("--tp", type=int, default=8)
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--op", default=",".join(str(op) for op in Op))
    options = parser.parse_args(arguments)
    if options.problem:
        problems = [parsed(text) for text in options.problem]
    else:
        ranks: Optional[int] = options.ranks
        if ranks is None:
            raise ValueError("--ranks: missing, and no --problem says it")
        problems = list(of_model(options.model, [size(text) for text in options.tokens.split(",")], options.tp, ranks))
    wanted = options.op.split(",")
    unknown = set(wanted) - {str(op) for op in Op}
    if unknown:
        raise ValueError(f"--op {','.join(sorted(unknown))}: expected {', '.join(str(op) for op in Op)}")
    problems = [problem for problem in problems if str(problem.op) in wanted]
    if len({problem.ranks for problem in problems}) != 1:
        raise ValueError("problems: expected one or more, all with the same number of ranks")
    return problems


if __name__ == "__main__":
    try:
        for each in chosen(sys.argv[1:]):
            print(text_of(each))
    except (ValueError, OSError) as error:
        print(f"compare-torch: {error}", file=sys.stderr)
        sys.exit(2)
