"""Test that debug metadata of LLVM IR is read whatever it says. Its text may be a user's."""

from explorer.pipeline.stages import llir
from explorer.pipeline.stages.stage import Artifact

HEAD = "define void @kernel() {\n  ret void, !dbg !1\n}\n"
SCOPE = (
    '!3 = distinct !DISubprogram(name: "kernel", file: !4, line: 7)\n!4 = !DIFile(filename: "kernel.py")\n'
)


def frames(metadata: str) -> list[tuple[int, int]]:
    """Return lines and columns of the only instruction, the innermost frame first."""
    found = llir.read(Artifact(HEAD + metadata)).table.locations
    return [(each.line, each.column) for location in found for each in location.frames]


def test_calls_that_never_end() -> None:
    calls = "".join(
        f"!{number} = !DILocation(line: {number}, inlinedAt: !{number + 1})\n" for number in range(1, 5000)
    )
    found = frames(calls)
    assert found[0] == (1, 0)
    assert 100 < len(found) < 1000


def test_a_call_inside_of_itself() -> None:
    assert frames("!1 = !DILocation(line: 5, inlinedAt: !2)\n!2 = !DILocation(line: 6, inlinedAt: !1)\n") == [
        (5, 0),
        (6, 0),
    ]


def test_a_line_that_is_no_number() -> None:
    assert frames(f"!1 = !DILocation(line: name, column: 3, scope: !3)\n{SCOPE}") == []
