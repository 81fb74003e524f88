"""Test accounts: tokens, the header of a proxy, sessions of OpenID Connect, and their effects."""

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from joserfc.jwk import RSAKey
from oidc_provider import CLIENT_ID, CLIENT_SECRET, OidcProvider

from explorer import create_app
from explorer.errors import InvalidRequest, SettingsError
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store.deletion_rights import new_token

ACCOUNT = "/api/v1/account"
PROXY, STRANGER = {"REMOTE_ADDR": "192.0.2.10"}, {"REMOTE_ADDR": "192.0.2.11"}
BODY = {"target": "cuda:90"}


@pytest.fixture(scope="module")
def provider():
    provider = OidcProvider()
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def open_app(app, tmp_path_factory):
    """Return a function that makes an application with other settings, on the services of the tests."""
    services = services_of(app)
    before = services.settings

    def open_one(**changes):
        folder = tmp_path_factory.mktemp("data")
        services.settings = replace(before, **changes)
        return create_app(replace(services.settings, data_dir=folder), services)

    yield open_one
    services.settings = before
    services.attach(app)


@pytest.fixture
def with_header(open_app):
    """A client of an application that trusts a header of a proxy."""
    roles = {"gpu_accounts": "anna, carl", "admin_accounts": "carl"}
    return open_app(proxies="192.0.2.10", account_header="X-User", **roles).test_client()


