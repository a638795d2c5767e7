"""Questions, answers and platforms as structs of the C interface, and back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from math import isnan
from typing import Optional, Union

from .errors import ArgumentError, InternalError
from .library import CAnswer, CPlatform, CProblem, CQuestion
from .values import Answer, Launch, Platform, Problem, Source, Strategy, answer_with


def fill(struct: ctypes.Structure, values: Mapping[str, object]) -> None:
    """Fills a struct. ctypes silently cuts values that do not fit, so each field is read again."""
    setattr(struct, "size", ctypes.sizeof(struct))
    for name, value in values.items():
        try:
            stored = value.encode() if isinstance(value, str) else value
            setattr(struct, name, stored)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{name} = {value!r}: {error}") from None
        if getattr(struct, name) != stored:
            raise ArgumentError(f"{name} = {value!r}: does not fit the field")


def text_bytes(name: str, text: str) -> bytes:
    """A text for C, which ends with a NUL."""
    if "\0" in text:
        raise ArgumentError(f"{name} = {text!r}: expected a text without a NUL")
    return text.encode()


def problem_struct(problem: Problem) -> CProblem:
    struct = CProblem()
    fill(struct, asdict(problem))
    return struct


def platform_struct(platform: Platform) -> CPlatform:
    struct = CPlatform()
    fill(struct, asdict(platform))
    return struct


def platform_of(struct: CPlatform) -> Platform:
    values = {field.name: getattr(struct, field.name) for field in fields(Platform)}
    values["multicast_allowed"] = bool(struct.multicast_allowed)
    return Platform(
        **{
            name: value.decode(errors="replace") if isinstance(value, bytes) else value
            for name, value in values.items()
        }
    )


def launch_number(launch: Launch) -> int:
    try:
        return Launch(launch).value
    except ValueError as error:
        raise ArgumentError(f"launch: {error}; expected a Launch") from None


def _strategy_names(strategies: Optional[Iterable[Strategy]]) -> Optional[bytes]:
    """Names with commas between them; None: all."""
    if strategies is None:
        return None
    names = [strategies] if isinstance(strategies, str) else [str(each) for each in strategies]
    if not names:
        raise ArgumentError("strategies: none; expected one or more, or None for all")
    return text_bytes("strategies", ",".join(names))


def question_struct(
    launch: Launch,
    strategies: Optional[Iterable[Strategy]],
    free_sms: int,
    exclusive: bool,
) -> CQuestion:
    struct = CQuestion()
    values = {
        "launch": launch_number(launch),
        "strategies": _strategy_names(strategies),
        "free_sms": free_sms,
        "exclusive": int(exclusive),
    }
    fill(struct, values)
    return struct


def _source(value: int) -> Source:
    try:
        return Source(value)
    except ValueError:
        raise InternalError(
            f"the library answers with Source {value}, which this package does not know; "
            "use a newer overlaptune package"
        ) from None


def _time(value: float) -> Optional[float]:
    return None if isnan(value) else value


def answer_of(struct: CAnswer) -> Answer:
    return Answer(
        config=struct.config.decode(),
        source=_source(struct.source),
        reason=struct.reason.decode(errors="replace"),
        predicted_us=_time(struct.predicted_us),
        measured_us=_time(struct.measured_us),
        baseline_us=_time(struct.baseline_us),
    )


def config_line(config: Union[Answer, str]) -> bytes:
    """The config as a plan takes it."""
    return text_bytes("config", answer_with(config).config)
