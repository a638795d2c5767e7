"""The tables of scripts/compare-step, from its raw numbers. All times are microseconds of one layer; a pass has the times
of all rounds, in which `sequential`, the winners and PyTorch ran in turn."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any, Optional

from layer_shape import PRODUCTS

Pass = dict[str, Any]
Row = tuple[Optional[float], ...]

LAYER_HEADER = ("tokens", "sequential µs", "predicted µs", "error %", "tuned µs", "predicted µs", "error %", "gain %",
                "predicted %", "points", "PyTorch µs", "async-TP µs")
OPERATION_HEADER = ("operation", "predicted µs", "alone µs", "error %", "tuned: predicted µs", "alone µs", "error %",
                    "config")
#: Errors of a layer's time in percent, and of the gain in points.
TARGET, FLOOR, TARGET_POINTS = 4, 8, 2


def error_percent(predicted: Optional[float], measured: Optional[float]) -> Optional[float]:
    return None if predicted is None or measured is None else 100 * (predicted / measured - 1)


def added(parts: Sequence[Optional[float]]) -> Optional[float]:
    """The sum of the parts that are there; None where none is."""
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def gain_percent(sequential: float, tuned: float) -> float:
    """The part of the time that is saved."""
    return 100 * (1 - tuned / sequential)


def layer_figures(measured: Pass) -> dict[str, float]:
    """The row of one number of tokens. The gain is the median of the gains of the rounds."""
    times, predicted = measured["times_us"], measured["predicted"]
    sequential, tuned = (float(statistics.median(times[way])) for way in ("sequential", "tuned"))
    gain = statistics.median(gain_percent(*pair) for pair in zip(times["sequential"], times["tuned"]))
    predicted_gain = gain_percent(predicted["sequential_us"], predicted["tuned_us"])
    return {"tokens": measured["tokens"], "sequential": sequential, "predicted_sequential": predicted["sequential_us"],
            "error_sequential": 100 * (predicted["sequential_us"] / sequential - 1), "tuned": tuned,
            "predicted_tuned": predicted["tuned_us"], "error_tuned": 100 * (predicted["tuned_us"] / tuned - 1),
            "gain": gain, "predicted_gain": predicted_gain, "points": predicted_gain - gain,
            "torch": float(statistics.median(times["torch"])),
            "async_tp": float(statistics.median(times.get("async_tp", [math.nan])))}


def tuned_us(product: dict[str, Any]) -> float:
    """A product with its collective as the tuned layer is predicted to run it, by itself."""
    apart = float(product["gemm_us"] + (product["collective_us"] or 0))
    overlapped: Optional[float] = product["overlapped_us"]
    return apart if overlapped is None else min(apart, overlapped)


def others_of(measured: Pass) -> list[str]:
    """The operations that are no products."""
    return [name for name in measured["predicted"]["operations"] if name not in PRODUCTS]


def operation_rows(measured: Pass) -> list[tuple[str, Row, str]]:
    """Name, the six figures and the config of each operation; the last row has the sums."""
    predicted, alone, configs = measured["predicted"]["operations"], measured["alone_us"], measured["configs"]
    rows: list[tuple[str, Row, str]] = []
    sums: list[tuple[float, float, float, float]] = []

    def add(name: str, figures: tuple[Optional[float], Optional[float], Optional[float], Optional[float]],
            config: str = "") -> None:
        first, second, third, fourth = figures
        rows.append((name, (first, second, error_percent(first, second), third, fourth, error_percent(third, fourth)),
                     config))

    for name in others_of(measured):
        us, took = predicted[name]["us"], alone[name]
        add(name, (us, took, None, None), predicted[name]["source"])
        sums.append((us, took, us, took))
    for name in PRODUCTS:
        product = predicted[name]
        add(f"{name}: GEMM", (product["gemm_us"], alone[f"{name} gemm"], None, None))
        if product["collective_us"] is None:
            sums.append((product["gemm_us"], alone[f"{name} gemm"]) * 2)
            continue
        both = product["gemm_us"] + product["collective_us"]
        add(f"{name}: collective", (product["collective_us"], alone[f"{name} collective"], None, None))
        add(f"{name}: both", (both, alone[f"{name} sequential"], tuned_us(product), alone[f"{name} tuned"]),
            f"{configs[name]}; {product['source']}")
        sums.append((both, alone[f"{name} sequential"], tuned_us(product), alone[f"{name} tuned"]))
    add("sum", (sum(row[0] for row in sums), sum(row[1] for row in sums), sum(row[2] for row in sums),
                sum(row[3] for row in sums)))
    return rows


def with_measured_others(measured: Pass) -> tuple[float, float]:
    """The predicted times of the layer, sequential and tuned, if all operations that are no products took what they
    take alone: the errors that are left are those of products and collectives, and of operations beside others."""
    operations, alone = measured["predicted"]["operations"], measured["alone_us"]
    more = {name: alone[name] - operations[name]["us"] for name in others_of(measured)}
    beside_fused = sum(us * operations[name]["beside_fused"] for name, us in more.items())
    predicted = measured["predicted"]
    return predicted["sequential_us"] + sum(more.values()), predicted["tuned_us"] + beside_fused


def cell(value: Optional[float], digits: int) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def markdown(header: Sequence[str], lines: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(header, *lines)]
    return ["| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |"
            for line in (list(header), ["-" * width for width in widths], *lines)]


def layer_table(raw: dict[str, Any]) -> list[str]:
    lines = []
    for measured in raw["passes"]:
        row = layer_figures(measured)
        hidden = {"error_sequential", "error_tuned", "points"} if raw["ranks_per_gpu"] > 1 else set()
        lines.append([str(row["tokens"])] + [cell(None if name in hidden else row[name], 1)
                                             for name in list(row) if name != "tokens"])
    return markdown(LAYER_HEADER, lines)


def operations_table(measured: Pass, shares_gpu: bool) -> list[str]:
    lines = [[name, *("" if value is None or (shares_gpu and place in (2, 5)) else f"{value:.1f}"
                      for place, value in enumerate(figures)), config]
             for name, figures, config in operation_rows(measured)]
    return markdown(OPERATION_HEADER, lines)


def summary(raw: dict[str, Any]) -> list[str]:
    rows = [layer_figures(measured) for measured in raw["passes"]]
    error = max(abs(row[name]) for row in rows for name in ("error_sequential", "error_tuned"))
    points = max(abs(row["points"]) for row in rows)
    lines = [f"Largest error of a layer's time: {error:.1f} % (target {TARGET}, floor {FLOOR}); largest difference of a "
             f"gain: {points:.1f} points (target {TARGET_POINTS})."]
    for measured, row in zip(raw["passes"], rows):
        if measured["alone_us"] is None:
            continue
        sequential, tuned = with_measured_others(measured)
        lines.append(f"{measured['tokens']} tokens, with all that is no product as measured alone: "
                     f"predicted sequential {sequential:.1f} µs ({100 * (sequential / row['sequential'] - 1):+.1f} %), "
                     f"tuned {tuned:.1f} µs ({100 * (tuned / row['tuned'] - 1):+.1f} %); "
                     f"attention ran at {measured['attention_tflops']:.0f} TFLOP/s")
    return lines


def check_line(measured: Pass) -> str:
    errors = measured["errors"]
    verdict = "right" if measured["right"] else "WRONG"
    async_tp = f"{errors['async_tp']:.2e}" if "async_tp" in errors else f"none ({measured['no_async_tp']})"
    return (f"{measured['tokens']} tokens: {verdict}; relative errors to a layer with products in fp32: "
            f"PyTorch {errors['torch']:.2e}, sequential {errors['sequential']:.2e}, tuned {errors['tuned']:.2e}; "
            f"tuned to sequential {errors['tuned to sequential']:.2e}, to PyTorch {errors['tuned to torch']:.2e}; "
            f"async-TP {async_tp}")


def report(raw: dict[str, Any]) -> str:
    shares_gpu = raw["ranks_per_gpu"] > 1
    kind = "sequence parallelism" if raw["sequence_parallel"] else "plain TP"
    text = [f"{raw['ranks']} ranks on {raw['gpu']}, PyTorch {raw['torch']}, NCCL {raw['nccl']}; {raw['model']}, shapes of "
            f"TP={raw['tp_shapes']}, {kind}; {raw['layers']} layers in a CUDA graph, times of one; medians of "
            f"{raw['rounds']} rounds, slowest rank; pointwise operations {raw['pointwise']}; NVLink multicast is off"]
    if shares_gpu:
        text.append("RANKS SHARE A GPU: they run in turn, and the times mean nothing. Only the results are checked.")
    for platform in sorted({measured["predicted"]["platform"] for measured in raw["passes"]} - {raw["measured_on"]}):
        text.append(f"The predictions are those of {platform}, which is not the platform of these ranks.")
    text += ["", *layer_table(raw)]
    if not shares_gpu:
        text += ["", *summary(raw)]
    for measured in raw["passes"]:
        if measured["alone_us"] is not None:
            text += ["", f"{measured['tokens']} tokens, each operation alone:", "",
                     *operations_table(measured, shares_gpu)]
    text += ["", "Results:", *map(check_line, raw["passes"])]
    notes = raw["passes"][0]["predicted"]["notes"] if raw["passes"] else []
    return "\n".join([*text, "", *(f"Prediction: {note}" for note in notes)])
