"""Texts of stages with an error: the stage, the text to replace once, its replacement, and a part of the
message."""

BROKEN_TEXTS = [
    ("ttir", "arith.addf", "arith.bogus", "custom op 'arith.bogus' is unknown"),
    ("ttgir", "arith.addf %", "arith.addf %undefined, %", "expected"),
    ("llir", "fadd float", "fbad float", "expected instruction opcode"),
    ("ptx", "add.f32", "bad.f32", "Not a name of any known instruction: 'bad'"),
]
