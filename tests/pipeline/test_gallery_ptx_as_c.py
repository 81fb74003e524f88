"""Test that all PTX of the gallery is translated to C, and that every instruction is a part of a line."""

import re

from gallery_cases import every_case

from explorer.analysis.ptx_as_c import translate

INSTRUCTION = re.compile(r"^\s+(?:@!?%?\w+ )?([a-z][\w.:]*)[\s;]")
#: Instructions without a line: the end of the function, jumps that a loop replaces, and unread copies.
WITHOUT_LINE = re.compile(r"ret|bra\.uni|mov\.[bu]\d+")


@every_case
def test_every_instruction_is_translated(gallery, example, target):
    stages = gallery(example, target.name).stages
    if "ptx" not in stages:
        return
    text = stages["ptx"].text
    translation = translate(text)
    assert translation.verbatim == ()
    linked = {number for line in translation.lines for number in line.ptx_lines}
    for number, line in enumerate(text.split("\n"), 1):
        found = INSTRUCTION.match(line)
        assert not found or number in linked or WITHOUT_LINE.fullmatch(found[1]), line
