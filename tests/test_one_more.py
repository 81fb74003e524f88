"""One more of each touches few files: a made-up one is added to a copy of the tree, and works.

CONTRIBUTING.md names the files; the numbers here are its promises. One copy has all additions, so they also
work together. Its tests run once, and one server answers for it.
"""

import io
import json
import subprocess
import zipfile
from collections.abc import Iterator

import pytest
from changed_copy import ChangedCopy
from tritons import TRITONS

pytestmark = pytest.mark.slow

EXAMPLE = "explorer/examples/vector_add.py"
TEST_OF_PROGRAMS = "tests/runner/measures/test_programs.py"

STAGE = '''"""The code object, as hexadecimal numbers."""

from __future__ import annotations

from explorer.pipeline.locations import LocationTable
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText


def read(artifact: Artifact) -> StageText:
    """Read a code object."""
    lines = [f"{at:08x}: {artifact.value[at : at + 16].hex(' ')}" for at in range(0, 256, 16)]
    table = LocationTable()
    for _ in lines:
        table.add_line(())
    return StageText("\\n".join(lines) + "\\n", None, table)


STAGE = StageKind(
    "object", "Binary", "hex", produced_by="hsaco", read=read, backends=("hip",), summary="raw bytes"
)
'''
LEXER = '''"""Bytes as hexadecimal numbers."""

from pygments.token import Name, Number, Punctuation

from explorer.lexers.line_lexer import LineLexer


class HexLexer(LineLexer):
    """Lex an address and the bytes that stand there."""

    rules = ((r"^[0-9a-f]+(?=:)", Name.Label), (r":", Punctuation), (r"[0-9a-f]{2}\\b", Number.Hex))
'''
LANGUAGE = """    Language(
        "hex",
        family="",
        suffix="hex",
        lexer="explorer.lexers.hex:HexLexer",
        hue="llir",
        operation=re.compile(r"^[0-9a-f]{8}: "),
    ),
"""
PANE = """
import { emptyPane, Pane } from "../core/pane.js";
import { store } from "../core/store.js";
import { html } from "../core/template.js";

class CompilerPane extends Pane {
  static slices = /** @type {(typeof Pane)["slices"]} */ (["result"]);

  /** @override */
  render() {
    const result = store.state.result;
    return result ? html`<p>Triton ${result.document.triton}</p>` : emptyPane("Compile a kernel.");
  }
}

customElements.define("pane-compiler", CompilerPane);
"""
QUERY = '''"""The query for the loads of TTIR."""

from __future__ import annotations

import msgspec

from explorer.queries.query import Query, Subject


class LoadsDocument(msgspec.Struct, frozen=True):
    """`loads` is the number of loads in TTIR."""

    loads: int


def _find(subject: Subject) -> LoadsDocument:
    record = subject.record
    return LoadsDocument(record.text(record.stage("ttir").text).count("= tt.load "))


QUERY = Query(name="loads", summary="The loads of TTIR.", version=1, document=LoadsDocument, find=_find)
'''
COMMAND = '''"""`languages`: list the languages of stages."""

from __future__ import annotations

import argparse

from explorer.cli.tools import Commands, add_command
from explorer.model.languages import LANGUAGES


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    add_command(commands, "languages", run, "list the languages of stages")


def run(_options: argparse.Namespace) -> int:
    """Print one line for each language."""
    print("\\n".join(LANGUAGES))
    return 0
'''
TOUR = """title = "What is a store?"
question = "How does one program store its elements?"

[launch]
example = "vector_add"

[[steps]]
title = "A store of a block"
caption = "In TTIR, `tt.store` stores a block."
panes = "stage:ttir@100"
look_at = { stage = "ttir", pattern = 'tt\\.store' }
claims = [
  { says = "Stores of blocks", stage = "ttir", pattern = 'tt\\.store', exactly = 1 },
]

[steps.times]
about = "268,435,456 elements of fp32"
peak = "dram"
runs = [ { label = "1,024 elements", sizes = { size = 268435456 } } ]
claims = [ { says = "DRAM bandwidth", run = 0, least = 88, most = 95 } ]
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChangedCopy]:
    """A copy with all additions."""
    copy = ChangedCopy(tmp_path_factory.mktemp("copy"))
    for name, add in globals().items():
        if name.startswith("add_"):
            copy.apply(add)
    yield copy
    copy.close()


def add_pane(copy: ChangedCopy) -> None:
    copy.write(
        "explorer/views/panes/compiler.py",
        """\"\"\"The version of Triton.\"\"\"

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(name="compiler", title="Compiler", summary="The version of Triton that compiled the kernel.")
""",
    )
    panes = "explorer/views/panes/__init__.py"
    copy.insert(panes, "    graph,\n", "    compiler,\n")
    copy.insert(panes, "    log.PANE,\n", "    compiler.PANE,\n")
    copy.write("explorer/static/panes/compiler.js", PANE)
    copy.write("explorer/static/panes/compiler.css", "pane-compiler p { padding: 7px 11px; }\n")
    copy.insert(
        "docs/page.md",
        "| Log | `log`",
        "| Compiler | `compiler` | The version of Triton that compiled the kernel. |\n",
    )
    copy.tested_by("tests/test_documentation.py::test_every_pane_is_documented")


@pytest.mark.nightly
def test_a_pane(copy: ChangedCopy) -> None:
    copy.check("add_pane", most_files=5)
    server, client = copy.server, copy.server.client()
    dist = copy.folder / "explorer/static/dist"
    names = json.loads((dist / "manifest.json").read_text())
    (pane,) = [row for row in server.get("/page.json")["panes"] if row["name"] == "compiler"]
    assert (pane["title"], pane["per_stage"]) == ("Compiler", False)
    module = client.ask("GET", pane["module"])
    assert (module.status, module.headers["Content-Type"].split(";")[0]) == (200, "text/javascript")
    assert b"pane-compiler" in module.body
    assert b"pane-compiler p{padding:7px 11px}" in client.ask("GET", f"/assets/{names['page.css']}").body
    assert "pane-compiler" in (dist / names["offline.js"]).read_text()


def add_measurement(copy: ChangedCopy) -> None:
    copy.write(
        "explorer/model/measurements/programs.py",
        '''"""How many programs a launch has."""

from dataclasses import dataclass

from explorer.model.measurements.kind import MeasurementDocument


@dataclass(frozen=True, slots=True)
class Programs(MeasurementDocument):
    """`programs` is the product of the dimensions of the grid."""

    programs: int
''',
    )
    registry = "explorer/model/measurements/__init__.py"
    copy.insert(
        registry,
        "from explorer.model.measurements.times import",
        "from explorer.model.measurements.programs import Programs\n",
    )
    copy.insert(
        registry,
        '    MeasurementKind(\n        "counters",\n',
        "    MeasurementKind(\n"
        '        "programs", Programs, "programs", "Counts the programs.", devices=("interpreter", "gpu")\n'
        "    ),\n",
    )
    copy.write(
        "explorer/runner/measures/programs.py",
        '''"""Counts the programs of a launch."""

import math

from explorer.model.measurements.programs import Programs
from explorer.runner.measures.context import MeasureContext


def measure(context: MeasureContext) -> None:
    """Emit the number of programs."""
    context.emit_measurement(Programs(math.prod(context.launch.facts.grid)))
''',
    )
    copy.insert("docs/running.md", "| counters |", "| programs | both | How many programs the grid has. |\n")
    copy.write(
        TEST_OF_PROGRAMS,
        """from explorer.examples import find_example


