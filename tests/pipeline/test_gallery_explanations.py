"""Every operation and every opcode of the gallery has an explanation."""

import re

from gallery_cases import every_case

from explorer.analysis.graphs.control_flow import read_functions
from explorer.explanations import explanations

VOCABULARIES = {
    "ttir": "mlir",
    "ttgir": "mlir",
    "glir": "mlir",
    "ptx": "ptx",
    "sass": "sass",
    "amdgcn": "amdgcn",
}
OPERATION = re.compile(r'^\s*(?:%[^=]+ = )?"?([a-z_]+\.[a-z_.0-9]+)', re.MULTILINE)
OPCODE = re.compile(r"(?:@!?[%\w]+\s+)?([A-Za-z][\w.:]*)")


def words_met(stage):
    if VOCABULARIES[stage.language] == "mlir":
        return set(OPERATION.findall(stage.text))
    functions = read_functions(stage.text, stage.language)
    instructions = (
        each for function in functions for block in function.blocks for each in block.instructions
    )
    return {OPCODE.match(each.text)[1] for each in instructions}


def explained(word, vocabulary):
    """Look up the longest prefix of an opcode that ends at a dot or an underscore, as the page does."""
    return any(re.match(rf"{re.escape(known)}(?![^._])", word) for known in explanations(vocabulary))


@every_case
def test_what_it_meets_is_explained(gallery, example, target):
    for stage in gallery(example, target.name).stages.values():
        if stage.language not in VOCABULARIES:
            continue
        vocabulary = VOCABULARIES[stage.language]
        met = words_met(stage)
        assert met
        missing = sorted(word for word in met if not explained(word, vocabulary))
        assert missing == [], f"explain them in explorer/explanations/{vocabulary}.toml"
