"""Test the glossary: the page uses no term without an entry, and every entry is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from explorer.analysis.roofline import hints, losses
from explorer.glossary import Term, load_glossary
from explorer.model.metrics import METRICS
from explorer.pipeline.stages import STAGES
from explorer.tours import load_tours
from explorer.views.panes import PANES

STATIC = Path(__file__).parents[2] / "explorer/static"
SCRIPTS = {
    file.relative_to(STATIC).as_posix(): file.read_text(encoding="utf-8")
    for file in sorted(STATIC.rglob("*.js"))
    if "dist" not in file.parts
}
#: Where the heads of tables and the names of facts are written.
PLACES = ("compare/", "core/resource_facts.js", "launch/compiler_options.js", "panes/", "runs/facts.js")
#: Names of buttons, of keys, and of choices in forms.
OTHERS = (
    *("commands.js", "panes/stage/filters.js", "panes/stage.js", "compare/page.js", "core/pane.js"),
    *("panes/run/input_table.js", "panes/run/setup.js", "panes/stage/lineage_link.js"),
)
#: Labels in words of every day.
EVERYDAY = {
    *(
        "after",
        "also called",
        "at",
        "before",
        "by",
        "bytes",
        "columns",
        "compile time",
        "difference",
        "driver",
    ),
    *("exactly", "files", "first", "from", "further losses", "how much", "in all", "kind"),
    *("in the same place at other times", "last", "layout not found", "limit by", "missing data", "name"),
    *(
        "offset",
        "outside",
        "passes with a change",
        "pointer",
        "relative error",
        "relative to fastest",
        "runs",
    ),
    *("in main loop", "options", "output", "reference", "resource", "resources of the binary"),
    *("result", "roofline", "rows", "scope", "shape", "share of the time", "what"),
    *("source", "time", "timeline", "times", "to", "tolerance", "torch", "type", "waiting for"),
    *("before · in · after", "iteration", "step", "under way"),
    *("what would help", "whole compilation", "work", "worst element", "measured", "where it ran"),
    *(
        "all instructions",
        "allocated",
        "dimension",
        "binary",
        "instructions",
        "minimum time of each resource",
        "µs",
    ),
}


def labels_of(text: str) -> Iterator[str]:
    """Yield heads of columns, names of facts, and headings of sections of a module of the page."""
    for match in re.finditer(r"<(?:th|dt|h3)\b[^>]*>([A-Za-z][^<>$`{}]+)", text):
        yield match[1].strip()
    for match in re.finditer(r"(?:heads\(|HEADS = |heads = |table\(\s*\"[^\"]+\",\s*)\[([^\]]*)\]", text):
        yield from re.findall(r'"([^"]+)"', match[1])
    for match in re.finditer(r"<tr>\$\{\[([^\]]*)\]\.map", text):
        yield from re.findall(r'"([^"]+)"', match[1])
    for match in re.finditer(r'^\s+\["([a-z][^"]+)", ', text, re.MULTILINE):
        yield match[1]
    for match in re.finditer(r'\btitle: "([^"]+)"', text):
        yield match[1]


def used_labels() -> Iterator[str]:
    for name, text in SCRIPTS.items():
        if name.startswith(PLACES) and not name.endswith(OTHERS):
            yield from labels_of(text)
    yield from (pane.title for pane in PANES)
    yield from (stage.title for stage in STAGES)
    yield from (metric.title for metric in METRICS)


def test_every_label_of_the_page_is_a_term_or_a_word_of_every_day() -> None:
    labels = {re.split(r"[:;]", label)[0].strip().lower() for label in used_labels()} - {","}
    assert len(labels) > 100
    missing = {label for label in labels if not any(term.is_meant_by(label) for term in load_glossary())}
    assert labels >= EVERYDAY
    assert missing - EVERYDAY - {pane.title.lower() for pane in PANES} == set(), (
        "explain them in explorer/glossary/terms.toml"
    )


@pytest.mark.parametrize("term", load_glossary(), ids=lambda term: term.name)
def test_a_term_is_used_by_the_page(term: Term) -> None:
    """Somewhere among labels, tours, hints, and the sentences of the panes."""
    package = Path(hints.__file__).parent
    texts = [
        *(label for label in used_labels() if term.is_meant_by(label)),
        *(f"{step.title} {step.caption}" for tour in load_tours() for step in tour.steps),
        *(file.read_text(encoding="utf-8") for file in package.glob("*.py")),
        Path(losses.__file__).read_text(encoding="utf-8"),
        *(file.read_text(encoding="utf-8") for file in (STATIC.parent / "explanations").glob("*.toml")),
        *(text for name, text in SCRIPTS.items() if not name.startswith("glossary/")),
        *(pane.summary for pane in PANES),
    ]
    assert any(term.is_meant_by(text) or term.is_in(text) for text in texts)


def test_a_word_belongs_to_one_term() -> None:
    words = [word for term in load_glossary() for word in (*term.words, *term.labels)]
    assert sorted(words) == sorted(set(words))
    assert all(word == word.lower() for word in words)


def test_an_entry_is_a_sentence_or_two_with_a_source() -> None:
    names = [term.name for term in load_glossary()]
    assert len(names) == len(set(names)) >= 80
    for term in load_glossary():
        assert 20 < len(term.text) < 320, term.name
        assert term.text.endswith("."), term.name
        assert term.text.count("`") % 2 == 0, term.name
        assert re.match(r"https://(?:[\w-]+\.)+\w+/", term.source.url), term.name
    hosts = {term.source.url.split("/")[2] for term in load_glossary()}
    assert hosts == {
        *("docs.nvidia.com", "docs.python.org", "docs.pytorch.org", "github.com", "llvm.org"),
        *("mlir.llvm.org", "rocm.docs.amd.com", "triton-lang.org"),
    }


def test_a_part_of_a_tensor_is_a_tile_and_never_a_block() -> None:
    """A block is the threads that run one program."""
    package = STATIC.parent
    texts = [
        *(f"{step.caption} {step.question}" for tour in load_tours() for step in tour.steps),
        *(term.text for term in load_glossary()),
        *(
            file.read_text(encoding="utf-8")
            for folder in ("queries", "analysis/roofline/hints", "pipeline", "sandbox")
            for file in (package / folder).rglob("*.py")
        ),
    ]
    data = (
        r"\b(?:smaller|larger) blocks?\b|\bblocks? (?:by block|of (?:keys|[\d{]))"
        r"|(?:elements|rows) of (?:a|the) block"
    )
    assert re.findall(data, "\n".join(texts)) == []


def test_words_are_found_whole_and_in_the_plural() -> None:
    bank = next(term for term in load_glossary() if term.name == "bank")
    assert bank.is_in("Shared memory has 32 banks.")
    assert not bank.is_in("A banker, embankments and x.bank.size.")
    assert not bank.is_meant_by("bankruptcy")


def test_the_page_has_every_term_at_its_address(client: FlaskClient) -> None:
    text = client.get("/glossary").text
    for term in client.get("/api/v1/glossary").get_json():
        assert f'id="{term["name"]}"' in text
        assert term["source"]["url"] in text
        for mention in term["tours"]:
            assert f'href="/#tour={mention["tour"]}.{mention["step"]}"' in text
        for mention in term["exercises"]:
            assert f'href="/#exercise={mention["exercise"]}"' in text


@pytest.mark.parametrize(
    ("name", "tour", "exercise"),
    [
        ("conversion", "matrix_cores", "one_layout"),
        ("coalescing", "layouts", "coalesced_rows"),
        ("occupancy", "occupancy", None),
        ("spill", None, "fewer_registers"),
    ],
)
def test_a_term_leads_to_its_tour_and_its_exercise(name: str, tour: str | None, exercise: str | None) -> None:
    term = next(term for term in load_glossary() if term.name == name)
    assert tour is None or tour in {each.tour for each in term.tours}
    assert exercise is None or exercise in {each.exercise for each in term.exercises}
