"""Run a gallery script on a GPU and print the TTGIR that the just-in-time compiler made for each launch.

    python real_launches.py NAME

Prints one JSON object a compiled kernel: its name and the TTGIR, without locations.
"""

import json
import runpy
import sys
from pathlib import Path

import triton.compiler
from triton import knobs
from triton.compiler import compiler

import explorer.examples
from explorer.pipeline.stages.mlir import without_locations


def main():
    path = Path(explorer.examples.__file__).with_name(f"{sys.argv[1]}.py")
    knobs.compilation.always_compile = True
    made = []
    real_compile = compiler.compile

    def recording_compile(source, *arguments, **options):
        kernel = real_compile(source, *arguments, **options)
        made.append({"kernel": source.name, "ttgir": without_locations(kernel.asm["ttgir"])})
        return kernel

    compiler.compile = recording_compile
    triton.compiler.compile = recording_compile
    sys.stdout, real_stdout = sys.stderr, sys.stdout
    runpy.run_path(str(path), run_name="__main__")
    for kernel in made:
        print(json.dumps(kernel), file=real_stdout)


if __name__ == "__main__":
    main()
