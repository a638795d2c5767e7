"""The wheel of the build, and the tree, installed by pip into folders of their own."""

import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import built

LOAD = "import overlaptune; print(overlaptune.version(), overlaptune.__file__)"

#: The question of a host with the GPUs of the shipped results, where nothing was tuned.
SHIPPED = """
from overlaptune import Database, Op, Platform, Problem
platform = Platform("mine", "cuda", "NVIDIA H200", 8, 132, 90, driver_version="999", topology="NVSwitch x18",
                    transport="nvlink")
with Database(platform=platform) as database:
    print(database.explain(Problem(Op.GEMM_ALL_REDUCE, 4096, 8192, 3584, 8)))
"""


def pip_install(what: Path, folder: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--no-cache-dir", "--target", str(folder), str(what)],
        check=True)


class Install(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def test_the_wheel_brings_its_library(self):
        (wheel,) = built.WHEELS.iterdir()
        self.assertRegex(wheel.name, rf"^overlaptune-{built.VERSION}-py3-none-linux_\w+\.whl$")
        names = zipfile.ZipFile(wheel).namelist()
        self.assertIn("overlaptune/liboverlaptune.so", names)
        self.assertIn("overlaptune/py.typed", names)
        self.assertIn("overlaptune/torch/layers.py", names)
        self.assertEqual("overlaptune/liboverlaptune-run.so" in names, built.RUN_LIBRARY is not None)
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        self.assertIn("python -m overlaptune query", zipfile.ZipFile(wheel).read(metadata).decode())
        pip_install(wheel, self.folder)
        done = built.python(LOAD, PYTHONPATH=str(self.folder), OVERLAPTUNE_LIBRARY="")
        self.assertEqual(done.stdout.split(),
                         [built.VERSION, str(self.folder / "overlaptune/__init__.py")], done.stderr)

    def test_the_wheel_answers_from_the_shipped_results(self):
        (wheel,) = built.WHEELS.iterdir()
        pip_install(wheel, self.folder)
        done = built.python(SHIPPED, PYTHONPATH=str(self.folder), OVERLAPTUNE_LIBRARY="", OVERLAPTUNE_SYSTEM_DB="",
                            OVERLAPTUNE_DB="")
        shipped = self.folder / "overlaptune/share/overlaptune/system.db"
        self.assertIn(f"system database: {shipped}", done.stdout, done.stderr)
        self.assertIn("reason: tuned elsewhere on cuda:h200-nvlink-x8", done.stdout)

    def test_the_tree_installs_without_a_library(self):
        tree = self.folder / "tree"  # a copy: building leaves files in it
        shutil.copytree(built.SOURCE / "python", tree,
                        ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
        target = self.folder / "target"
        pip_install(tree, target)
        self.assertTrue((target / "overlaptune/py.typed").exists())
        self.assertTrue((target / "overlaptune/torch/layers.py").exists())
        self.assertFalse((target / "overlaptune/liboverlaptune.so").exists())
        done = built.python(LOAD, PYTHONPATH=str(target))
        self.assertEqual(done.stdout.split(),
                         [built.VERSION, str(target / "overlaptune/__init__.py")], done.stderr)

    def test_both_are_of_the_version_of_the_project(self):
        done = built.python("import overlaptune; print(overlaptune.__version__)")
        self.assertEqual(done.stdout.strip(), built.VERSION, done.stderr)

    def test_types_hold(self):
        if shutil.which("mypy") is None:
            self.skipTest("mypy is not here (apt-get install mypy)")
        done = subprocess.run(
            ["mypy", "--config-file", str(built.SOURCE / "python/pyproject.toml"),
             "--cache-dir", str(self.folder / "cache"), str(built.SOURCE / "python/overlaptune"),
             *(str(built.SOURCE / "examples" / name) for name in ("list_configs.py", "torch_layers.py")),
             *(str(file) for name in ("bench/compare_torch", "bench/compare_step", "bench/compare_builds", "gpu/torch_layers")
               for file in (built.SOURCE / "tests" / name).glob("*.py"))],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
