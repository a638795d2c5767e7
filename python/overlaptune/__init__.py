"""Asks a tuning database how a matrix product and its collective should run on these GPUs.

    from overlaptune import Database, Op, Problem

    with Database("cluster.db") as database:
        answer = database.query(Problem(Op.GEMM_ALL_REDUCE, m=4096, n=8192, k=3584, ranks=8))
        print(answer.config, answer.reason)
"""

from .database import Database
from .errors import (
    ArgumentError,
    DatabaseError,
    Error,
    InternalError,
    LibraryError,
    NotFoundError,
    OutOfMemoryError,
    UnavailableError,
)
from .library import load
from .values import (
    Answer,
    Dtype,
    Launch,
    Op,
    Platform,
    Problem,
    Source,
    Strategy,
    Transport,
)

__version__ = "0.1.0"  #: of this package; version() is that of the library


def version() -> str:
    """Version of the library that is loaded, as in "0.1.0"."""
    text: bytes = load().ovt_version()
    return text.decode()


__all__ = [
    "Answer",
    "ArgumentError",
    "Database",
    "DatabaseError",
    "Dtype",
    "Error",
    "InternalError",
    "Launch",
    "LibraryError",
    "NotFoundError",
    "Op",
    "OutOfMemoryError",
    "Platform",
    "Problem",
    "Source",
    "Strategy",
    "Transport",
    "UnavailableError",
    "__version__",
    "version",
]
