"""The numbers of the lines of a script and of the files beside it: one number names one line.

The lines of the script come first, then the lines of the files, in the order of their paths.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.model.basics import LineNumber
from explorer.model.events import Location
from explorer.model.requests import Request

#: A script can refer to a file beside it by a path relative to the folder.
_HERE = "./"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A script, or a file beside it, whose lines have the numbers from `first_line` to `last_line`.

    `path` is "" for a script without further files.
    """

    path: str
    first_line: LineNumber
    last_line: LineNumber


class SourceLines:
    """The numbers of the lines of the script at `path` and of `files`, which are texts by their paths."""

    def __init__(self, source: str, path: str = "", files: Mapping[str, str] | None = None) -> None:
        # In the order of the browser's code, which compares UTF-16.
        ordered = sorted((files or {}).items(), key=lambda file: file[0].encode("utf-16-be", "surrogatepass"))
        texts = [("", source), *ordered]
        #: The script first, then the files in the order of their paths.
        self.files: list[SourceFile] = []
        #: The files by their names in frames, where the name of the script is "".
        self._by_name: dict[str, SourceFile] = {}
        self._texts: list[str] = []
        for name, text in texts:
            first = len(self._texts) + 1
            self._texts += lines_of(text)
            file = SourceFile(name or path, first, len(self._texts))
            self.files.append(file)
            self._by_name[name] = file

    @classmethod
    def of(cls, request: Request) -> SourceLines:
        """Return the numbers of the lines of the files that a request compiles."""
        return cls(request.source, request.path, request.files)

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each line, in the order of their numbers."""
        return tuple(self._texts)

    def number(self, name: str, line: LineNumber) -> LineNumber:
        """Return the number of a line of a file ("": the script). 0: it is not one of these files."""
        file = self._by_name.get(name.removeprefix(_HERE))
        if file is None or line < 1:
            return 0
        number = file.first_line + line - 1
        return number if number <= file.last_line or len(self.files) == 1 else 0

    def number_of(self, location: Location) -> LineNumber:
        """Return the number of the innermost line in these files, or of the call of library code. 0: none."""
        numbers = (self.number(frame.file, frame.line) for frame in location.frames)
        return next((number for number in numbers if number), 0)

    def place(self, number: LineNumber) -> tuple[str, LineNumber]:
        """Return the path of the file with the line of this number ("": the script), and its line there."""
        index = bisect.bisect_right(self.files, number, key=lambda file: file.first_line) - 1
        if index <= 0:
            return "", number
        file = self.files[index]
        return file.path, number - file.first_line + 1

    def name(self, number: LineNumber) -> str:
        """Name a line as requests do: "12", and "tools.py:3" in a file beside the script."""
        path, line = self.place(number)
        return f"{path}:{line}" if path else str(line)

    def words(self, number: LineNumber) -> str:
        """Name a line in a message: "line 12", and in a file beside the script "line 3 of tools.py"."""
        path, line = self.place(number)
        return f"line {line} of {path}" if path else f"line {line}"


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as Python counts them: other characters than newlines end none."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
