import dataclasses
from pathlib import Path

import pytest

from explorer.cli.settings import settings_page
from explorer.errors import SettingsError
from explorer.sandboxes import compilation_sandbox
from explorer.settings import PREFIX, Settings

PAGE = Path(__file__).parents[1] / "docs/settings.md"


def test_the_environment_is_read_by_type() -> None:
    settings = Settings.from_environment(
        {
            "TRITON_EXPLORER_PORT": "9000",
            "TRITON_EXPLORER_DATA_DIR": "/data",
            "TRITON_EXPLORER_WALL_LIMIT_SECONDS": "2.5",
            "TRITON_EXPLORER_UNSAFE_NO_SANDBOX": "yes",
            "PATH": "/bin",
        }
    )
    assert settings.port == 9000
    assert settings.data_dir == Path("/data")
    assert compilation_sandbox(settings).limits.working_seconds == 2.5
    assert compilation_sandbox(settings).unsafe


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("PROT", "9000", r"PROT is not a setting. Did you mean TRITON_EXPLORER_PORT\? "),
        ("PORT", "web", "must be of type int"),
        ("PORT", "-1", "must not be negative"),
        ("WALL_LIMIT_SECONDS", "nan", "must not be negative"),
        ("UNSAFE_NO_SANDBOX", "perhaps", "must be 1 or 0"),
        ("LOG_FORMAT", "xml", "must be one of text, json"),
        ("SERVER", "localhost:8000", "must be none or the address of a server"),
        ("SERVER", "http://localhost:web", "must be none or the address of a server"),
    ],
)
def test_a_wrong_setting_is_named(variable: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Settings.from_environment({PREFIX + variable: value})


def test_strangers_are_never_served_without_a_sandbox() -> None:
    with pytest.raises(SettingsError, match=r"cannot listen on 0\.0\.0\.0"):
        Settings(host="0.0.0.0", unsafe_no_sandbox=True)


def test_only_a_loopback_server_insists_on_its_own_names() -> None:
    assert "127.0.0.1" in (Settings().trusted_hosts or ())
    assert Settings(host="0.0.0.0").trusted_hosts is None
    assert Settings(host="0.0.0.0", hosts="a.org, b.org").trusted_hosts == ["a.org", "b.org"]


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        (Settings(), 600),
        (Settings(host="0.0.0.0"), 30),
        (Settings(proxies="10.0.0.1"), 30),
        (Settings(proxies="127.0.0.1", account_header="X-User"), 30),
        (Settings(oidc_issuer="https://a.org", oidc_client_id="a", public_url="https://b.org"), 30),
        (Settings(broker_url="amqp://a.org"), 30),
        (Settings(wall_limit_seconds=7), 7),
    ],
)
def test_a_server_for_its_own_user_lets_compilations_take_long(settings: Settings, seconds: float) -> None:
    limits = compilation_sandbox(settings).limits
    assert (limits.working_seconds, limits.cpu_seconds) == (seconds, seconds + 5)


def test_the_page_of_the_settings_is_up_to_date() -> None:
    page = settings_page()
    for field in dataclasses.fields(Settings):
        assert f"\n| `{PREFIX}{field.name.upper()}` |" in page
    assert PAGE.read_text(encoding="utf-8") == page, "run `triton-explorer settings > docs/settings.md`"
