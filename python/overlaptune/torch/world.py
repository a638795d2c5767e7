"""The ranks of a process group, their memory, and the plans that were made on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Optional, Union

import torch
import torch.distributed as dist

from .. import run
from ..database import Database, PathLike
from ..errors import ArgumentError, Error, UnavailableError
from ..values import Answer, Launch, Op, Platform, Problem
from . import one_nccl
from .answers import Terms, chosen, chosen_or_sequential, recipe_or_none, sequential
from .communicator import communicator
from .exchange import Exchange, check_equal, limit_of
from .fallbacks import Fallbacks
from .planner import AnyPlan, Planner
from .registry import register
from .results import Results
from .strategies import Wishes, allowed_ways
from .symmetric import Symmetric, symmetric

OwnProduct = Callable[[Op, torch.Tensor, torch.Tensor], torch.Tensor]
Databases = Union[Database, PathLike, Iterable[PathLike], None]


class World:
    """The ranks of a process group, with plans for the problems that its layers have met.

    group     a process group with the NCCL backend; None: all ranks. The GPU is the current one. A
              group of one rank needs no library of plans: its layers are plain products.
    database  where the configs come from: one or several files of tuning results, which are opened
              for the platform of these ranks, or an open Database. None: `sequential` for all. All
              ranks run what rank 0 of the group answers.
    launch    how layers will be run: GRAPH if they are captured into CUDA graphs, else EAGER. It
              chooses the configs.
    allow_multicast
              NCCL, and PyTorch's symmetric memory, may use NVLink multicast. Otherwise plans that run a collective of NCCL need
              NCCL_NVLS_ENABLE=0 before the process makes its first communicator; other plans need
              nothing.
    exclusive, free_sms
              what the program promises, or leaves free, for kernels that run beside plans
              (docs/torch.md, "Beside a plan"). The database is asked for such answers.
    time_limit
              seconds after which a wait for another rank ends with an error. None: those that
              OVERLAPTUNE_TIME_LIMIT says, else 300.
    symmetric_bytes
              bytes of PyTorch's symmetric memory for the world on each rank, the same on all.
              It serves with any NCCL and any of its settings, but does not grow. 0: the world
              allocates by itself (docs/torch.md, "Memory").
    result_bytes
              bytes for the results of all-reduce layers on each rank, the same on all, besides the
              memory that plans share: the other ranks store into them, and nothing is copied
              (docs/torch.md, "Memory"). Not with symmetric_bytes. 0: none.
    strategies
              strategies that may be used: ["signaled", "waiting/peer_access"].
              None: those that OVERLAPTUNE_STRATEGIES lists, else all. `sequential` stays the
              last resort.
    families, most_rows
              A weight that meets its third number of rows gets a family of plans for up to most_rows
              rows, and from then on a new number of rows is no collective step (docs/torch.md,
              "Families"). False: each number has a plan of its own. The same on all ranks.
    threshold, own_product
              layers run own_product(op, x, weight) for fewer rows than the threshold, which is the same
              on all ranks, and where no plan can be made. It does what the function of that op does
              (functions.py). None: PyTorch's product and collective.

    Making a world, a plan or an end of it is collective: all ranks of the group do it in the same
    order, and so they meet the same problems in the same order. One thread at a time may use a
    world and its layers. Plans share the world's memory; the library orders their runs, also those
    on several streams. Copies of a world are the world itself, and it cannot be pickled.
    """

    def __init__(
        self,
        group: Optional[Any] = None,
        database: Databases = None,
        *,
        launch: Launch = Launch.GRAPH,
        allow_multicast: bool = False,
        exclusive: bool = False,
        free_sms: int = 0,
        time_limit: Optional[float] = None,
        symmetric_bytes: int = 0,
        result_bytes: int = 1 << 30,
        strategies: Wishes = None,
        families: bool = True,
        most_rows: int = 8192,
        threshold: int = 0,
        own_product: Optional[OwnProduct] = None,
    ) -> None:
        if not dist.is_initialized():
            raise ArgumentError("no process group; call torch.distributed.init_process_group first")
        self.group: Any = dist.group.WORLD if group is None else group
        self.rank: int = dist.get_rank(self.group)
        self.size: int = dist.get_world_size(self.group)
        if self.rank < 0:
            raise ArgumentError("group: this process is no rank of it; expected a group of its own")
        self.device = torch.device("cuda", torch.cuda.current_device())
        #: Names this world to PyTorch's operators, which take no objects.
        self.number: int = register(self)
        self.launch = Launch(launch)
        ways = () if self.size == 1 else allowed_ways(strategies)
        self._terms = Terms(self.launch, ways, free_sms, exclusive)
        self.threshold, self.own_product = threshold, own_product
        self.runs_below_threshold = 0
        #: Fallbacks that run instead of an answer, and their reasons: a text for each such problem.
        self.fallbacks = Fallbacks()
        self._database: Optional[Database] = None
        self._planner: Optional[Planner] = None
        self._plans: dict[Problem, AnyPlan] = {}
        self._memory: Optional[Symmetric] = None
        if self.size == 1:
            return
        one_nccl.check()
        limit_s = limit_of(time_limit)
        exchange = Exchange(self.group, self.rank, self.size, limit_s)
        # NCCL would wait longer for a rank that does not come.
        check_equal("symmetric_bytes", exchange.all_of(symmetric_bytes, "making a world"))
        # Ranks that differ would wait for each other in different collectives.
        check_equal("threshold", exchange.all_of(threshold, "making a world"))
        rows_of_families = most_rows if families else 0
        check_equal("most_rows", exchange.all_of(rows_of_families, "making a world"))
        comm = communicator(self.group, self.device, limit_s)
        options: dict[str, Any] = {"result_bytes": result_bytes}
        if symmetric_bytes > 0:
            self._memory = symmetric(
                self.group, self.device, symmetric_bytes, allow_multicast, exchange
            )
            options = {"peers": self._memory.peers, "peer_bytes": self._memory.bytes}
        self._world = run.World(
            comm,
            allow_multicast=allow_multicast,
            exclusive=exclusive,
            free_sms=free_sms,
            time_limit=time_limit,
            **options,
        )
        self._results = Results(self._world, self.device, options.get("result_bytes", 0))
        self._database = self._opened(database, exchange)
        if self._memory is not None:
            self._memory.keep()
        self._planner = Planner(
            self._world,
            self.device,
            lambda problem: chosen_or_sequential(self._database, problem, self._terms),
            lambda problem: recipe_or_none(self._database, problem, self._terms),
            exchange,
            self.fallbacks,
            rows_of_families,
        )
        self._plans = self._planner.plans

    def platform(self) -> Platform:
        """The platform of these ranks as tuning describes it. Collective."""
        self._planned()
        return self._world.platform()

    def answer(self, problem: Problem) -> Answer:
        """The config of a problem, and the reason: what all ranks run, if the problem was met
        before, else the answer of this rank's database. Raises what Database.query does."""
        if self.size == 1:
            return sequential("one rank, which needs no collective")
        known = None if self._planner is None else self._planner.config(problem)
        if known is not None:
            return known
        return chosen(self._database, problem, self._terms)

    def plan(self, problem: Problem) -> AnyPlan:
        """The plan of a problem. It is made when the problem is first met, which is collective and
        may take seconds: with rank 0's answer or, where that cannot run, `sequential`. The world's
        memory then grows if it has to. Raises ArgumentError, OutOfMemoryError or UnavailableError,
        on every rank, where no plan can be made: memory is short, or has to grow while a CUDA graph
        holds a plan of the world (delete the graphs, and capture them again)."""
        return self._planned().plan(problem)

    def plan_or_none(self, problem: Problem) -> Optional[AnyPlan]:
        """The plan as layers need it in a forward pass: None where there is none and none can be
        made, which `fallbacks` and a warning say. Raises where the world has died."""
        return self._planned().plan_or_none(problem)

    def summary(self) -> str:
        """The runs of this world's layers so far: a line for each problem that they met, with its config, where that
        comes from (exact, predicted, baseline or fallen back), how often it ran, and the reason. A captured run counts
        once."""
        lines = [] if self._planner is None else self._planner.summary()
        if self.runs_below_threshold > 0:
            lines.append(
                f"fewer than {self.threshold} rows, {self.runs_below_threshold} runs, the program's own product"
            )
        return "\n".join(lines) or "no runs"

    def plan_with(self, problem: Problem, config: Union[Answer, str]) -> run.Plan:
        """Another plan, with the config of an answer, or of a line as answers have it (docs/query.md).
        Collective."""
        return self._planned().plan_with(problem, config)

    def reserve(self, shared_bytes: int) -> None:
        """Makes the world's memory at least this large (run.sizes says what a plan needs), so that
        making plans need not. Collective. The library waits for the runs of this world's plans, and
        for nothing else."""
        self._planned().reserve(shared_bytes)

    def result(self, plan: AnyPlan, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """Memory for the result of a plan, where the other ranks store it if they can."""
        if plan.takes_results:
            return self._results.empty(shape, dtype)
        return torch.empty(shape, dtype=dtype, device=self.device)

    def enqueue(self, plan: AnyPlan, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        """Enqueues a plan on the current stream."""
        stream = torch.cuda.current_stream(self.device).cuda_stream
        plan.run(a.data_ptr(), b.data_ptr(), c.data_ptr(), stream)

    def enqueue_scaled(
        self,
        plan: AnyPlan,
        a: torch.Tensor,
        a_scales: torch.Tensor,
        b: torch.Tensor,
        b_scales: torch.Tensor,
        c: torch.Tensor,
    ) -> None:
        """Enqueues a plan whose dtype has scales."""
        stream = torch.cuda.current_stream(self.device).cuda_stream
        plan.run_scaled(
            a.data_ptr(), a_scales.data_ptr(), b.data_ptr(), b_scales.data_ptr(), c.data_ptr(), stream
        )

    def check(self) -> None:
        """Raises UnavailableError, which says why, if the world has died: a rank did not come in
        time, or `abort` was called."""
        if self.size > 1:
            self._planned()
            self._world.check()

    def abort(self) -> None:
        """Ends what waits for other ranks on this one, and the world with it. Not collective."""
        if self._planner is not None:
            self._world.abort()

    def close(self) -> None:
        """Ends the world and its plans. Collective. Raises ArgumentError as long as CUDA graphs
        hold plans, which go on then. Closing again is allowed. After `destroy_process_group` the
        other ranks may be gone, so the world is aborted first. PyTorch's symmetric memory of a world
        that was aborted, or has failed, stays until the process ends."""
        if self._planner is None:
            return
        if not self._has_group():
            self._world.abort()
        ended_before = self._has_ended()
        try:
            self._planner.close()
        except UnavailableError:
            self._planner = None
            self._results.clear()
            raise
        self._planner = None
        self._results.clear()
        if self._memory is not None and not ended_before:
            self._memory.give_up()

    def __enter__(self) -> World:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        if error is not None:
            self.abort()  # the other ranks may not come to an end that is collective
        else:
            self.close()

    def __copy__(self) -> World:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise ArgumentError(
            "a World belongs to its process and cannot be pickled; save the state_dict() of a "
            "model, and make its layers on a World of the process that loads it"
        )

    def _planned(self) -> Planner:
        if self._planner is None:
            if self.size == 1:
                raise ArgumentError("a world of one rank has no plans")
            raise ArgumentError("the world is closed; make another one")
        return self._planner

    def _has_ended(self) -> bool:
        try:
            self._world.check()
        except UnavailableError:
            return True
        return False

    def _has_group(self) -> bool:
        try:
            return bool(dist.get_rank(self.group) == self.rank)
        except (ValueError, RuntimeError):  # the group, or all of them, were destroyed
            return False

    def _opened(self, database: Databases, exchange: Exchange) -> Optional[Database]:
        """The database of this rank. An error of one rank is met by all of them."""
        found: Optional[Database] = None
        paths: Optional[list[PathLike]] = None
        if database is None or isinstance(database, Database):
            found = database
        elif isinstance(database, (str, os.PathLike)):
            paths = [database]
        else:
            paths = list(database)
        purpose = "opening the databases of a world"
        if not any(exchange.all_of(paths is not None, purpose)):
            return found
        platform = self._world.platform()
        own: Optional[Error] = None
        if paths is not None:
            try:
                found = Database(paths, platform)
            except Error as error:
                own = error
        errors = exchange.all_of("" if own is None else str(own), purpose)
        for rank, text in enumerate(errors):
            if text:
                self._world.close()
                raise own or ArgumentError(f"database: rank {rank} of the group: {text}")
        return found
