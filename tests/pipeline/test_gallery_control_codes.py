"""Test the control codes of SASS against an independent reading of the binary, and against their meaning.

The bytes of the instructions are found by the section headers of the ELF file, without the disassembler.
"""

import base64
import re
import struct

import pytest
from gallery_cases import CASES

from explorer.analysis.assembly.scoreboards import find_waits
from explorer.analysis.graphs.control_flow import read_functions
from explorer.model.hardware import TARGETS

NVIDIA = [target for target in TARGETS if target.vendor == "NVIDIA"]
NVIDIA_CASES = [case for case in CASES if case.values[1] in NVIDIA]
every_nvidia_case = pytest.mark.parametrize(("example", "target"), NVIDIA_CASES)
LINE = re.compile(r"(B.{6}):R(.):W(.):(.):S(\d\d)  /\*([0-9a-f]+)\*/  (.*)")
LOADS = re.compile(r"(?:@!?U?P\d )?(?:LDG|LDS|LDC|LDL|S2R|MUFU)\b[\w.]* R(\d+),")


def sections(binary):
    """Yield the name and the bytes of each section of an ELF file."""
    assert binary[:6] == b"\x7fELF\x02\x01"
    (offset,) = struct.unpack_from("<Q", binary, 0x28)
    size, count, names = struct.unpack_from("<HHH", binary, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", binary, offset + size * index) for index in range(count)]
    strings = headers[names][4]
    for header in headers:
        start = strings + header[0]
        name = binary[start : binary.index(b"\0", start)].decode()
        if header[1] != 8:  # SHT_NOBITS has no bytes
            yield name, binary[header[4] : header[4] + header[5]]


def fields(code):
    """Read the fields of an instruction of 16 bytes, byte by byte from the end."""
    last, second, third = code[15], code[14], code[13]
    waits = (second >> 4) | (last & 0b11) << 4
    read = second >> 1 & 0b111
    write = third >> 6 | (second & 1) << 2
    return {
        "waits": {number for number in range(6) if waits >> number & 1},
        "read": None if read == 7 else read,
        "write": None if write == 7 else write,
        "yields": not third >> 5 & 1,
        "stall": third >> 1 & 0b1111,
        "reused": bin(last >> 2 & 0b1111).count("1"),
    }


def shown(match):
    waits, read, write, yields, stall, _, text = match.groups()
    return {
        "waits": {int(mark) for mark in waits[1:] if mark != "-"},
        "read": None if read == "-" else int(read),
        "write": None if write == "-" else int(write),
        "yields": {"Y": True, "-": False}[yields],
        "stall": int(stall),
        "reused": text.count(".reuse"),
    }


@every_nvidia_case
def test_the_control_codes_are_those_of_the_binary(gallery, example, target):
    compiled = gallery(example, target.name)
    (binary,) = compiled.of("binary")
    codes = dict(sections(base64.b64decode(binary.data)))
    section, checked = "", 0
    for line in compiled.stages["sass"].text.split("\n"):
        if line.startswith(".text."):
            section = line.rstrip(":")
        if match := LINE.match(line):
            address = int(match[6], 16)
            assert shown(match) == fields(codes[section][address : address + 16]), line
            checked += 1
    assert checked == sum(len(code) for name, code in codes.items() if name.startswith(".text.")) // 16


@every_nvidia_case
def test_every_wait_is_for_something_that_sets_the_scoreboard(gallery, example, target):
    text = gallery(example, target.name).stages["sass"].text
    lines = text.split("\n")
    found = find_waits(text)
    assert len(found) > 3
    for wait in found:
        # With a large number the instruction does not wait: it fills time.
        if not wait.setters and wait.at_most < 30:
            # At some places, the assembler waits again for a scoreboard that every path has already waited
            # for.
            before = [match for line in lines[: wait.line - 1] if (match := LINE.match(line))]
            setting = [at for at, match in enumerate(before) if wait.scoreboard in match[2] + match[3]]
            assert any(wait.scoreboard in match[1] for match in before[setting[0] + 1 :]), lines[
                wait.line - 1
            ]
        assert any(setter.is_nearest for setter in wait.setters) or not wait.setters
    assert sum(not wait.setters and wait.at_most < 30 for wait in found) <= len(found) / 30
    marks = sum(len(re.findall(r"\d", match[1])) for line in lines if (match := LINE.match(line)))
    assert sum(wait.at_most == 0 and len(wait.scoreboard) == 1 for wait in found) >= marks


@every_nvidia_case
def test_a_loaded_register_is_read_after_the_wait_for_its_scoreboard(gallery, example, target):
    """The meaning of the write scoreboard: until a wait for it, no instruction reads the register."""
    text = gallery(example, target.name).stages["sass"].text
    lines = text.split("\n")
    checked = 0
    for function in read_functions(text, "sass"):
        for block in function.blocks:
            for place, load in enumerate(block.instructions):
                loaded = LOADS.match(load.text)
                scoreboard = LINE.match(lines[load.line - 1])[3]
                if not loaded or scoreboard == "-":
                    continue
                for later in block.instructions[place + 1 :]:
                    if scoreboard in LINE.match(lines[later.line - 1])[1]:
                        checked += 1
                        break
                    operands = later.text.partition(",")[2]
                    assert not re.search(rf"\bR{loaded[1]}\b", operands), (load, later)
    assert checked
