"""Test the comparison of two compilations in the API."""

import re

import pytest

from explorer.queries.comparison import compare


@pytest.fixture(scope="module")
def other(app, vector_add):
    client = app.test_client()
    body = {"source": vector_add, "target": "cuda:90", "options": {"num_warps": 8}}
    ticket = client.post("/api/v1/compilations", json=body).get_json()
    client.get(ticket["events"]).get_data()
    return ticket


@pytest.fixture
def comparison(client, ticket, other):
    return client.get(f"{ticket['api']}/compare/{other['id']}").get_json()


def test_what_was_asked_differently_is_said(comparison):
    assert comparison["differences"] == [{"name": "num_warps", "before": 4, "after": 8}]
    assert comparison["source"]["lines_added"] == comparison["source"]["lines_removed"] == 0


def test_stages_are_aligned_and_counted(client, comparison):
    assert [stage["name"] for stage in comparison["stages"]] == [
        "ast",
        "ttir",
        "ttgir",
        "llir",
        "ptx",
        "sass",
    ]
    by_name = {stage["name"]: stage for stage in comparison["stages"]}
    assert by_name["ttir"]["lines_added"] == by_name["ttir"]["lines_removed"] == 0
    assert by_name["ttgir"]["lines_added"] > 0
    assert by_name["ttgir"]["before"]["passes"] >= by_name["ttgir"]["before"]["changed_passes"] > 0


def test_a_diff_covers_both_texts_in_order(client, ticket, other, comparison):
    for stage in comparison["stages"]:
        diff = client.get(stage["url"]).get_json()
        before = after = 1
        for run in diff["runs"]:
            assert (run["before_line"], run["after_line"]) == (before, after)
            assert not run["same"] or run["before_lines"] == run["after_lines"]
            before += run["before_lines"]
            after += run["after_lines"]
        assert (before - 1, after - 1) == (stage["before"]["lines"], stage["after"]["lines"])


def test_machine_code_that_only_moved_is_no_change(client, ticket, other, comparison):
    sass = next(stage for stage in comparison["stages"] if stage["name"] == "sass")
    assert sass["lines_removed"] < sass["before"]["lines"]


def test_resources_say_what_is_better(client, comparison):
    by_name = {row["name"]: row for row in comparison["resources"]}
    assert by_name["warps"] == {"name": "warps", "before": 4, "after": 8, "verdict": "different"}
    registers = by_name["registers"]
    expected = (
        "same"
        if registers["before"] == registers["after"]
        else ("better" if registers["after"] < registers["before"] else "worse")
    )
    assert registers["verdict"] == expected


def test_the_limit_of_the_occupancy_has_its_number_on_both_sides(client, comparison):
    by_name = {row["name"]: row for row in comparison["resources"]}
    for side in ("before", "after"):
        index = client.get(f"/api/v1/compilations/{comparison[side]['id']}").get_json()
        assert by_name["limited_by"][side] == index["resources"]["limited_by"]
        blocks = by_name["resident_blocks"][side]
        assert blocks == index["resources"]["occupancy"] * 64 / index["resources"]["warps"]


def test_passes_are_aligned_by_name(client, ticket, comparison):
    index = client.get(ticket["api"]).get_json()
    befores = [row["before"]["index"] for row in comparison["passes"] if row["before"]]
    assert befores == [row["index"] for row in index["passes"]]
    assert all(row["before"] or row["after"] for row in comparison["passes"])


def test_another_target_has_stages_of_its_own(client, api, ticket, vector_add):
    amd = api.compile(vector_add, target="hip:gfx942")
    comparison = client.get(f"{ticket['api']}/compare/{amd['id']}").get_json()
    by_name = {stage["name"]: stage for stage in comparison["stages"]}
    assert by_name["sass"]["after"] is None and by_name["amdgcn"]["before"] is None
    diff = client.get(by_name["amdgcn"]["url"]).get_json()
    assert diff["lines_added"] == by_name["amdgcn"]["after"]["lines"]
    # Registers of another vendor are another resource: fewer of them are not better.
    assert {each["name"] for each in comparison["resources"]} >= {"registers", "occupancy"}
    assert {each["verdict"] for each in comparison["resources"]} <= {"same", "different"}


def test_sources_are_compared_to_the_letter(client, api, ticket, vector_add):
    edited = api.compile(vector_add + "\n# the end\n")
    url = f"{ticket['api']}/compare/{edited['id']}"
    assert client.get(url).get_json()["source"]["lines_added"] == 2
    assert client.get(url + "/source").get_json()["runs"][0]["same"]


