"""Test that the launches in the tests of a script are found, where it makes no launch by itself."""

import sys

import pytest

from explorer.model.hardware import find_target
from explorer.pipeline.module import load

HOPPER = find_target("cuda:90")
HEAD = """\
import pytest, torch, triton, unittest
import triton.language as tl

@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), n)

def launch(block, dtype=torch.float32, device="cuda"):
    kernel[(1,)](torch.empty(block, dtype=dtype, device=device), 16, BLOCK=block)

"""


def loaded(tail, target=HOPPER, arguments=""):
    return load(HEAD + tail, target, arguments=arguments)


def blocks(found):
    return [launch.recorded.constexprs[(2,)] for launch in found.launches]


def messages(found, severity="note"):
    return [diagnostic.message for diagnostic in found.diagnostics if diagnostic.severity == severity]


PARAMETRIZED = """\
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
@pytest.mark.parametrize("block, name", [(64, "a"), pytest.param(128, "b", id="second")])
def test_store(block, name, dtype):
    launch(block, dtype)

@pytest.mark.slow
@pytest.mark.parametrize(("block",), [(512,)])
def test_other(block):
    launch(block)
"""


def test_tests_are_called_with_their_first_parameters_before_the_others():
    found = loaded(PARAMETRIZED)
    types = [launch.info.arguments[0].type for launch in found.launches]
    assert blocks(found) == [64, 512, 64, 128, 128]
    assert types == ["*fp16", "*fp32", "*fp32", "*fp16", "*fp32"]
    (note,) = messages(found)
    assert (
        "Its tests were called: test_store(dtype=torch.float16, block=64, name='a'), test_other(block=512)"
        in note
    )


def test_a_script_that_launches_by_itself_keeps_its_launches_only():
    found = loaded(PARAMETRIZED + "launch(32)\n")
    assert blocks(found) == [32]
    assert found.diagnostics == []


def test_an_error_in_one_test_does_not_prevent_the_others():
    found = loaded(
        "def test_a():\n    1 / 0\ndef test_b():\n    launch(64)\ndef test_c(absent):\n    launch(32)\n"
    )
    assert blocks(found) == [64]
    (warning,) = [diagnostic for diagnostic in found.diagnostics if diagnostic.severity == "warning"]
    assert (warning.message, warning.line) == ("test_a(): ZeroDivisionError: division by zero", 12)
    assert "test_c is not called: the script does not define its fixture absent." in messages(found)
    assert messages(found, "error") == []


def test_wrong_parameters_are_reported_and_the_kernels_are_listed():
    found = loaded('@pytest.mark.parametrize("n", 5)\ndef test_a(n):\n    launch(64)\n')
    assert messages(found, "warning") == [
        "The tests cannot be called: TypeError: 'int' object is not iterable"
    ]
    assert [kernel.info.name for kernel in found.kernels] == ["kernel"]


FIXTURES = """\
@pytest.fixture(params=[128, 256])
def block(request, scale):
    yield request.param * scale
    print("ended")

@pytest.fixture
def scale():
    return 2

@pytest.fixture(autouse=True, name="started")
def start():
    print("started")

def test_all(block, device, tmp_path, monkeypatch, capsys, request):
    monkeypatch.setenv("A", "1")
    (tmp_path / "file").write_text("x")
    launch(block, device=device)

class TestStore:
    @pytest.fixture
    def width(self):
        return 32

    def setup_method(self):
        self.size = 2

    @pytest.mark.parametrize("scale", [4], indirect=False)
    def test_width(self, width, scale):
        launch(width * scale * self.size)
"""


def test_fixtures_are_made():
    found = loaded(FIXTURES)
    assert messages(found, "warning") == []
    assert sorted(blocks(found)) == [256]
    assert found.output.splitlines() == ["started", "ended", "started"]


def test_methods_of_unittest_are_called():
    found = loaded(
        "class Store(unittest.TestCase):\n"
        "    def setUp(self):\n        self.block = 64\n"
        "    def test_store(self):\n        launch(self.block)\n        self.assertEqual(1, 1)\n"
        "    @unittest.skip('never')\n    def test_skipped(self):\n        launch(32)\n"
        "    def test_skips(self):\n        self.skipTest('no')\n        launch(128)\n"
        "if __name__ == '__main__':\n    unittest.main()\n"
    )
    assert blocks(found) == [64]
    (note,) = messages(found)
    assert note.endswith("Its tests were called: Store.test_store().")


@pytest.mark.parametrize(
    "skip",
    [
        "@pytest.mark.skip(reason='no')\ndef test_a():\n    launch(64)\n",
        "@pytest.mark.skipif(torch.cuda.get_device_capability()[0] < 10, reason='Blackwell')\n"
        "def test_a():\n    launch(64)\n",
        "def test_a():\n    if torch.cuda.get_device_name() != 'B200':\n        pytest.skip('B200')\n"
        "    launch(64)\n",
        "@pytest.mark.parametrize('n', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_a(n):\n"
        "    launch(64)\n",
    ],
)
def test_a_skipped_test_makes_no_launch(skip):
    found = loaded(skip)
    assert found.launches == []
    assert found.diagnostics == []


def test_an_expected_error_does_not_end_a_test():
    found = loaded("def test_a():\n    with pytest.raises(ValueError):\n        int('x')\n    launch(64)\n")
    assert blocks(found) == [64]


def test_pytest_of_this_process_is_not_replaced():
    loaded(PARAMETRIZED)
    assert sys.modules["pytest"] is pytest


def test_the_arguments_choose_among_all_parameter_sets():
    test = """
@pytest.mark.parametrize("block", [2**power for power in range(12)])
def test_store(block):
    launch(block)

def test_other():
    launch(32)
"""
    assert blocks(loaded(test)) == [1, 32, 2, 4, 8]
    found = loaded(test, arguments='-k "test_store and block=1024"')
    assert blocks(found) == [1024]
    (note,) = messages(found)
    assert "test_store(block=1024)" in note
    found = loaded(test, arguments="-k test_other")
    assert blocks(found) == [32]
    found = loaded(test, arguments="-k block=7")
    assert not found.launches
    assert messages(found, "warning") == ["No test has block=7 in its name and parameters."]
