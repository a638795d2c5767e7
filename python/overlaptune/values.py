"""Questions and answers as plain values. Units and rules are those of overlaptune.h."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Optional


class _Named(IntEnum):
    """An enumeration that prints the names of the command line and the database."""

    def __str__(self) -> str:
        return self.name.lower()


class Op(_Named):
    GEMM_ALL_REDUCE = 0
    GEMM_REDUCE_SCATTER = 1
    ALL_GATHER_GEMM = 2
    GEMM_ALL_TO_ALL = 3


class Dtype(_Named):
    """Element type of A, B and C; accumulation is fp32."""

    BF16 = 0
    FP16 = 1


class Launch(_Named):
    """How the plan is submitted: replay of a captured CUDA graph, or call by call."""

    GRAPH = 0
    EAGER = 1


class Source(_Named):
    EXACT = 0
    PREDICTED = 1
    BASELINE = 2


class Strategy(_Named):
    SEQUENTIAL = 0
    CHUNKED = 1
    SIGNALED = 2
    PEER_STORE = 3
    COPY_ENGINE = 4
    WAITING = 5


class Transport(_Named):
    RING = 0
    SYMMETRIC = 1
    COPY_ENGINE = 2
    SYMMETRIC_THEN_RING = 3
    PEER_ACCESS = 4


class Wait(_Named):
    """How a collective waits for the signal of its wave group (SIGNALED)."""

    DRIVER = 0
    KERNEL = 1


@dataclass(frozen=True)
class Problem:
    """One matrix product and its collective: A is m x k, B is n x k, C = A * B^T is m x n.

    m, n and k are what one rank computes. n and k are multiples of 8; in all but GEMM_ALL_REDUCE m
    is a multiple of ranks. A query for a problem that breaks a rule raises ArgumentError.
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
    of the slowest rank; None where not known. Fields that a strategy does not use are 0, chunks
    is 1: PEER_STORE has no transport, though `transport` is RING there."""

    source: Source
    strategy: Strategy
    block_m: int  #: one output block of the GEMM; 0: cuBLASLt chooses
    block_n: int
    block_k: int
    stages: int  #: depth of the load pipeline, in k blocks
    cluster: int  #: CTAs that share operand loads
    raster: int  #: row panels walked together, column by column
    #: SMs that the collective may use. 0: NCCL chooses; with SIGNALED on the SMs of tiles that have
    #: ended.
    comm_ctas: int
    chunks: int  #: CHUNKED: parts of the rows of each row block
    transport: Transport
    predicted_us: Optional[float]
    measured_us: Optional[float]  #: EXACT only
    baseline_us: Optional[float]  #: SEQUENTIAL: measured where EXACT, else predicted
    reason: str
    wave_groups: tuple[int, ...]  #: SIGNALED: tiles of each group, in their order
    wait: Wait = Wait.DRIVER