def test_what_does_not_exist_is_not_found(client, ticket):
    assert client.get(f"{ticket['api']}/compare/7Qm2xV9dKcAB").status_code == 404
    assert client.get(f"{ticket['api']}/compare/{ticket['id']}/stages/nothing").status_code == 404


def test_two_stages_of_one_compilation_are_compared(client, ticket):
    url = f"{ticket['api']}/compare/{ticket['id']}/stages/ttir?other=ttgir"
    stages = {row["name"]: row for row in client.get(ticket["api"]).get_json()["stages"]}
    runs = client.get(url).get_json()["runs"]
    assert sum(run["before_lines"] for run in runs) == stages["ttir"]["lines"]
    assert sum(run["after_lines"] for run in runs) == stages["ttgir"]["lines"]
    assert any(run["same"] for run in runs) and not all(run["same"] for run in runs)
    assert client.get(url.replace("ttgir", "nothing")).get_json()["lines_added"] == 0


def test_modules_after_passes_are_compared(client, ticket, other, comparison):
    pair = next(each for each in comparison["passes"] if each["stage"] == "ttgir")
    indices = pair["before"]["index"], pair["after"]["index"]
    url = f"{ticket['api']}/compare/{other['id']}/stages/pass-{indices[0]}?other=pass-{indices[1]}"
    diff = client.get(url).get_json()
    texts = [
        client.get(f"{each['api']}/passes/{index}").text
        for each, index in zip((ticket, other), indices, strict=True)
    ]
    lines = [sum(run[f"{side}_lines"] for run in diff["runs"]) for side in ("before", "after")]
    assert lines == [len(text.splitlines()) for text in texts]
    assert diff["operations_added"] == diff["operations_removed"] > 0
    missing = client.get(f"{ticket['api']}/compare/{other['id']}/stages/pass-9999")
    assert missing.status_code == 404


def test_nobody_waits_for_the_lines_of_passes_to_be_counted(services, ticket, other, monkeypatch):
    """Counting lines takes longer than the rest of the comparison, so it must not happen here."""

    def count(*_):
        raise AssertionError("the lines of passes were counted")

    monkeypatch.setattr("explorer.queries.changes.compared", count)
    before, after = (services.store.find(each["id"]) for each in (ticket, other))
    passes = compare(before, after).passes
    assert any(row.before.changed for row in passes if row.before)


def test_a_side_that_failed_says_why(client, api, ticket):
    failed = api.compile("def broken(:\n    pass\n")
    comparison = client.get(f"{ticket['api']}/compare/{failed['id']}").get_json()
    assert comparison["before"]["error"] is None
    assert comparison["after"]["status"] == "failed"
    assert "syntax" in comparison["after"]["error"].lower()


def test_a_chat_learns_what_is_compared(client, ticket, other):
    text = client.get(f"/compare/{ticket['id']}..{other['id']}").text
    assert '<meta property="og:title" content="add_kernel, compared · triton·explorer">' in text
    assert '<meta property="og:description" content="num_warps 4 → 8">' in text
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", text)


def test_the_page_of_what_does_not_exist_is_not_found(client, ticket):
    response = client.get(f"/compare/{ticket['id']}..7Qm2xV9dKcAB")
    assert response.status_code == 404
    assert response.text.startswith("<!doctype html>") and "og:title" not in response.text


def test_passes_that_two_tritons_order_differently_are_matched(client, api, ticket, vector_add):
    """Both versions check matrix products for two CTAs, at different places."""
    older = api.compile(vector_add, target="cuda:90", triton="3.6.0")
    rows = client.get(f"{older['api']}/compare/{ticket['id']}").get_json()["passes"]
    check = [row for row in rows if row["name"] == "triton-nvidia-check-matmul-two-cta"]
    assert [row["match"] for row in check] == ["moved"]
    assert all(row["match"] == "alone" for row in rows if not (row["before"] and row["after"]))
    befores = [row["before"]["index"] for row in rows if row["before"]]
    afters = sorted(row["after"]["index"] for row in rows if row["after"])
    assert befores == sorted(set(befores)) and afters == sorted(set(afters))


def test_machine_code_of_two_tritons_differs_by_less_than_its_registers(client, api, ticket, vector_add):
    older = api.compile(vector_add, target="cuda:90", triton="3.6.0")
    stages = client.get(f"{older['api']}/compare/{ticket['id']}").get_json()["stages"]
    sass = next(stage for stage in stages if stage["name"] == "sass")
    assert sass["operations_added"] + sass["operations_moved"] < sass["lines_added"] + 1
    assert sass["operations_added"] < sass["after"]["lines"] / 2
