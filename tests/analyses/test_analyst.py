"""How questions about compilations are answered: once, and then from the store."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from explorer.analyses import Analysis, Parameter
from explorer.errors import InvalidRequest, NotAnswerable


class Finder:
    """An analysis that counts how often it has to think."""

    def __init__(self, version=1):
        self.calls = 0
        self.analysis = Analysis(
            "thought",
            "Thinks.",
            version,
            dict[str, int],
            self.find,
            (Parameter("line", int, "Which."),),
            True,
        )

    def find(self, subject):
        self.calls += 1
        if subject.parameters.get("line") == "0":
            raise NotAnswerable("There is no line 0.")
        return {"calls": self.calls}


@pytest.fixture
def record(compile_example):
    return compile_example("vector_add")


def test_an_answer_is_found_once(analyst, record):
    finder = Finder()
    with ThreadPoolExecutor(4) as threads:
        ask = threads.map(lambda _: analyst.answer(finder.analysis, record, {"line": "7"}), range(8))
        answers = list(ask)
    assert answers == [b'{"calls":1}'] * 8


def test_other_parameters_are_another_question(analyst, record):
    finder = Finder()
    analyst.answer(finder.analysis, record, {"line": "1"})
    assert analyst.answer(finder.analysis, record, {"line": "2"}) == b'{"calls":2}'


def test_a_new_version_finds_out_anew(analyst, record):
    analyst.answer(Finder(version=100).analysis, record, {})
    newer = Finder(version=101)
    analyst.answer(newer.analysis, record, {})
    assert newer.calls == 1


def test_what_cannot_be_said_is_not_kept(analyst, record):
    finder = Finder()
    for _ in range(2):
        with pytest.raises(NotAnswerable):
            analyst.answer(finder.analysis, record, {"line": "0"})
    assert finder.calls == 2


def test_an_unknown_parameter_is_refused(analyst, record):
    with pytest.raises(InvalidRequest, match="no parameter 'lane'"):
        analyst.answer(Finder().analysis, record, {"lane": "7"})


def test_a_number_is_one_question_however_it_is_written(analyst, record):
    finder = Finder(version=200)
    for text in ("7", "07", "0000007"):
        analyst.answer(finder.analysis, record, {"line": text})
    assert finder.calls == 1


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "\u0663", "9" * 5000])
def test_what_is_no_number_is_refused(analyst, record, text):
    with pytest.raises(InvalidRequest, match="must be a whole number"):
        analyst.answer(Finder().analysis, record, {"line": text})
