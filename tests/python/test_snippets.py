"""The code of README and docs: C and C++ compile against the headers, Python names what the package has, and the
snippet that needs no GPU runs."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import built

PAGES = [built.SOURCE / "README.md", *sorted((built.SOURCE / "docs").glob("*.md"))]
PACKAGE = built.SOURCE / "python" / "overlaptune"
CUDA = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include"


def snippets(language):
    """(page, code) of each fenced block of a language."""
    for page in PAGES:
        for code in re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            yield page.name, code


def parsed(code):
    return ast.parse(re.sub(r"^…$", "pass", code, flags=re.MULTILINE))


def definitions(module):
    """The names that a module of the package defines or imports at its top, each with its node."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = {}
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update({alias.asname or alias.name: node for alias in node.names})
        elif isinstance(node, ast.Assign):
            found.update({target.id: node for target in node.targets if isinstance(target, ast.Name)})
    return found


def classes():
    """Every class of the package by its name."""
    return {
        node.name: node
        for source in PACKAGE.rglob("*.py")
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.ClassDef)
    }


def parameters(cls):
    """The names that making an object takes: those of __init__, or the fields of a dataclass."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return {each.arg for each in [*node.args.args, *node.args.kwonlyargs]}
    return {node.target.id for node in cls.body if isinstance(node, ast.AnnAssign)}


class Python(unittest.TestCase):
    def test_what_a_snippet_imports_is_there(self):
        seen = 0
        for page, code in snippets("python"):
            for node in ast.walk(parsed(code)):
                if not isinstance(node, ast.ImportFrom) or not node.module.startswith("overlaptune"):
                    continue
                for alias in node.names:
                    seen += 1
                    with self.subTest(page=page, name=alias.name):
                        self.assertIn(alias.name, definitions(node.module))
        self.assertGreater(seen, 8)

    def test_keywords_are_those_of_the_class(self):
        known = classes()
        seen = 0
        for page, code in snippets("python"):
            for node in ast.walk(parsed(code)):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                if node.func.id not in known:
                    continue
                for keyword in node.keywords:
                    seen += 1
                    with self.subTest(page=page, called=node.func.id):
                        self.assertIn(keyword.arg, parameters(known[node.func.id]))
        self.assertGreater(seen, 5)

    def test_the_query_of_the_page_runs(self):
        (code,) = [code for page, code in snippets("python") if page == "query.md"]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [built.PROGRAM, "tune", "--machine", "sim:h200-nvlink-x8", "--db", "overlaptune.db", "--quick-probe",
                 "--top-k", "1", "--problem", "gemm_all_reduce:4096,8192,3584:bf16:8"],
                cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("validated", done.stdout)


class Compiled(unittest.TestCase):
    """The snippets of a language as one function, each in the order of its page, after what it takes as given."""

    def compile(self, compiler, suffix, flags, given, parts):
        if shutil.which(compiler) is None:
            self.skipTest(f"{compiler} is not here")
        includes = [line for part in parts for line in part.splitlines() if line.startswith("#include")]
        body = [line for part in parts for line in part.splitlines() if not line.startswith("#include")]
        text = "\n".join(["#include <stdio.h>", *includes, f"void snippet({given}) {{", *body, "}", ""])
        done = subprocess.run(
            [compiler, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-variable",
             "-Wno-unused-but-set-variable", *flags, "-I",
             str(built.SOURCE / "include"), "-x", suffix, "-"],
            input=text, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{text}")

    def test_c(self):
        found = {}
        for page, code in snippets("c"):
            found.setdefault(page, []).append(code)
        self.assertEqual(set(found), {"query.md", "run.md"})
        self.compile("cc", "c", ["-std=c99"], "void", found["query.md"])
        if not (CUDA / "cuda_runtime.h").exists() or not any(
                (folder / "nccl.h").exists() for folder in (CUDA, Path("/usr/include"))):
            self.skipTest("the snippet of run.md is not compiled: no headers of CUDA and NCCL")
        self.compile("cc", "c", ["-std=c99", "-isystem", str(CUDA)],
                     "ncclComm_t comm, int64_t rows, const void* a, const void* b, void* c, cudaStream_t stream",
                     found["query.md"] + found["run.md"])

    def test_cpp(self):
        for page, code in snippets("cpp"):
            with self.subTest(page=page):
                self.compile("c++", "c++", ["-std=c++17"], "", [code])


if __name__ == "__main__":
    unittest.main()
