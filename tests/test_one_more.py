"""One more of each touches few files: a made-up one is added to a copy of the tree, and works.

CONTRIBUTING.md names the files; the numbers here are its promises.
"""

import json
import subprocess
from pathlib import Path

import pytest
from changed_copy import ChangedCopy

pytestmark = pytest.mark.slow

LIST_MEASURES = """
import json
from pathlib import Path
from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings

app = create_app(Settings(data_dir=Path("data"), slots=1))
client = app.test_client()
measures = {row["name"]: row for row in client.get("/api/v1/measures").json}
parts = client.get("/page.json").json
schemas = client.get("/api/v1/openapi.json").json["components"]["schemas"]
print(json.dumps([measures["programs"], [row["name"] for row in parts["measures"]], schemas["Programs"]]))
services_of(app).close()
"""


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
    "object", "Code object", "hex", produced_by="hsaco", read=read, backends=("hip",), summary="raw bytes"
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
ASK_STAGE = """
import io, json, zipfile
from pathlib import Path
from explorer import create_app
from explorer.examples import load_examples
from explorer.services import services_of
from explorer.settings import Settings

if __name__ == "__main__":
    app = create_app(Settings(data_dir=Path("data"), slots=1))
    client = app.test_client()
    body = {"source": load_examples()[0].source, "target": "hip:gfx942"}
    ticket = client.post("/api/v1/compilations", json=body).get_json()
    client.get(ticket["events"]).get_data()
    api = ticket["api"]
    page = client.get("/page.json").get_json()
    print(json.dumps({
        "stages": client.get(api).get_json()["stages"],
        "lines": client.get(f"{api}/stages/object/lines").get_json(),
        "operations": client.get(f"{api}/stages/object/locations").get_json()["operations"],
        "page_stages": page["stages"],
        "languages": page["languages"],
        "exported": zipfile.ZipFile(io.BytesIO(client.get(f"{api}/archive.zip").data)).namelist(),
    }))
    services_of(app).close()
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
SHOW_PANE = """
import json
from pathlib import Path
from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings
from explorer.views.pages import bundled_file, manifest

app = create_app(Settings(data_dir=Path("data"), slots=1))
client = app.test_client()
(pane,) = [row for row in client.get("/page.json").json["panes"] if row["name"] == "compiler"]
module = client.get(pane["module"])
print(json.dumps({
    "pane": pane,
    "status": module.status_code,
    "type": module.mimetype,
    "module": module.text,
    "styles": client.get("/assets/" + manifest()["page.css"]).text,
    "saved_page": bundled_file("offline.js").decode(),
}))
services_of(app).close()
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


@pytest.fixture
def copy(tmp_path: Path) -> ChangedCopy:
    return ChangedCopy(tmp_path)


def test_a_pane(copy: ChangedCopy) -> None:
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
    copy.test("tests/test_documentation.py", "-k", "pane")

    copy.bundle()
    shown = json.loads(copy.python("-c", SHOW_PANE))
    assert (shown["pane"]["title"], shown["pane"]["per_stage"]) == ("Compiler", False)
    assert (shown["status"], shown["type"]) == (200, "text/javascript")
    assert "pane-compiler" in shown["module"]
    assert "pane-compiler p{padding:7px 11px}" in shown["styles"]
    assert "pane-compiler" in shown["saved_page"]
    assert len(copy.touched) <= 5


