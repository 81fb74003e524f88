"""Test the page of an account, and results for the account alone, behind a proxy that signs users in."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from actions import (
    Visitor,
    compile_now,
    expect_accessible,
    expect_fits,
    result_id,
    violations,
    wait_for_result,
)
from playwright.sync_api import Page, expect
from served import Server
from sources import SCALE

ANNA = "anna@example.org"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose proxy names the account in a header: the tests send it themselves."""
    folder = tmp_path_factory.mktemp("accounts")
    server = Server(folder, proxies="127.0.0.1", account_header="X-User", gpu_accounts=ANNA)
    yield server.url
    server.close()


def signed_in(visitor: Visitor, user: str = ANNA, **options: object) -> Page:
    """Return a page of a browser whose user the proxy names."""
    permissions = ["clipboard-read", "clipboard-write"]
    return visitor(extra_http_headers={"X-User": user}, permissions=permissions, **options)


@pytest.mark.nightly
def test_a_token_is_made_copied_used_and_revoked_and_everything_fits(visitor: Visitor, server: str) -> None:
    page = signed_in(visitor, width=375, height=812)
    page.goto("/account")
    expect(page.get_by_role("heading", name=ANNA)).to_be_visible()
    page.get_by_label("Name").fill("laptop")
    page.get_by_label("Lasts").select_option("30 days")
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    token = page.evaluate("navigator.clipboard.readText()")
    assert token == page.get_by_label("New token").input_value()
    expect_accessible(page)
    expect_fits(page.locator("html"))

    request = urllib.request.Request(f"{server}/api/v1/account", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as response:
        assert ANNA in response.read().decode()
    page.goto("/account")
    assert token not in page.content()
    expect_fits(page.locator(".account-rows"))
    row = page.get_by_role("row", name="laptop")
    expect(row).to_contain_text(re.compile(r"\d\d:\d\d"))
    row.get_by_role("button", name="Revoke laptop").click()
    expect(page.get_by_role("status")).to_contain_text("is revoked")
    expect(row).to_have_count(0)


@pytest.mark.nightly
def test_a_result_for_the_account_alone_is_kept_from_others_and_deleted_without_scripts(
    visitor: Visitor, own: Callable[[str], str]
) -> None:
    page = signed_in(visitor)
    page.goto("/")
    wait_for_result(page)
    page.get_by_role("button", name="Public", exact=True).click()
    assert violations(page, "#privacy-menu") == []
    page.get_by_role("radio", name="Only me").click()
    compile_now(page, own(SCALE))
    expect(page.locator("#subject b")).to_have_text("scale")
    wait_for_result(page)
    link = f"/k/{result_id(page)}"
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.locator("#share-menu")).to_contain_text("Only you can open it")

    # In another browser of the same user, nothing is in the history.
    elsewhere = signed_in(visitor)
    elsewhere.goto(link)
    wait_for_result(elsewhere)
    elsewhere.get_by_role("button", name="Share", exact=True).click()
    expect(elsewhere.get_by_role("button", name="Delete this result")).to_be_visible()
    stranger = signed_in(visitor, "bert@example.org")
    answer = stranger.goto(link)
    assert answer is not None
    assert answer.status == 404
    expect(stranger.get_by_role("main")).to_contain_text("ask its owner for a private link")

    page = signed_in(visitor, java_script_enabled=False)
    page.goto("/")
    page.get_by_role("link", name=ANNA).click()
    row = page.get_by_role("row", name="scale").filter(has=page.locator(f'a[href="{link}"]'))
    expect(row).to_contain_text("only you")
    row.get_by_text("Delete …").click()
    row.get_by_role("button", name="Delete with its runs").click()
    expect(page.get_by_role("status")).to_contain_text("is deleted")
    expect(page.locator(f'a[href="{link}"]')).to_have_count(0)
    gone = elsewhere.goto(link)
    assert gone is not None
    assert gone.status == 404
