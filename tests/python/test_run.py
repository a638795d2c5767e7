"""Plans from Python, as far as a host without GPUs goes: the library, its sizes and its refusals."""

import os
import unittest
from unittest import mock

import built
import overlaptune as ot
from overlaptune import run, run_library

PROBLEM = ot.Problem(ot.Op.GEMM_REDUCE_SCATTER, m=4096, n=8192, k=1024, ranks=8)
SIGNALED = ("signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=8 transport=peer_access "
            "groups=512,512")


@unittest.skipIf(built.RUN_LIBRARY is None, "the library of plans is not built here")
class Library(unittest.TestCase):
    def setUp(self):
        variable = mock.patch.dict(os.environ, {run_library.VARIABLE: str(built.RUN_LIBRARY)})
        variable.start()
        self.addCleanup(variable.stop)

    def test_sizes_are_those_of_the_operands(self):
        sizes = run.sizes(PROBLEM, run.SEQUENTIAL)
        self.assertEqual((sizes.a_bytes, sizes.b_bytes, sizes.c_bytes),
                         (4096 * 1024 * 2, 8192 * 1024 * 2, 4096 // 8 * 8192 * 2))
        self.assertGreater(sizes.shared_bytes, 0)
        self.assertGreater(sizes.temporary_bytes, 0)

    def test_a_config_is_an_answer_or_its_line(self):
        for config in (SIGNALED, ot.Answer(SIGNALED)):
            self.assertEqual(run.sizes(PROBLEM, config).shared_bytes, 4096 * 8192 * 2)
        for old, new, words in (("512,512", "512,511", "groups"), ("stages=4", "stages=99", "stages"),
                                ("swizzle", "chunks=2 swizzle", "chunks = '2': signaled has none"),
                                ("peer_access", "copy_engine", "copy_engine"),
                                ("512,512", ",".join(["1"] * 4096), "8... characters: expected at most 4095"),
                                ("128x", "1099511627776x", "tile = '1099511627776x"),
                                ("ctas=8", "ctas=8\0", "config = .*: expected a text without a NUL")):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                run.sizes(PROBLEM, SIGNALED.replace(old, new))

    def test_every_way_has_a_config_that_nobody_tuned(self):
        self.assertIn("waiting/peer_access", run.ways())
        config = ot.Answer(run.untuned(PROBLEM, "signaled/ring"))
        self.assertEqual((config.strategy, config.transport), ("signaled", "ring"))
        run.sizes(PROBLEM, config)
        for way, words in (("waiting", "cannot run gemm_reduce_scatter"), ("fast", "strategy 'fast'"), ("a\0", "NUL")):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                run.untuned(PROBLEM, way)

    def test_a_config_is_scaled_to_other_rows(self):
        recipe = run.recipe_of(PROBLEM, SIGNALED, 8192)
        self.assertIn("to=8192 signaled ", recipe)
        # A rank has 4 row panels; more cannot be walked together.
        self.assertEqual(run.recipe_config(recipe, 4096), SIGNALED.replace("swizzle=8", "swizzle=4"))
        self.assertEqual(ot.Answer(run.recipe_config(recipe, 8192)).fields["groups"], "1024,1024")
        self.assertEqual(run.recipe_sizes(recipe, 4096), run.sizes(PROBLEM, SIGNALED))
        for call in (lambda: run.recipe_config(recipe, 8200), lambda: run.recipe_config(recipe, 4097),
                     lambda: run.recipe_sizes(recipe, 8193), lambda: run.recipe_config("recipe=1\0", 1),
                     lambda: run.recipe_of(PROBLEM, "fast", 8192)):
            self.assertRaises(ot.ArgumentError, call)

    def test_it_names_its_nccl(self):
        self.assertRegex(run.nccl(), r"^NCCL 2\.\d+\.\d+ \(/.*libnccl")

    def test_a_world_needs_a_communicator(self):
        with self.assertRaisesRegex(ot.ArgumentError, "comm: NULL") as caught:
            run.World(0, allow_multicast=True)
        self.assertEqual(caught.exception.status, 1)

    def test_options_of_a_world_are_checked(self):
        for options, words in (({"exclusive": 2}, "exclusive = 2: expected 0 or 1"),
                               ({"free_sms": -1}, "free_sms = -1: expected 0 or more"),
                               ({"free_sms": 2**31}, "free_sms = 2147483648: does not fit"),
                               ({"time_limit": 0}, "time_limit = 0: expected seconds"),
                               ({"time_limit": 1e7}, "time_limit = 10000000.0: expected seconds"),
                               ({"exclusive": True, "free_sms": 8, "time_limit": 0.5}, "comm: NULL")):
            with self.assertRaisesRegex(ot.ArgumentError, words):
                run.World(0, allow_multicast=True, **options)

    def test_a_world_that_graphs_hold_may_be_closed_again(self):
        world = run.World.__new__(run.World)
        world._pointer = 1
        library = mock.Mock()
        library.ovt_world_destroy.side_effect = [1, 0]
        library.ovt_run_last_error.return_value = b"70 captures on rank 0"
        with mock.patch.object(run, "load", return_value=library), \
             mock.patch.object(run_library, "load", return_value=library):
            with self.assertRaisesRegex(ot.ArgumentError, "70 captures"):
                world.close()
            world.close()
            world.close()
        self.assertEqual(library.ovt_world_destroy.call_count, 2)

    def test_a_world_whose_ranks_are_lost_is_closed(self):
        world = run.World.__new__(run.World)
        world._pointer = 1
        library = mock.Mock()
        library.ovt_world_destroy.return_value = 4
        library.ovt_run_last_error.return_value = b"a rank did not come"
        with mock.patch.object(run, "load", return_value=library), \
             mock.patch.object(run_library, "load", return_value=library):
            with self.assertRaisesRegex(ot.UnavailableError, "did not come"):
                world.close()
            world.close()
        self.assertEqual(library.ovt_world_destroy.call_count, 1)

    def test_a_time_limit_of_the_environment_is_checked(self):
        done = built.python("import overlaptune.run as run; run.World(0)",
                            OVERLAPTUNE_RUN_LIBRARY=built.RUN_LIBRARY, OVERLAPTUNE_TIME_LIMIT="5s")
        self.assertIn("ArgumentError: OVERLAPTUNE_TIME_LIMIT = 5s: expected seconds", done.stderr)


class Loading(unittest.TestCase):
    def test_a_package_without_it_says_who_needs_it(self):
        done = built.python("import overlaptune.run as run; run.World(0)", OVERLAPTUNE_RUN_LIBRARY="",
                            LD_LIBRARY_PATH="/nowhere")
        last = done.stderr.splitlines()[-1]
        for text in ("LibraryError: no liboverlaptune-run.so: OVERLAPTUNE_RUN_LIBRARY is not set",
                     "overlaptune/liboverlaptune-run.so'", "liboverlaptune-run.so.0",
                     "overlaptune.torch need this library", "CUDA toolkit and NCCL"):
            self.assertIn(text, last)

    def test_another_library_is_refused(self):
        done = built.python("import overlaptune.run as run; run.World(0)",
                            OVERLAPTUNE_RUN_LIBRARY=built.LIBRARY)
        self.assertIn("LibraryError: OVERLAPTUNE_RUN_LIBRARY = ", done.stderr)
        self.assertIn("ovt_run_version", done.stderr)


if __name__ == "__main__":
    unittest.main()
