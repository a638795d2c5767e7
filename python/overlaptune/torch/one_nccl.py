"""Check that PyTorch and the library of plans call the same NCCL: no other has its communicators."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Optional

import torch

from .. import run_library
from ..errors import UnavailableError

REMEDY = (
    "a communicator of the one cannot be used by the other; use a PyTorch that loads libnccl.so.2 "
    "(the wheels do; its build has USE_SYSTEM_NCCL=1 and USE_STATIC_NCCL=0), and no other one "
    "before it in LD_LIBRARY_PATH or LD_PRELOAD"
)


class _Symbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _address(library: ctypes.CDLL) -> Optional[int]:
    """Address of a function of the NCCL that a library has in it, or is linked to."""
    try:
        return ctypes.cast(library.ncclGetVersion, ctypes.c_void_p).value
    except AttributeError:
        return None


def _words(library: ctypes.CDLL, address: int) -> str:
    code = ctypes.c_int()
    library.ncclGetVersion(ctypes.byref(code))
    symbol = _Symbol()
    ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(symbol))
    file = symbol.file.decode() if symbol.file else "unknown file"
    return f"NCCL {code.value // 10000}.{code.value // 100 % 100}.{code.value % 100} ({file})"


def difference(pytorch: ctypes.CDLL, plans: ctypes.CDLL) -> str:
    """An error text where there are two, else an empty one. `pytorch` is its part for CUDA."""
    ours, theirs = _address(plans), _address(pytorch)
    if ours is None or ours == theirs:
        return ""
    of_pytorch = "one of its own, linked into it" if theirs is None else _words(pytorch, theirs)
    return (
        f"two NCCLs in this process: plans call {_words(plans, ours)}, and PyTorch {of_pytorch}: "
        f"{REMEDY}"
    )


def check() -> None:
    """Raises UnavailableError where there are two. A PyTorch whose libraries have other names passes."""
    file = Path(torch.__file__).parent / "lib" / "libtorch_cuda.so"
    try:
        pytorch = ctypes.CDLL(str(file), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return
    found = difference(pytorch, run_library.load())
    if found:
        raise UnavailableError(found)