def test_every_program_of_the_grid_is_counted(interpret):
    ran = interpret(find_example("vector_add").source, measures=("programs",), with_head=False)
    assert ran.programs == {"programs": ran.launch["grid"][0]}
""",
    )
    copy.tested_by(
        "tests/test_documentation.py::test_every_measure_is_documented_with_its_devices",
        f"{TEST_OF_PROGRAMS}::test_every_program_of_the_grid_is_counted[{TRITONS[0]}]",
    )


@pytest.mark.nightly
def test_a_measurement(copy: ChangedCopy) -> None:
    copy.check("add_measurement", most_files=6)  # the sixth: a view of its own in the browser
    ran = json.loads(copy.ask(f"profile {EXAMPLE} --device interpreter --measure programs --json"))
    (row,) = [row for row in ran["run"]["measurements"] if row["name"] == "programs"]
    assert ran["measured"]["programs"] == {"programs": ran["measured"]["launch"]["grid"][0]}
    assert row["url"].endswith("programs.json")
    server = copy.server
    (listed,) = [row for row in server.get("/api/v1/measures") if row["name"] == "programs"]
    assert listed["devices"] == ["interpreter", "gpu"]
    assert "programs" in [row["name"] for row in server.get("/page.json")["measures"]]
    schema = server.get("/api/v1/openapi.json")["components"]["schemas"]["Programs"]
    assert schema["properties"]["programs"] == {"type": "integer"}


def add_target(copy: ChangedCopy) -> None:
    """The Jetson's architecture, which shares the figures of sm_86 and is no target of its own so far."""
    figures = "explorer/model/hardware/nvidia.py"
    copy.replace(figures, ', siblings=("sm_87",)', "")
    copy.insert(
        figures,
        '    _target(89, "RTX 40',
        """    _target(87, "Jetson", Device(
        "NVIDIA Jetson", (8, 7), 16, 32 * GIB, 4 * MIB, 1300000, 3200000, 256, _SM_86,
    ), {"fp32": 256, "tensor fp16": 1024}),
""",
    )
    copy.insert(
        figures,
        '    Product(r"L4\\b"',
        '    Product(r"Jetson", "sm_87", 16, 1300, 204.8e9, "Jetson datasheet"),\n',
    )
    copy.insert(
        "tests/analysis/roofline/test_ceilings.py",
        '        ("NVIDIA L4", "tensor fp16"',
        '        ("NVIDIA Jetson", "fp32", 5.325),\n',
    )
    copy.insert(
        "tests/analysis/occupancy/test_occupancy.py",
        '        ("cuda:89", 128, 255',
        '        ("cuda:87", 32, 32, 0, 16 / 48, "blocks"),\n',
    )
    copy.insert("README.md", "sm_89 (RTX 40", "sm_87 (Jetson), ")
    copy.tested_by(
        "tests/analysis/roofline/test_ceilings.py",
        "tests/analysis/occupancy/test_occupancy.py::test_by_hand",
        "tests/analysis/occupancy/test_occupancy.py::test_an_unknown_target_is_refused",
    )


