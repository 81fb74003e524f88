"""Test that code is found in the forms in which people paste it, on its lines of the pasted text."""

import json

import pytest

from explorer.model import Diagnostic, Event, Request
from explorer.model.hardware import find_target
from explorer.pipeline.job import perform
from explorer.pipeline.module import load
from explorer.pipeline.pasted import find_code

HOPPER = find_target("cuda:90")

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def copy(x, y, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets))
"""
LAUNCH = """\
import torch
x = torch.empty(128, device="cuda")
copy[(1,)](x, x, BLOCK=128)
"""


def lines(text):
    return dict(enumerate(text.split("\n"), 1))


def in_place(pasted, change=lambda line: line):
    """Assert that each line of the found code is the line with the same number of the pasted text."""
    code = find_code(pasted)
    for number, line in lines(code.text).items():
        if line:
            assert line == change(lines(pasted)[number])
    return code


def notebook(*cells, **options):
    kinds = [{"cell_type": "markdown", "metadata": {}, "source": ["# A `fence`:\n", "```python"]}]
    kinds += [
        {"cell_type": "code", "execution_count": None, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": kinds, "nbformat": 4}, **options)


@pytest.mark.parametrize(
    "source",
    [
        KERNEL + LAUNCH,
        f'"""Use it so:\n\n```python\n{LAUNCH}```\n"""\n{KERNEL}',
        'text = """\n@@ -1 +1 @@\n+x\n%%time\n!pip install triton\n# file: a.py\n"""\n',
        "value = 7\nrest = (value\n    %value)\n",
        "# file: a.py\nvalue = 1\n# file: b.py\nother = 2\n",
        'module {\n  tt.func @copy() {\n    // file: "a.py"\n    %0 = tt.get_program_id x : i32\n  }\n}\n',
        "this is no code at all\n",
        "# file: a.py",
        "{'cells': [{}]}\n",
        "def broken(:\n    pass\n",
    ],
)
def test_a_text_without_a_form_stays_as_it_is(source):
    code = find_code(source)
    assert (code.text, code.script, code.files, code.notes) == (source, source, {}, ())


def test_the_fences_of_markdown_are_the_code():
    shell = "Install:\n```sh\npip install triton\n```\n"
    text = f"# Slow copy\n\n{shell}```python\n{KERNEL}```\nIt's:\n~~~py\n{LAUNCH}~~~\n"
    code = in_place(text)
    assert "pip" not in code.text
    assert KERNEL in code.script
    assert LAUNCH in code.script
    assert [note.message for note in code.notes] == [
        "The source is Markdown. Its code is in lines 8 to 15, 19 to 21."
    ]
    assert code.notes[0].line == 8


def test_fences_in_lists_and_quotations_lose_their_indentation():
    quoted = "".join(f"> {line}".rstrip() + "\n" for line in f"```python\n{KERNEL}```".split("\n"))
    listed = "".join(f"   {line}".rstrip() + "\n" for line in f"```\n{LAUNCH}```".split("\n"))
    text = f"They wrote:\n{quoted}\n1. Do\n{listed}"
    assert KERNEL in find_code(text).script
    code = in_place(f"1. Do it\n{listed}", lambda line: line[3:])
    assert LAUNCH in code.script
    assert code.indents[3] == 3


def test_a_fence_with_an_error_message_is_left_out_and_one_with_a_broken_kernel_is_not():
    traceback = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nKeyError: 1\n'
    text = f"Bug\n```python\n{KERNEL}```\n```python\n{traceback}```\n"
    assert "Traceback" not in find_code(text).text
    broken = KERNEL.replace("def copy(", "def copy(*, ")[:-3] + "\n"
    assert broken.strip() in find_code(f"Bug\n```python\n{broken}```\n").script


def test_a_notebook_is_a_script_whose_lines_are_those_of_the_json():
    magics = "%matplotlib inline\n!pip install triton\nif True:\n    %time\n"
    text = notebook("%%bash\nls -l\n", magics + KERNEL, "%%time\n" + LAUNCH, indent=1)
    code = find_code(text)
    for number, line in lines(code.script).items():
        if line.strip() not in ("", "pass"):
            assert json.dumps(line)[1:-1] in lines(text)[number]
    assert "\n    pass\n" in code.script
    assert "ls -l" not in code.text
    assert "pip" not in code.text
    assert code.notes[0].message.startswith("The source is a notebook. Its code is in lines")
    row = next(number for number, line in lines(code.text).items() if line.startswith("@triton"))
    assert lines(text)[row][code.indents[row] :].startswith("@triton")


def test_a_notebook_on_one_line_is_a_script():
    code = find_code(notebook(KERNEL, LAUNCH))
    assert [line for line in code.script.split("\n") if line] == [
        line for line in (KERNEL + LAUNCH).split("\n") if line
    ]


def test_a_notebook_without_code_is_an_error():
    (error,) = find_code(notebook(indent=1)).notes
    assert (error.severity, error.message) == ("error", "The source is a notebook without Python code.")


def test_a_file_that_a_notebook_writes_can_be_imported():
    code = find_code(
        notebook("%%writefile kernels.py\n" + KERNEL, "from kernels import copy\n" + LAUNCH, indent=1)
    )
    assert "def copy" in code.files["kernels.py"]
    assert "def copy" not in code.script


