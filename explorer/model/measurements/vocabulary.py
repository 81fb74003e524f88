"""The types that several documents share.

Every number has a source: "measured" on the hardware, "counted" in the interpreter, "static" from the
compiled program, "stated" by the user, or from a "datasheet".
"""

from typing import Literal

Source = Literal["measured", "counted", "static", "stated", "datasheet"]
Cache = Literal["cold", "warm"]
Level = Literal["dram", "l2", "l1", "shared"]
