"""The tables of scripts/compare-step --trace: kernels and their operations, how long they keep a GPU busy, clock and power."""

import contextlib
import sys
import time
import unittest
from types import SimpleNamespace
from unittest import mock

import built

sys.path[:0] = [str(built.SOURCE / folder)
                for folder in ("tests/bench/compare_step", "tests/bench/compare_torch", "examples")]

import clocks  # noqa: E402
import trace_table  # noqa: E402
from busy_times import busy_times, union_ns  # noqa: E402
from kernel_order import Kernel, Unclear, kind_of, operations_of  # noqa: E402
from layer_shape import PRODUCTS  # noqa: E402

NORM, ROPE, SILU = (f"triton_{name}" for name in ("red_fused_add_mean_rsqrt_0", "poi_fused_cat_0", "poi_fused_silu_0"))
FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>(Flash_fwd_params)"
NVJET = "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_TNT"
GATHER, SCATTER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL()"
OURS = "void overlaptune::kernels::device::hopper_gemm<overlaptune::HopperTile{}, Feed, Epilogue>(TensorMap)"
GATE, WAIT = (f"overlaptune::kernels::(anonymous namespace)::{name}_kernel(device::Run)" for name in ("gate", "wait"))
PEERS = "void overlaptune::kernels::(anonymous namespace)::peer_exchange<Two, (Collective)1, 2>(Arguments)"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>>(int)"
MEMSET, COPY = "Memset (Device)", "Memcpy PtoP (Device -> Device)"

#: Names of the kernels of one layer, one after the other.
TORCH = (NORM, GATHER, NVJET, ROPE, FLASH, NVJET, SCATTER, NORM, GATHER, NVJET, SILU, NVJET, SCATTER)
ORDER = ["attention norm", "qkv", "qkv", "rope", "attention", "o", "o", "mlp norm", "gate_up", "gate_up", "activation",
         "down", "down"]


def in_turn(names, us=10, begin_us=0):
    """Kernels of 10 us, with a pause of 1 us after each."""
    return [Kernel(name, 1000 * (begin_us + place * (us + 1)), 1000 * (begin_us + place * (us + 1) + us), 7)
            for place, name in enumerate(names)]


class Kinds(unittest.TestCase):
    def test_names(self):
        for kind, names in (("pointwise", (NORM, ROPE, SILU)), ("attention", (FLASH, "cudnn_generated_sdpa_sm90_fprop",
                                                                              "fmha_cutlassF_bf16_aligned")),
                            ("gemm", (NVJET, OURS, "_ZN11overlaptune7kernels6device11hopper_gemmIXtlNS", "sm90_xmma_gemm",
                                      "void cublasLt::splitKreduce_kernel<32>()", "void cutlass::device_kernel<X>()")),
                            ("wait", (GATE, WAIT, "_ZN11overlaptune7kernels12_GLOBAL__N_121wait_for_flags_kernelE",
                                      "c10d::symmetric_memory::barrier_kernel(unsigned int**)")),
                            ("exchange", (GATHER, SCATTER, PEERS, MEMSET, COPY, "peer_push", "exchange_move"))):
            for name in names:
                self.assertEqual(kind_of(name, True), kind, name)
        self.assertEqual([kind_of(ADD, compiled) for compiled in (True, False)], ["copy", "pointwise"])

    def operations(self, names, layers=1, compiled=True):
        return operations_of([kind_of(name, compiled) for name in names], layers)

    def test_products_by_their_place(self):
        self.assertEqual(self.operations(TORCH), ORDER)
        self.assertEqual(self.operations(TORCH * 4, 4), ORDER * 4)

    def test_a_layer_of_plans(self):
        names = (NORM, MEMSET, COPY, OURS, WAIT, ROPE, FLASH, GATE, OURS, PEERS, NORM, NVJET, SILU, MEMSET, OURS, WAIT,
                 SCATTER)
        self.assertEqual(self.operations(names), ["attention norm", *["qkv"] * 4, "rope", "attention", *["o"] * 3,
                                                  "mlp norm", "gate_up", "activation", *["down"] * 4])

    def test_copies_beside_attention_belong_to_it(self):
        names = (*TORCH[:4], ADD, MEMSET, MEMSET, FLASH, ADD, *TORCH[5:])
        expected = [*ORDER[:4], *["attention"] * 5, *ORDER[5:]]
        self.assertEqual(self.operations(names), expected)
        # Elsewhere they belong to the product: PyTorch's asynchronous tensor parallelism adds up parts.
        self.assertEqual(self.operations((*TORCH[:7], ADD, *TORCH[7:])), [*ORDER[:7], "o", *ORDER[7:]])

    def test_pointwise_operations_that_are_not_compiled(self):
        names = [name for each in TORCH for name in ([ADD] * 3 if each in (NORM, ROPE, SILU) else [each])]
        names.insert(names.index(FLASH) + 1, ADD)
        found = self.operations(names, compiled=False)
        self.assertEqual([found.count(name) for name in ("attention norm", "rope", "attention", "o", "activation")],
                         [3, 3, 2, 2, 3])

    def test_another_order_is_unclear(self):
        for names, words in (((*TORCH[:3], *TORCH[4:]), "kernel 3 is attention after qkv"),
                             ((*TORCH, *TORCH[:5]), "attention norm was found 2 times in 1 layers"),
                             (TORCH[:7], "mlp norm was found 0 times")):
            with self.assertRaisesRegex(Unclear, words):
                self.operations(names)


