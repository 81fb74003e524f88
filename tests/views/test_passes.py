import pytest


@pytest.fixture
def index(client, ticket):
    """Return the index with the changed lines of each pass, which are counted on request."""
    assert client.get(f"{ticket['api']}/changes").status_code == 200
    return client.get(ticket["api"]).get_json()


@pytest.mark.both_forms
def test_a_diff_leads_from_one_pass_to_the_next(client, ticket, index):
    row = next(row for row in index["passes"] if row["index"] > 0 and row["lines_added"])
    diff = client.get(row["url"] + "/diff")
    assert diff.mimetype == "text/plain"
    lines = diff.get_data(as_text=True).split("\n")
    added = [line for line in lines if line.startswith("+") and not line.startswith("+++")]
    assert len(added) == row["lines_added"]
    text = client.get(row["url"]).get_data(as_text=True)
    assert all(line[1:] in text for line in added)


def test_a_pass_that_changed_nothing_has_an_empty_diff(client, index):
    row = next(row for row in index["passes"] if not row["changed"])
    before = client.get(index["passes"][row["index"] - 1]["url"]).data
    assert client.get(row["url"]).data == before
    assert client.get(row["url"] + "/diff").data == b""


def test_lines_of_a_pass_are_its_text(client, index):
    url = index["passes"][0]["url"]
    document = client.get(url + "/lines").get_json()
    joined = "\n".join("".join(part for _, part in line["tokens"]) for line in document["lines"])
    assert joined == client.get(url).get_data(as_text=True).rstrip("\n")


def test_an_unknown_pass_is_not_found(client, ticket):
    assert client.get(f"{ticket['api']}/passes/9999").status_code == 404
    assert client.get(f"{ticket['api']}/passes/x").status_code == 404


def test_an_alignment_has_the_lines_that_the_index_counts(client, index):
    row = next(row for row in index["passes"] if row["index"] > 0 and row["lines_added"])
    document = client.get(row["url"] + "/alignment").get_json()
    assert document["lines_added"] == row["lines_added"]
    changed = [run for run in document["runs"] if not run["same"]]
    assert sum(run["after_lines"] for run in changed) == row["lines_added"]


def test_llvm_passes_are_a_compilation_of_their_own(api, client, vector_add):
    ticket = api.compile(vector_add + "# watched\n")
    submitted = client.post(f"{ticket['api']}/llvm-passes")
    assert submitted.status_code == 202
    other = submitted.get_json()
    assert other["id"] != ticket["id"]
    api.events(other["events"])
    document = client.get(other["api"]).get_json()
    assert document["status"] == "complete"
    assert document["stages"] == []
    assert "SROAPass" in [row["name"] for row in document["passes"]]
    assert client.post(f"{ticket['api']}/llvm-passes").status_code == 200