@pytest.fixture
def with_provider(open_app, provider):
    """A client of an application that signs users in with a provider."""
    provider.user, provider.changes, provider.key = "anna@example.org", {}, provider.published
    changes = {"oidc_issuer": provider.url, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
    return open_app(public_url="http://localhost", gpu_accounts="*", **changes).test_client()


def sign_in(client, path="/login"):
    """Follow the way to the provider and back. Return the last response."""
    begun = client.get(path)
    assert begun.status_code == 302
    agreed = requests.get(begun.headers["Location"], allow_redirects=False, timeout=10)
    returned = urlsplit(agreed.headers["Location"])
    return client.get(f"{returned.path}?{returned.query}")


def account(client, **options):
    return client.get(ACCOUNT, **options).get_json()


def test_without_settings_nobody_is_signed_in(client):
    assert account(client, headers={"X-User": "anna"}) == {"name": None, "roles": [], "login_url": None}
    assert client.get("/login").status_code == 404
    assert client.post("/logout").status_code == 404
    assert client.get("/account").status_code == 404


def test_only_the_proxy_names_the_account(with_header):
    headers = {"X-User": "anna", "X-Forwarded-For": "198.51.100.1"}
    assert account(with_header, headers=headers, environ_base=PROXY)["name"] == "anna"
    assert account(with_header, headers=headers, environ_base=PROXY)["roles"] == ["gpu"]
    assert account(with_header, headers=headers, environ_base=STRANGER)["name"] is None
    assert account(with_header, environ_base=PROXY)["name"] is None
    assert account(with_header, headers={"X-User": "carl"}, environ_base=PROXY)["roles"] == ["admin", "gpu"]


@pytest.mark.parametrize("name", ["x" * 51, "a\tb"])
def test_a_name_that_is_none_is_refused(with_header, name):
    assert with_header.get(ACCOUNT, headers={"X-User": name}, environ_base=PROXY).status_code == 400


def test_the_header_needs_a_proxy():
    with pytest.raises(SettingsError, match="PROXIES"):
        Settings(account_header="X-User")


@pytest.mark.both_forms
def test_a_token_names_the_account_until_it_is_revoked(client, services):
    token, made = services.store.tokens.add("build machine", ["gpu"])
    headers = {"Authorization": f"Bearer {token}"}
    assert account(client, headers=headers) == {"name": "build machine", "roles": ["gpu"], "login_url": None}
    assert made.id in [each.id for each in services.store.tokens.all()]
    assert token not in repr(services.store.tokens.all())
    assert services.store.tokens.revoke(made.id)
    assert not services.store.tokens.revoke(made.id)
    refused = client.get(ACCOUNT, headers=headers)
    assert refused.status_code == 401
    assert client.get("/", headers={"Authorization": "Basic YW5uYTp4"}).status_code == 200
    with pytest.raises(InvalidRequest):
        services.store.tokens.add(" ", [])


def test_the_provider_signs_in(with_provider, provider):
    assert account(with_provider) == {"name": None, "roles": [], "login_url": "/login"}
    assert sign_in(with_provider).headers["Location"] == "/"
    assert account(with_provider)["name"] == "anna@example.org"
    assert account(with_provider)["roles"] == ["gpu"]
    assert with_provider.post("/logout", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 400
    assert account(with_provider)["name"] == "anna@example.org"
    assert with_provider.post("/logout").status_code == 303
    assert account(with_provider)["name"] is None


def test_the_cookie_is_signed_and_not_for_scripts_or_other_sites(with_provider):
    cookie = sign_in(with_provider).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
    name, value = cookie.split(";")[0].split("=", 1)
    forged = value[:-3] + ("AAA" if value[-3:] != "AAA" else "BBB")
    with_provider.set_cookie(name, forged)
    assert account(with_provider)["name"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://other.example"},
        {"aud": "another client"},
        {"exp": 1},
        {"nonce": "of another login"},
        {"email": "x" * 51},
        {"email": ["anna"]},
        {"email_verified": False},
    ],
)
def test_a_token_for_something_else_signs_nobody_in(with_provider, provider, changes):
    provider.changes = changes
    assert sign_in(with_provider).status_code == 401
    assert account(with_provider)["name"] is None


def test_a_token_of_another_key_signs_nobody_in(with_provider, provider):
    provider.key = RSAKey.generate_key(2048, {"kid": "1"})
    assert sign_in(with_provider).status_code == 401
    assert account(with_provider)["name"] is None


def test_a_login_that_this_browser_has_not_begun_signs_nobody_in(with_provider):
    begun = with_provider.get("/login")
    state = parse_qs(urlsplit(begun.headers["Location"]).query)["state"][0]
    for query in (
        f"code=x&state={state}x",
        f"code=x&state={state}",
        "error=access_denied&state=" + state,
        "",
    ):
        assert with_provider.get(f"/login/return?{query}").status_code == 401, query
    assert account(with_provider)["name"] is None


def test_what_an_account_has_submitted_it_deletes_from_anywhere(with_header):
    def submit(user, **headers):
        sent = {"X-User": user, "X-Forwarded-For": "198.51.100.1", **headers}
        body = {**BODY, "source": "x = 1  # of anna"}
        answer = with_header.post("/api/v1/compilations", json=body, headers=sent, environ_base=PROXY)
        with_header.get(answer.get_json()["events"]).get_data()
        return answer.get_json()["id"]

    def delete(user, result):
        return with_header.delete(f"/api/v1/results/{result}", headers={"X-User": user}, environ_base=PROXY)

    result = submit("anna", **{"Deletion-Token": new_token()})
    assert delete("bert", result).status_code == 403
    submit("bert")
    assert delete("anna", result).get_json()["kept"] == [result]
    assert delete("bert", result).get_json()["removed"] == [result]


def test_an_administrator_deletes_results_of_others(with_header, client):
    answer = client.post("/api/v1/compilations", json={**BODY, "source": "x = 3  # of somebody"})
    client.get(answer.get_json()["events"]).get_data()
    result = answer.get_json()["id"]
    deleted = with_header.delete(f"/api/v1/results/{result}", headers={"X-User": "carl"}, environ_base=PROXY)
    assert deleted.get_json()["removed"] == [result]


def test_limits_are_counted_for_the_account(with_header, services):
    body = {**BODY, "source": "x = 2  # who submits it"}
    headers = {"X-User": "anna", "X-Forwarded-For": "198.51.100.1"}
    with_header.post("/api/v1/compilations", json=body, headers=headers, environ_base=PROXY)
    assert "account anna" in services.store.statistics().by_client


def test_the_page_names_the_account(with_provider, client):
    assert re.search(r"Sign (in|out)", client.get("/").get_data(as_text=True)) is None
    assert 'href="/login"' in with_provider.get("/").get_data(as_text=True)
    sign_in(with_provider)
    page = with_provider.get("/").get_data(as_text=True)
    assert "anna@example.org" in page
    assert 'href="/account"' in page
    assert 'action="/logout"' in with_provider.get("/account").get_data(as_text=True)


def test_only_the_account_opens_what_it_has_made_for_itself(with_header):
    def ask(method, path, user="", **fields):
        headers = {"X-User": user} if user else {}
        return with_header.open(path, method=method, headers=headers, environ_base=PROXY, **fields)

    body = {**BODY, "source": "x = 4  # for anna alone", "private": "account"}
    assert ask("POST", "/api/v1/compilations", json=body).status_code == 403
    ticket = ask("POST", "/api/v1/compilations", "anna", json=body).get_json()
    ask("GET", ticket["events"], "anna").get_data()
    index = ask("GET", ticket["api"], "anna").get_json()
    key = index["request"]["private"]
    assert key.startswith("account:anna:")
    for user in ("", "bert"):
        for path in (ticket["api"], f"{ticket['api']}/source", ticket["events"], f"/k/{ticket['id']}"):
            assert ask("GET", path, user).status_code == 404, path
        assert ask("DELETE", f"/api/v1/results/{ticket['id']}", user).status_code == 404
        assert ask("POST", "/api/v1/compilations", user, json={**body, "private": key}).status_code == 403
    again = ask("POST", "/api/v1/compilations", "anna", json={**body, "private": key}).get_json()
    assert again["id"] == ticket["id"]


def page_of(client, path="/account", user="anna", method="GET", **options):
    """Ask for a page as a browser does whose user the proxy names; "": nobody."""
    headers = {"X-User": user} if user else {}
    return client.open(path, method=method, headers=headers, environ_base=PROXY, **options)


def make_token(client, user="anna", **form):
    """Make a token on the page and return it."""
    form = {"name": "laptop", "days": "30", **form}
    made = page_of(client, "/account/tokens", user, "POST", data=form)
    found = re.search(r'value="(te_[\w-]{32})"', made.get_data(as_text=True))
    return found[1] if found else made.status_code


def test_the_page_of_the_account_is_for_those_who_have_signed_in(with_header):
    assert page_of(with_header, user="").status_code == 401
    shown = page_of(with_header)
    assert shown.cache_control.no_store
    assert "<dd>gpu</dd>" in shown.get_data(as_text=True)
    headers = {"Authorization": f"Bearer {make_token(with_header)}"}
    assert account(with_header, headers=headers)["name"] == "anna"
    form = {"name": "another", "days": "365"}
    stolen = with_header.post("/account/tokens", headers=headers, data=form)
    assert stolen.status_code == 403, "a token that was stolen makes others, which last longer"


def test_the_login_leads_back_to_the_page_that_needed_it(with_provider):
    refused = with_provider.get("/account")
    assert refused.status_code == 401
    assert 'href="/login?page=/account"' in refused.get_data(as_text=True)
    assert sign_in(with_provider, "/login?page=/account").headers["Location"] == "/account"
    for page in ("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "account"):
        assert sign_in(with_provider, f"/login?{urlencode({'page': page})}").headers["Location"] == "/", page


def test_a_token_of_the_page_is_shown_once_and_ends(with_header, services, monkeypatch):
    token = make_token(with_header, user="dora")
    page = page_of(with_header, user="dora").get_data(as_text=True)
    assert "laptop" in page
    assert token not in page
    assert page.count("never") == 1, "it was never used"
    headers = {"Authorization": f"Bearer {token}"}
    assert account(with_header, headers=headers)["name"] == "dora"
    (made,) = services.store.tokens.of("dora")
    assert made.used is not None
    assert "never" not in page_of(with_header, user="dora").get_data(as_text=True)

    path = f"/account/tokens/{made.id}/revocation"
    assert page_of(with_header, path, "bert", "POST").status_code == 404
    assert account(with_header, headers=headers)["name"] == "dora"
    from_other_site = {"Sec-Fetch-Site": "cross-site", "X-User": "dora"}
    assert with_header.post(path, headers=from_other_site, environ_base=PROXY).status_code == 400
    assert page_of(with_header, path, "dora", "POST").status_code == 303
    assert with_header.get(ACCOUNT, headers=headers).status_code == 401

    ended, _ = services.store.tokens.add("dora", name="of yesterday", lifetime=timedelta(days=-1))
    assert with_header.get(ACCOUNT, headers={"Authorization": f"Bearer {ended}"}).status_code == 401
    assert "ended" in page_of(with_header, user="dora").get_data(as_text=True)
    for wrong in ({"name": ""}, {"name": "x" * 51}, {"name": "a\u202eb"}, {"days": "10000"}, {"days": "-1"}):
        assert make_token(with_header, user="dora", **wrong) == 400, wrong
    monkeypatch.setattr("explorer.store.tokens.MOST_TOKENS", 2)
    assert make_token(with_header, user="dora").startswith("te_")
    assert make_token(with_header, user="dora") == 400


def test_the_page_lists_and_deletes_the_private_results_of_the_account(with_header, services, monkeypatch):
    def submit(user, path="/api/v1/compilations", **fields):
        body = fields if "compilation" in fields or "kernels" in fields else {**BODY, **fields}
        ticket = page_of(with_header, path, user, "POST", json=body).get_json()
        if "events" in ticket:
            page_of(with_header, ticket["events"], user).get_data()
        return ticket["id"]

    def listed(user="erik", path="/account"):
        return re.findall(r'href="/[ksm]/(\w+)"', page_of(with_header, path, user).get_data(as_text=True))

    mine = submit("erik", source="x = 5  # of erik", private="account")
    linked = submit("erik", source="x = 6  # of erik", private=True)
    submit("erik", source="x = 7  # of erik")
    submit("bert", source="x = 5  # of bert", private=True)
    session = submit("erik", "/api/v1/sessions", title="<b>Erik's", kernels=[{"compilation": mine}])
    assert listed() == [session, linked, mine]
    assert "&lt;b&gt;Erik&#39;s" in page_of(with_header, user="erik").get_data(as_text=True)
    monkeypatch.setattr("explorer.views.account_page._RESULTS", 2)
    assert listed() == [session, linked]
    older = re.search(r'href="(/account\?before=[^"]+)"', page_of(with_header, user="erik").text)
    assert older
    assert listed(path=older[1]) == [mine]
    monkeypatch.undo()

    path = f"/account/results/{mine}/deletion"
    for user, status in (("", 404), ("bert", 404)):
        assert page_of(with_header, path, user, "POST").status_code == status
    assert page_of(with_header, path, "erik", "POST").headers["Location"] == "/account?done=deleted"
    assert mine not in listed()
    assert page_of(with_header, f"/k/{mine}", "erik").status_code == 404


def test_nobody_learns_whether_the_private_result_of_an_account_exists(with_header):
    body = {**BODY, "source": "x = 8  # for anna alone", "private": "account"}
    ticket = page_of(with_header, "/api/v1/compilations", "anna", "POST", json=body).get_json()
    page_of(with_header, ticket["events"]).get_data()
    real, none = ticket["id"], "1" * len(ticket["id"])

    def answers(result, user):
        run = {"compilation": result, "run": {"device": "interpreter", "measures": ["counts"]}}
        session = {"title": "guessed", "kernels": [{"compilation": result}]}
        asked = (
            page_of(with_header, f"/k/{result}", user),
            page_of(with_header, f"/api/v1/compilations/{result}", user),
            page_of(with_header, "/api/v1/runs", user, "POST", json=run),
            page_of(with_header, "/api/v1/sessions", user, "POST", json=session),
        )
        document = asked[1].get_json()
        return [each.status_code for each in asked], document["detail"].replace(result, "")

    for user in ("", "bert"):
        assert answers(real, user) == answers(none, user)
        statuses, detail = answers(real, user)
        assert statuses == [404] * 4
        assert "ask its owner" in detail
        assert ("Sign in" in detail or "sign in" in detail) and ("bert" in detail) == (user == "bert")


def test_an_account_saves_the_page_of_what_it_has_made_for_itself(with_header):
    body = {**BODY, "source": "x = 9  # for anna alone", "private": "account"}
    ticket = page_of(with_header, "/api/v1/compilations", "anna", "POST", json=body).get_json()
    page_of(with_header, ticket["events"]).get_data()
    saved = page_of(with_header, f"{ticket['api']}/export.html")
    assert saved.status_code == 200
    assert "ask its owner" not in saved.get_data(as_text=True)
