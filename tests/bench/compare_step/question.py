"""The question of scripts/compare-step, checked, with the predictions: question.py FILE OPTION... writes it as JSON for
the ranks. With `-` for FILE the options are checked, and nothing is predicted or written."""

from __future__ import annotations

import argparse
import dataclasses
import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from layer_shape import model_of, shape_of
from layer_times import new_run, platform_row
from list_configs import size
from prediction import ask
from problems import LLAMA_3_70B

MOST_TOKENS = 1 << 20
TOKENS, STORED_TOKENS = "1k,4k,16k", "128,512,2k,8k,32k"  #: times of operations are interpolated


def whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected a whole number of 1 or more")
    return int(text)


def tokens_of(text: str, ranks: int) -> list[int]:
    try:
        counts = [size(each) for each in text.split(",")]
    except ValueError:
        raise ValueError(f"--tokens '{text}': expected numbers, as in 1k,4k,16k") from None
    for count in counts:
        if not 0 < count <= MOST_TOKENS or count % ranks != 0:
            raise ValueError(f"--tokens: {count}: expected a multiple of {ranks}, the number of ranks, up to {MOST_TOKENS}")
    return sorted(set(counts))


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="compare-step", usage="see scripts/compare-step --help", add_help=False)
    parser.add_argument("file")
    parser.add_argument("--program", default="overlaptune")
    parser.add_argument("--db", required=True)
    parser.add_argument("--platform", default="")
    parser.add_argument("--model", type=Path, default=LLAMA_3_70B)
    parser.add_argument("--tokens")
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--command-line", default="compare-step --store")
    parser.add_argument("--tp", type=whole, required=True)
    parser.add_argument("--tp-shapes", type=whole)
    parser.add_argument("--plain-tp", action="store_true")
    parser.add_argument("--layers", type=whole, default=4)
    parser.add_argument("--rounds", type=whole, default=5)
    parser.add_argument("--round-ms", type=whole, default=1000)
    parser.add_argument("--no-operations", action="store_true")
    parser.add_argument("--pointwise", choices=("compiled", "eager"), default="compiled")
    parser.add_argument("--memory-gb-per-s", default="")
    parser.add_argument("--attention-tflops", default="")
    parser.add_argument("--ranks-per-gpu", type=whole, default=1)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--json", default="")
    return parser.parse_args(arguments)


def question_of(options: argparse.Namespace) -> dict[str, Any]:
    """All but the predictions."""
    config = json.loads(options.model.read_text())
    if not isinstance(config, dict):
        raise ValueError(f"{options.model}: expected the config.json of a model")
    if options.tp < 2 and not options.store:
        raise ValueError(f"--tp {options.tp}: expected 2 or more ranks")
    if options.tp % options.ranks_per_gpu != 0:
        raise ValueError(f"--ranks-per-gpu {options.ranks_per_gpu}: expected a divisor of --tp {options.tp}")
    if options.ranks_per_gpu > 1 and not options.platform:
        raise ValueError("--platform: missing beside --ranks-per-gpu: expected the platform of the database to take, "
                         "because ranks that share a GPU have none")
    try:
        shape = shape_of(config, options.tp_shapes or options.tp)
    except KeyError as error:
        raise ValueError(f"{options.model}: no {error.args[0]}: expected the config.json of a model") from None
    return {"model": str(options.model), "shape": dataclasses.asdict(shape), "ranks": options.tp,
            "ranks_per_gpu": options.ranks_per_gpu, "tp_shapes": options.tp_shapes or options.tp,
            "sequence_parallel": not options.plain_tp, "database": options.db, "platform": options.platform,
            "layers": options.layers, "rounds": options.rounds, "round_ms": options.round_ms,
            "operations": not options.no_operations, "pointwise": options.pointwise, "trace": options.trace,
            "json": options.json, "program": options.program, "store": options.store,
            "tokens": tokens_of(options.tokens or (STORED_TOKENS if options.store else TOKENS), options.tp)}


def predictions_of(options: argparse.Namespace, question: dict[str, Any]) -> list[dict[str, Any]]:
    flags = ["--db", options.db]
    for name in ("platform", "memory_gb_per_s", "attention_tflops"):
        if getattr(options, name):
            flags += [f"--{name.replace('_', '-')}", getattr(options, name)]
    shape = shape_of(json.loads(options.model.read_text()), question["tp_shapes"])
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / options.model.name
        model.write_text(json.dumps(model_of(json.loads(options.model.read_text()), shape, options.tp)))
        return [ask(options.program, model, tokens, options.tp, question["sequence_parallel"], flags)
                for tokens in question["tokens"]]


def stored_as(options: argparse.Namespace, predictions: list[dict[str, Any]]) -> dict[str, Any]:
    """The platform of the database, and a run of probes on it."""
    platform = platform_row(options.program, options.db, predictions[0]["fingerprint"])
    version = subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return {"stored_platform": platform,
            "run": new_run(platform, f"{version}, pointwise {options.pointwise}", socket.gethostname(),
                           options.command_line)}


def main() -> None:
    options = parsed(sys.argv[1:])
    try:
        question = question_of(options)
        if options.file != "-":
            question["predictions"] = predictions_of(options, question)
            question["shape"]["dtypes"] = question["predictions"][0]["dtypes"]
            if options.store:
                question.update(stored_as(options, question["predictions"]))
            Path(options.file).write_text(json.dumps(question, indent=1) + "\n")
    except (ValueError, OSError) as error:
        print(f"compare-step: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
