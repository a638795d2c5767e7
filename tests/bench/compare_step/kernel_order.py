"""Which operation of a layer each kernel belongs to. Products are told apart by their place in the order of the layer,
because all four may run kernels of one name: what runs between the attention norm and rope belongs to qkv, and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

#: In the order in which they run.
OPERATIONS = ("attention norm", "qkv", "rope", "attention", "o", "mlp norm", "gate_up", "activation", "down")

WAIT, ATTENTION, POINTWISE, COPY, GEMM, EXCHANGE = KINDS = ("wait", "attention", "pointwise", "copy", "gemm", "exchange")

#: Kernels that only wait for other ranks or for another stream: overlaptune's, and those of PyTorch's symmetric memory.
WAITS = re.compile(r"overlaptune.*(wait_kernel|wait_for_flags_kernel|gate_kernel)|"
                   r"symmetric_memory.*(barrier|wait_signal)")
ATTENTIONS = re.compile(r"flash|fmha|sdpa|attention|fprop", re.IGNORECASE)
#: `hopper_gemm` and `ampere_gemm` are overlaptune's, the others those of cuBLAS and CUTLASS.
GEMMS = re.compile(r"gemm|nvjet|cutlass|xmma|splitk", re.IGNORECASE)
EAGER = re.compile(r"at::native|_ZN2at6native")
COMPILED = "triton_"

#: The operation of the next kernel, after a kernel of an operation. Attention may need copies and memsets, before it and
#: after it; `to attention` is a place between rope and attention.
AT_POINTWISE = {"attention norm": "attention norm", "qkv": "rope", "rope": "rope", "to attention": "to attention",
                "attention": "attention", "o": "mlp norm", "mlp norm": "mlp norm", "gate_up": "activation",
                "activation": "activation", "down": "attention norm"}
AT_ATTENTION = {"rope": "attention", "to attention": "attention", "attention": "attention"}
AT_OTHERS = {"attention norm": "qkv", "qkv": "qkv", "rope": "to attention", "to attention": "to attention",
             "attention": "o", "o": "o", "mlp norm": "gate_up", "gate_up": "gate_up", "activation": "down",
             "down": "down"}
AT_COPY = {**AT_OTHERS, "attention": "attention"}


class Kernel(NamedTuple):
    """A kernel, a copy or a memset."""

    name: str
    start_ns: int
    end_ns: int
    stream: int


class Unclear(Exception):
    """The kernels are not in the order of layers."""


def kind_of(name: str, is_compiled: bool) -> str:
    """Where pointwise operations are compiled, PyTorch's own kernels are copies."""
    if name.startswith(COMPILED):
        return POINTWISE
    if WAITS.search(name):
        return WAIT
    if EAGER.search(name):
        return COPY if is_compiled else POINTWISE
    if ATTENTIONS.search(name):
        return ATTENTION
    return GEMM if GEMMS.search(name) else EXCHANGE


def kinds_of(kernels: Sequence[Kernel]) -> list[str]:
    is_compiled = any(kernel.name.startswith(COMPILED) for kernel in kernels)
    return [kind_of(kernel.name, is_compiled) for kernel in kernels]


def operations_of(kinds: Sequence[str], layers: int) -> list[str]:
    """The operation of each kernel of a pass, from the kinds of its kernels in the order in which they began. Unclear
    where the pass does not have each operation once in each layer."""
    after = {POINTWISE: AT_POINTWISE, ATTENTION: AT_ATTENTION, COPY: AT_COPY}
    found: list[str] = []
    place, begun = "down", dict.fromkeys((*OPERATIONS, "to attention"), 0)
    for number, kind in enumerate(kinds):
        following = after.get(kind, AT_OTHERS).get(place)
        if following is None:
            raise Unclear(f"kernel {number} is {kind} after {place}")
        begun[following] += following != place
        place = following
        found.append("attention" if place == "to attention" else place)
    wrong = [name for name in OPERATIONS if begun[name] != layers]
    if wrong:
        raise Unclear(f"{wrong[0]} was found {begun[wrong[0]]} times in {layers} layers")
    return found
