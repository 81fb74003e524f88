"""Test the page of a session: its table, its order, and the link of a row."""

import json
import re
import shutil
import urllib.request

import pytest
from actions import eventually, expect_fits, settled_box
from captured import ROOT, kernels_of
from playwright.sync_api import expect

from explorer.model import to_plain


def post(server, path, body):
    request = urllib.request.Request(
        server + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def session(server, captured):
    """The address of the session of the program in the documentation."""
    entries = []
    for number, kernel in enumerate(kernels_of(captured.folder)):
        body = {
            **to_plain(kernel.captured),
            "source": kernel.file.script,
            "target": kernel.file.target.name,
        }
        ticket = post(server, "/api/v1/captures", body)
        entries.append({"compilation": ticket["id"], "again": ticket["again"], "launches": 10 - number})
    return post(server, "/api/v1/sessions", {"title": "program.py", "kernels": entries})["url"]


@pytest.mark.nightly
def test_the_table_sorts_and_opens_the_stages_of_the_program(visitor, server, session):
    page = visitor()
    page.goto(server + session)
    table = page.get_by_role("table")
    expect(page.locator("#subject")).to_contain_text("program.py")
    expect(page.get_by_role("status").first).to_have_text(
        "2 kernels · 3 specializations · cuda:90 · Triton 3.9.0"
    )
    expect(table.get_by_role("link", name="code equal")).to_have_count(3)
    launches = table.locator("tbody td:nth-child(2)")
    expect(launches).to_have_text(["10", "9", "8"])
    table.get_by_role("button", name="launches").click()
    expect(launches).to_have_text(["8", "9", "10"])
    expect(table.get_by_role("columnheader", name="launches")).to_have_attribute("aria-sort", "ascending")
    table.get_by_role("button", name="launches").click()
    expect(launches).to_have_text(["10", "9", "8"])
    row = table.get_by_role("row").filter(has_text="sum_kernel")
    expect(row).to_contain_text("BLOCK=1024")
    row.get_by_role("link", name="sum_kernel").click()
    expect(page).to_have_url(re.compile(r"/k/\w+"))
    expect(page.get_by_text("sum_kernel").first).to_be_visible()


FAILURE = (
    "CompilationError: at 2:21:\ndef sum_kernel(x):\n    tl.arange(0, 100)\n    ^\narange's range <b>must</b>"
)


def test_hostile_names_and_failures_are_texts(visitor, server, captured):
    kernel = next(each for each in kernels_of(captured.folder) if each.file.kernel == "sum_kernel")
    name = "<img src=x onerror=alert(1)>" + "n" * 170
    body = {
        **to_plain(kernel.captured),
        "kernel": name,
        "source": "pass\n",
        "stages": {},
        "error": FAILURE,
        "again": False,
    }
    ticket = post(server, "/api/v1/captures", {**body, "target": "hip:gfx942"})
    entry = {"compilation": ticket["id"], "again": ticket["id"]}
    url = post(server, "/api/v1/sessions", {"title": "</title><b>\u202e", "kernels": [entry]})["url"]
    page = visitor(width=375, height=700)
    page.goto(server + url)
    row = page.get_by_role("row").last
    expect(row).to_contain_text("arange's range <b>must</b>")
    expect(row.get_by_role("link")).to_have_text(name)
    eventually(lambda: page.get_by_role("rowheader").bounding_box()["width"] > 190, True)
    expect(page.locator("#subject")).to_have_text("</title><b>\\u202e")
    assert page.locator("main img, h1 b b").count() == 0
    expect_fits(page.locator("html"))


def drop_folder(page, folder):
    """Drop a folder of the file system on the editor."""
    box = settled_box(page.locator(".editor .cm-scroller"))
    browser = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send(
            "Input.dispatchDragEvent",
            {
                "type": kind,
                "x": box["x"] + 250,
                "y": box["y"] + 100,
                "data": {"items": [], "files": [str(folder)], "dragOperationsMask": 1},
            },
        )


@pytest.mark.nightly
def test_a_capture_that_is_dropped_is_a_session(visitor, captured, tmp_path):
    page = visitor()
    page.goto("/")
    drop_folder(page, captured.folder)
    expect(page).to_have_url(re.compile(r"/s/\w+$"))
    expect(page.locator("#subject")).to_have_text("program.py")
    table = page.get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(4)
    expect(table.locator("tbody td:nth-child(2)")).to_have_text(["1", "1", "1"])
    expect(table.get_by_role("link", name="code equal")).to_have_count(3)
    # A blob that is torn: the other kernels are shown.
    shutil.copytree(captured.folder, tmp_path / "torn")
    kernel = json.loads(next((tmp_path / "torn/kernels").iterdir()).read_text())
    (tmp_path / "torn/blobs" / kernel["stages"]["ttir"]).write_bytes(b"torn")
    page.goto("/")
    drop_folder(page, tmp_path / "torn")
    expect(page).to_have_url(re.compile(r"/s/\w+$"))
    expect(table.get_by_role("row")).to_have_count(3)
    page.get_by_text("1 problem", exact=True).click()
    expect(page.get_by_role("listitem")).to_contain_text("does not have this digest")


@pytest.mark.nightly
def test_a_cache_and_a_log_of_torch_that_are_chosen_are_sessions(visitor, cache):
    page = visitor()
    page.goto("/")

    def choose(command, files):
        page.get_by_role("button", name="Files").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name=command).click()
        chooser.value.set_files(files)
        expect(page).to_have_url(re.compile(r"/s/\w+$"))
        return page.get_by_role("table").get_by_role("row")

    rows = choose("Open a folder", cache)
    expect(rows).to_have_count(4)
    expect(page.locator("#subject")).to_have_text(cache.name)
    page.goto("/")
    rows = choose("Open files or a zip", ROOT / "tests/capture/recorded/output_code.log")
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("triton_per_fused_div_exp_prepare_softmax_online_sub_0")
    expect(rows.last).to_contain_text("only here")
