"""An open database."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Optional, Union

from .c_values import answer_of, platform_struct, problem_struct, question_struct
from .errors import ArgumentError
from .library import CAnswer, check, load
from .values import Answer, Launch, Platform, Problem, Strategy

PathLike = Union[str, "os.PathLike[str]"]


class _Handle:
    """A handle of the C interface that closes when nothing refers to it any more. So a call that
    runs in another thread keeps it open."""

    def __init__(self, pointer: ctypes.c_void_p) -> None:
        self.pointer = pointer
        self._close = load().ovt_close

    def __del__(self) -> None:
        self._close(self.pointer)


class Database:
    """The winners and the model of one platform, in memory.

    paths     a file or several; results of an earlier one hide those of later ones for the same
              question. None: the file that OVERLAPTUNE_DB names.
    platform  the platform to answer for: a Platform, or the name of a stored one, as in "sim:h200-nvlink-x8", or its
              fingerprint. None: the real (not simulated) platform that was added last.

    Several threads may call the methods at once. They raise subclasses of Error: NotFoundError,
    DatabaseError and UnavailableError for files and platforms, ArgumentError for values.
    """

    def __init__(
        self,
        paths: Union[PathLike, Iterable[PathLike], None] = None,
        platform: Union[Platform, str, None] = None,
    ) -> None:
        self._handle: Optional[_Handle] = None
        self._library = load()
        if paths is None:
            paths = []
        elif isinstance(paths, (str, bytes, os.PathLike)):
            paths = [paths]
        try:
            files = [os.fsencode(path) for path in paths]
        except UnicodeEncodeError as error:
            raise ArgumentError(f"paths: {paths!r}: {error}") from None
        if any(b"\0" in file for file in files):
            raise ArgumentError(f"paths: {files!r}: expected names without a NUL")
        wish = None
        if platform is not None:
            described = Platform(platform) if isinstance(platform, str) else platform
            wish = platform_struct(described)
        pointer = ctypes.c_void_p()
        check(
            self._library.ovt_open(
                (ctypes.c_char_p * len(files))(*files), len(files), wish, ctypes.byref(pointer)
            )
        )
        self._handle = _Handle(pointer)

    def query(
        self,
        problem: Problem,
        launch: Launch = Launch.GRAPH,
        *,
        strategies: Optional[Iterable[Strategy]] = None,
        free_sms: int = 0,
        exclusive: bool = False,
    ) -> Answer:
        """The best config that is known for a problem; docs/query.md has the rules.

        strategies  those that may answer. None: all. Raises NotFoundError where nothing is known of
                    them, and SEQUENTIAL is not one of them.
        free_sms    SMs that plans leave alone.
        exclusive   the world of the plans is exclusive. Where nothing was measured in such a world,
                    the answer for others is predicted."""
        handle = self._open_handle()
        answer = CAnswer()
        answer.size = ctypes.sizeof(answer)
        asked = problem_struct(problem)
        question = question_struct(launch, strategies, free_sms, exclusive)
        check(self._library.ovt_query_for(handle.pointer, asked, question, answer))
        return answer_of(answer)

    def explain(
        self,
        problem: Problem,
        launch: Launch = Launch.GRAPH,
        *,
        strategies: Optional[Iterable[Strategy]] = None,
        free_sms: int = 0,
        exclusive: bool = False,
    ) -> str:
        """Describes the answer of query to the same question in some lines of text."""
        return self._text(
            self._library.ovt_explain_for, problem, launch, strategies, free_sms, exclusive
        )

    def recipe(
        self,
        problem: Problem,
        launch: Launch = Launch.GRAPH,
        *,
        strategies: Optional[Iterable[Strategy]] = None,
        free_sms: int = 0,
        exclusive: bool = False,
    ) -> str:
        """How to run the weight of a problem with any number of rows up to problem.m: the text of a
        recipe (docs/query.md, "Recipes"), from which run.World.family makes a family of plans. The
        other arguments are those of query. Takes up to a second."""
        return self._text(
            self._library.ovt_query_recipe, problem, launch, strategies, free_sms, exclusive
        )

    def _text(
        self,
        function: Any,
        problem: Problem,
        launch: Launch,
        strategies: Optional[Iterable[Strategy]],
        free_sms: int,
        exclusive: bool,
    ) -> str:
        """The text that a function of the library writes about a question."""
        handle = self._open_handle()
        asked = problem_struct(problem)
        question = question_struct(launch, strategies, free_sms, exclusive)
        capacity = 16384
        length = ctypes.c_size_t()
        # The text may be longer than this, or longer in the next call, if another thread reloads.
        while True:
            text = ctypes.create_string_buffer(capacity)
            status = function(
                handle.pointer, asked, question, text, capacity, ctypes.byref(length)
            )
            if status == 0 or length.value < capacity:
                check(status)
            if status == 0 and length.value < capacity:
                return text.value.decode(errors="replace")
            capacity = length.value + 1

    def reload(self) -> None:
        """Reads the files again. Where this fails, the database answers as before."""
        check(self._library.ovt_reload(self._open_handle().pointer))

    def close(self) -> None:
        """Closes the database. Later calls raise ArgumentError; closing again is allowed."""
        self._handle = None

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def _open_handle(self) -> _Handle:
        handle = self._handle
        if handle is None:
            raise ArgumentError("the database is closed; open it again")
        return handle
