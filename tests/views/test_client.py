"""Test which client a request is counted for."""

import pytest

from explorer.errors import SettingsError
from explorer.jobs.caller import current_caller, work_for
from explorer.settings import Settings
from explorer.views import caller
from explorer.views.client import client_of
from explorer.views.saved_page import fetcher

PROXIES = Settings(proxies="10.0.0.1, 192.168.0.0/24").trusted_proxies


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", "", "203.0.113.7"),
        ("203.0.113.7", "198.51.100.1", "203.0.113.7"),  # no proxy: the header is the client's own
        ("10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.7, 192.168.0.9", "203.0.113.7"),
        ("10.0.0.1", "198.51.100.1, nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "192.168.0.9", "192.168.0.9"),
        ("2001:db8::1", "", "2001:db8::/64"),
        ("2001:db8::2:1", "", "2001:db8::/64"),
        ("10.0.0.1", "2001:db8:0:1::5", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "", "fe80::/64"),
        ("::1", "", "::1"),
        ("", "", ""),
    ],
)
def test_a_client_is_its_address_or_network(peer, forwarded, client):
    assert client_of(peer, forwarded, PROXIES) == client


def test_what_a_saved_page_asks_is_asked_for_its_client(app, monkeypatch):
    callers = []

    def note(found):
        callers.append(found)
        work_for(found)

    monkeypatch.setattr(caller, "work_for", note)
    with app.test_request_context(environ_base={"REMOTE_ADDR": "203.0.113.7"}):
        app.preprocess_request()
        assert fetcher(app)("/api/v1/targets").status == 200
        assert current_caller() == callers[0]
    assert [found.client for found in callers] == ["203.0.113.7"] * 3 + [""]


def test_an_address_that_is_none_is_a_wrong_setting():
    with pytest.raises(SettingsError, match=r"TRITON_EXPLORER_PROXIES .*'proxy'"):
        Settings(proxies="proxy")
