"""Cubins for the tests of the disassembler: made by Triton's assembler, and listed by its nvdisasm."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from explorer.pipeline.warm_disassembler import ARGUMENTS
from explorer.sandbox.versions import installed_versions

#: What Triton's own functions say about its tools.
_TOOLS = """
import sys
from triton import knobs
from triton.backends.nvidia.compiler import get_ptxas, sm_arch_from_capability
capability = int(sys.argv[1])
print(get_ptxas(capability).path, sm_arch_from_capability(capability), knobs.nvidia.nvdisasm.path)
"""
_HEAD = ".version {version}\n.target {architecture}\n.address_size 64\n"
#: Loops, shared memory, calls, an indirect call, a table of branches, an unknown function, constants.
PTX = {
    "empty": ".visible .entry empty() { ret; }",
    "loop": """
.shared .align 4 .b8 buffer[512];
.visible .entry loop(.param .u64 pointer, .param .u32 count) {
    .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [pointer]; ld.param.u32 %r1, [count]; mov.u32 %r2, %tid.x; mov.u32 %r3, buffer;
AGAIN:
    st.shared.u32 [%r3], %r2; bar.sync 0; ld.shared.u32 %r4, [%r3+4]; add.u32 %r2, %r2, %r4;
    setp.lt.u32 %p, %r2, %r1;
    @%p bra AGAIN;
    st.global.u32 [%rd1], %r2; ret;
}""",
    "lines": """
.visible .entry lines(.param .u64 pointer) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    .loc 1 7 1
    ld.param.u64 %rd1, [pointer];
    .loc 1 8 1
    ld.global.u32 %r1, [%rd1];
    .loc 2 3 1
    mul.lo.u32 %r2, %r1, %r1;
    .loc 1 9 1
    st.global.u32 [%rd1], %r2; ret;
}
.file 1 "a file.py"
.file 2 "folder/other.py"
""",
    "calls": """
.global .align 4 .u32 table[4] = {1, 2, 3, 4};
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.func (.param .b32 result) helper(.param .b32 value) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [value]; mul.lo.s32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret;
}
.visible .entry first(.param .u64 pointer) {
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [pointer]; ld.global.u32 %r1, [table]; mov.u32 %r3, %tid.x;
    { .param .b32 value; .param .b32 result;
      st.param.b32 [value], %r3; call (result), helper, (value); ld.param.b32 %r2, [result]; }
    add.u32 %r4, %r1, %r2; st.global.u32 [%rd1], %r4; ret;
}
.visible .entry second(.param .u64 pointer) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [pointer];
    { .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e;
      st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], 1; st.param.b64 [d], %rd1;
      st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); }
    ret;
}""",
    "branches": """
.visible .entry branches(.param .u64 pointer, .param .u32 which) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd1, [pointer]; ld.param.u32 %r1, [which]; mov.u32 %r2, 0;
    setp.gt.u32 %p, %r1, 31;
    @%p bra END;
targets: .branchtargets TARGETS;
    brx.idx %r1, targets;
BLOCKS
END:
    st.global.u32 [%rd1+4], %r2; ret;
}""",
}
_TARGETS = range(32)
_BLOCKS = "".join(
    f"T{at}: atom.global.{'add.u32' if at % 2 else 'xor.b32'} %r2, [%rd1+{8 * at}], {7 * at}; bra END;\n"
    for at in _TARGETS
)
PTX["branches"] = (
    PTX["branches"].replace("TARGETS", ", ".join(f"T{at}" for at in _TARGETS)).replace("BLOCKS", _BLOCKS)
)


class Tools:
    """The assembler and nvdisasm of a Triton version for a compute capability."""

    def __init__(self, triton: str, capability: int) -> None:
        self.folder = installed_versions()[triton]
        environment = {**os.environ, "PYTHONPATH": str(self.folder or "")}
        command = [sys.executable, "-c", _TOOLS, str(capability)]
        found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        self.assembler, self.architecture, self.disassembler = found.stdout.split()
        self._version = "8.7" if capability >= 120 else "8.6" if capability >= 100 else "8.0"

    @cache  # noqa: B019  # as long as the tests
    def assemble(self, name: str, folder: Path) -> bytes:
        source, cubin = folder / f"{name}.ptx", folder / f"{name}.cubin"
        source.write_text(_HEAD.format(version=self._version, architecture=self.architecture) + PTX[name])
        command = [self.assembler, "-lineinfo", f"-arch={self.architecture}", str(source), "-o", str(cubin)]
        subprocess.run(command, check=True)
        return cubin.read_bytes()

    def list(self, cubin: bytes, folder: Path) -> bytes:
        """Return the listing of a new nvdisasm."""
        path = folder / "listed.cubin"
        path.write_bytes(cubin)
        command = [self.disassembler, *ARGUMENTS, str(path)]
        return subprocess.run(command, capture_output=True, check=True).stdout
