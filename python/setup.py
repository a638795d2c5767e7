"""A wheel with the library in it is for one platform, which pyproject.toml cannot say."""

from pathlib import Path

from setuptools import Distribution, setup

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel


class Package(Distribution):
    def has_ext_modules(self):
        return (Path(__file__).parent / "overlaptune" / "liboverlaptune.so").exists()


class Wheel(bdist_wheel):
    """For any Python 3: the libraries are not compiled against the interpreter."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel})
