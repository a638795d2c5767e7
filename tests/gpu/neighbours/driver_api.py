"""Foreign kernels and green contexts, by CUDA's driver API (cuda.h). The kernels are PTX, which the driver compiles, so
that they need no compiler and no package."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from patience import NotPossible

THREADS = 128
#: All that a CTA of Hopper can have.
MOST_SHARED_BYTES = 227 * 1024
#: cuda.h: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_DEV_RESOURCE_TYPE_SM, CU_GREEN_CTX_DEFAULT_STREAM,
#: CU_STREAM_NON_BLOCKING.
MAX_DYNAMIC_SHARED_BYTES, RESOURCE_SM, GREEN_DEFAULT_STREAM, NON_BLOCKING = 8, 1, 1, 1
#: More than sizeof(CUdevResource), which is 144 in CUDA 12.4 to 13.0.
RESOURCE_BYTES = 512

#: `spin` takes its time. `spin_together` does so too, and then waits until every CTA of the grid has come.
PTX = b"""
.version 7.8
.target sm_90
.address_size 64

.visible .entry spin(.param .u64 nanoseconds)
{
  .reg .pred %again;
  .reg .u64 %limit, %begin, %now;
  ld.param.u64 %limit, [nanoseconds];
  mov.u64 %begin, %globaltimer;
spinning:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %again, %now, %limit;
  @%again bra spinning;
  ret;
}

.visible .entry spin_together(.param .u64 nanoseconds, .param .u64 counter, .param .u32 ctas)
{
  .reg .pred %again, %other;
  .reg .u32 %thread, %all, %come;
  .reg .u64 %limit, %begin, %now, %count;
  ld.param.u64 %limit, [nanoseconds];
  ld.param.u64 %count, [counter];
  ld.param.u32 %all, [ctas];
  cvta.to.global.u64 %count, %count;
  mov.u64 %begin, %globaltimer;
turning:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %again, %now, %limit;
  @%again bra turning;
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %other, %thread, 0;
  @%other bra here;
  atom.global.add.u32 %come, [%count], 1;
waiting:
  ld.global.acquire.gpu.u32 %come, [%count];
  setp.lt.u32 %again, %come, %all;
  @%again bra waiting;
here:
  bar.sync 0;
  ret;
}
\0"""


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: Any) -> None:
    """Calls a function of the driver. Raises NotPossible where the driver lacks it, and RuntimeError."""
    try:
        function = getattr(_library(), name)
    except AttributeError:
        raise NotPossible(f"the driver has no {name}") from None
    status = function(*arguments)
    if status != 0:
        text = ctypes.c_char_p()
        _library().cuGetErrorName(ctypes.c_int(status), ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'').decode() or status}")


@functools.lru_cache(maxsize=None)
def _function(name: str, shared_bytes: int) -> ctypes.c_void_p:
    """A kernel of PTX, in the context that PyTorch has made current."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(PTX))
    call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(name.encode()))
    call("cuFuncSetAttribute", function, ctypes.c_int(MAX_DYNAMIC_SHARED_BYTES), ctypes.c_int(shared_bytes))
    return function


def _launch(name: str, ctas: int, shared_bytes: int, stream: torch.cuda.Stream, kernel: str, *values: Any) -> None:
    addresses = (ctypes.c_void_p * len(values))(
        *(ctypes.cast(ctypes.byref(value), ctypes.c_void_p) for value in values)
    )
    sizes = [ctypes.c_uint(size) for size in (ctas, 1, 1, THREADS, 1, 1, shared_bytes)]
    rest = () if name == "cuLaunchCooperativeKernel" else (ctypes.c_void_p(),)
    call(name, _function(kernel, shared_bytes), *sizes, ctypes.c_void_p(stream.cuda_stream), addresses, *rest)


def spin(stream: torch.cuda.Stream, seconds: float, ctas: int = 1, shared_bytes: int = 0) -> None:
    """Enqueues a kernel that takes this long, whatever the clock of the SMs."""
    nanoseconds = ctypes.c_uint64(int(seconds * 1e9))
    _launch("cuLaunchKernel", ctas, shared_bytes, stream, "spin", nanoseconds)


def spin_together(stream: torch.cuda.Stream, seconds: float, ctas: int, counter: torch.Tensor) -> None:
    """Enqueues a cooperative kernel whose CTAs wait for one another. `counter`: one int32, which is 0."""
    arguments = (ctypes.c_uint64(int(seconds * 1e9)), ctypes.c_uint64(counter.data_ptr()), ctypes.c_uint32(ctas))
    _launch("cuLaunchCooperativeKernel", ctas, 0, stream, "spin_together", *arguments)


@contextmanager
def green_stream(sms: int) -> Iterator[torch.cuda.Stream]:
    """A stream whose kernels have `sms` SMs of the GPU, or a few more. Behind an exception it is left as it is: ending
    it might wait for its kernels. Raises NotPossible."""
    device, groups = ctypes.c_int(), ctypes.c_uint(1)
    whole, part = (ctypes.create_string_buffer(RESOURCE_BYTES) for _ in range(2))
    described, context, handle = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(torch.cuda.current_device()))
    call("cuDeviceGetDevResource", device, whole, ctypes.c_int(RESOURCE_SM))
    call("cuDevSmResourceSplitByCount", part, ctypes.byref(groups), whole, None, ctypes.c_uint(0), ctypes.c_uint(sms))
    call("cuDevResourceGenerateDesc", ctypes.byref(described), part, ctypes.c_uint(1))
    call("cuGreenCtxCreate", ctypes.byref(context), described, device, ctypes.c_uint(GREEN_DEFAULT_STREAM))
    call("cuGreenCtxStreamCreate", ctypes.byref(handle), context, ctypes.c_uint(NON_BLOCKING), ctypes.c_int(0))
    yield torch.cuda.ExternalStream(handle.value or 0)
    call("cuStreamDestroy_v2", handle)
    call("cuGreenCtxDestroy", context)
