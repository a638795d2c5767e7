"""Questions and answers as plain values. Units and rules are those of overlaptune.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Optional, Union


class _Named(IntEnum):
    """An enumeration that prints the names of the command line and the database."""

    def __str__(self) -> str:
        return self.name.lower()


class Op(_Named):
    GEMM_ALL_REDUCE = 0
    GEMM_REDUCE_SCATTER = 1
    ALL_GATHER_GEMM = 2
    GEMM_ALL_TO_ALL = 3
    ALL_TO_ALL_GEMM = 4


class Dtype(_Named):
    """Element type of A, B and C; accumulation is fp32.

    E4M3: A and B have 8 bits and scales in fp32, one for each of their rows or one for each matrix; C has 16 bits.
    Tensor cores keep fewer bits of their sums; EXACT: only of each 128 products.
    """

    BF16 = 0
    FP16 = 1
    E4M3_ROWS_BF16 = 2
    E4M3_ROWS_FP16 = 3
    E4M3_TENSOR_BF16 = 4
    E4M3_TENSOR_FP16 = 5
    E4M3_ROWS_BF16_EXACT = 6
    E4M3_ROWS_FP16_EXACT = 7
    E4M3_TENSOR_BF16_EXACT = 8
    E4M3_TENSOR_FP16_EXACT = 9


class Launch(_Named):
    """How the plan is submitted: replay of a captured CUDA graph, or call by call."""

    GRAPH = 0
    EAGER = 1


class Source(_Named):
    EXACT = 0
    PREDICTED = 1
    BASELINE = 2


#: Names, as the command line and the database have them (docs/query.md): "signaled", "peer_access".
Strategy = str
Transport = str


@dataclass(frozen=True)
class Problem:
    """One matrix product and its collective: A is m x k, B is n x k, C = A * B^T is m x n.

    m, n and k are what one rank computes. ALL_TO_ALL_GEMM sends row block j of A to rank j before the
    product; GEMM_ALL_TO_ALL sends row block j of C after it. n and k are multiples of 8 (with
    8-bit operands of 16); in all but GEMM_ALL_REDUCE m is a multiple of ranks (of 4 * ranks where rows with scales of their
    own are exchanged first). A query for a problem that breaks a rule raises ArgumentError.
    """

    op: Op
    m: int
    n: int
    k: int
    ranks: int
    dtype: Dtype = Dtype.BF16


@dataclass(frozen=True)
class Platform:
    """The GPUs, links and software that results hold for. Give either all fields, as tuning stored
    them, or only `name`: the stored platform with this name or fingerprint. Use the second form to
    ask for results of a simulated machine."""

    name: str
    machine: str = ""  #: "cuda"; "sim" for a simulated machine
    gpu_model: str = ""
    gpu_count: int = 0
    sms: int = 0  #: streaming multiprocessors of one GPU
    compute_capability: int = 0  #: 10 * major + minor
    multicast_allowed: bool = False
    memory_bytes: int = 0  #: device memory of one GPU
    driver_version: str = ""
    cuda_version: str = ""
    nccl_version: str = ""
    topology: str = ""
    transport: str = ""
    details: str = ""


@dataclass(frozen=True)
class Answer:
    """How to run a problem, how long it takes, and why this is the answer. Times are microseconds
    of the slowest rank; None where not known."""

    #: The config as one line: the strategy, and what this strategy can choose, as in
    #: "chunked ctas=16 transport=ring chunks=4".
    config: str
    source: Source = Source.BASELINE
    reason: str = ""
    predicted_us: Optional[float] = None
    measured_us: Optional[float] = None  #: EXACT only
    baseline_us: Optional[float] = None  #: `sequential`: measured where EXACT, else predicted

    @property
    def strategy(self) -> Strategy:
        return next((word for word in self.config.split() if "=" not in word), "")

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the config: {"ctas": "16", …}."""
        return dict(word.split("=", 1) for word in self.config.split() if "=" in word)

    @property
    def transport(self) -> Transport:
        """Empty where the strategy has no choice."""
        return self.fields.get("transport", "")


def answer_with(config: Union[Answer, str]) -> Answer:
    """The answer itself, or one with the config of a line."""
    return config if isinstance(config, Answer) else Answer(config)
