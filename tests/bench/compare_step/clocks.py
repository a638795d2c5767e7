"""SM clock, power, energy and temperature of a GPU, by NVML, and why the clock is below its maximum. Readings that a GPU,
its driver or a container does not give are None."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

NAME = "libnvidia-ml.so.1"
SM_CLOCK = 1  #: NVML_CLOCK_SM
DIE = 0  #: NVML_TEMPERATURE_GPU

#: Bits of nvmlDeviceGetCurrentClocksEventReasons (nvml.h, nvmlClocksEventReason*).
POWER = 0x4 | 0x80  #: the driver's power cap, an external power brake
THERMAL = 0x20 | 0x40  #: the driver's thermal slowdown, that of the hardware


class Sample(NamedTuple):
    at_s: float
    sm_mhz: Optional[int]
    reported_mw: Optional[int]  #: Hopper's NVML reports the mean of the last second
    energy_mj: Optional[int]  #: since the driver was loaded; it grows in steps of tens of milliseconds
    celsius: Optional[int]
    reasons: Optional[int]


class Gpu:
    """One GPU of this process. Raises OSError where NVML or this GPU is missing."""

    def __init__(self, uuid: str, library: Any = None) -> None:
        self._nvml = library if library is not None else ctypes.CDLL(NAME)
        self._device = ctypes.c_void_p()
        if self._nvml.nvmlInit_v2() != 0:
            raise OSError("nvmlInit_v2 failed")
        name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        if self._nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(self._device)) != 0:
            raise OSError(f"NVML has no {name}")

    def _number(self, function: str, kind: Any, *before: Any) -> Optional[int]:
        try:
            value = kind()
            failed = getattr(self._nvml, function)(self._device, *before, ctypes.byref(value))
        except AttributeError:  # an older driver
            return None
        return None if failed else int(value.value)

    def power_limit_mw(self) -> Optional[int]:
        return self._number("nvmlDeviceGetEnforcedPowerLimit", ctypes.c_uint)

    def _reasons(self) -> Optional[int]:
        found = self._number("nvmlDeviceGetCurrentClocksEventReasons", ctypes.c_ulonglong)
        if found is not None:
            return found
        return self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong)

    def sample(self) -> Sample:
        """A few calls of the driver, each of up to milliseconds. The energy is read next to the time."""
        energy = self._number("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong)
        return Sample(time.perf_counter(), self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, SM_CLOCK),
                      self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint), energy,
                      self._number("nvmlDeviceGetTemperature", ctypes.c_uint, DIE), self._reasons())


def watts_of(samples: Sequence[Sample]) -> Optional[float]:
    """Mean power by the energy counter, from its first step to its last one, so that its coarse steps do no harm."""
    known = [(each.at_s, each.energy_mj) for each in samples if each.energy_mj is not None]
    steps = [after for before, after in zip(known, known[1:]) if after[1] != before[1]]
    if len(steps) < 2:
        return None
    (begin_s, begin_mj), (end_s, end_mj) = steps[0], steps[-1]
    return (end_mj - begin_mj) / 1e3 / (end_s - begin_s)


def share(reasons: Sequence[int], bits: int) -> Optional[float]:
    return sum(bool(each & bits) for each in reasons) / len(reasons) if reasons else None


def middle(values: Sequence[Optional[int]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return float(statistics.median(known)) if known else None


def summary(samples: Sequence[Sample], layer_us: float, power_limit_mw: Optional[int]) -> dict[str, Any]:
    """Figures of one GPU while one way was replayed; `layer_us`: what a layer took meanwhile."""
    watts = watts_of(samples)
    reported = [each.reported_mw / 1e3 for each in samples if each.reported_mw is not None]
    reasons = [each.reasons for each in samples if each.reasons is not None]
    bits = sorted({1 << bit for each in reasons for bit in range(each.bit_length()) if each >> bit & 1})
    return {"samples": len(samples), "layer_us": layer_us, "sm_mhz": middle([each.sm_mhz for each in samples]),
            "watts": watts, "reported_watts": statistics.fmean(reported) if reported else None,
            "joules": None if watts is None else watts * layer_us / 1e6,
            "power_limit_watts": None if power_limit_mw is None else power_limit_mw / 1e3,
            "celsius": middle([each.celsius for each in samples]), "power_capped": share(reasons, POWER),
            "thermal": share(reasons, THERMAL), "reasons": {hex(bit): share(reasons, bit) for bit in bits}}
