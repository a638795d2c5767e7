"""Memory for results of all-reduce layers, on a stand-in for PyTorch's pools: what comes from which pool."""

import sys
import unittest
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import fake_torch

torch = fake_torch.install()

from overlaptune.torch import results  # noqa: E402
from overlaptune.torch.results import PAUSE, Results  # noqa: E402

POOL, OTHER = "pool", 8192
PER_THREAD = SimpleNamespace(_cuda_beginAllocateCurrentThreadToPool=None)


class World:
    """The world of run.h: the capture that a stream is in, or None where it has no results."""

    capture = 0

    def begin_pool(self, stream):
        return self.capture


class Pools(unittest.TestCase):
    def setUp(self):
        self.world, self.alive, self.used = World(), [], []
        case = self

        class MemPool:
            def __init__(self, allocator):
                self.number = len(case.alive)
                case.alive.append(True)

            def __del__(self):
                case.alive[self.number] = False

        @contextmanager
        def use_mem_pool(pool, device):
            self.used.append(pool.number)
            if self.full:
                raise OutOfMemory
            with mock.patch.object(torch, "empty", lambda shape, dtype, device: fake_torch.Tensor(shape, dtype, device, POOL)):
                yield

        class OutOfMemory(Exception):
            """PyTorch's."""

        self.full = False
        for place, name, value in ((torch.cuda, "MemPool", MemPool), (torch.cuda, "use_mem_pool", use_mem_pool),
                                   (torch.cuda, "capturing", False), (torch, "_C", PER_THREAD), (torch, "OutOfMemoryError", OutOfMemory),
                                   (results, "_allocator", lambda: None)):
            patch = mock.patch.object(place, name, value, create=True)
            patch.start()
            self.addCleanup(patch.stop)
        self.results = Results(self.world, "cuda:0", 1 << 30)

    def place(self):
        return self.results.empty((8, 16), "bf16").data_ptr()

    def capture(self, number):
        self.world.capture, torch.cuda.capturing = number, number != 0

    def test_they_come_from_one_pool(self):
        self.assertEqual([self.place() for _ in range(3)], [POOL] * 3)
        self.assertEqual((self.used, self.alive), ([0, 0, 0], [True]))

    def test_each_capture_has_a_pool_of_its_own(self):
        for number in (0, 5, 5, 0, 6, 0):
            self.capture(number)
            self.assertEqual(self.place(), POOL)
        self.assertEqual(self.used, [0, 1, 1, 0, 2, 0])
        self.assertEqual(self.alive, [True] * 3)  # PyTorch ends none while something is captured: maybe elsewhere

    def test_where_there_was_no_room_they_lie_elsewhere_for_a_while(self):
        self.capture(5)
        self.place()
        self.capture(0)
        self.place()
        self.full = True
        self.assertEqual(self.place(), OTHER)
        self.assertEqual(self.alive, [False, True])  # the pool of no capture stays: its tensors would keep its memory
        self.full = False
        self.assertEqual([self.place() for _ in range(PAUSE)], [OTHER] * (PAUSE - 1) + [POOL])

    def test_a_world_without_results_is_not_asked_each_time(self):
        self.world.capture = None
        self.assertEqual([self.place() for _ in range(PAUSE)], [OTHER] * PAUSE)
        self.assertEqual(self.used, [])

    def test_no_pool_ends_in_a_capture(self):
        self.place()
        self.capture(5)
        self.place()
        self.full = True
        self.place()
        self.results.clear()
        del self.results
        self.assertEqual(self.alive, [True, True])
        self.capture(0)
        Results(self.world, "cuda:0", 1).clear()
        self.assertEqual(self.alive, [False, False])

    def test_graphs_of_torch_compile_have_their_own(self):
        stream = torch.cuda.current_stream(0)
        manager = SimpleNamespace(stream=stream)
        trees = SimpleNamespace(get_manager=lambda device, create_if_none_exists: manager)
        stream.device_index = 0
        with mock.patch.object(torch.cuda, "current_stream", lambda device: stream), \
                mock.patch.dict(sys.modules, {"torch._inductor.cudagraph_trees": trees}):
            self.assertEqual(self.place(), OTHER)
            manager.stream = "another"
            self.assertEqual(self.place(), POOL)
            manager = None
            self.assertEqual(self.place(), POOL)
            trees.get_manager = mock.Mock(side_effect=AssertionError)  # a thread that compiles nothing
            self.assertEqual(self.place(), POOL)

    def test_none_where_there_is_no_memory_or_no_pool(self):
        self.assertEqual(Results(self.world, "cuda:0", 0).empty((8,), "bf16").data_ptr(), OTHER)
        with mock.patch.object(torch, "_C", SimpleNamespace()):
            old = Results(self.world, "cuda:0", 1 << 30)
        self.assertEqual(old.empty((8,), "bf16").data_ptr(), OTHER)
        with mock.patch.object(torch.cuda, "backend", "cudaMallocAsync", create=True):
            other = Results(self.world, "cuda:0", 1 << 30)
        self.assertEqual(other.empty((8,), "bf16").data_ptr(), OTHER)
        self.assertEqual(self.used, [])


if __name__ == "__main__":
    unittest.main()
