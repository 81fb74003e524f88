"""Every word that readers meet has an explanation."""

import pytest

from explorer.examples import find_example
from explorer.explanations import explanations, vocabularies
from explorer.model import Pass, Request
from explorer.pipeline.job import perform
from explorer.pipeline.targets import TARGETS


@pytest.mark.parametrize("vocabulary", vocabularies())
def test_an_explanation_is_a_sentence_or_two(vocabulary):
    for word, text in explanations(vocabulary).items():
        assert text[0].isupper(), word
        assert text.endswith("."), word
        assert 4 < len(text) < 400, word


@pytest.mark.parametrize("target", [target.name for target in TARGETS])
@pytest.mark.parametrize("example", ["vector_add", "gluon_copy"])
def test_every_pass_has_an_explanation(target, example):
    """Which passes run is decided by the target and the language, not by the kernel."""
    events = []
    perform(Request(find_example(example).source, target, ""), events.append)
    names = {event.name for event in events if isinstance(event, Pass)}
    assert len(names) > 20
    assert names <= explanations("passes").keys(), "explain them in explorer/explanations/passes.toml"


def test_an_unknown_vocabulary_is_refused():
    with pytest.raises(KeyError):
        explanations("../settings")
