"""PyTorch's symmetric memory as the memory of a world, on stand-ins: what the ranks agree on, and how long it stays."""

import gc
import os
import sys
import types
import unittest
import weakref
from unittest import mock

import fake_torch

torch = fake_torch.install()

from fake_plans import WithPlans  # noqa: E402

import overlaptune as ot  # noqa: E402
import overlaptune.torch as layers  # noqa: E402

SIZE = 1 << 20
PEERS = [1 << 20, 2 << 20, 3 << 20, 4 << 20]


class Memory(types.ModuleType):
    """torch.distributed._symmetric_memory. A call that `fails` raises."""

    def __init__(self):
        super().__init__("torch.distributed._symmetric_memory")
        self.calls, self.fails, self.multicast = [], None, None

    def call(self, name, *values):
        self.calls.append((name, *values))
        if name == self.fails:
            raise RuntimeError(f"{name} failed")

    def empty(self, size, dtype, device):
        self.call("empty", size, dtype, device)
        return fake_torch.Tensor((size,), dtype, device)

    def rendezvous(self, tensor, group):
        self.multicast = os.environ.get("TORCH_SYMM_MEM_DISABLE_MULTICAST") != "1"
        self.call("rendezvous", tensor.shape)
        return types.SimpleNamespace(buffer_ptrs=PEERS)


class SymmetricMemory(WithPlans):
    def setUp(self):
        super().setUp()
        self.memory = Memory()
        for patch in (mock.patch.dict(sys.modules, {self.memory.__name__: self.memory}),
                      mock.patch.object(torch, "uint8", "u8", create=True),
                      mock.patch.object(torch.distributed, "_symmetric_memory", self.memory, create=True)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_it_becomes_the_worlds(self):
        world = layers.World(symmetric_bytes=SIZE)
        self.assertEqual(self.memory.calls, [("empty", SIZE, "u8", "cuda:0"), ("rendezvous", (SIZE,))])
        self.assertEqual((world._world.options["peers"], world._world.options["peer_bytes"]), (PEERS, SIZE))
        self.assertNotIn("peers", layers.World()._world.options)

    def test_sizes_that_differ_are_refused_before_anything_waits(self):
        self.store.says[2] = lambda text: "0" if text == str(SIZE) else text
        del torch.cuda.calls[:]
        with self.assertRaisesRegex(ot.ArgumentError, f"symmetric_bytes: {SIZE} on rank 0 of the group, 0 on rank 2"):
            layers.World(symmetric_bytes=SIZE)
        self.assertEqual((self.memory.calls, torch.cuda.calls), ([], []))

    def test_less_than_nothing_is_refused(self):
        with self.assertRaisesRegex(ot.ArgumentError, "symmetric_bytes = -1 on rank 0: expected 0 or more"):
            layers.World(symmetric_bytes=-1)

    def test_an_error_of_this_rank_is_told_to_the_others(self):
        for call in ("empty", "rendezvous"):
            self.memory.fails = call
            before = set(self.store.values)
            with self.assertRaisesRegex(RuntimeError, f"{call} failed"):
                layers.World(symmetric_bytes=SIZE)
            told = [self.store.values[name] for name in self.store.values if name not in before]
            self.assertIn(f'"RuntimeError: {call} failed"', told)

    def test_an_error_of_another_rank_is_met_here(self):
        self.store.says[3] = lambda text: '"RuntimeError: no memory"' if text == '""' else text
        with self.assertRaisesRegex(ot.UnavailableError, "allocating .*: rank 3 of the group: RuntimeError: no memory"):
            layers.World(symmetric_bytes=SIZE)
        self.assertEqual([call[0] for call in self.memory.calls], ["empty"])  # the rendezvous would wait

    def test_multicast_is_made_only_where_it_is_allowed_and_the_environment_stays(self):
        for before in (None, "0", "1"):
            variables = {} if before is None else {"TORCH_SYMM_MEM_DISABLE_MULTICAST": before}
            for allowed in (False, True):
                with mock.patch.dict(os.environ, variables):
                    layers.World(symmetric_bytes=SIZE, allow_multicast=allowed)
                    self.assertEqual(os.environ.get("TORCH_SYMM_MEM_DISABLE_MULTICAST"), before)
                self.assertEqual(self.memory.multicast, allowed and before != "1")

    def is_kept_after(self, end):
        """Whether the memory outlives the world and its last reference, which are ended so."""
        world = layers.World(symmetric_bytes=SIZE)
        there = weakref.ref(world._memory.tensor)
        end(world)
        del world
        gc.collect()
        return there() is not None

    def test_it_ends_with_the_world_on_all_ranks(self):
        self.assertFalse(self.is_kept_after(lambda world: world.close()))

    def test_it_stays_where_peers_may_still_use_it(self):
        def dies(world):
            world._world.died = True
            world.close()

        def fails(world):
            with mock.patch.object(world._world, "close", side_effect=ot.UnavailableError("rank 2 did not come")):
                with self.assertRaises(ot.UnavailableError):
                    world.close()

        def aborts(world):
            world.abort()
            world.close()

        for end in (dies, fails, aborts, layers.World.abort, lambda world: None):
            self.assertTrue(self.is_kept_after(end))


if __name__ == "__main__":
    unittest.main()