@pytest.mark.nightly
def test_a_target(copy: ChangedCopy) -> None:
    copy.check("add_target", most_files=4)
    compiled = json.loads(copy.ask(f"compile {EXAMPLE} --target cuda:87 --json"))
    assert compiled["status"] == "complete"
    assert compiled["target"]["architecture"] == "sm_87"
    assert compiled["target"]["stages"][-1] == "sass"
    assert compiled["resources"]["registers"] > 0
    assert "cuda:87" in copy.python("-m", "explorer", "targets")


def add_triton_version(copy: ChangedCopy) -> None:
    copy.insert("tritons.txt", "3.9.0", "3.10.0\n")
    copy.tested_by(
        "tests/test_packaging.py::test_make_and_the_image_install_the_supported_tritons",
        "tests/test_packaging.py::test_the_supported_tritons_are_in_the_range_of_the_dependency",
    )


@pytest.mark.nightly
def test_a_triton_version(copy: ChangedCopy) -> None:
    copy.check("add_triton_version", most_files=1)
    makes = subprocess.run(
        ["make", "-n", ".venv/installed-tritons"], cwd=copy.folder, capture_output=True, text=True
    )
    assert "triton==3.10.0" in makes.stdout, makes.stderr
    assert "triton-explorer toolchain add 3.10.0 3.9.0 3.6.0" in makes.stdout
    listed = "import sys; sys.path.append('tests'); from tritons import TRITONS; print(TRITONS[0])"
    assert copy.python("-c", listed) == "3.10.0\n"
    assert copy.touched["add_triton_version"] == {"tritons.txt"}


def add_stage(copy: ChangedCopy) -> None:
    """The stage shows AMD's code object: Triton's step `hsaco`, which no other stage reads."""
    copy.write("explorer/pipeline/stages/object.py", STAGE)
    stages = "explorer/pipeline/stages/__init__.py"
    copy.replace(stages, "llir, ptx, sass, ttgir, ttir\n", "llir, object, ptx, sass, ttgir, ttir\n")
    copy.replace(stages, "    amdgcn.STAGE,\n", "    amdgcn.STAGE,\n    object.STAGE,\n")
    copy.insert("explorer/model/languages.py", '    Language(\n        "llir",\n', LANGUAGE)
    copy.write("explorer/lexers/hex.py", LEXER)
    copy.insert(
        "docs/page.md",
        "\n## PTX as C",
        "| Binary | The code object of an AMD kernel, as hexadecimal numbers. |\n",
    )
    copy.tested_by("tests/test_documentation.py::test_every_stage_is_documented_in_the_order_of_the_page")


