"""The declarations for ctypes against the C compiler and the header."""

import ctypes
import re
import subprocess
import unittest

import built
from overlaptune import library, run_library, values

STRUCTS = {
    "ovt_platform": library.CPlatform,
    "ovt_problem": library.CProblem,
    "ovt_question": library.CQuestion,
    "ovt_answer": library.CAnswer,
}
RUN_STRUCTS = {
    "ovt_world_options": run_library.CWorldOptions,
    "ovt_sizes": run_library.CSizes,
    "ovt_buffers": run_library.CBuffers,
}
HEADER = (built.SOURCE / "include/overlaptune/overlaptune.h").read_text()


class Layout(unittest.TestCase):
    def compare(self, program, structs):
        output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        compiled = {tuple(line.split()) for line in output.splitlines()}
        declared = set()
        for name, struct in structs.items():
            declared.add((name, "sizeof", "0", str(ctypes.sizeof(struct))))
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                declared.add((name, field, str(place.offset), str(place.size)))
        self.assertEqual(declared, compiled)

    def test_fields_lie_where_the_c_compiler_puts_them(self):
        self.compare(built.LAYOUT, STRUCTS)

    @unittest.skipIf(built.RUN_LAYOUT is None, "the library of plans is not built here")
    def test_fields_of_run_h_lie_where_the_compiler_puts_them(self):
        self.compare(built.RUN_LAYOUT, RUN_STRUCTS)

    def test_constants_have_the_values_of_the_header(self):
        code = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
        constants = {name: int(value) for name, value in re.findall(r"OVT_(\w+) = (\d+)", code)}
        self.assertGreater(len(constants), 15)
        known = {"OK": 0}
        for kind in (values.Op, values.Dtype, values.Launch, values.Source):
            known.update({member.name: member.value for member in kind})
        for status in library.BY_STATUS:
            known.update({name: value for name, value in constants.items()
                          if name.startswith("ERROR_") and value == status})
        self.assertEqual(known, constants)

    def test_sizes_are_those_of_the_header(self):
        sizes = dict(re.findall(r"#define OVT_(\w+) (\d+)", HEADER))
        self.assertEqual(sizes, {"TEXT_SIZE": str(library.TEXT_SIZE),
                                 "REASON_SIZE": str(library.REASON_SIZE),
                                 "NAME_SIZE": str(library.NAME_SIZE),
                                 "CONFIG_SIZE": str(library.CONFIG_SIZE)})

    def test_every_exception_has_the_name_of_its_status(self):
        for status, kind in library.BY_STATUS.items():
            name = kind.__name__.removesuffix("Error").upper()
            wanted = {"NOTFOUND": "NOT_FOUND", "OUTOFMEMORY": "MEMORY"}.get(name, name)
            self.assertRegex(HEADER, rf"OVT_ERROR_{wanted} = {status}\b")


if __name__ == "__main__":
    unittest.main()
