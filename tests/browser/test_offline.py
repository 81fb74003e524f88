"""Test the saved page, opened from a disk by a browser without a network."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from actions import (
    COLOR_RULES,
    SIZE_RULES,
    Visitor,
    eventually,
    expect_fits,
    lit_rows,
    run_command,
    show_sass,
    unfold_launch,
    violations,
    wait_for_result,
)
from playwright.sync_api import Locator, Page, expect
from sources import SCALE

from explorer.views.panes import PANES

ROOT = Path(__file__).parents[2]
Saved = Callable[..., Path]


def answer(url: str, body: object = None) -> bytes:
    """Return the server's response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return bytes(response.read())


@pytest.fixture(scope="module")
def saved(server: str, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    """Compiles a source and saves the result as one file."""
    folder = tmp_path_factory.mktemp("saved")

    def save(source: str, **fields: object) -> Path:
        body = {"source": source, "target": "cuda:90", **fields}
        ticket = json.loads(answer(f"{server}/api/v1/compilations", body))
        answer(server + ticket["events"])
        file = folder / f"{ticket['id']}.html"
        file.write_bytes(answer(f"{server}{ticket['api']}/export.html"))
        return file

    return save


@pytest.fixture(scope="module")
def scale_file(saved: Saved) -> Path:
    return saved(SCALE)


@pytest.fixture(scope="module")
def matmul_file(saved: Saved) -> Path:
    """Compile with the Triton version of the profile, so that the samples match the instructions."""
    return saved((ROOT / "explorer/examples/matmul.py").read_text(), triton="3.6.0")


@pytest.fixture
def offline(visitor: Visitor) -> Iterator[Callable[..., Page]]:
    """Open a file in a browser without a network. Any request except for the file fails the test."""
    requests: list[str] = []

    def open_file(file: Path, fragment: str = "", **options: object) -> Page:
        page = visitor(offline=True, **options)
        page.on("request", lambda request: requests.append(request.url.split(":")[0]))
        page.goto(file.as_uri() + fragment)
        wait_for_result(page)
        return page

    yield open_file
    assert set(requests) <= {"file", "blob"}


def test_every_stage_and_pane_is_in_the_file(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file)
    expect(page.locator("#subject b")).to_have_text("scale")
    expect(page.locator("pipeline-path .node")).to_have_count(6)
    for node in page.locator("pipeline-path .node").all():
        node.click()
        title = node.locator(".node-title").inner_text()
        expect(page.get_by_role("group", name=f"{title}, ").locator(".code span").first).to_be_visible()
    for arrow in page.locator("pipeline-path .arrow button").all():
        arrow.click()
        expect(page.locator("pane-passes .diff-row").first).to_be_visible()
    page.get_by_role("button", name="Show equal lines").click()
    expect(page.locator("pane-passes .text-row .number:visible").first).to_be_visible()
    for pane in (pane for pane in PANES if not pane.per_stage):
        run_command(page, f"Show {pane.title}")
        expect(page.locator(f"pane-{pane.name.replace('_', '-')}").first).to_be_visible()
        expect(page.get_by_text("being computed").filter(visible=True)).to_have_count(0)
        expect(page.get_by_text("not in the file").filter(visible=True)).to_have_count(0)
    unfold_launch(page)
    expect(page.get_by_role("table", name="Arguments")).to_contain_text("16-byte aligned")


def have_equal_texts(one: Locator, other: Locator) -> bool:
    """Whether the elements that are there now have the same texts."""
    return one.all_inner_texts() == other.all_inner_texts()


def test_the_file_shows_what_the_server_shows(
    scale_file: Path, offline: Callable[..., Page], visitor: Visitor
) -> None:
    view = "#panes=stage:ttgir@50+stage:sass@50&pin=10"
    file = offline(scale_file, view)
    server = visitor()
    server.goto(f"/k/{scale_file.stem}{view}")
    wait_for_result(server)
    # A file has no such line above its panes.
    server.get_by_role("button", name="Dismiss").click()
    for title in ("TTGIR", "SASS"):
        for page in (file, server):
            expect(page.get_by_role("group", name=f"{title}, ").locator(".is-pinned").first).to_be_visible()
            expect(page.get_by_role("group", name=f"{title}, ").locator(".code span").first).to_be_visible()
        saved, shown = (
            each.get_by_role("group", name=f"{title}, ").locator(".code") for each in (file, server)
        )
        eventually(partial(have_equal_texts, saved, shown), True)


@pytest.mark.nightly
def test_lines_are_linked_searched_and_followed(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file)
    page.locator(".cm-line", has_text="x = tl.load").hover()
    ttgir = page.get_by_role("group", name="TTGIR, ")
    eventually(lambda: sum("tt.load" in row for row in lit_rows(ttgir)), 1)
    ttgir.locator(".text-row", has_text="tt.load").click()
    expect(page).to_have_url(re.compile(r"^file:.*#.*pin=9"))
    show_sass(page)
    page.get_by_role("group", name="SASS, ").focus()
    page.keyboard.press("/")
    page.keyboard.type("exit")
    expect(page.locator(".text-row.is-current-hit")).to_contain_text("EXIT")
    page.keyboard.press("Alt+3")
    page.reload()
    expect(page.locator(".cm-line.is-pinned")).to_have_text(re.compile("tl.load"))


@pytest.mark.nightly
def test_scoreboards_are_in_the_file(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file, "#panes=stage:sass;show=control")
    pane = page.locator("pane-stage.hue-sass.has-scoreboards")
    wait = pane.locator(".code", has_text=re.compile(r"^B\S*\d\S*:R")).first
    wait.click()
    expect(pane.locator(".scoreboard-line.is-wait").first).to_be_attached()
    page.keyboard.press("i")
    expect(pane.locator(".location-card .control-code")).to_contain_text("Waits for scoreboard")


def test_back_goes_through_the_views(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file)
    before = page.url
    page.keyboard.press("Alt+4")
    expect(page.get_by_role("group", name="LLVM IR, ")).to_contain_text("define")
    expect(page).not_to_have_url(before)
    page.go_back()
    expect(page).to_have_url(before)
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("tt.func")


def test_nothing_can_be_compiled_and_the_page_says_so(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file)
    expect(page.locator(".bar")).to_contain_text("read only")
    expect(page.get_by_role("button", name="Compile")).to_have_count(0)
    page.locator(".cm-line").first.click()
    page.keyboard.type("broken")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".cm-content")).not_to_contain_text("broken")
    expect(page.locator("launch-panel select").first).to_be_attached()
    unfold_launch(page)
    for control in page.locator("#launch-body :is(select, input, button)").all():
        expect(control).to_be_disabled()
    page.keyboard.press("Control+k")
    expect(page.locator(".palette-option").first).to_be_visible()
    titles = page.locator(".palette-option span:first-child").all_inner_texts()
    assert not {"Compile now", "Open the gallery", "Copy the link to this view"} & set(titles)