class BusyTimes(unittest.TestCase):
    def replays(self, names, replays, a_pause_us=5):
        period = 11 * len(names) - 1 + a_pause_us
        return [kernel for number in range(replays) for kernel in in_turn(names, begin_us=number * period)]

    def test_time_that_is_covered(self):
        self.assertEqual(union_ns([]), 0)
        spans = ((30, 40), (0, 10), (5, 20), (6, 7), (40, 41))
        self.assertEqual(union_ns(Kernel("", *span, 0) for span in spans), 31)

    def test_one_kernel_after_the_other(self):
        # Two layers; the first recorded replay was cut off, and the last one only ends the one before.
        kernels = self.replays(TORCH * 2, 5)[7:]
        found = busy_times(kernels, 26, 3, 2)
        self.assertEqual(found["unclear"], "")
        busy = found["busy_us"]
        self.assertAlmostEqual(busy["qkv"], 20)
        self.assertAlmostEqual(busy["qkv: GEMM"], 10)
        self.assertAlmostEqual(busy["qkv: exposed"], 10)
        self.assertAlmostEqual(busy["all gemm"], 40)
        self.assertAlmostEqual(busy["all pointwise"], 40)
        self.assertAlmostEqual(busy["between replays"], 2.5)
        self.assertAlmostEqual(busy["gap"], (25 + 5) / 2)
        self.assertAlmostEqual(busy["total"], 130 + (25 + 5) / 2)
        self.assertEqual([(each["operation"], each["start_us"], each["us"]) for each in found["kernels"]],
                         [(name, 11.0 * place, 10.0) for place, name in enumerate(ORDER * 2)])

    def test_exchanges_beside_a_gemm_and_waits(self):
        def layer(begin):
            names = (NORM, OURS, PEERS, ROPE, FLASH, GATE, NVJET, NORM, NVJET, SILU, NVJET)
            spans = ((0, 10), (10, 50), (20, 60), (60, 70), (70, 80), (80, 85), (83, 90), (90, 95), (95, 99), (99, 100),
                     (100, 110))
            return [Kernel(name, 1000 * (begin + span[0]), 1000 * (begin + span[1]), 0)
                    for name, span in zip(names, spans)]

        busy = busy_times([*layer(0), *layer(120)], 11, 1, 1)["busy_us"]
        self.assertEqual([busy[name] for name in ("qkv", "qkv: GEMM", "qkv: exposed", "all exchange")], [50, 40, 10, 40])
        # The gate counts where nothing else runs.
        self.assertEqual([busy[name] for name in ("o", "waits alone", "gap", "between replays", "total")],
                         [7, 3, 10, 10, 120])
        operations = sum(us for name, us in busy.items() if name in trace_table.OPERATIONS)
        self.assertAlmostEqual(operations + busy["waits alone"] + busy["gap"], busy["total"])

    def test_what_cannot_be_told_apart(self):
        found = busy_times(self.replays((FLASH, NVJET, SCATTER), 4), 3, 3, 1)
        self.assertIn("kernel 0 is attention after down", found["unclear"])
        self.assertNotIn("qkv", found["busy_us"])
        self.assertAlmostEqual(found["busy_us"]["all gemm"], 10)
        self.assertEqual(len(found["kernels"]), 3)
        for kernels, a_replay, words in (([], 0, "0 kernels were recorded"), (in_turn(TORCH), 13, "13 kernels were recorded"),
                                         (self.replays(TORCH, 8), 20, "different kernels")):
            found = busy_times(kernels, a_replay, 3, 1)
            self.assertEqual((found["busy_us"], found["kernels"]), ({}, []))
            self.assertIn(words, found["unclear"])


