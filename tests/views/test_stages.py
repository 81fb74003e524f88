import pytest


@pytest.mark.parametrize(
    ("stage", "part"),
    [
        ("ast", "FunctionDef"),
        ("ttir", "tt.load"),
        ("ttgir", "#blocked"),
        ("llir", "define"),
        ("ptx", ".visible .entry"),
        ("sass", "EXIT"),
    ],
)
def test_every_stage_is_plain_text_for_ever(client, ticket, stage, part):
    response = client.get(f"{ticket['api']}/stages/{stage}")
    assert part in response.get_data(as_text=True)
    assert response.mimetype == "text/plain"
    assert response.cache_control.immutable
    again = client.get(f"{ticket['api']}/stages/{stage}", headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


def test_the_raw_text_is_what_the_tool_printed(client, ticket):
    shown = client.get(f"{ticket['api']}/stages/ttgir").get_data(as_text=True)
    raw = client.get(f"{ticket['api']}/stages/ttgir?raw=1").get_data(as_text=True)
    assert "loc(" not in shown
    assert "loc(" in raw


def test_lines_are_the_text_in_colours(client, ticket):
    text = client.get(f"{ticket['api']}/stages/ttgir").get_data(as_text=True)
    document = client.get(f"{ticket['api']}/stages/ttgir/lines").get_json()
    joined = ["".join(part for _, part in line["tokens"]) for line in document["lines"]]
    assert joined == text.rstrip("\n").split("\n")
    assert [line["n"] for line in document["lines"]] == list(range(1, document["total"] + 1))
    assert {css for line in document["lines"] for css, _ in line["tokens"]} - {""}


def test_a_range_of_lines_is_that_range(client, ticket):
    url = f"{ticket['api']}/stages/sass/lines"
    whole = client.get(url).get_json()
    part = client.get(f"{url}?from=3&to=7").get_json()
    assert (part["from"], part["to"], part["total"]) == (3, 7, whole["total"])
    assert part["lines"] == whole["lines"][2:7]
    beyond = client.get(f"{url}?from=1000000&to=1000001").get_json()
    assert beyond["lines"] == []


@pytest.mark.parametrize("query", ["from=0", "from=x", "from=-1", "from=5&to=4", "to=1e9", "from=²"])
def test_a_range_that_is_none_is_refused(client, ticket, query):
    response = client.get(f"{ticket['api']}/stages/ttir/lines?{query}")
    assert response.status_code == 400
    assert response.get_json()["kind"] == "invalid_request"


def test_locations_lead_to_the_source(client, ticket, vector_add):
    lines = client.get(f"{ticket['api']}/stages/ttgir/lines").get_json()["lines"]
    document = client.get(f"{ticket['api']}/stages/ttgir/locations").get_json()
    assert len(document["lines"]) == len(document["source_lines"]) == len(lines)
    source = vector_add.split("\n")
    stores = [
        source[number - 1].strip()
        for line, numbers in zip(lines, document["source_lines"], strict=True)
        if "tt.store" in "".join(text for _, text in line["tokens"])
        for number in numbers
    ]
    assert stores == ["tl.store(output_ptr + offsets, x + y, mask=mask)"]
    assert "" in document["files"]
    assert all(0 <= index < len(document["locations"]) for row in document["lines"] for index in row)
    assert all(frame[0] < len(document["files"]) for frames in document["locations"] for frame in frames)


def test_an_unknown_stage_is_answered_with_those_there_are(client, ticket):
    response = client.get(f"{ticket['api']}/stages/amdgcn")
    assert response.status_code == 404
    assert "ttgir" in response.get_json()["detail"]


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir", "ptx", "sass"])
def test_a_source_line_says_how_many_operations_it_became(client, ticket, vector_add, stage):
    document = client.get(f"{ticket['api']}/stages/{stage}/locations").get_json()
    counts = dict(document["source_line_operations"])
    source = vector_add.split("\n")
    store = next(number for number, line in enumerate(source, 1) if "tl.store(" in line)
    assert 0 < counts[store] < document["operations"] <= len(document["lines"])
    assert all(counts[line] <= sum(line in lines for lines in document["source_lines"]) for line in counts)


def test_lines_without_highlighting_are_those_of_the_text(client, ticket):
    address = f"{ticket['api']}/stages/ttgir"
    lines = client.get(address).get_data(as_text=True).splitlines()
    document = client.get(f"{address}/text?from=3&to=5").get_json()
    assert document == {"from": 3, "lines": lines[2:5], "total": len(lines)}
    assert client.get(f"{address}/text?from=100000").get_json()["lines"] == []


def test_a_search_finds_all_lines_in_upper_or_lower_case(client, ticket):
    address = f"{ticket['api']}/stages/ttgir"
    lines = client.get(address).get_data(as_text=True).splitlines()
    wanted = [{"line": n, "text": line} for n, line in enumerate(lines, 1) if "tt.load" in line]
    document = client.get(f"{address}/search?text=TT.LOAD").get_json()
    assert document == {"lines": wanted, "total": len(wanted)}
    assert client.get(f"{address}/search?text=tt.load&first=1").get_json()["lines"] == wanted[1:]
    assert client.get(f"{address}/search").status_code == 400