def test_magics_of_pasted_cells_are_left_out():
    text = f"%%time\n!pip install triton\n{KERNEL}\nfiles = !ls\n%timeit copy\n{LAUNCH}"
    code = in_place(text, lambda line: "pass" if line[:1] in "%!f" else line)
    assert KERNEL in code.script
    assert code.notes[0].message.startswith("The source is code with magics of Jupyter.")


DIFF = """\
From 1234 Mon Sep 17 00:00:00 2001
Subject: [PATCH] Double it

diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1,1 +1,2 @@
 # Title
+More
diff --git a/ops/kernels.py b/ops/kernels.py
index 1..2 100644
--- a/ops/kernels.py
+++ b/ops/kernels.py
@@ -1,7 +1,8 @@
 import triton
 import triton.language as tl
+
 @triton.jit
 def copy(x, y, BLOCK: tl.constexpr):
     offsets = tl.arange(0, BLOCK)
-    tl.store(y + offsets, tl.load(x + offsets))
--- a comment
+    tl.store(y + offsets, 2 * tl.load(x + offsets))
+
\\ No newline at end of file
"""


def test_the_new_lines_of_a_diff_are_the_code():
    code = in_place(DIFF, lambda line: line[1:])
    assert "2 * tl.load" in code.script
    assert "tl.store(y + offsets, tl.load" not in code.script
    assert "Title" not in code.script
    assert [note.message for note in code.notes] == [
        "The source is a diff. Its code is in lines 15 to 20, 23 to 24."
    ]
    assert code.indents[15] == 1


def test_a_diff_with_a_part_of_a_file_says_so():
    rest = "@@ -40,2 +40,4 @@ def other():\n     return 1\n+\n+def more():\n+    return 2\n"
    code = in_place(DIFF + rest, lambda line: line[1:])
    assert "def more" in code.script
    assert "return 1" not in code.script
    assert "The diff has only parts of ops/kernels.py." in [note.message for note in code.notes]


def test_a_diff_in_markdown_is_code():
    changed = KERNEL.replace("\n", "\n+").removesuffix("+")
    code = in_place(f"Do\n```diff\n+{changed}```\n", lambda line: line[1:])
    assert KERNEL in code.script


@pytest.mark.parametrize(
    "heading",
    ["==> {} <==", "--- {} ---", "# file: {}", "## `{}`", "**{}**", "{}:", "// {}", "File: {}"],
)
def test_files_under_headings_import_each_other(heading):
    user = f"from ops.kernels import copy\n{LAUNCH}"
    text = f"{heading.format('run.py')}\n{user}\n{heading.format('src/ops/kernels.py')}\n{KERNEL}"
    code = in_place(text)
    assert list(code.files) == ["ops/kernels.py"]
    assert "def copy" in code.files["ops/kernels.py"]
    assert "def copy" not in code.script
    assert code.path == "run.py"
    first, second = heading.format("run.py"), heading.format("ops/kernels.py")
    fenced = f"{first}\n```python\n{user}```\n{second}\n```python\n{KERNEL}```\n"
    assert list(find_code(fenced).files) == ["ops/kernels.py"]


def test_files_that_do_not_import_each_other_are_one_script():
    future = "from __future__ import annotations\n"
    code = in_place(f"==> a.py <==\n{future}{KERNEL}==> b.py <==\n{future}{LAUNCH}")
    assert not code.files
    assert code.script.count("from __future__") == 1
    compile(code.script, "a.py", "exec")


@pytest.mark.parametrize(
    "text",
    [
        f"My kernel:\n```python\n{KERNEL}{LAUNCH}```\n",
        notebook(KERNEL, "%%time\n" + LAUNCH, indent=1),
        f"==> run.py <==\nfrom ops import copy\n{LAUNCH}==> ops.py <==\n{KERNEL}",
        f"==> run.py <==\nimport ops\n{LAUNCH.replace('copy', 'ops.copy')}==> ops.py <==\n{KERNEL}",
        f"==> a/run.py <==\nfrom .ops import copy\n{LAUNCH}==> a/ops.py <==\n{KERNEL}",
    ],
)
def test_the_launches_of_a_pasted_text_are_found_on_its_lines(text):
    found = load(text, HOPPER)
    assert [each.severity for each in found.diagnostics] == ["note"]
    (launch,) = found.launches
    assert "copy[(1,)]" in lines(text)[launch.info.line]
    assert "def copy" in lines(text)[launch.kernel.info.line]


def test_the_kernels_of_a_module_that_is_only_imported_are_found():
    text = f"==> test.py <==\nimport ops\n==> ops.py <==\n{KERNEL}"
    assert [kernel.info.name for kernel in load(text, HOPPER).kernels] == ["copy"]


def test_an_error_in_a_pasted_text_is_at_its_line_and_column(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    text = notebook(KERNEL.replace("tl.load(x", "tl.lode(x"), LAUNCH, indent=1)
    events: list[Event] = []
    perform(Request(text, "cuda:90", ""), events.append)
    error = next(each for each in events if isinstance(each, Diagnostic) and each.severity == "error")
    assert lines(text)[error.line][error.column - 1 :].startswith("tl.lode")
