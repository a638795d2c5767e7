"""examples/vllm_plugin on stand-ins for vLLM, made of the signatures and attributes of its classes (tests/data/vllm_signatures.json),
and for PyTorch: which layers it takes, and what it leaves to vLLM."""

import importlib.util
import json
import os
import sys
import types
import unittest
from unittest import mock

import built
import fake_torch

torch = fake_torch.install()

from fake_plans import WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402

SIGNATURES = json.loads((built.SOURCE / "tests/data/vllm_signatures.json").read_text())
PLUGIN = built.SOURCE / "examples/vllm_plugin/overlaptune_vllm.py"
RANKS = fake_torch.RANKS


def bound(name, *arguments, **options):
    """The values of a call by the signature of vLLM, by name. A call that it does not allow raises TypeError."""
    scope = {}
    exec(f"def called({', '.join(SIGNATURES[name])}): return locals()", scope)
    return scope["called"](*arguments, **options)


class UnquantizedLinearMethod:
    pass


class Fp8LinearMethod:
    pass


class RowParallelLinear:
    """Has the attributes of vLLM's class and no others; a layer of a registered class is made in its place."""

    instead = {}

    def __new__(cls, *arguments, **options):
        return super().__new__(cls.instead.get(cls.__name__, cls))

    def __init__(self, *arguments, **options):
        given = bound("RowParallelLinear.__init__", self, *arguments, **options)
        part = given["input_size"] // RANKS
        known = {**given, "tp_rank": 0, "tp_size": 1 if given["disable_tp"] else RANKS, "has_bias": given["bias"],
                 "quant_method": UnquantizedLinearMethod() if given["quant_config"] is None else Fp8LinearMethod(),
                 "weight": fake_torch.Tensor((given["output_size"], part)),
                 "bias": fake_torch.Tensor((given["output_size"],)) if given["bias"] else None}
        for name in SIGNATURES["RowParallelLinear attributes"]:
            setattr(self, name, known.get(name))

    @classmethod
    def register_oot(cls, *arguments, **options):
        given = bound("register_oot", cls, *arguments, **options)
        cls.instead[given["name"] or cls.__name__] = given["_decorated_layer_cls"]

    def forward(self, *arguments):
        return ("vLLM's", bound("RowParallelLinear.forward", self, *arguments)["input_"].shape)


class Plugin(WithPlans):
    def setUp(self):
        super().setUp()
        functions = {"get_tensor_model_parallel_world_size": lambda: RANKS,
                     "get_tp_group": lambda: types.SimpleNamespace(device_group=torch.distributed.group.WORLD),
                     "tensor_model_parallel_all_reduce": lambda x: ("vLLM's sum", x.shape)}
        self.assertEqual(set(functions), set(SIGNATURES["vllm.distributed"]))
        linear = types.SimpleNamespace(RowParallelLinear=RowParallelLinear)
        modules = {"vllm": types.ModuleType("vllm"), "vllm.distributed": types.SimpleNamespace(**functions),
                   "vllm.model_executor": types.ModuleType("vllm.model_executor"),
                   "vllm.model_executor.layers": types.ModuleType("vllm.model_executor.layers"),
                   "vllm.model_executor.layers.linear": linear}
        spec = importlib.util.spec_from_file_location("overlaptune_vllm", PLUGIN)
        self.plugin = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.plugin)
        for patch in (mock.patch.dict(sys.modules, modules), mock.patch.dict(RowParallelLinear.instead, clear=True),
                      mock.patch.dict(os.environ, {"OVERLAPTUNE_DB": "cluster.db", "OVERLAPTUNE_VLLM_THRESHOLD": "64"}),
                      mock.patch.object(layers.World, "_opened", lambda *_: None),
                      mock.patch.object(self.plugin.atexit, "register")):
            patch.start()
            self.addCleanup(patch.stop)

    def layer(self, *arguments, **options):
        self.plugin.register()
        return RowParallelLinear(64, 128, *arguments, params_dtype="bf16", **options)

    def test_many_tokens_are_overlapped_and_few_are_not(self):
        layer = self.layer(bias=False)
        y, bias = layer.forward(fake_torch.Tensor((64, 16)))
        self.assertEqual((y.shape, bias), ((64, 128), None))
        runs = [call[1] for call in layer.world._world.calls if call[0] == "run"]
        self.assertEqual(runs, [self.problem(ot.Op.GEMM_ALL_REDUCE, 64, 128, 16)])
        self.assertEqual(layer.forward(fake_torch.Tensor((63, 16)))[0], ("vLLM's sum", (63, 128)))

    def test_what_it_cannot_do_is_vllms(self):
        for options in ({"quant_config": "fp8"}, {"reduce_results": False}, {"input_is_parallel": False}, {"disable_tp": True}):
            layer = self.layer(bias=False, **options)
            self.assertEqual(layer.forward(fake_torch.Tensor((64, 16))), ("vLLM's", (64, 16)), options)

    def test_the_result_has_vllms_form(self):
        x = fake_torch.Tensor((64, 16))
        self.assertEqual(self.layer(bias=False, return_bias=False).forward(x).shape, (64, 128))
        layer = self.layer(skip_bias_add=True)
        self.assertIs(layer.forward(x)[1], layer.bias)

    def test_without_a_database_nothing_changes(self):
        with mock.patch.dict(os.environ, {"OVERLAPTUNE_DB": ""}):
            self.assertIs(type(self.layer(bias=False)), RowParallelLinear)
        self.assertIsNot(type(self.layer(bias=False)), RowParallelLinear)

    def test_the_signature_is_one_that_vllms_own_call_fits(self):
        with self.assertRaises(TypeError):
            RowParallelLinear(64, 128, gather_output=True)


if __name__ == "__main__":
    unittest.main()