def test_a_measurement(copy: ChangedCopy) -> None:
    copy.write(
        "explorer/model/measurements/programs.py",
        '''"""How many programs a launch has."""

from dataclasses import dataclass

from explorer.model.measurements.kind import MeasurementDocument


@dataclass(frozen=True)
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
        "tests/runner/measures/test_programs.py",
        """from explorer.examples import find_example


def test_every_program_of_the_grid_is_counted(interpret):
    ran = interpret(find_example("vector_add").source, measures=("programs",), with_head=False)
    assert ran.programs == {"programs": ran.launch["grid"][0]}
""",
    )

    command = "-m explorer profile explorer/examples/vector_add.py --device interpreter --measure programs"
    ran = json.loads(copy.python(*command.split(), "--json"))
    (row,) = [row for row in ran["run"]["measurements"] if row["name"] == "programs"]
    assert ran["measured"]["programs"] == {"programs": ran["measured"]["launch"]["grid"][0]}
    assert row["url"].endswith("programs.json")
    listed, on_the_page, schema = json.loads(copy.python("-c", LIST_MEASURES))
    assert listed["devices"] == ["interpreter", "gpu"]
    assert "programs" in on_the_page
    assert schema["properties"]["programs"] == {"type": "integer"}
    copy.test(
        "tests/test_documentation.py", "tests/runner/measures/test_programs.py", "-k", "measure or program"
    )
    assert len(copy.touched) <= 6  # the sixth: a separate view in the browser, in place of the plain table


def test_a_target(copy: ChangedCopy) -> None:
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

    command = "-m explorer compile explorer/examples/vector_add.py --target cuda:87 --json"
    compiled = json.loads(copy.python(*command.split()))
    assert compiled["status"] == "complete"
    assert compiled["target"]["architecture"] == "sm_87"
    assert compiled["target"]["stages"][-1] == "sass"
    assert compiled["resources"]["registers"] > 0
    assert "cuda:87" in copy.python("-m", "explorer", "targets")
    tests = ("tests/analysis/roofline/test_ceilings.py", "tests/analysis/occupancy/test_occupancy.py")
    copy.test(*tests, "-k", "peaks or table or product or hand or refused")
    assert len(copy.touched) <= 4


def test_a_triton_version(copy: ChangedCopy) -> None:
    copy.insert("tritons.txt", "3.9.0", "3.10.0\n")
    makes = subprocess.run(
        ["make", "-n", ".venv/installed-tritons"], cwd=copy.folder, capture_output=True, text=True
    )
    assert "triton==3.10.0" in makes.stdout, makes.stderr
    assert "triton-explorer toolchain add 3.10.0 3.9.0 3.6.0" in makes.stdout
    listed = "import sys; sys.path.append('tests'); from tritons import TRITONS; print(TRITONS[0])"
    assert copy.python("-c", listed) == "3.10.0\n"
    copy.test("tests/test_packaging.py", "-k", "tritons")
    assert copy.touched == {"tritons.txt"}


def test_a_stage_in_a_new_language(copy: ChangedCopy) -> None:
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
        "| Code object | The code object of an AMD kernel, as hexadecimal numbers. |\n",
    )
    copy.test("tests/test_documentation.py", "-k", "stage")
    assert len(copy.touched) <= 5

    (copy.folder / "ask.py").write_text(ASK_STAGE)
    answers = json.loads(copy.python("ask.py"))
    stage = answers["stages"][-1]
    assert (stage["name"], stage["title"], stage["language"]) == ("object", "Code object", "hex")
    assert stage["lines"] == answers["operations"] == 16
    assert answers["lines"]["lines"][0]["tokens"][:3] == [["nl", "00000000"], ["p", ":"], ["", " "]]
    assert answers["lines"]["lines"][0]["tokens"][3] == ["mh", "7f"]
    row = {"name": "object", "title": "Code object", "language": "hex", "summary": "raw bytes"}
    assert {**row, "is_editable": False} in answers["page_stages"]
    assert answers["languages"]["hex"]["hue"] == "llir"
    assert any(name.endswith("/object.hex") for name in answers["exported"])


def test_a_query(copy: ChangedCopy) -> None:
    copy.write("explorer/queries/loads.py", QUERY)
    queries = "explorer/queries/__init__.py"
    copy.insert(queries, "    metrics,\n", "    loads,\n")
    copy.insert(queries, "    metrics.QUERY,\n", "    loads.QUERY,\n")
    command = "-m explorer compile explorer/examples/vector_add.py --query loads"
    assert json.loads(copy.python(*command.split())) == {"loads": 2}
    assert len(copy.touched) <= 2


def test_a_metric(copy: ChangedCopy) -> None:
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
    tests = ("tests/queries/test_metrics.py", "tests/glossary/test_glossary.py")
    copy.test(*tests, "-k", "every_metric or every_label")

    check = "-m explorer check explorer/examples/vector_add.py --baseline kernels.lock.json"
    copy.python(*check.split(), "--update", "--threshold", "operations=1")
    copy.touched.add("kernels.lock.json")
    baseline = json.loads((copy.folder / "kernels.lock.json").read_text())
    (kernel,) = baseline["scripts"]["explorer/examples/vector_add.py"].values()
    (compiled,) = kernel.values()
    assert compiled["metrics"]["operations"] > 10
    assert len(copy.touched) <= 3  # a fourth: a term of the glossary for its title


def test_a_command(copy: ChangedCopy) -> None:
    copy.write("explorer/cli/languages.py", COMMAND)
    commands = "explorer/cli/main.py"
    copy.insert(commands, "    matrix,\n    mcp,\n", "    languages,\n")
    copy.insert(commands, "    debug,\n    version,\n)\n\n\ndef", "    languages,\n")
    copy.insert("docs/commands.md", "triton-explorer targets  ", "triton-explorer languages\n")
    assert "ttgir\n" in copy.python("-m", "explorer", "languages")
    assert "list the languages of stages" in copy.python("-m", "explorer", "--help")
    copy.test("tests/test_documentation.py", "-k", "command")
    assert len(copy.touched) <= 3


def test_a_tour(copy: ChangedCopy) -> None:
    """Its times come from a launch of another tour; `tools/record-tours` would measure them again."""
    copy.write("explorer/tours/stores.toml", TOUR)
    copy.insert("explorer/tours/__init__.py", '    "layouts",\n', '    "stores",\n')
    measured = (copy.folder / "explorer/tours/measured/programs.json").read_text()
    copy.write("explorer/tours/measured/stores.json", measured)
    assert "How does one program store its elements?" in copy.python("-m", "explorer", "tour")
    copy.test("tests/tours", "-k", "stores")
    assert len(copy.touched) <= 3