@pytest.mark.nightly
def test_a_stage_in_a_new_language(copy: ChangedCopy, vector_add: str) -> None:
    copy.check("add_stage", most_files=5)
    server = copy.server
    ticket = server.post({"source": vector_add, "target": "hip:gfx942"})
    assert list(server.events(ticket))[-1] == "done"
    api = ticket["api"]
    stage = server.get(api)["stages"][-1]
    assert (stage["name"], stage["title"], stage["language"]) == ("object", "Binary", "hex")
    operations = server.get(f"{api}/stages/object/locations")["operations"]
    assert stage["lines"] == operations == 16
    tokens = server.get(f"{api}/stages/object/lines")["lines"][0]["tokens"]
    assert tokens[:4] == [["nl", "00000000"], ["p", ":"], ["", " "], ["mh", "7f"]]
    page = server.get("/page.json")
    row = {"name": "object", "title": "Binary", "language": "hex", "summary": "raw bytes"}
    assert {**row, "is_editable": False} in page["stages"]
    assert page["languages"]["hex"]["hue"] == "llir"
    archive = server.client().ask("GET", f"{api}/archive.zip").body
    assert any(name.endswith("/object.hex") for name in zipfile.ZipFile(io.BytesIO(archive)).namelist())


def add_query(copy: ChangedCopy) -> None:
    copy.write("explorer/queries/loads.py", QUERY)
    queries = "explorer/queries/__init__.py"
    copy.insert(queries, "    metrics,\n", "    loads,\n")
    copy.insert(queries, "    metrics.QUERY,\n", "    loads.QUERY,\n")


def test_a_query(copy: ChangedCopy) -> None:
    copy.check("add_query", most_files=2)
    assert json.loads(copy.ask(f"compile {EXAMPLE} --query loads")) == {"loads": 2}


def add_metric(copy: ChangedCopy) -> None:
    copy.insert(
        "explorer/model/metrics.py",
        '    Metric("binary_bytes"',
        '    Metric("operations", "Operations"),\n',
    )
    query = "explorer/queries/metrics.py"
    copy.insert(query, "    binary_bytes: int | None\n", "    operations: int | None\n")
    copy.insert(
        query,
        '        "binary_bytes": result',
        '        "operations": len(_kinds(record, "ttir")) if "ttir" in result.stages else None,\n',
    )
    copy.tested_by(
        "tests/queries/test_metrics.py::test_every_metric_has_a_value_in_the_document",
        "tests/glossary/test_glossary.py::test_every_label_of_the_page_is_a_term_or_a_word_of_every_day",
    )


def test_a_metric(copy: ChangedCopy) -> None:
    copy.ask(f"check {EXAMPLE} --baseline kernels.lock.json --update --threshold operations=1")
    copy.touched["add_metric"].add("kernels.lock.json")
    copy.check("add_metric", most_files=3)  # a fourth: a term of the glossary for its title
    baseline = json.loads((copy.folder / "kernels.lock.json").read_text())
    (kernel,) = baseline["scripts"][EXAMPLE].values()
    (compiled,) = kernel.values()
    assert compiled["metrics"]["operations"] > 10


def add_command(copy: ChangedCopy) -> None:
    copy.write("explorer/cli/languages.py", COMMAND)
    commands = "explorer/cli/main.py"
    copy.insert(commands, "    matrix,\n    mcp,\n", "    languages,\n")
    copy.insert(commands, "    debug,\n    version,\n)\n\n\ndef", "    languages,\n")
    copy.insert("docs/commands.md", "triton-explorer targets  ", "triton-explorer languages\n")
    copy.tested_by(
        "tests/test_documentation.py::test_every_command_is_documented",
        "tests/test_documentation.py::test_every_documented_command_exists",
    )


def test_a_command(copy: ChangedCopy) -> None:
    copy.check("add_command", most_files=3)
    assert "ttgir\n" in copy.python("-m", "explorer", "languages")
    assert "list the languages of stages" in copy.python("-m", "explorer", "--help")


def add_tour(copy: ChangedCopy) -> None:
    """Its times come from a launch of another tour; `tools/record-tours` would measure them again."""
    copy.write("explorer/tours/stores.toml", TOUR)
    copy.insert("explorer/tours/__init__.py", '    "layouts",\n', '    "stores",\n')
    measured = (copy.folder / "explorer/tours/measured/programs.json").read_text()
    copy.write("explorer/tours/measured/stores.json", measured)
    copy.tested_by(
        "tests/tours/test_tours.py::test_a_step_can_be_shown[stores-1]",
        f"tests/tours/test_tours.py::test_what_a_step_claims_is_true_of_every_triton[stores-1-{TRITONS[0]}]",
        "tests/tours/test_tours.py::test_a_tour_ends_with_what_was_measured[stores]",
        "tests/tours/test_tours.py::test_what_was_measured_is_of_this_launch_and_as_claimed[stores-1]",
    )


def test_a_tour(copy: ChangedCopy) -> None:
    copy.check("add_tour", most_files=3)
    assert "How does one program store its elements?" in copy.python("-m", "explorer", "tour")