@pytest.mark.nightly
def test_nothing_can_be_run_and_the_panes_say_so(saved: Saved, offline: Callable[..., Page]) -> None:
    page = offline(saved(SCALE + "# never run\n"), "#panes=run@50+roofline@50")
    pane = page.locator("pane-run")
    expect(pane).to_contain_text("A saved page cannot run kernels. Open the result on its server")
    expect(pane).to_contain_text("This kernel was not run before it was saved.")
    expect(pane.get_by_role("button")).to_have_count(0)
    roofline = page.locator("pane-roofline")
    expect(roofline).to_contain_text("This kernel has no runs and no profiles.")
    expect(roofline).to_contain_text("A saved page cannot run kernels.")
    expect(roofline.get_by_role("button")).to_have_count(0)


@pytest.mark.nightly
def test_the_runs_of_a_kernel_are_in_its_file(
    saved: Saved, server: str, offline: Callable[..., Page]
) -> None:
    # Other tests look at the runs of `SCALE` as it is: this is a separate compilation.
    options = {"num_warps": 8}
    compilation = saved(SCALE, options=options).stem
    run = {
        "device": "interpreter",
        "measures": ["check", "counts"],
        "reference": "x * factor",
        "inputs": [
            {"name": "x_ptr", "type": "*fp32", "shape": ["4096"]},
            {"name": "y_ptr", "type": "*fp32", "shape": ["4096"]},
            {"name": "n", "type": "i32", "value": "4096"},
            {"name": "factor", "type": "fp32", "value": "2.0"},
            {"name": "BLOCK", "type": "constexpr", "value": "1024"},
        ],
        "grid": ["4"],
    }
    ticket = json.loads(answer(f"{server}/api/v1/runs", {"compilation": compilation, "run": run}))
    answer(server + ticket["events"])
    page = offline(saved(SCALE, options=options), f"#panes=run:{ticket['id']}@50+roofline@50")
    pane = page.locator("pane-run")
    expect(pane.locator(".run-verdict")).to_have_text("It matches the reference.")
    expect(pane.locator(".run-totals")).to_contain_text("16,384 bytes")
    expect(pane).to_contain_text("A saved page cannot run kernels. Open the result on its server")
    for name in ("Run", "Cancel", "Measure", "Run as ticked"):
        expect(pane.get_by_role("button", name=name, exact=True)).to_have_count(0)
    roofline = page.locator("pane-roofline")
    expect(roofline).to_contain_text("interpreted: counted, not timed")
    expect(roofline.locator("plot-figure .main-svg").first).to_be_visible()

    pane.get_by_role("button", name="NVIDIA H200").click()
    sweep = pane.locator(".run-sweep")
    expect(sweep.locator("plot-figure .scatterlayer .trace")).to_have_count(2)
    with page.expect_download() as download:
        sweep.get_by_role("link", name="CSV").click()
    recorded = f"{server}/api/v1/runs/recorded-scale-0"
    assert download.value.path().read_bytes() == answer(f"{recorded}/sweep.csv")
    with page.expect_download() as download:
        pane.get_by_role("link", name="trace.json").click()
    assert download.value.path().read_bytes() == answer(f"{recorded}/files/trace.json")
    expect(roofline.locator(".roofline-run-origin")).to_contain_text("recorded on NVIDIA H200")


