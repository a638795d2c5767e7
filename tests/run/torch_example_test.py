"""torch_example_test.py EXAMPLE STRUCT_LAYOUTS: the example's structs are those of the C headers."""

import importlib.util
import subprocess
import sys
import types

# The example is read without PyTorch: only its structs are compared.
torch = types.ModuleType("torch")
torch.nn = types.SimpleNamespace(Module=object)
torch.distributed = types.ModuleType("torch.distributed")
sys.modules.update({"torch": torch, "torch.distributed": torch.distributed})
spec = importlib.util.spec_from_file_location("example", sys.argv[1])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

structs = {"ovt_platform": example.Platform, "ovt_problem": example.Problem, "ovt_answer": example.Answer,
           "ovt_sizes": example.Sizes}
expected = {tuple(line.split()) for line in subprocess.check_output(sys.argv[2], text=True).splitlines()}
found = set()
for name, struct in structs.items():
    for field, _ in struct._fields_:
        place = getattr(struct, field)
        found.add((name, field, str(place.offset), str(place.size)))
if found != expected:
    sys.exit(f"only in the headers: {sorted(expected - found)}\nonly in the example: {sorted(found - expected)}")
print(len(found), "fields")
