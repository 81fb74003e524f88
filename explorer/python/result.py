"""A compilation as an object: its stages, passes and documents, each fetched on access."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from explorer.agents.search import Improvement, Search
from explorer.cli.api import API, Api
from explorer.cli.improve import DEFAULT_SECONDS, BlockingApi, tries_of
from explorer.documents import CompilationDocument, PassDocument
from explorer.errors import NotAnswerable, NotFound
from explorer.python.notebook import is_in_notebook, page_frame
from explorer.python.tables import (
    Row,
    Table,
    buffer_rows,
    data_frame,
    instruction_rows,
    metric_rows,
    pass_rows,
)
from explorer.python.widget import WorkbenchWidget, make_widget
from explorer.queries import QUERIES
from explorer.queries.allocation import AllocationDocument
from explorer.queries.comparison import ComparisonDocument
from explorer.queries.findings import FindingsDocument
from explorer.queries.findings.finding import Finding
from explorer.queries.layouts import LayoutsDocument
from explorer.queries.metrics import MetricsDocument
from explorer.queries.registers import RegistersDocument

if TYPE_CHECKING:
    from pandas import DataFrame

Document = TypeVar("Document")

#: In CSS pixels.
DEFAULT_HEIGHT = 720


@dataclass(frozen=True)
class Improved:
    """What `Result.improve` has found. `document` has the tries, the figures, and the changed lines.

    `result` is the compilation with the taken changes.
    """

    document: Improvement
    result: Result


@dataclass(frozen=True)
class CompilerPass:
    """A compiler pass. `document` has its name, its options, its time and whether it changed the module."""

    document: PassDocument
    _api: Api = field(repr=False)
    _address: str = field(repr=False)

    @property
    def text(self) -> str:
        """The module after the pass."""
        return self._api.get(self._address).decode()

    def diff(self) -> str:
        """Return the changes of the pass as a unified diff; "" if it changed nothing."""
        return self._api.get(f"{self._address}/diff").decode()


class Passes(Sequence[CompilerPass]):
    """The compiler passes in order, by index, or by a name that only one pass with changes has."""

    def __init__(self, passes: Sequence[CompilerPass]) -> None:
        self._all = passes

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[CompilerPass]:
        return iter(self._all)

    @overload
    def __getitem__(self, key: int | str) -> CompilerPass: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[CompilerPass]: ...
    def __getitem__(self, key: int | str | slice) -> CompilerPass | Sequence[CompilerPass]:
        return self._named(key) if isinstance(key, str) else self._all[key]

    def _named(self, name: str) -> CompilerPass:
        same = [each for each in self._all if each.document.name == name]
        wanted = [each for each in same if each.document.changed] if len(same) > 1 else same
        if len(wanted) == 1:
            return wanted[0]
        if not same:
            raise KeyError(f"There is no pass {name!r}.")
        indices = ", ".join(str(each.document.index) for each in wanted or same)
        raise KeyError(f"There are several passes {name!r}. Choose one by its index: {indices}.")


class Result:
    """A compilation. Its stages are attributes: `result.ttgir` is the text of TTGIR.

    `document` is its index, as the API returns it, and `page` its link; "" without a server.
    """

    def __init__(self, api: Api, compilation_id: str) -> None:
        self._api = api
        self._address = f"{API}/compilations/{compilation_id}"
        self.document = self._get("", CompilationDocument)
        self.page = api.url + self.document.url if api.url else ""

    def __repr__(self) -> str:
        index = self.document
        what = f"{index.kernel} for {index.target.name}, Triton {index.triton}"
        return f"<Result {index.id}: {what}, {index.status}>"

    def __getattr__(self, name: str) -> str:
        """Return the text of a stage."""
        if not name.startswith("_") and any(stage.name == name for stage in self.document.stages):
            return self._api.get(f"{self._address}/stages/{name}").decode()
        raise AttributeError(f"The compilation has no {name!r}. Its stages are {', '.join(self.stages)}.")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.stages]

    @property
    def stages(self) -> list[str]:
        """The names of the stages."""
        return [stage.name for stage in self.document.stages]

    @cached_property
    def passes(self) -> Passes:
        """The compiler passes."""
        return Passes(
            [
                CompilerPass(each, self._api, f"{self._address}/passes/{each.index}")
                for each in self.document.passes
            ]
        )

    @property
    def metrics(self) -> MetricsDocument:
        """The metrics: registers of a thread, sizes in bytes, counts, occupancy from 0 to 1."""
        return self._get("/metrics", MetricsDocument)

    @property
    def findings(self) -> list[Finding]:
        """What costs speed in the kernel, the most costly first."""
        return self._get("/findings", FindingsDocument).findings

    @property
    def memory(self) -> AllocationDocument:
        """The buffers in shared memory, and the barriers."""
        return self._get("/allocation", AllocationDocument)

    @property
    def registers(self) -> RegistersDocument:
        """The live registers at each instruction, and spills."""
        return self._get("/registers", RegistersDocument)

    @property
    def layouts(self) -> LayoutsDocument:
        """The layouts of TTGIR, the conversions, and the accesses to memory."""
        return self._get("/layouts", LayoutsDocument)

    def ask(self, query: str, **parameters: str | int) -> Any:
        """Return the answer of a query, as `triton-explorer compile --query` prints it.

        Raises:
            NotFound: there is no such query; the message lists them.
        """
        known = {each.name: each for each in QUERIES if each.about == "compilation"}
        if query not in known:
            raise NotFound(f"There is no query {query!r}. Known are {', '.join(known)}.")
        wanted = known[query]
        address = wanted.address({name: str(value) for name, value in parameters.items()})
        body = self._api.read(wanted.method, self._address + address)
        if wanted.document == "text/plain":
            return body.decode()
        return msgspec.json.decode(body, type=wanted.document)

    def to_pandas(self, table: Table = "metrics") -> DataFrame:
        """Return a table as a data frame of pandas. Sizes are in bytes, times in milliseconds.

        "metrics" has one row, so that the rows of several results can be joined. "passes" has one row for
        each compiler pass, "instructions" for each instruction of SASS with the live registers there,
        "buffers" for each buffer in shared memory, and "findings" for each finding. The columns have the
        names of the documents' fields.

        Raises:
            InvalidRequest: pandas is missing, or there is no such table.
            NotAnswerable: the target has no such table, or the compilation failed before.
        """
        return data_frame(table, partial(self._rows, table))

    def compare(self, after: Result) -> ComparisonDocument:
        """Compare with another compilation."""
        return self._get(f"/compare/{after.document.id}", ComparisonDocument)

    def improve(self, seconds: float = DEFAULT_SECONDS) -> Improved:
        """Try the changes that the findings propose, one after another, and keep each that is proven.

        A change is proven if its finding vanishes, no other warning appears, and the kernel writes the same
        results. With a GPU of the target, it must also be faster. Nothing begins after `seconds`.

        Raises:
            NotAnswerable: the compilation is not complete.
        """
        search = Search(BlockingApi(self._api), self.document, seconds)
        for _ in tries_of(search):
            pass
        found = search.result
        return Improved(found, Result(self._api, found.compilation))

    def save(self, path: str | Path) -> None:
        """Write the page with everything about the compilation, which works without a server."""
        Path(path).write_bytes(self.html())

    def html(self) -> bytes:
        """Return the page that `save` writes."""
        return self._api.get(f"{self._address}/export.html")

    def show(self, height: int = DEFAULT_HEIGHT) -> Workbench:
        """Show the page as the output of a cell, or print its address outside of a notebook.

        `height` is in CSS pixels.
        """
        workbench = Workbench(self, height)
        workbench.announce()
        return workbench

    def widget(self, height: int = DEFAULT_HEIGHT) -> WorkbenchWidget:
        """Return the page as a widget of a notebook. Its `selection` is the selection in the page.

        `height` is in CSS pixels.

        Raises:
            InvalidRequest: the package anywidget is missing.
        """
        lines = {stage.name: stage.lines for stage in self.document.stages}
        return make_widget(page_frame(self.html(), repr(self), height), lines)

    def _rows(self, table: Table) -> list[Row]:
        if table == "metrics":
            return metric_rows(self.document, self.metrics)
        if table == "passes":
            return pass_rows(self.document.passes, self.ask("changes"))
        if table == "buffers":
            return buffer_rows(self.memory)
        if table == "findings":
            return [msgspec.structs.asdict(each) for each in self.findings]
        registers = self.registers
        if not registers.instructions:
            raise NotAnswerable(registers.reason)
        return instruction_rows(registers.instructions, self.sass)

    def _get(self, path: str, wanted: type[Document]) -> Document:
        return msgspec.json.decode(self._api.get(self._address + path), type=wanted)


class Workbench:
    """The page of a result. A notebook shows it if it is the last expression of a cell.

    `result` is the compilation. `height` is the height of the frame in CSS pixels.
    """

    def __init__(self, result: Result, height: int = DEFAULT_HEIGHT) -> None:
        self.result = result
        self.height = height

    def __repr__(self) -> str:
        return f"<Workbench of {self.result!r}>"

    def _repr_html_(self) -> str:
        """Return the output of a cell."""
        return page_frame(self.result.html(), repr(self.result), self.height)

    def announce(self) -> None:
        """Outside of a notebook, print the place of the page: its link, or a temporary file."""
        if is_in_notebook():
            return
        where = self.result.page
        if not where:
            prefix = f"{self.result.document.kernel or 'kernel'}-"
            with tempfile.NamedTemporaryFile(prefix=prefix, suffix=".html", delete=False) as file:
                file.write(self.result.html())
            where = Path(file.name).as_uri()
        print(where)
