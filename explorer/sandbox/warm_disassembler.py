"""Prepares a jail for nvdisasm as a fork server, and executes nvdisasm. Jail side.

    python -m explorer.sandbox.warm_disassembler <control socket> <options as JSON>

The process builds two small cubins for the architecture. nvdisasm starts with the first cubin. The process
sends the listing of the second cubin by an ordinary nvdisasm, which the web side compares. The process never
reads files of a job. Only the children of nvdisasm read them (`nvdisasm_server.c`).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from explorer.pipeline.warm_disassembler import ARGUMENTS
from explorer.sandbox import confine, linux
from explorer.sandbox.settings import Limits

LIBRARY = Path(__file__).with_name("nvdisasm_server.so")
_TOOL_SECONDS = 30
_FOLDER = Path("/tmp")  # noqa: S108  the jail's own
_PTX = """
.version {version}
.target {architecture}
.address_size 64
.visible .entry {name}(.param .u64 pointer, .param .u32 count)
{{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd;
    ld.param.u64 %rd, [pointer];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
{body}    ret;
}}
"""
_LOOP = """
    .loc 1 2 0
LOOP:
    .loc 1 3 0
    atom.global.add.u32 %r3, [%rd], %r2;
    bar.sync 0;
    add.u32 %r2, %r2, %r3;
    .loc 1 4 0
    setp.lt.u32 %p, %r2, %r1;
    @%p bra LOOP;
    st.global.u32 [%rd], %r2;
"""
_FILE = '.file 1 "loop.py"\n'
#: The oldest PTX version for architectures from this number on.
_PTX_VERSIONS = {120: "8.7", 100: "8.6", 0: "8.0"}
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION_BYTES, _SECTION_OFFSET_AT = 64, 24
_SEGMENT_BYTES, _SEGMENT_OFFSET_AT = 56, 8
_OFFSET = struct.Struct("<Q")
_PADDING = bytes(8192)


def main() -> NoReturn:
    """Confine this process, build the cubins, send the listing for comparison, and execute nvdisasm."""
    control = socket.socket(fileno=int(sys.argv[1]))
    options = json.loads(sys.argv[2])
    limits = Limits(**options["limits"])
    if os.getuid() == 0:
        confine.mount_proc()
        confine.become_nobody()
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    confine.keep_out()
    for kind, most in (
        (resource.RLIMIT_CORE, 1),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ):
        resource.setrlimit(kind, (most, most))
    confine.give_up_privileges(limits, set())
    if options["triton"]:
        sys.path.insert(0, options["triton"])
    from triton import knobs

    capability = options["capability"]
    first = move_content(_assemble(capability, "first", ""))
    second = _assemble(capability, "second", _LOOP)
    first_path, second_path = _FOLDER / "first.cubin", _FOLDER / "second.cubin"
    first_path.write_bytes(first)
    command = [knobs.nvidia.nvdisasm.path, *ARGUMENTS]
    listing = _run([*command, str(second_path)])
    control.send(struct.pack("<Q", len(second)) + second + listing)
    os.set_inheritable(control.fileno(), True)
    environment = {
        "LD_PRELOAD": str(LIBRARY),
        "WARM_CONTROL": str(control.fileno()),
        "WARM_FILE_BYTES": str(len(first)),
        "WARM_CPU_SECONDS": str(limits.cpu_seconds),
        "WARM_WALL_SECONDS": str(round(limits.working_seconds)),
        "WARM_MEMORY_BYTES": str(limits.memory_bytes),
    }
    os.execve(command[0], [*command, str(first_path)], environment)  # noqa: S606  # our own command


def move_content(cubin: bytes) -> bytes:
    """Return the same cubin with only the header in its first page, and with an empty last page.

    The library recognizes the first access to the content by its page.
    """
    header = list(_HEADER.unpack_from(cubin))
    moved = bytearray(cubin[: _HEADER.size] + _PADDING + cubin[_HEADER.size :] + _PADDING)
    segments_at, sections_at, segments, sections = (
        header[5],
        header[6] + len(_PADDING),
        header[10],
        header[12],
    )
    header[6] = sections_at
    places = [sections_at + index * _SECTION_BYTES + _SECTION_OFFSET_AT for index in range(1, sections)]
    if segments:
        header[5] = segments_at = segments_at + len(_PADDING)
        places += [segments_at + index * _SEGMENT_BYTES + _SEGMENT_OFFSET_AT for index in range(segments)]
    for place in places:
        _OFFSET.pack_into(moved, place, _OFFSET.unpack_from(moved, place)[0] + len(_PADDING))
    _HEADER.pack_into(moved, 0, *header)
    return bytes(moved)


def _assemble(capability: int, name: str, body: str) -> bytes:
    """Assemble a small kernel with Triton's assembler, and return the cubin."""
    from triton.backends.nvidia.compiler import get_ptxas, sm_arch_from_capability

    architecture = sm_arch_from_capability(capability)
    version = next(version for least, version in _PTX_VERSIONS.items() if capability >= least)
    source, cubin = _FOLDER / f"{name}.ptx", _FOLDER / f"{name}.cubin"
    text = _PTX.format(version=version, architecture=architecture, name=name, body=body)
    source.write_text(text + (_FILE if body else ""))
    command = [get_ptxas(capability).path, "-lineinfo", f"-arch={architecture}", str(source)]
    _run([*command, "-o", str(cubin)])
    return cubin.read_bytes()


def _run(command: list[str]) -> bytes:
    """Run a tool and return its output."""
    done = subprocess.run(  # noqa: S603  Triton's tools, with our own arguments
        command, capture_output=True, timeout=_TOOL_SECONDS, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: {done.stderr.decode(errors='replace')}")
    return done.stdout


if __name__ == "__main__":
    main()
