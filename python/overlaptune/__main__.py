"""The command line of the wheel: `python -m overlaptune query --problem …`. It answers; measuring is
for the program `overlaptune`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
from enum import Enum
from typing import Optional, Sequence, TypeVar

from . import __version__, version
from .database import Database
from .errors import DatabaseError, Error, UnavailableError
from .values import Answer, Dtype, Launch, Op, Problem

E = TypeVar("E", bound=Enum)

#: Exit codes as those of the program: bad use, a damaged database, a file that cannot be had.
BAD_INPUT, DAMAGED, UNAVAILABLE = 2, 4, 6


def named(kind: type[E], name: str) -> E:
    names = [str(each) for each in kind]
    if name not in names:
        raise argparse.ArgumentTypeError(f"'{name}': expected one of {', '.join(names)}")
    return kind[name.upper()]


def size(text: str) -> int:
    """A number as the program takes it: 4096, 4k, 1M."""
    match = re.fullmatch(r"(\d+)([kKmMgG]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"size '{text}': expected a number, as in 4096 or 4k")
    return int(match[1]) << 10 * ("", "k", "m", "g").index(match[2].lower())


def problem(text: str) -> Problem:
    """OP:M,N,K:dtype:ranks."""
    parts = text.split(":")
    sizes = parts[1].split(",") if len(parts) == 4 else []
    if len(sizes) != 3 or not parts[3].isdecimal():
        raise argparse.ArgumentTypeError(
            f"'{text}': expected OP:M,N,K:dtype:ranks, as in gemm_all_reduce:4k,8k,3584:bf16:8"
        )
    m, n, k = map(size, sizes)
    return Problem(named(Op, parts[0]), m, n, k, int(parts[3]), named(Dtype, parts[2]))


def launch(text: str) -> Launch:
    return named(Launch, text)


def as_json(answer: Answer) -> str:
    """The answer, with the fields of its config that its strategy uses, and no others."""
    chosen = {"transport": answer.transport} if answer.transport else {}
    fields = {"strategy": answer.strategy, **chosen, **dataclasses.asdict(answer)}
    return json.dumps({key: str(value) if isinstance(value, Enum) else value for key, value in fields.items()}, indent=2)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m overlaptune", description="Answers from a tuning database: which config to run."
    )
    top.add_argument("--version", action="store_true", help="versions of the package and of its library")
    query = top.add_subparsers(dest="command").add_parser("query", help="the best config that is known for a problem")
    query.add_argument("--problem", type=problem, required=True, metavar="OP:M,N,K:DTYPE:RANKS")
    query.add_argument("--db", metavar="FILE", help="database (else OVERLAPTUNE_DB)")
    query.add_argument("--platform", metavar="NAME", help="stored platform, as in sim:h200-nvlink-x8 (else this host's)")
    query.add_argument("--launch", type=launch, default=Launch.GRAPH, metavar="graph|eager")
    query.add_argument("--json", action="store_true", help="print one JSON document")
    return top


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parser()
    given = options.parse_args(arguments)
    try:
        if given.version:
            print(f"overlaptune {__version__}, library {version()}")
        elif given.command == "query":
            with Database(given.db, given.platform) as database:
                if given.json:
                    print(as_json(database.query(given.problem, given.launch)))
                else:
                    print(database.explain(given.problem, given.launch), end="")
        else:
            options.print_help(sys.stderr)
            return BAD_INPUT
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Error as error:
        print(f"overlaptune: {error}", file=sys.stderr)
        if isinstance(error, DatabaseError):
            return DAMAGED
        return UNAVAILABLE if isinstance(error, UnavailableError) else BAD_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
