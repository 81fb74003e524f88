"""Launch the gallery's vector addition under Proton, without code of this project, and print its tree.

python proton_of_add.py ELEMENTS LAUNCHES
"""

import json
import runpy
import sys
import tempfile
from pathlib import Path

import torch
import triton.profiler as proton

import explorer.examples


def main():
    elements = int(sys.argv[1])
    add = runpy.run_path(str(Path(explorer.examples.__file__).with_name("vector_add.py")))["add"]
    x, y = (torch.randn(elements, device="cuda") for _ in range(2))
    for _ in range(50):
        add(x, y)
    torch.cuda.synchronize()
    if len(sys.argv) < 3:
        return
    with tempfile.TemporaryDirectory() as folder:
        proton.start(f"{folder}/profile", hook="triton")
        for _ in range(int(sys.argv[2])):
            add(x, y)
        torch.cuda.synchronize()
        proton.finalize()
        tree = json.loads(Path(folder, "profile.hatchet").read_text())[0]
    (kernel,) = [child for child in tree["children"] if child["frame"]["name"] == "add_kernel"]
    print(json.dumps(kernel["metrics"]))


if __name__ == "__main__":
    main()
