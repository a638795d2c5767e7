"""The sizes of a dense layer on one rank of tensor parallelism, its products, and the model for which `overlaptune step`
predicts the same layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from list_configs import divided
from overlaptune import Dtype, Op, Problem

#: The products of a layer, in the order in which they run.
PRODUCTS = ("qkv", "o", "gate_up", "down")
GATHERED = ("qkv", "gate_up")  #: the ones whose input is gathered under sequence parallelism


@dataclass(frozen=True)
class LayerShape:
    hidden: int
    heads: int  #: counts and widths of one rank, from here on
    kv_heads: int
    head_dim: int
    width: int  #: the MLP's
    dtype: str  #: bfloat16 or float16: of all that is no operand of a product in 8 bits
    epsilon: float  #: of the norms
    rope_theta: float
    dtypes: dict[str, str]  #: of the problems of the products, by the names of `overlaptune step`

    @property
    def rotated(self) -> int:
        """Width of the queries and keys, which are rotated."""
        return (self.heads + self.kv_heads) * self.head_dim

    @property
    def qkv(self) -> int:
        return (self.heads + 2 * self.kv_heads) * self.head_dim

    def weight(self, product: str) -> tuple[int, int]:
        """n and k of a product on one rank."""
        return {"qkv": (self.qkv, self.hidden), "o": (self.hidden, self.heads * self.head_dim),
                "gate_up": (2 * self.width, self.hidden), "down": (self.hidden, self.width)}[product]

    def problem(self, product: str, tokens: int, ranks: int, sequence_parallel: bool) -> Optional[Problem]:
        """None where the product has no collective."""
        n, k = self.weight(product)
        if product in GATHERED:
            if not sequence_parallel:
                return None
            op = Op.ALL_GATHER_GEMM
        else:
            op = Op.GEMM_REDUCE_SCATTER if sequence_parallel else Op.GEMM_ALL_REDUCE
        return Problem(op, tokens, n, k, ranks, self.product_dtype(product))

    def product_dtype(self, product: str) -> Dtype:
        return Dtype[self.dtypes[product].upper()]


def shape_of(config: dict[str, Any], tp: int) -> LayerShape:
    """The layer of a model (config.json of Hugging Face) that is divided over `tp` ranks, with products in 16 bits:
    `overlaptune step` says which of them have 8-bit operands."""
    activation = config.get("hidden_act", "silu")
    if activation != "silu":
        raise ValueError(f"hidden_act = {activation}: expected silu, the gate of the MLP that is measured")
    if any(config.get(field) for field in ("num_local_experts", "num_experts", "n_routed_experts", "kv_lora_rank")):
        raise ValueError("experts or latent attention: expected a dense model with q, k and v of one product")
    all_heads = int(config["num_attention_heads"])
    all_kv_heads = int(config.get("num_key_value_heads") or all_heads)
    if all_kv_heads % tp != 0 and tp % all_kv_heads != 0:
        raise ValueError(f"num_key_value_heads = {all_kv_heads}: expected a multiple or a divisor of {tp} ranks")
    hidden = int(config["hidden_size"])
    dtype = "float16" if (config.get("torch_dtype") or config.get("dtype")) == "float16" else "bfloat16"
    return LayerShape(hidden=hidden, heads=divided(config, "num_attention_heads", tp),
                      kv_heads=max(1, all_kv_heads // tp), head_dim=int(config.get("head_dim") or hidden // all_heads),
                      width=divided(config, "intermediate_size", tp),
                      dtype=dtype, dtypes=dict.fromkeys(PRODUCTS, "fp16" if dtype == "float16" else "bf16"),
                      epsilon=float(config.get("rms_norm_eps", 1e-5)), rope_theta=float(config.get("rope_theta", 1e4)))


def model_of(config: dict[str, Any], shape: LayerShape, ranks: int) -> dict[str, Any]:
    """The model whose layer has this shape on each of `ranks` ranks: the shapes of TP=8 on 2 GPUs are those of TP=2 of
    a model with a quarter of the heads and of the width."""
    return {**config, "num_attention_heads": shape.heads * ranks, "num_key_value_heads": shape.kv_heads * ranks,
            "head_dim": shape.head_dim, "intermediate_size": shape.width * ranks}
