"""Two NCCLs in one process are found, with libraries that a compiler makes here."""

import ctypes
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fake_torch

torch = fake_torch.install()

import overlaptune as ot  # noqa: E402
from overlaptune import run_library  # noqa: E402
from overlaptune.torch import one_nccl  # noqa: E402

NCCL = "int ncclGetVersion(int* version) {{ *version = {}; return 0; }}"


@unittest.skipIf(shutil.which("cc") is None, "no C compiler")
class OneNccl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.nccl = cls.library("libnccl.so.2", NCCL.format(22809))
        cls.plans = ctypes.CDLL(cls.library("libplans.so", "", cls.nccl))

    @classmethod
    def library(cls, name, text, *linked):
        source, file = cls.folder / "source.c", cls.folder / name
        source.write_text(text + "\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", file, source, "-Wl,--no-as-needed", *linked], check=True)
        return str(file)

    def difference(self, name, text, *linked):
        return one_nccl.difference(ctypes.CDLL(self.library(name, text, *linked)), self.plans)

    def test_a_pytorch_that_loads_the_same_file_is_fine(self):
        self.assertEqual(self.difference("libshared.so", "", self.nccl), "")

    def test_another_file_is_named_with_its_release(self):
        other = self.library("libother.so", NCCL.format(22707))
        found = self.difference("libsecond.so", "", other)
        self.assertRegex(found, r"plans call NCCL 2\.28\.9 \(.*libnccl\.so\.2\), and PyTorch NCCL 2\.27\.7 \(.*libother")

    def test_an_nccl_inside_of_pytorch_is_found_if_it_shows(self):
        found = self.difference("libstatic.so", NCCL.format(22809))
        self.assertRegex(found, r"PyTorch NCCL 2\.28\.9 \(.*libstatic\.so\): a communicator of the one")

    def test_or_if_it_is_hidden(self):
        found = self.difference("libhidden.so", "static " + NCCL.format(22809) + "\nint (*used)(int*) = ncclGetVersion;")
        self.assertIn("PyTorch one of its own, linked into it", found)

    def test_a_world_is_refused(self):
        lib = self.folder / "torch" / "lib"
        lib.mkdir(parents=True)
        static = ctypes.CDLL(shutil.copy(self.library("libtorch_cuda.so", NCCL.format(22707)), lib))
        self.assertEqual(static.ncclGetVersion(ctypes.byref(ctypes.c_int())), 0)  # it is loaded
        with mock.patch.object(torch, "__file__", str(lib.parent / "__init__.py")), \
             mock.patch.object(run_library, "load", lambda: self.plans):
            with self.assertRaisesRegex(ot.UnavailableError, "two NCCLs in this process"):
                one_nccl.check()
        one_nccl.check()  # of a PyTorch without such a file


if __name__ == "__main__":
    unittest.main()