class Nvml:
    """A driver of one GPU, which is older than the names of today."""

    def nvmlInit_v2(self):
        return 0

    def nvmlDeviceGetHandleByUUID(self, name, device):
        device._obj.value = 1
        return 0 if name == b"GPU-1234" else 6

    def answer(self, where, value):
        where._obj.value = value
        return 0

    def nvmlDeviceGetClockInfo(self, device, kind, mhz):
        return self.answer(mhz, {1: 1755}[kind])

    def nvmlDeviceGetTotalEnergyConsumption(self, device, mj):
        return self.answer(mj, 10**12)

    def nvmlDeviceGetPowerUsage(self, device, mw):
        return 3  # not supported

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, device, reasons):
        return self.answer(reasons, 0x4)


def sample(at_s, energy_mj=None, reasons=0, mhz=1500):
    return clocks.Sample(at_s, mhz, 600000, energy_mj, 60, reasons)


class Clocks(unittest.TestCase):
    def test_readings_that_are_missing(self):
        gpu = clocks.Gpu("1234", Nvml())
        self.assertEqual(gpu.sample()[1:], (1755, None, 10**12, None, 0x4))
        self.assertIsNone(gpu.power_limit_mw())
        with self.assertRaisesRegex(OSError, "NVML has no GPU-5"):
            clocks.Gpu("GPU-5", Nvml())

    def test_power_from_the_steps_of_the_energy_counter(self):
        # 500 W, in steps of 0.1 s; readings begin and end between two steps.
        samples = [sample(ms / 1000, 50000 * (ms // 100)) for ms in range(40, 590, 10)]
        self.assertAlmostEqual(clocks.watts_of(samples), 500)
        self.assertIsNone(clocks.watts_of(samples[:12]))
        self.assertIsNone(clocks.watts_of([]))

    def test_figures_of_a_gpu(self):
        samples = [sample(number / 10, 60000 * number, reasons, mhz) for number, (reasons, mhz) in
                   enumerate(((0x4, 1410), (0x4, 1425), (0x24, 1395), (0, 1980)))]
        found = clocks.summary(samples, 2000, 700000)
        self.assertEqual((found["samples"], found["sm_mhz"], found["power_limit_watts"]), (4, 1417.5, 700))
        self.assertAlmostEqual(found["watts"], 600)
        self.assertAlmostEqual(found["joules"], 1.2)
        self.assertEqual((found["power_capped"], found["thermal"]), (0.75, 0.25))
        self.assertEqual(found["reasons"], {"0x4": 0.75, "0x20": 0.25})
        none = clocks.summary([], 2000, None)
        self.assertEqual({none[name] for name in ("sm_mhz", "watts", "joules", "power_capped", "celsius")}, {None})


def figures(busy, **changed):
    return {"busy": [{"busy_us": each, "unclear": "", "kernels": []} for each in busy],
            "clocks": [{**clocks.summary([sample(0.1, 0, 4), sample(0.2, 60000, 4), sample(0.3, 120000)], 2000, 700000),
                        **changed}] * 2}


class Tables(unittest.TestCase):
    def cells(self, lines):
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        return {row[0]: row[1:] for row in rows}

    def measured(self):
        def busy(qkv, gap):
            return {"qkv": qkv, "qkv: GEMM": qkv - 10, "all gemm": 50.0, "gap": gap, "total": qkv + gap, "all copy": 0.0}

        trace = {"torch": figures((busy(60.0, 5.0), busy(62.0, 5.0))), "sequential": figures((busy(70.0, 5.0),) * 2),
                 "tuned": figures((busy(50.0, 8.0), busy(58.0, 8.0)), sm_mhz=1380.0), "async_tp": figures(({}, {}))}
        trace["async_tp"]["busy"][1]["unclear"] = "kernel 3 is attention after qkv"
        return {"tokens": 4096, "trace": trace,
                "times_us": {"sequential": [74.0], "tuned": [57.0, 58.0, 59.0], "torch": [66.0], "async_tp": [64.0]}}

    def test_busy(self):
        lines = trace_table.busy_lines(self.measured())
        rows = self.cells(lines)
        self.assertEqual(rows["operation"], ["sequential µs", "tuned µs", "PyTorch µs", "async-TP µs", "tuned − PyTorch",
                                             "mean of ranks", "largest rank"])
        self.assertEqual(rows["qkv"], ["70.0", "50.0", "60.0", "-", "-10.0", "-7.0", "-4.0"])
        self.assertEqual(rows["gap"], ["5.0", "8.0", "5.0", "-", "3.0", "3.0", "3.0"])
        self.assertEqual(rows["in the rounds"], ["74.0", "58.0", "66.0", "64.0", "", "", "-8.0"])
        self.assertEqual({"rope", "all copy"} & set(rows), set())  # nobody has such a row, or any time in it
        self.assertIn("async-TP, rank 1: operations cannot be told apart: kernel 3 is attention after qkv", lines)

    def test_every_row_has_a_place(self):
        kernels = [kernel for number in range(2) for kernel in in_turn(TORCH, begin_us=200 * number)]
        self.assertEqual(set(busy_times(kernels, 13, 1, 1)["busy_us"]), set(trace_table.row_names()))
        self.assertEqual([name for name in trace_table.row_names() if name in PRODUCTS], list(PRODUCTS))

    def test_clock_and_power(self):
        lines = trace_table.clocks_lines(self.measured())
        self.assertIn("4096 tokens, each way replayed without a pause; means of the ranks; power limit 700 W:", lines)
        rows = self.cells(lines)
        self.assertEqual(rows["tuned"], ["1380", "600.0", "1.2000", "2000.0", "67", "0", "60", "1380"])
        self.assertEqual(list(rows)[2:], ["sequential", "tuned", "PyTorch", "async-TP"])


class Event:
    """An event of a GPU that takes 1 ms for a replay."""

    replays = 0

    def record(self):
        self.at = Event.replays

    def query(self):
        return True

    def elapsed_time(self, end):
        return float(end.at - self.at)


class Profile(contextlib.AbstractContextManager):
    """A profiler that has each replay's kernels, behind the mark."""

    def __init__(self, **arguments):
        self.profiler = SimpleNamespace(kineto_results=self)
        self.begun = Event.replays

    def __exit__(self, *error):
        self.ended = Event.replays

    def events(self):
        names = [GATHER, "void at::cuda::(anonymous namespace)::spin_kernel(long)", *TORCH * (self.ended - self.begun)]
        made = [SimpleNamespace(name=lambda kernel=kernel: kernel.name, start_ns=lambda kernel=kernel: kernel.start_ns,
                                duration_ns=lambda: 10000, device_resource_id=lambda: 7, device_type=lambda: "cuda")
                for kernel in in_turn(names)]
        return [SimpleNamespace(device_type=lambda: "cpu"), *reversed(made)]


def fake_torch():
    properties = SimpleNamespace(uuid="1234")
    cuda = SimpleNamespace(Event=lambda enable_timing: Event(), synchronize=lambda: None, _sleep=lambda cycles: None,
                           get_device_properties=lambda device: properties, current_device=lambda: 0)
    dist = SimpleNamespace(barrier=lambda: None, get_world_size=lambda: 1, get_rank=lambda: 0,
                           all_gather_object=lambda found, mine: found.__setitem__(0, mine))
    profiler = SimpleNamespace(profile=Profile, ProfilerActivity=SimpleNamespace(CUDA="cuda"))
    torch = SimpleNamespace(cuda=cuda, distributed=dist, profiler=profiler,
                            autograd=SimpleNamespace(DeviceType=SimpleNamespace(CUDA="cuda")))
    return {"torch": torch, "torch.cuda": cuda, "torch.distributed": dist, "torch.profiler": profiler,
            "rounds": SimpleNamespace(Replay=None), "timing": SimpleNamespace(largest=lambda values: values)}


class Replays(unittest.TestCase):
    def setUp(self):
        with mock.patch.dict(sys.modules, fake_torch()):
            import steady
        sys.modules.pop("steady", None)
        self.module = steady
        self.samples = []
        Event.replays = 0
        gpu = SimpleNamespace(sample=self.sample, power_limit_mw=lambda: 700000)
        with mock.patch.object(steady, "gpu_here", lambda: gpu):
            self.steady = steady.Steady(20, 1)

    def sample(self):
        self.samples.append(Event.replays)
        return clocks.Sample(time.perf_counter(), 1500, None, None, None, 0)

    def replay(self):
        time.sleep(0.001)
        Event.replays += 1

    def test_readings_lie_between_the_first_and_the_last_replays(self):
        [found] = self.steady.clocks(self.replay, 1000)
        # 20 to settle, 400 that are watched; the host is 100 ahead.
        self.assertEqual(Event.replays, 520)
        self.assertEqual(self.samples[0], 121)
        self.assertLess(20, found["samples"])
        self.assertEqual((found["layer_us"], found["power_limit_watts"]), (1000, 700))

    def test_kernels_of_the_last_replays(self):
        [found] = self.steady.busy(self.replay, 1000)
        self.assertEqual(Event.replays, 1 + 20 + 4)
        self.assertEqual((found["unclear"], found["busy_us"]["attention"]), ("", 10))
        self.assertEqual(found["busy_us"]["total"], 143)
        self.assertEqual(len(found["kernels"]), 13)

    def test_no_profiler(self):
        self.assertEqual(self.module.why_no_profiler(), "")
        with mock.patch.object(self.module, "profile", side_effect=RuntimeError("CUPTI is\n in use")):
            self.assertEqual(self.module.why_no_profiler(), "CUPTI is in use")


if __name__ == "__main__":
    unittest.main()
