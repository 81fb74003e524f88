"""Test a script of several files: the tabs of the editor, and links to their lines."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from actions import Visitor, drop, set_source, unfold_launch, wait_for_result
from playwright.sync_api import Locator, Page, expect

FILES = {
    "add.py": """\
import torch, triton
import triton.language as tl
from sizes import BLOCK
from .helpers import doubled


@triton.jit
def add_doubled(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, doubled(tl.load(x_ptr + offsets)) + 1.0)


add_doubled[(1,)](torch.empty(512, device="cuda"), BLOCK=BLOCK)
""",
    "sizes.py": "BLOCK = 512\n",
    "helpers.py": "import triton\n\n\n@triton.jit\ndef doubled(x):\n    return x * 2\n",
    "notes.txt": "no source",
}

READS = """\
import torch, triton
import triton.language as tl


@triton.jit
def fill(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, offsets < n)


x = torch.empty(512, device="cuda")
n = x.new_empty(4, dtype=torch.int32).sum().item()
fill[(1,)](x, n, BLOCK=512)
"""

COMPILED = {
    "output_code.py": """\
import triton
import triton.language as tl
from torch._inductor.runtime import triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties

@triton_heuristics.pointwise(
    size_hints={'x': 4096},
    filename=__file__,
    triton_meta={'signature': {'out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'},
        'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9,
            regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, warp_size=32),
        'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'torch_nodes': [
            ('mul_2', 'aten.mul.Tensor', 'aten.gelu.default', 'f32[4096]', ('program.py', 3), False)],
        'grid_type': 'Grid1D', 'kernel_name': 'triton_poi_0', 'mutated_arg_names': []},
    min_elem_per_thread=0,
)
@triton.jit
def triton_poi_0(out_ptr0, xnumel, XBLOCK: tl.constexpr):
    index = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    tl.store(out_ptr0 + index, 2.0, index < xnumel)
""",
    "program.py": "import torch\n\ny = torch.nn.functional.gelu(torch.ones(4096))\n",
}


def drop_zip(page: Page, files: dict[str, str]) -> None:
    """Drop a zip archive on the editor."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    drop(page, {"project.zip": data.getvalue()})


def tabs(page: Page) -> Locator:
    return page.get_by_role("tablist", name="Files").get_by_role("tab")


def tab(page: Page, path: str) -> Locator:
    return tabs(page).and_(page.locator(f'[data-path="{path}"]'))


def opened(page: Page, files: dict[str, str] = FILES) -> str:
    """Open the page, drop files on it, and return the address of their result."""
    page.goto("/")
    wait_for_result(page)
    before = page.url
    drop(page, files)
    page.wait_for_url(lambda url: url != before)
    wait_for_result(page)
    return page.url


@pytest.mark.nightly
def test_dropped_files_are_tabs_that_come_back_with_the_link(visitor: Visitor) -> None:
    page = visitor()
    address = opened(page)
    expect(tabs(page)).to_have_text(["add.py script", "helpers.py", "sizes.py"])
    expect(tab(page, "add.py")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-content")).to_contain_text("add_doubled")

    tab(page, "helpers.py").click()
    expect(page.locator(".cm-content")).to_contain_text("return x * 2")
    expect(page).to_have_url(f"{address}#file=helpers.py")
    page.reload()
    wait_for_result(page)
    expect(tab(page, "helpers.py")).to_have_attribute("aria-selected", "true")

    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    expect(other.locator(".cm-content")).to_contain_text("return x * 2")
    tab(other, "sizes.py").click()
    expect(other.locator(".cm-content")).to_contain_text("BLOCK = 512")
    other.go_back()
    expect(other.locator(".cm-content")).to_contain_text("return x * 2")

    tab(other, "sizes.py").click()
    other.get_by_role("button", name="Make it the script").click()
    expect(tabs(other)).to_have_text(["add.py", "helpers.py", "sizes.py script"])


@pytest.mark.nightly
def test_each_file_is_edited_with_its_own_history(visitor: Visitor) -> None:
    page = visitor()
    before = opened(page)
    tab(page, "sizes.py").click()
    text = page.locator(".cm-content")
    expect(text).to_contain_text("BLOCK = 512")
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("BLOCK = 256")
    page.wait_for_url(lambda url: not url.startswith(before))
    wait_for_result(page)
    expect(page.get_by_role("region", name="Source and launch")).to_contain_text("256")

    tab(page, "add.py").click()
    expect(text).to_contain_text("add_doubled")
    text.click()
    page.keyboard.press("Control+z")
    expect(text).to_contain_text("add_doubled")
    tab(page, "sizes.py").click()
    expect(text).to_contain_text("BLOCK = 256")
    text.click()
    page.keyboard.press("Control+z")
    expect(text).not_to_contain_text("256")


@pytest.mark.nightly
def test_files_are_added_renamed_and_removed_by_keyboard(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    expect(tabs(page)).to_have_count(0)
    page.get_by_role("button", name="Files").click()
    page.get_by_role("dialog", name="Files of the script").get_by_role("button", name="Add a file").click()
    name = page.get_by_role("textbox", name="New path of module.py")
    expect(name).to_be_focused()
    name.fill("../up.py")
    name.press("Enter")
    expect(page.get_by_role("status").filter(has_text="Write a path")).to_be_visible()
    name.fill("kernels/sizes.py")
    name.press("Enter")
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("SIZE = 3")
    expect(page.locator(".cm-line")).to_have_text(["SIZE = 3"])
    expect(tabs(page)).to_have_text(["kernels/sizes.py", "script.py script"])
    page.wait_for_url(re.compile("#file=kernels/sizes.py"))

    tab(page, "kernels/sizes.py").focus()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "script.py")).to_be_focused()
    expect(page.locator(".cm-content")).not_to_contain_text("SIZE = 3")
    page.keyboard.press("F2")
    page.get_by_role("textbox", name="New path of script.py").fill("main.py")
    page.keyboard.press("Enter")
    expect(tabs(page)).to_have_text(["kernels/sizes.py", "main.py script"])
    page.keyboard.press("Alt+PageUp")
    expect(tab(page, "kernels/sizes.py")).to_have_attribute("aria-selected", "true")
    tab(page, "kernels/sizes.py").focus()
    page.keyboard.press("Delete")
    expect(tabs(page)).to_have_count(0)
    page.wait_for_url(lambda url: "file=" not in url)


