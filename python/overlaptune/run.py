"""Plans on an NCCL communicator: run.h, call by call. Addresses and handles are integers, and sizes
are in bytes. run.h says which calls are collective; overlaptune.torch makes them for PyTorch."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional, Union

from .c_values import config_line, fill, platform_of, problem_struct, text_bytes
from .errors import ArgumentError
from .library import CONFIG_SIZE, CPlatform
from .run_library import CBuffers, CSizes, CWorldOptions, check, load
from .values import Answer, Platform, Problem, answer_with

#: The config that every problem has: the library's GEMM, then NCCL's collective.
SEQUENTIAL = Answer("sequential ctas=0 transport=ring", reason="no database")


def _milliseconds(time_limit: Optional[float]) -> int:
    if time_limit is None:
        return 0
    if not 0.001 <= time_limit <= 2e6:
        raise ArgumentError(
            f"time_limit = {time_limit!r}: expected seconds, from 0.001 to 2000000, or None"
        )
    return round(1e3 * time_limit)


def library_path() -> str:
    """The file of the library of plans."""
    return load()._name


def free_result(memory: int) -> None:
    """Gives memory back that World.result has taken."""
    load().ovt_result_free(memory)


def nccl() -> str:
    """The NCCL that plans call: its release, its file, and the newer functions that it lacks."""
    words: bytes = load().ovt_run_nccl()
    return words.decode()


def ways() -> tuple[str, ...]:
    """Every strategy with each of its transports: "sequential/ring". A strategy that has no choice
    of transport stands by itself."""
    names: bytes = load().ovt_run_ways()
    return tuple(names.decode().split(","))


def untuned(problem: Problem, way: str) -> str:
    """A config that nobody tuned, by one of `ways` or by a strategy's usual transport. Raises
    ArgumentError where the strategy cannot run the problem."""
    line = ctypes.create_string_buffer(CONFIG_SIZE)
    check(
        load().ovt_plan_config(
            problem_struct(problem), text_bytes("way", way), line, ctypes.sizeof(line)
        )
    )
    return line.value.decode()


@dataclass(frozen=True)
class Sizes:
    """Bytes of a plan. The operands are those of one rank."""

    a_bytes: int
    b_bytes: int
    c_bytes: int
    shared_bytes: int  #: of the world's memory, which all its plans use in turn
    temporary_bytes: int  #: of GPU memory, while the plan is made


def sizes(problem: Problem, config: Union[Answer, str]) -> Sizes:
    """The sizes of a plan with the config of an answer, or of a line (docs/query.md)."""
    struct = CSizes(size=ctypes.sizeof(CSizes))
    check(load().ovt_plan_sizes(problem_struct(problem), config_line(config), struct))
    return _sizes_of(struct)


def _sizes_of(struct: CSizes) -> Sizes:
    return Sizes(
        a_bytes=struct.a_bytes,
        b_bytes=struct.b_bytes,
        c_bytes=struct.c_bytes,
        shared_bytes=struct.shared_bytes,
        temporary_bytes=struct.temporary_bytes,
    )


def recipe_of(problem: Problem, config: Union[Answer, str], most_rows: int) -> str:
    """The recipe of one config, which is scaled from the rows of the problem to any number up to
    `most_rows`. Database.recipe has better ones."""
    length = ctypes.c_size_t()
    capacity = 2 * CONFIG_SIZE
    while True:
        text = ctypes.create_string_buffer(capacity)
        status = load().ovt_recipe_of(
            problem_struct(problem),
            config_line(config),
            most_rows,
            text,
            capacity,
            ctypes.byref(length),
        )
        if length.value < capacity:
            check(status)
            return text.value.decode()
        capacity = length.value + 1


def recipe_config(recipe: str, rows: int) -> str:
    """The config that a recipe has for a number of rows. Raises ArgumentError for rows that it does
    not serve."""
    line = ctypes.create_string_buffer(CONFIG_SIZE)
    text = text_bytes("recipe", recipe)
    check(load().ovt_recipe_config(text, rows, line, ctypes.sizeof(line)))
    return line.value.decode()


def recipe_sizes(recipe: str, most_rows: int) -> Sizes:
    """The sizes of a family for up to this many rows; the operands are those of the most."""
    struct = CSizes(size=ctypes.sizeof(CSizes))
    check(load().ovt_recipe_sizes(text_bytes("recipe", recipe), most_rows, struct))
    return _sizes_of(struct)


class Family:
    """One weight with its recipe, ready to run with any number of rows up to `most_rows`. It ends with
    `close`, or with the process. All ranks run it with the same rows in the same order
    (docs/run.md, "Families")."""

    def __init__(self, world: ctypes.c_void_p, recipe: str, most_rows: int) -> None:
        self.recipe, self.most_rows = recipe, most_rows
        self._pointer: Optional[ctypes.c_void_p] = None
        pointer = ctypes.c_void_p()
        text = text_bytes("recipe", recipe)
        check(load().ovt_family_create(world, text, most_rows, ctypes.byref(pointer)))
        self._pointer = pointer
        self._run = load().ovt_family_run

    def run(self, rows: int, a: int, b: int, c: int, stream: int) -> None:
        """Enqueues C = A * B^T and its collective on a CUDA stream, for a number of rows (m)."""
        check(self._run(self._open_pointer(), rows, a, b, c, stream))

    def run_scaled(
        self, rows: int, a: int, a_scales: int, b: int, b_scales: int, c: int, stream: int
    ) -> None:
        """Plan.run_scaled, for a number of rows (m)."""
        run = load().ovt_family_run_scaled
        check(run(self._open_pointer(), rows, a, a_scales, b, b_scales, c, stream))

    def config(self, rows: int) -> str:
        """The config that runs with this number of rows."""
        return recipe_config(self.recipe, rows)

    def buffers(self, rows: int) -> tuple[Optional[int], Optional[int]]:
        """As Plan.buffers, for a number of rows."""
        struct = CBuffers(size=ctypes.sizeof(CBuffers))
        check(load().ovt_family_buffers(self._open_pointer(), rows, struct))
        return struct.a, struct.c

    def takes_results(self, rows: int) -> bool:
        """As Plan.takes_results, for a number of rows."""
        struct = CBuffers(size=ctypes.sizeof(CBuffers))
        check(load().ovt_family_buffers(self._open_pointer(), rows, struct))
        return bool(struct.takes_results)

    def close(self) -> None:
        """Destroys the family; closing again is allowed."""
        if self._pointer is not None:
            load().ovt_family_destroy(self._pointer)
            self._pointer = None

    def _open_pointer(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise ArgumentError("the family is closed; make another one")
        return self._pointer


class Plan:
    """One problem with its answer, ready to run. It ends with `close`, or with the process."""

    def __init__(
        self, world: ctypes.c_void_p, problem: Problem, config: Union[Answer, str]
    ) -> None:
        self.problem = problem
        self.answer = answer_with(config)
        self._pointer: Optional[ctypes.c_void_p] = None
        pointer = ctypes.c_void_p()
        check(
            load().ovt_plan_create(
                world, problem_struct(problem), config_line(config), ctypes.byref(pointer)
            )
        )
        self._pointer = pointer
        self._run = load().ovt_plan_run

    def run(self, a: int, b: int, c: int, stream: int) -> None:
        """Enqueues C = A * B^T and its collective on a CUDA stream."""
        check(self._run(self._open_pointer(), a, b, c, stream))

    def run_scaled(
        self, a: int, a_scales: int, b: int, b_scales: int, c: int, stream: int
    ) -> None:
        """Runs with a dtype that has scales: they are in fp32, as many as A and B have rows, or one
        for each."""
        run = load().ovt_plan_run_scaled
        check(run(self._open_pointer(), a, a_scales, b, b_scales, c, stream))

    def buffers(self) -> tuple[Optional[int], Optional[int]]:
        """Addresses in the world's memory for A and for C. An operand that lies there saves a copy.
        None where the caller's memory is as good. They hold until the world's memory grows."""
        struct = CBuffers(size=ctypes.sizeof(CBuffers))
        check(load().ovt_plan_buffers(self._open_pointer(), struct))
        return struct.a, struct.c

    @functools.cached_property
    def takes_results(self) -> bool:
        """Whether a C in memory for results (World.result) saves the copy, too."""
        struct = CBuffers(size=ctypes.sizeof(CBuffers))
        check(load().ovt_plan_buffers(self._open_pointer(), struct))
        return bool(struct.takes_results)

    def close(self) -> None:
        """Destroys the plan; closing again is allowed."""
        if self._pointer is not None:
            load().ovt_plan_destroy(self._pointer)
            self._pointer = None

    def _open_pointer(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise ArgumentError("the plan is closed; make another one")
        return self._pointer


class World:
    """The ranks of a communicator (`comm`, an ncclComm_t), and memory that they share. It ends with
    `close`, or with the process. All ranks give the same options:

    allow_multicast  NCCL may use NVLink multicast
    exclusive        nothing else on these GPUs waits for other ranks while plans run, be it a
                     collective of NCCL or another world; plans then begin faster
    free_sms         SMs that plans leave alone, for other kernels beside them
    time_limit       seconds of every wait for other ranks; None: OVERLAPTUNE_TIME_LIMIT, else 300
    peers            memory for the world, instead of memory that it allocates: the address on this
                     GPU of each rank's part; it stays the world's until that is closed
    peer_bytes       the bytes of a part
    result_bytes     memory for results (run.h, ovt_result_allocate), besides what plans share; 0: none
    """

    def __init__(
        self,
        comm: int,
        allow_multicast: bool = False,
        exclusive: bool = False,
        free_sms: int = 0,
        time_limit: Optional[float] = None,
        peers: Sequence[int] = (),
        peer_bytes: int = 0,
        result_bytes: int = 0,
    ) -> None:
        self._pointer: Optional[ctypes.c_void_p] = None
        options = CWorldOptions()
        fill(
            options,
            {
                "allow_multicast": int(allow_multicast),
                "exclusive": int(exclusive),
                "free_sms": free_sms,
                "time_limit_ms": _milliseconds(time_limit),
                "peer_bytes": peer_bytes,
                "result_bytes": result_bytes,
            },
        )
        if peers:
            options.peers = (ctypes.c_void_p * len(peers))(*peers)
        pointer = ctypes.c_void_p()
        check(load().ovt_world_create(comm, options, ctypes.byref(pointer)))
        self._pointer = pointer

    def platform(self) -> Platform:
        """The platform of these ranks as tuning describes it, to open a Database with."""
        struct = CPlatform(size=ctypes.sizeof(CPlatform))
        check(load().ovt_platform_detect(self._open_pointer(), struct))
        return platform_of(struct)

    def reserve(self, shared_bytes: int) -> None:
        """Makes the world's memory at least this large. It may grow while there are plans, if none
        is running and no CUDA graph holds one."""
        check(load().ovt_world_reserve(self._open_pointer(), shared_bytes))

    def plan(self, problem: Problem, config: Union[Answer, str]) -> Plan:
        return Plan(self._open_pointer(), problem, config)

    def family(self, recipe: str, most_rows: int) -> Family:
        """The family of a recipe. Reserve what recipe_sizes says before. Collective."""
        return Family(self._open_pointer(), recipe, most_rows)

    def result(self, size: int) -> int:
        """Takes memory for a result; OutOfMemoryError where there is no room. `free_result` gives it back."""
        memory = ctypes.c_void_p()
        check(load().ovt_result_allocate(self._open_pointer(), size, ctypes.byref(memory)))
        return memory.value or 0

    def begin_pool(self, stream: int) -> Optional[int]:
        """Has ovt_pool_allocate of this thread take from the results of this world. Returns the number of the capture
        that the stream takes part in, or 0; None where the world has no results, or has ended."""
        capture = ctypes.c_uint64()
        if self._pointer is None or load().ovt_pool_begin(self._pointer, stream, ctypes.byref(capture)) != 0:
            return None
        return capture.value

    def abort(self) -> None:
        """Ends all waits of the world for other ranks, here only. Any thread may call it, also while
        another one is in a call. The world can only be closed then."""
        check(load().ovt_world_abort(self._open_pointer()))

    def check(self) -> None:
        """Raises UnavailableError with the reason where the world has ended. Any thread may call
        it; it does not wait."""
        check(load().ovt_world_check(self._open_pointer()))

    def close(self) -> None:
        """Destroys the world; closing again is allowed. Plans that are left can only be closed.
        ArgumentError, on every rank: CUDA graphs hold plans; delete the graphs and close again.
        UnavailableError: another rank did not come; the world is closed here."""
        if self._pointer is None:
            return
        status = load().ovt_world_destroy(self._pointer)
        if status != ArgumentError.status:
            self._pointer = None
        check(status)

    def _open_pointer(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise ArgumentError("the world is closed; make another one")
        return self._pointer
