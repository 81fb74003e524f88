"""Test that the gallery's graphs are complete and that their loops are those the compiler names."""

import re

import pytest
from gallery_cases import every_case

from explorer.analysis.graphs import control_flow, data_flow
from explorer.analysis.graphs.control_flow import read_functions
from explorer.analysis.graphs.loops import find_loops

#: The form of an instruction, matched by line, in a different way than the readers do.
INSTRUCTION = {
    "llir": re.compile(r"^  [^\s\]]"),
    "ptx": re.compile(r"^\s+(?:@!?[%\w]+ )?[a-z][\w.:]*(?:\s.*)?;"),
    "sass": re.compile(r"/\*[0-9a-f]{4,}\*/"),
    "amdgcn": re.compile(r"^\t[a-z]"),
}
DEPTH = re.compile(r"=>\s*This (?:Inner )?Loop Header: Depth=(\d+)")


def bodies(text, language):
    """The lines of functions, by number."""
    lines = list(enumerate(text.split("\n"), 1))
    if language == "sass":
        return lines
    if language == "ptx":
        # Inline assembly has braces of its own; a kernel is the only function that the gallery's PTX has.
        first = next(number for number, line in lines if line.startswith("{"))
        last = max(number for number, line in lines if line.startswith("}"))
        return lines[first : last - 1]
    inside, found = False, []
    for number, line in lines:
        if line.startswith(("}", ".Lfunc_end")):
            inside = False
        if inside:
            found.append((number, line))
        if line.startswith("define ") or re.match(r"(\w+):\s+; @\1$", line):
            inside = True
    return found


def instruction_lines(text, language):
    return [number for number, line in bodies(text, language) if INSTRUCTION[language].search(line)]


@every_case
def test_every_instruction_is_in_exactly_one_block(gallery, example, target):
    for name, stage in gallery(example, target.name).stages.items():
        if name not in INSTRUCTION:
            continue
        graph = control_flow(stage.text, stage.language)
        expected = instruction_lines(stage.text, name)
        assert expected
        told = [
            instruction.line
            for function in read_functions(stage.text, stage.language)
            for block in function.blocks
            for instruction in block.instructions
        ]
        assert sorted(set(told)) == expected, name
        assert sum(node.operations for node in graph.nodes) == len(told)
        for line in expected:
            assert sum(node.first_line <= line <= node.last_line for node in graph.nodes) == 1, (name, line)


@every_case
def test_every_block_is_reached_but_what_fills_up_the_code(gallery, example, target):
    for name, stage in gallery(example, target.name).stages.items():
        if name not in INSTRUCTION:
            continue
        graph = control_flow(stage.text, stage.language)
        reached = {edge.head for edge in graph.edges if edge.head != edge.tail}
        functions = [cluster for cluster in graph.clusters if cluster.kind == "function"]
        entries = {
            min(
                (node for node in graph.nodes if node.first_line >= each.first_line),
                key=lambda n: n.first_line,
            ).id
            for each in functions
        }
        for node in graph.nodes:
            if node.id in reached | entries or name == "llir":
                continue
            # Behind the last instruction are a jump to itself and padding to a line of the cache.
            assert name == "sass", (name, node)
            assert all(re.match(r"NOP|BRA|⋯|.*:$", line) for line in node.label), node


@every_case
def test_loops_are_those_that_the_compiler_writes_into_its_comments(gallery, example, target):
    for name, stage in gallery(example, target.name).stages.items():
        if name not in ("ptx", "amdgcn"):
            continue
        lines = stage.text.split("\n")
        expected = {}
        for number, line in enumerate(lines):
            label = re.match(r"([.$\w]+):", line)
            # An inner loop's comment begins with the loops around it, and continues for several lines.
            comment = "\n".join([line, *lines[number + 1 : number + 4]]) if label else ""
            comment = re.split(r"\n(?=\s*[^\s/;])", comment)[0]
            if depth := DEPTH.search(comment):
                expected[label[1]] = int(depth[1])
        found: dict[str, int] = {}
        for function in read_functions(stage.text, stage.language):
            nest = find_loops(function.successors())
            for loop in nest.loops:
                labels = function.blocks[loop.header].labels
                # Inline assembly has loops of its own, of which the compiler knows nothing.
                if all("BB" in label for label in labels):
                    found |= dict.fromkeys(labels, loop.depth)
        assert found == expected, name


@every_case
def test_every_operation_is_exactly_one_node(gallery, example, target):
    for name, stage in gallery(example, target.name).stages.items():
        if name not in ("ttir", "ttgir", "glir"):
            continue
        graph = data_flow(stage.text)
        expected = [
            number
            for number, line in enumerate(stage.text.split("\n"), 1)
            if re.match(r'\s+(?:%[^=]+ = )?"?[a-z_]+\.[a-z_.0-9]+', line) and "tt.func" not in line
        ]
        told = [node.first_line for node in graph.nodes if node.kind == "operation"]
        assert told == expected, name


@every_case
def test_every_value_that_is_used_leads_to_its_user(gallery, example, target):
    """A name that is defined once in all the text can be looked up without regions."""
    for name, stage in gallery(example, target.name).stages.items():
        if name not in ("ttir", "ttgir"):
            continue
        graph = data_flow(stage.text)
        nodes = {node.first_line: node.id for node in graph.nodes if node.kind == "operation"}
        pairs = {(edge.tail, edge.head) for edge in graph.edges}
        lines = stage.text.split("\n")
        defined: dict[str, list[int]] = {}
        for number, line in enumerate(lines, 1):
            for value in re.findall(r"(%[\w$.-]+)(?::\d+)? = |(%[\w$.-]+): ", line):
                defined.setdefault("".join(value), []).append(number)
        checked = 0
        for number, line in enumerate(lines, 1):
            if number not in nodes or line.endswith("{"):
                continue
            for value in re.findall(r"%[\w$.-]+", line.split(" = ", 1)[-1]):
                makers = defined.get(value, [])
                if len(makers) != 1 or makers[0] not in nodes or lines[makers[0] - 1].endswith("{"):
                    continue
                assert (nodes[makers[0]], nodes[number]) in pairs, (name, number, value)
                checked += 1
        assert checked > 5


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_a_pipelined_loop_hands_its_values_to_the_next_turn(gallery, target):
    stage = gallery("matmul", target).stages["ttgir"]
    graph = data_flow(stage.text)
    header = next(line for line in stage.text.split("\n") if "scf.for" in line)
    (loop,) = [cluster for cluster in graph.clusters if cluster.kind == "loop"]
    arguments = re.findall(r"(%\w+) = %", header.split("iter_args")[1])
    carried = [edge for edge in graph.edges if edge.kind == "carried"]
    labels = {node.id: node.label[0] for node in graph.nodes if node.kind == "argument"}
    assert [labels[edge.head] for edge in carried] == arguments
    initial = {labels[edge.head] for edge in graph.edges if edge.kind == "initial"}
    assert initial == set(arguments)
    inside = [node for node in graph.nodes if node.cluster == loop.id]
    assert {node.loop_depth for node in inside} == {1}
    # Values that are used behind the loop come out of its last operation.
    end = next(node for node in inside if "scf.yield" in node.label[0])
    assert any(edge.tail == end.id and edge.kind == "value" for edge in graph.edges)
