"""Questions, answers and platforms as structs of the C interface, and back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from enum import IntEnum
from math import isnan
from typing import Optional, TypeVar

from .errors import ArgumentError, InternalError
from .library import MAX_WAVE_GROUPS, CAnswer, CPlatform, CProblem, CQuestion
from .values import Answer, Launch, Platform, Problem, Source, Strategy, Transport, Wait

AnyEnum = TypeVar("AnyEnum", bound=IntEnum)


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


def _strategy_bits(strategies: Optional[Iterable[Strategy]]) -> int:
    """Bit N is set where strategy N is in the list; 0: all."""
    if strategies is None:
        return 0
    bits = 0
    for each in strategies:
        try:
            bits |= 1 << Strategy(each).value
        except ValueError as error:
            raise ArgumentError(f"strategies: {error}; expected a Strategy") from None
    if bits == 0:
        raise ArgumentError("strategies: none; expected one or more, or None for all")
    return bits


def question_struct(
    launch: Launch,
    strategies: Optional[Iterable[Strategy]],
    free_sms: int,
    exclusive: bool,
) -> CQuestion:
    struct = CQuestion()
    values = {
        "launch": launch_number(launch),
        "strategies": _strategy_bits(strategies),
        "free_sms": free_sms,
        "exclusive": int(exclusive),
    }
    fill(struct, values)
    return struct


def _known(kind: type[AnyEnum], value: int) -> AnyEnum:
    try:
        return kind(value)
    except ValueError:
        raise InternalError(
            f"the library answers with {kind.__name__} {value}, which this package does not know; "
            "use a newer overlaptune package"
        ) from None


def _time(value: float) -> Optional[float]:
    return None if isnan(value) else value


def answer_of(struct: CAnswer) -> Answer:
    return Answer(
        source=_known(Source, struct.source),
        strategy=_known(Strategy, struct.strategy),
        block_m=struct.block_m,
        block_n=struct.block_n,
        block_k=struct.block_k,
        stages=struct.stages,
        cluster=struct.cluster,
        raster=struct.raster,
        comm_ctas=struct.comm_ctas,
        chunks=struct.chunks,
        transport=_known(Transport, struct.transport),
        predicted_us=_time(struct.predicted_us),
        measured_us=_time(struct.measured_us),
        baseline_us=_time(struct.baseline_us),
        reason=struct.reason.decode(errors="replace"),
        wave_groups=tuple(struct.wave_groups[: struct.wave_group_count]),
        wait=_known(Wait, struct.wait),
    )


def config_struct(answer: Answer) -> CAnswer:
    """The config of an answer, which is all that a plan is made from."""
    groups = answer.wave_groups
    if len(groups) > MAX_WAVE_GROUPS:
        raise ArgumentError(
            f"wave_groups: {len(groups)} of them; expected {MAX_WAVE_GROUPS} at most"
        )
    struct = CAnswer()
    unused = ("source", "predicted_us", "measured_us", "baseline_us", "reason", "wave_groups")
    config = {name: value for name, value in asdict(answer).items() if name not in unused}
    fill(struct, {**config, "wave_group_count": len(groups)})
    for place, tiles in enumerate(groups):
        struct.wave_groups[place] = tiles
    return struct