@pytest.mark.nightly
def test_a_kernel_of_the_gallery_has_its_recordings_in_the_file(
    matmul_file: Path, offline: Callable[..., Page]
) -> None:
    page = offline(matmul_file, "#panes=stage:sass@30+run@35+roofline@35")
    tuned = page.locator("pane-run .run-autotuning")
    expect(tuned.locator("plot-figure .barlayer .point").first).to_be_visible()
    expect(tuned.get_by_role("button", name=re.compile("^(SVG|PNG)$"))).to_have_count(2)
    expect(page.locator("pane-run .run-sweep .scatterlayer .trace").first).to_be_visible()
    roofline = page.locator("pane-roofline")
    expect(roofline.locator(".roofline-verdict b")).to_have_text(re.compile(r"\d %$"))
    expect(roofline.locator("plot-figure .scatterlayer .trace").first).to_be_visible()
    expect(page.locator("#editor .cm-heat .heat").first).to_be_visible()
    expect(page.locator("pane-stage.has-heat")).to_be_visible()
    roofline.get_by_role("tab", name="Hot lines").click()
    expect(
        roofline.get_by_role("table", name="Hottest source lines").locator("tbody tr").first
    ).to_be_visible()


@pytest.mark.nightly
def test_texts_are_saved_from_the_file(scale_file: Path, offline: Callable[..., Page], server: str) -> None:
    page = offline(scale_file)
    page.get_by_role("button", name="Texts").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="TTGIR").click()
    assert download.value.suggested_filename == "scale.ttgir"
    raw = answer(f"{server}/api/v1/compilations/{scale_file.stem}/stages/ttgir?raw=1")
    assert download.value.path().read_bytes() == raw


@pytest.mark.nightly
def test_the_file_is_accessible_and_fits(scale_file: Path, offline: Callable[..., Page]) -> None:
    page = offline(scale_file, width=1280, height=720)
    for theme in ("light", "dark", "high contrast"):
        run_command(page, f"theme: {theme}")
        expect(page.locator("html")).to_have_attribute("data-theme", theme.removeprefix("high "))
        assert violations(page, rules=COLOR_RULES if theme != "light" else ()) == [], theme
        for width in (375, 1280):
            page.set_viewport_size({"width": width, "height": 720})
            expect_fits(page.locator("html"))
    page.set_viewport_size({"width": 375, "height": 720})
    assert violations(page, rules=SIZE_RULES) == []