def test_a_line_of_another_file_opens_its_tab(visitor: Visitor) -> None:
    page = visitor()
    opened(page)
    page.get_by_role("tab", name="TTIR", exact=True).click()
    ttir = page.get_by_role("group", name="TTIR, ")
    ttir.locator(".text-row", has_text="arith.mulf").locator(".number").click()
    expect(tab(page, "helpers.py")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-line.is-pinned")).to_have_text("    return x * 2")
    expect(page.locator(".source-line")).to_have_text("line 6 of helpers.py")


@pytest.mark.nightly
def test_a_graph_node_of_a_kernel_of_torch_compile_leads_to_its_line(visitor: Visitor) -> None:
    page = visitor()
    opened(page, COMPILED)
    unfold_launch(page)
    page.get_by_text("Graph nodes (1)").click()
    node = page.get_by_role("table", name="Graph nodes").get_by_role("row", name=re.compile("^mul_2 "))
    expect(node.get_by_role("cell")).to_have_text(
        ["line 3 of program.py", "aten.mul.Tensor", "aten.gelu.default", "f32[4096]"]
    )
    node.get_by_role("button").click()
    expect(tab(page, "program.py")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".source-line")).to_have_text("line 3 of program.py")


def test_an_error_in_another_file_leads_to_its_line(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    drop(page, FILES | {"helpers.py": FILES["helpers.py"].replace("x * 2", "x.nothing")})
    page.get_by_role("alert").get_by_role("button", name="line 6 of helpers.py").click()
    expect(tab(page, "helpers.py")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-lintRange-error")).to_contain_text("x.nothing")


@pytest.mark.nightly
def test_a_zip_archive_is_unpacked_and_a_hostile_one_refused(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    before = page.url
    message = page.locator("#toast")
    drop_zip(page, {"up/../../evil.py": "x"})
    expect(message).to_contain_text("outside of its folder")
    drop_zip(page, {"bomb.py": "#" * 50_000_000})
    expect(message).to_contain_text("more than 1,048,576 bytes")
    drop_zip(page, {f"{number}.py": "" for number in range(2100)})
    expect(message).to_contain_text("more than 2,001 Python files")
    assert page.url == before
    drop_zip(page, {f"project/{path}": text for path, text in FILES.items()})
    expect(tabs(page)).to_have_text(["add.py script", "helpers.py", "sizes.py"])
    page.wait_for_url(lambda url: url != before)
    wait_for_result(page)


@pytest.mark.nightly
def test_chosen_files_are_added_to_the_script(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Files").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open files or a zip").click()
    chooser.value.set_files({"name": "sizes.py", "mimeType": "text/x-python", "buffer": b"BLOCK = 8\n"})
    expect(tabs(page)).to_have_text(["script.py script", "sizes.py"])
    expect(page.locator(".cm-content")).to_contain_text("BLOCK = 8")


@pytest.mark.nightly
def test_an_assumed_number_is_changed_in_the_launch_panel(visitor: Visitor) -> None:
    page = visitor()
    page.goto("/")
    wait_for_result(page)
    set_source(page, READS)
    unfold_launch(page)
    number = page.get_by_role("textbox", name="Number assumed at line 12")
    expect(number).to_have_attribute("placeholder", "128")
    wait_for_result(page)
    before = page.url
    number.fill("4.5")
    expect(page.get_by_role("alert").filter(has_text="A whole number")).to_be_visible()
    number.fill("37")
    page.wait_for_url(lambda url: url != before)
    wait_for_result(page)
    arguments = page.locator("launch-panel .arguments")
    expect(arguments.get_by_role("row", name=re.compile("^n "))).to_contain_text("37")

    other = visitor()
    other.goto(page.url)
    wait_for_result(other)
    unfold_launch(other)
    again = other.get_by_role("textbox", name="Number assumed at line 12")
    expect(again).to_have_value("37")
    # The number stays with its line.
    other.locator(".cm-content").click()
    other.keyboard.press("Control+Home")
    other.keyboard.type("# one more line\n")
    expect(other.get_by_role("textbox", name="Number assumed at line 13")).to_have_value("37")
