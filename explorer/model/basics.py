"""The plain types that the whole model shares."""

from typing import Literal

#: A line of the user's source, from 1 on. `explorer.model.source_lines` numbers the lines of several files.
LineNumber = int
Scalar = str | int | float | bool | None

#: The kinds of devices that kernels run on.
DeviceKind = Literal["interpreter", "gpu"]
