"""Test which binaries have the same machine code, with hand-made ELF files and damaged ones."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from explorer.pipeline.targets.machine_code import machine_code_digest


def elf(sections: dict[str, bytes], registers: int = 32) -> bytes:
    """Return an ELF file with the sections, and one with their names."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in sections) + b".shstrtab\0"
    contents = [*sections.items(), (".shstrtab", names)]
    offset, body, rows = 64, b"", [struct.pack("<IIQQQQIIQQ", *[0] * 10)]
    for name, content in contents:
        place = names.index(name.encode() + b"\0")
        rows.append(
            struct.pack(
                "<IIQQQQIIQQ", place, 1, 0, 0, offset + len(body), len(content), 0, registers << 24, 1, 0
            )
        )
        body += content
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        2,
        190,
        1,
        0,
        0,
        64 + len(body),
        0,
        64,
        0,
        0,
        64,
        len(rows),
        len(rows) - 1,
    )
    return header + body + b"".join(rows)


CODE = {".text.kernel": b"code" * 4, ".nv.constant0.kernel": b"12345678"}


def test_debug_information_does_not_count():
    one = elf({**CODE, ".debug_line": b"/home/one/kernel.py"})
    other = elf({".debug_line": b"/home/another/kernel.py", ".strtab": b"x", **CODE})
    assert machine_code_digest(one) == machine_code_digest(other) is not None


def test_code_constants_and_registers_count():
    digests = {
        machine_code_digest(elf(CODE)),
        machine_code_digest(elf({**CODE, ".text.kernel": b"cods" * 4})),
        machine_code_digest(elf({**CODE, ".nv.constant0.kernel": b"12345679"})),
        machine_code_digest(elf(CODE, registers=33)),
    }
    assert len(digests) == 4


def test_what_is_no_binary_has_no_code():
    for binary in (b"", b"\x7fELF", b"\x7fELF\x02" + b"\xff" * 100, elf({})):
        assert machine_code_digest(binary) is None


def test_sections_that_overlap_are_refused():
    """A small file must not stand for a large one: 5,000 sections with the whole file as their content."""
    binary, count = elf(CODE), 5_000
    rows = binary[-4 * 64 :]
    everything = rows[64 : 64 + 24] + struct.pack("<QQ", 0, 64 * count) + rows[64 + 40 : 128]
    header = (
        binary[:40] + struct.pack("<Q", len(binary)) + binary[48:60] + struct.pack("<HH", count + 1, count)
    )
    assert machine_code_digest(header + binary[64:] + everything * count + rows[-64:]) is None


@given(st.binary(max_size=400), st.integers(0, 400))
def test_damaged_binaries_have_a_digest_or_none(noise, place):
    binary = bytearray(elf(CODE))
    binary[place : place + len(noise)] = noise
    digest = machine_code_digest(bytes(binary))
    assert digest is None or len(digest) == 64
