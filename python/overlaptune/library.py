"""Finds, loads and declares the C interface."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from ctypes import c_char, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Optional

from .errors import BY_STATUS, Error, InternalError, LibraryError

VARIABLE = "OVERLAPTUNE_LIBRARY"
#: The library's place in a wheel.
BUNDLED = Path(__file__).with_name("liboverlaptune.so")

TEXT_SIZE = 256
REASON_SIZE = 512
NAME_SIZE = 32
CONFIG_SIZE = 4096


class CPlatform(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("machine", c_char * TEXT_SIZE),
        ("name", c_char * TEXT_SIZE),
        ("gpu_model", c_char * TEXT_SIZE),
        ("gpu_count", c_int32),
        ("sms", c_int32),
        ("compute_capability", c_int32),
        ("multicast_allowed", c_int32),
        ("memory_bytes", c_int64),
        ("driver_version", c_char * TEXT_SIZE),
        ("cuda_version", c_char * TEXT_SIZE),
        ("nccl_version", c_char * TEXT_SIZE),
        ("topology", c_char * TEXT_SIZE),
        ("transport", c_char * TEXT_SIZE),
        ("details", c_char * TEXT_SIZE),
    ]


class CProblem(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("m", c_int64),
        ("n", c_int64),
        ("k", c_int64),
        ("op", c_int32),
        ("dtype", c_int32),
        ("ranks", c_int32),
        ("reserved", c_int32),
    ]


class CQuestion(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("strategies", c_char_p),
        ("launch", c_int32),
        ("exclusive", c_int32),
        ("free_sms", c_int32),
        ("reserved", c_int32),
    ]


class CAnswer(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("source", c_int32),
        ("reserved", c_int32),
        ("predicted_us", c_double),
        ("measured_us", c_double),
        ("baseline_us", c_double),
        ("config", c_char * CONFIG_SIZE),
        ("strategy", c_char * NAME_SIZE),
        ("transport", c_char * NAME_SIZE),
        ("reason", c_char * REASON_SIZE),
    ]


Signatures = dict[str, tuple[object, list[object]]]


def declare(library: ctypes.CDLL, signatures: Signatures) -> None:
    """Gives functions their types. Raises AttributeError where the library lacks one."""
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments


def _signatures() -> Signatures:
    problem = ctypes.POINTER(CProblem)
    question = ctypes.POINTER(CQuestion)
    return {
        "ovt_version": (c_char_p, []),
        "ovt_last_error": (c_char_p, []),
        "ovt_open": (
            c_int32,
            [
                ctypes.POINTER(c_char_p),
                c_size_t,
                ctypes.POINTER(CPlatform),
                ctypes.POINTER(c_void_p),
            ],
        ),
        "ovt_query_for": (c_int32, [c_void_p, problem, question, ctypes.POINTER(CAnswer)]),
        "ovt_query_recipe": (
            c_int32,
            [c_void_p, problem, question, c_char_p, c_size_t, ctypes.POINTER(c_size_t)],
        ),
        "ovt_explain_for": (
            c_int32,
            [c_void_p, problem, question, c_char_p, c_size_t, ctypes.POINTER(c_size_t)],
        ),
        "ovt_reload": (c_int32, [c_void_p]),
        "ovt_close": (None, [c_void_p]),
    }


def _open(path: str, looked_for: str, signatures: Signatures) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(path)
        declare(library, signatures)
        return library
    except (OSError, AttributeError) as error:
        raise LibraryError(f"{looked_for}: cannot be loaded: {error}") from None


def find(
    name: str, variable: str, bundled: Path, signatures: Signatures, remedy: str
) -> ctypes.CDLL:
    """The library that the variable names, else the one in this package, else the system's."""
    named = os.environ.get(variable)
    if named:
        return _open(named, f"{variable} = '{named}'", signatures)
    if bundled.exists():
        return _open(str(bundled), f"'{bundled}'", signatures)
    soname = f"{name}.0"
    try:
        return _open(soname, soname, signatures)
    except LibraryError as error:
        raise LibraryError(
            f"no {name}: {variable} is not set, there is no '{bundled}', and of the "
            f"system's {error}; {remedy}, or set {variable} to it"
        ) from None


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The library, loaded once: the one that OVERLAPTUNE_LIBRARY names, else the one in this
    package, else the system's. Raises LibraryError."""
    remedy = "install the wheel that has the library"
    return find(BUNDLED.name, VARIABLE, BUNDLED, _signatures(), remedy)


def raise_on_error(status: int, last_error: Callable[[], Optional[bytes]]) -> None:
    """Raises the error of the thread's last call. No other call may come in between."""
    if status == 0:
        return
    text = (last_error() or b"").decode(errors="replace")
    error: Error = BY_STATUS.get(status, InternalError)(text)
    error.status = status
    raise error


def check(status: int) -> None:
    """Raises the error of the thread's last call of this library."""
    raise_on_error(status, load().ovt_last_error)
