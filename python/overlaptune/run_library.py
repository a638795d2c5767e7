"""Finds, loads and declares the C interface of plans (run.h)."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

from .library import CPlatform, CProblem, Signatures, find, raise_on_error

VARIABLE = "OVERLAPTUNE_RUN_LIBRARY"
#: The library's place in a wheel.
BUNDLED = Path(__file__).with_name("liboverlaptune-run.so")


class CWorldOptions(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("allow_multicast", c_int32),
        ("exclusive", c_int32),
        ("free_sms", c_int32),
        ("time_limit_ms", c_int32),
        ("peers", POINTER(c_void_p)),
        ("peer_bytes", c_int64),
        ("result_bytes", c_int64),
    ]


class CSizes(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("a_bytes", c_int64),
        ("b_bytes", c_int64),
        ("c_bytes", c_int64),
        ("shared_bytes", c_int64),
        ("temporary_bytes", c_int64),
    ]


class CBuffers(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("a", c_void_p), ("c", c_void_p), ("takes_results", c_int32), ("unused", c_int32)]


def _signatures() -> Signatures:
    problem = POINTER(CProblem)
    operands: list[object] = [c_void_p] * 6  # with scales, and the stream
    return {
        "ovt_run_version": (c_char_p, []),
        "ovt_run_last_error": (c_char_p, []),
        "ovt_run_nccl": (c_char_p, []),
        "ovt_world_create": (c_int32, [c_void_p, POINTER(CWorldOptions), POINTER(c_void_p)]),
        "ovt_world_reserve": (c_int32, [c_void_p, c_int64]),
        "ovt_world_destroy": (c_int32, [c_void_p]),
        "ovt_world_abort": (c_int32, [c_void_p]),
        "ovt_world_check": (c_int32, [c_void_p]),
        "ovt_platform_detect": (c_int32, [c_void_p, POINTER(CPlatform)]),
        "ovt_run_ways": (c_char_p, []),
        "ovt_plan_config": (c_int32, [problem, c_char_p, c_char_p, c_size_t]),
        "ovt_plan_sizes": (c_int32, [problem, c_char_p, POINTER(CSizes)]),
        "ovt_plan_create": (c_int32, [c_void_p, problem, c_char_p, POINTER(c_void_p)]),
        "ovt_plan_buffers": (c_int32, [c_void_p, POINTER(CBuffers)]),
        "ovt_plan_run": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
        "ovt_plan_run_scaled": (c_int32, [c_void_p, *operands]),
        "ovt_plan_destroy": (None, [c_void_p]),
        "ovt_recipe_of": (
            c_int32,
            [problem, c_char_p, c_int64, c_char_p, c_size_t, POINTER(c_size_t)],
        ),
        "ovt_recipe_config": (c_int32, [c_char_p, c_int64, c_char_p, c_size_t]),
        "ovt_recipe_sizes": (c_int32, [c_char_p, c_int64, POINTER(CSizes)]),
        "ovt_family_create": (c_int32, [c_void_p, c_char_p, c_int64, POINTER(c_void_p)]),
        "ovt_family_run": (c_int32, [c_void_p, c_int64, c_void_p, c_void_p, c_void_p, c_void_p]),
        "ovt_family_run_scaled": (c_int32, [c_void_p, c_int64, *operands]),
        "ovt_family_buffers": (c_int32, [c_void_p, c_int64, POINTER(CBuffers)]),
        "ovt_family_destroy": (None, [c_void_p]),
        "ovt_result_allocate": (c_int32, [c_void_p, c_int64, POINTER(c_void_p)]),
        "ovt_result_free": (None, [c_void_p]),
        "ovt_pool_begin": (c_int32, [c_void_p, c_void_p, POINTER(c_uint64)]),
    }


@functools.lru_cache(maxsize=None)
def load() -> ctypes.CDLL:
    """The library, loaded once: the one that OVERLAPTUNE_RUN_LIBRARY names, else the one in this
    package, else the system's. Its NCCL and cuBLASLt are those that the process has loaded.
    Raises LibraryError."""
    remedy = (
        "plans and overlaptune.torch need this library, which a wheel has if it was built where "
        "there are a CUDA toolkit and NCCL: install such a wheel"
    )
    return find(BUNDLED.name, VARIABLE, BUNDLED, _signatures(), remedy)


def check(status: int) -> None:
    """Raises the error of the thread's last call of this library."""
    raise_on_error(status, load().ovt_run_last_error)
