"""The library that is loaded, and the error where there is none."""

import unittest
from pathlib import Path

import built

LOAD = "import overlaptune; print(overlaptune.version())"


class Loading(unittest.TestCase):
    def test_the_one_that_the_variable_names(self):
        done = built.python(LOAD)
        self.assertEqual((done.stdout.strip(), done.stderr), (built.VERSION, ""))

    def test_a_name_that_leads_nowhere_is_not_passed_over(self):
        done = built.python(LOAD, OVERLAPTUNE_LIBRARY="/nowhere/lib.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("LibraryError: OVERLAPTUNE_LIBRARY = '/nowhere/lib.so'", done.stderr)

    def test_a_library_of_something_else(self):
        done = built.python(LOAD, OVERLAPTUNE_LIBRARY="libm.so.6")
        self.assertIn("LibraryError: OVERLAPTUNE_LIBRARY = 'libm.so.6'", done.stderr)
        self.assertIn("ovt_version", done.stderr)

    def test_all_that_was_looked_for_is_named(self):
        # The loader finds nothing by soname in an empty folder of its own.
        done = built.python(LOAD, OVERLAPTUNE_LIBRARY="", LD_LIBRARY_PATH="/nowhere")
        self.assertIn("LibraryError: no liboverlaptune.so", done.stderr)
        for place in ("OVERLAPTUNE_LIBRARY", "overlaptune/liboverlaptune.so'",
                      "liboverlaptune.so.0"):
            self.assertIn(place, done.stderr)

    def test_the_systems_by_its_soname(self):
        done = built.python(LOAD, OVERLAPTUNE_LIBRARY="",
                            LD_LIBRARY_PATH=str(Path(built.LIBRARY).parent))
        self.assertEqual((done.stdout.strip(), done.stderr), (built.VERSION, ""))

    def test_importing_needs_no_library(self):
        done = built.python("import overlaptune; print(overlaptune.Op.GEMM_ALL_REDUCE)",
                            OVERLAPTUNE_LIBRARY="/nowhere/lib.so")
        self.assertEqual((done.stdout.strip(), done.stderr), ("gemm_all_reduce", ""))


if __name__ == "__main__":
    unittest.main()
