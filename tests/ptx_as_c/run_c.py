"""Compile the C of a kernel with the system's C compiler, and run it."""

import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parent
#: As PTX: integers wrap around, nothing is contracted, and addresses of shared memory have 32 bits.
_OPTIONS = (
    "-O1",
    "-std=gnu2x",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-pie",
    "-no-pie",
    "-w",
)
_MISTAKES = ("-Werror=implicit-function-declaration", "-Werror=int-conversion")


def run(code, kernel, arguments, memory, threads, grid, folder):
    """Run a kernel on `memory`. `arguments` are expressions of C, in which `memory` is the global memory."""
    compiler = shutil.which("cc")
    assert compiler, "the tests need a C compiler"
    source, program, data = folder / "kernel.c", folder / "kernel", folder / "memory"
    source.write_text(
        f'#include "{FOLDER / "device.h"}"\n{code}\n'
        f"static void launch(void) {{ {kernel}({', '.join(arguments)}); }}\n"
    )
    made = subprocess.run(
        [compiler, *_OPTIONS, *_MISTAKES, "-o", program, source, "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr[:3000]
    data.write_bytes(memory.tobytes())
    words = [str(each) for each in (program, data, len(memory), threads, *grid)]
    subprocess.run(words, check=True, timeout=60)
    memory[:] = bytearray(data.read_bytes())
