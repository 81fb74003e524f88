"""Test that every operation and pass has an explanation."""

import re

import pytest

from explorer.examples import find_example
from explorer.explanations import explanations, vocabularies
from explorer.model import Event, Pass, Request
from explorer.model.hardware import TARGETS
from explorer.pipeline.job import perform


@pytest.mark.parametrize("vocabulary", vocabularies())
def test_an_explanation_is_a_sentence_or_two(vocabulary):
    for word, text in explanations(vocabulary).items():
        assert text[0].isupper(), word
        assert text.endswith("."), word
        assert 4 < len(text) < 400, word


@pytest.mark.slow
@pytest.mark.parametrize("target", [target.name for target in TARGETS])
@pytest.mark.parametrize("example", ["vector_add", "gluon_copy"])
def test_every_pass_has_an_explanation(target, example):
    """Which passes run is decided by the target and the language, not by the kernel."""
    events: list[Event] = []
    perform(Request(find_example(example).source, target, ""), events.append)
    names = {event.name for event in events if isinstance(event, Pass)}
    assert len(names) > 20
    assert names <= explanations("passes").keys(), "explain them in explorer/explanations/passes.toml"


def test_an_unknown_vocabulary_is_refused():
    with pytest.raises(KeyError):
        explanations("../settings")


#: The direction of every access to memory and the memories that its explanation must name, by the manuals:
#: NVIDIA's "PTX ISA" and "CUDA binary utilities", AMD's instruction set manuals, Triton's dialects (`*.td`).
ACCESSES = {
    "ptx": {
        "ld": "load",
        "ld.global": "load global",
        "ld.shared": "load shared",
        "ld.param": "load",
        "st": "store",
        "st.global": "store global",
        "st.shared": "store shared",
        "atom": "atomic",
        "red": "atomic",
        "ldmatrix": "load shared",
        "stmatrix": "store shared",
        "cp": "copy",
        "cp.async": "copy global shared",
        "cp.async.bulk": "copy",
        "cp.async.bulk.tensor": "copy global shared",
        "cp.reduce.async.bulk": "atomic",
        "tcgen05.ld": "load tensor",
        "tcgen05.st": "store tensor",
        "tcgen05.cp": "copy shared tensor",
        "tensormap.replace": "store",
        "tensormap.cp_fenceproxy": "copy global",
        "prefetch": "load",
    },
    "sass": {
        "ATOM": "atomic",
        "ATOMG": "atomic global",
        "ATOMS": "atomic shared",
        "LD": "load",
        "LDC": "load constant",
        "LDCU": "load constant",
        "LDG": "load global",
        "LDGSTS": "copy global shared",
        "LDL": "load local",
        "LDS": "load shared",
        "LDSM": "load shared",
        "LDTM": "load tensor",
        "RED": "atomic global",
        "REDG": "atomic global",
        "REDS": "atomic shared",
        "ST": "store",
        "STG": "store global",
        "STL": "store local",
        "STS": "store shared",
        "STSM": "store shared",
        "STTM": "store tensor",
        "UBLKCP": "copy global shared",
        "ULDC": "load constant",
        "UTCCP": "copy shared tensor",
        "UTMALDG": "copy global shared",
        "UTMAPF": "load global",
        "UTMAREDG": "atomic shared global",
        "UTMASTG": "copy shared global",
    },
    "amdgcn": {
        "buffer_load": "load global",
        "buffer_store": "store global",
        "buffer_atomic": "atomic global",
        "global_load": "load global",
        "global_store": "store global",
        "global_atomic": "atomic global",
        "scratch_load": "load private",
        "scratch_store": "store private",
        "ds_read": "load shared",
        "ds_load": "load shared",
        "ds_write": "store shared",
        "ds_store": "store shared",
        "ds_read2st64": "load shared",
        "ds_write2st64": "store shared",
        "s_load": "load",
        "s_buffer_load": "load",
    },
    "mlir": {
        "tt.load": "load global",
        "tt.store": "store global",
        "tt.atomic_rmw": "atomic",
        "tt.atomic_cas": "atomic",
        "tt.descriptor_load": "load",
        "tt.descriptor_gather": "load",
        "tt.descriptor_store": "store",
        "tt.descriptor_scatter": "store",
        "tt.descriptor_reduce": "atomic global",
        "ttg.local_load": "load shared",
        "ttg.local_store": "store shared",
        "ttg.async_copy_global_to_local": "copy global shared",
        "ttng.async_tma_copy_global_to_local": "copy global shared",
        "ttng.async_tma_copy_local_to_global": "copy shared global",
        "ttng.async_tma_gather": "copy global shared",
        "ttng.async_tma_scatter": "copy shared global",
        "ttng.async_tma_reduce": "atomic shared global",
        "ttng.tensormap_create": "store",
        "ttng.tmem_load": "load tensor",
        "ttng.tmem_store": "store tensor",
        "amdg.buffer_load": "load",
        "amdg.buffer_store": "store",
        "amdg.buffer_load_to_local": "load shared",
    },
}
VERBS = {
    "load": r"\b(?:loads?|reads?|fetch(?:es)?)\b",
    "store": r"\b(?:stores?|writes?)\b",
    "copy": r"\bcop(?:y|ies)\b",
}
#: Names that state the direction of a memory access.
ACCESS_NAMES = re.compile(
    r"(?:ld|st|atom|red|cp)\b(?!\.async\.\w*wait|\.async\.\w*commit)|(?:ld|st)matrix"
    r"|tcgen05\.(?:ld|st|cp)|LD(?!GDEPBAR)|ST|ATOM|RED(?!UX)|UTMA(?!CCTL|CMDFLUSH)|UTCCP|UBLKCP|ULDC"
    r"|(?:buffer|global|scratch|ds|s|s_buffer)_(?:load|store|read|write|atomic)\w*"
    r"|\w+\.(?:\w+_)*(?:load|store|gather|scatter|atomic|copy)(?!_wait)(?:_\w+)?$"
)


def direction_of(text):
    """Return the direction that an explanation names first."""
    if "atomically" in text:
        return "atomic"
    found = [(match.start(), name) for name, verb in VERBS.items() if (match := re.search(verb, text, re.I))]
    return min(found)[1] if found else ""


@pytest.mark.parametrize("vocabulary", ACCESSES)
def test_an_access_is_explained_with_its_direction_and_its_memories(vocabulary):
    known = explanations(vocabulary)
    for word, access in ACCESSES[vocabulary].items():
        direction, *memories = access.split()
        assert direction_of(known[word]) == direction, (word, known[word])
        places = [known[word].find(memory) for memory in memories]
        assert -1 not in places, (word, known[word])
        assert direction != "copy" or places == sorted(places), (word, known[word])


@pytest.mark.parametrize("vocabulary", ACCESSES)
def test_no_access_is_missing_among_those_whose_direction_is_tested(vocabulary):
    others = {"tt.gather", "red.async", "ttng.async_tma_store_wait", "cp.async.bulk.commit_group"}
    others |= {"cp.async.commit_group", "cp.async.wait_group", "cp.async.bulk.wait_group"}
    accesses = {word for word in explanations(vocabulary) if ACCESS_NAMES.match(word)}
    assert accesses - others <= ACCESSES[vocabulary].keys()
    assert len(accesses) >= len(ACCESSES[vocabulary]) - 6