@pytest.mark.nightly
def test_hostile_text_stays_text(saved: Saved, offline: Callable[..., Page]) -> None:
    attacks = [
        "</script><script>document.title='owned'</script>",
        "<!--<script>",
        "]]><img src=x onerror=document.title='owned'>",
        "\u2028document.title='owned'\u2029",
        "\u202etxt.exe\u202c",
        "\x1b[31mred",
    ]
    prints = "\n".join(f"print({attack!a})" for attack in attacks)
    comments = "\n".join(f"# {attack}" for attack in attacks if "\x1b" not in attack)
    long_line = "# </script>" + "x" * 900_000
    source = f"{SCALE}\nprint('\\ud800 alone')\n{prints}\n{comments}\n{long_line}\n"
    file = saved(source)
    page = offline(file, "#panes=log@50+stage:ttgir@50")
    expect(page.locator("pane-log")).to_contain_text(attacks[0])
    expect(page.locator("pane-log")).to_contain_text("alone")
    expect(page.get_by_role("group", name="TTGIR, ")).to_contain_text("@scale(")
    assert page.title().startswith("scale")
    # The editor puts empty images of its own beside the signs it has for characters that cannot be seen.
    assert page.locator(":is(pane-log, .cm-content) :is(script, img:not(.cm-widgetBuffer))").count() == 0
    # Its elements are the elements of the page, and one for each answer.
    text = file.read_text(encoding="utf-8")
    assert page.locator("script").count() == len(re.findall(r"<script[ >]", text))
    assert attacks[0] not in text


def test_the_file_is_of_a_reasonable_size(matmul_file: Path) -> None:
    assert matmul_file.stat().st_size < 4_000_000


@pytest.mark.nightly
def test_graphs_are_laid_out_in_the_file(scale_file: Path, offline: Callable[..., Page], server: str) -> None:
    page = offline(scale_file, "#panes=graph:ttgir@50+stage:ttgir@50")
    pane = page.locator("pane-graph")
    nodes = pane.locator(".graph-svg .node")
    expect(nodes.first).to_be_attached(timeout=60_000)
    graph = json.loads(
        answer(f"{server}/api/v1/compilations/{scale_file.stem}/graph?stage=ttgir&constants=0&addresses=0")
    )
    expect(nodes).to_have_count(len(graph["nodes"]))
    nodes.filter(has_text=re.compile(r"^\s*tt\.store")).first.click()
    expect(page.locator("pane-stage .is-cursor")).to_contain_text("tt.store")
    folded = nodes.count()
    pane.get_by_label("addresses").check()
    expect(nodes).not_to_have_count(folded)
    without = nodes.count()
    pane.get_by_label("constants").check()
    expect(nodes).not_to_have_count(without)
    expect(nodes.filter(has_text="arith.constant")).not_to_have_count(0)
    for stage in ("TTIR", "LLVM IR", "PTX", "SASS"):
        pane.get_by_label("Stage that is drawn").select_option(label=stage)
        expect(pane.locator(".graph-frame")).to_have_accessible_name(re.compile(f"^Graph of {stage}: "))
        expect(nodes.first).to_be_attached(timeout=60_000)
    with page.expect_download() as download:
        pane.get_by_role("button", name="Save as SVG").click()
    assert Path(download.value.path()).read_text().startswith("<?xml")


@pytest.mark.nightly
def test_a_loop_alone_is_drawn_in_the_file_and_what_is_not_in_it_says_so(
    matmul_file: Path, offline: Callable[..., Page]
) -> None:
    page = offline(matmul_file, "#panes=graph:ttgir")
    pane = page.locator("pane-graph")
    nodes = pane.locator(".graph-svg .node")
    expect(nodes.first).to_be_attached(timeout=60_000)
    whole = nodes.count()
    pane.get_by_label("Part that is drawn").select_option(label="\u2003scf.for")
    expect(pane.locator(".facts")).to_contain_text("1 loop")
    expect(pane.locator(".edge.carried").first).to_be_attached(timeout=60_000)
    assert 5 < nodes.count() < whole
    pane.get_by_label("constants").check()
    expect(page).to_have_url(re.compile(r"graph:ttgir\.c\d\.constants"))
    expect(pane.locator(".edge.carried").first).to_be_attached(timeout=60_000)

    page = offline(matmul_file, "#panes=graph:ttgir;pass=17")
    pane = page.locator("pane-graph")
    expect(pane).to_contain_text("This is not in the file. Open the result on its server to see it.")
    pane.get_by_role("button", name="Graph of the stage").click()
    expect(pane.locator(".graph-svg .node").first).to_be_attached(timeout=60_000)
