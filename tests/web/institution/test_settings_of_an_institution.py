"""Settings of an institution: wrong ones are refused with a sentence before anything is created; commands of the operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import run_command

from discreet.errors import SourceError
from discreet.web.auth.sso.settings import OidcSettings
from discreet.web.settings import Institution, Settings

ISSUER = "https://login.example.org"


@pytest.mark.parametrize(
    ("issuer", "client", "options", "sentence"),
    [
        ("http://login.example.org", "x", {}, "must begin with https://"),
        ("http://127.0.0.1.example.org", "x", {}, "must begin with https://"),
        ("login.example.org", "x", {}, "is not the address of a provider"),
        ("https://user:password@login.example.org", "x", {}, "is not the address of a provider"),
        ("https://[::1", "x", {}, "is not the address of a provider"),
        (f"https://{'x' * 300}", "x", {}, "at most 300 characters"),
        (ISSUER, None, {}, "needs --oidc-client-id"),
        (None, "x", {}, "name it with --oidc-issuer"),
        (None, None, {"admin_group": "it"}, "name it with --oidc-issuer"),
        (ISSUER, "x", {"login_groups": [""]}, "is not the name of a group"),
        (ISSUER, "x", {"secret_file": Path("/nowhere/secret")}, "cannot be read from /nowhere/secret: No such file"),
    ],
)
def test_wrong_settings_of_the_provider_are_a_sentence(issuer: Any, client: Any, options: Any, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        OidcSettings.make(issuer, client, **options)


def test_http_is_for_trials_on_this_machine_and_the_secret_stays_hidden(tmp_path: Path) -> None:
    for issuer in ("http://localhost:9400", "http://127.0.0.1:9400", "http://[::1]:9400"):
        assert OidcSettings.make(issuer, "x") is not None
    (tmp_path / "secret").write_text("hush-hush\n")
    chosen = OidcSettings.make(ISSUER, "x", secret_file=tmp_path / "secret")
    assert chosen is not None
    assert chosen.client_secret == "hush-hush"
    settings = Settings.make(tmp_path / "home", institution=Institution(oidc=chosen, metrics_token="t" * 30))
    assert "hush-hush" not in repr(settings)
    assert "t" * 30 not in repr(settings)
    (tmp_path / "empty").write_text("\n")
    with pytest.raises(SourceError, match="the file is empty"):
        OidcSettings.make(ISSUER, "x", secret_file=tmp_path / "empty")


def test_without_passwords_there_must_be_a_provider(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nobody could log in"):
        Settings.make(tmp_path / "home", institution=Institution(passwords=False))
    assert not (tmp_path / "home").exists()


def test_the_operator_links_rescues_and_resets(tmp_path: Path) -> None:
    home = ("--home", str(tmp_path / "home"))

    def run(*arguments: str) -> Any:
        return run_command("user", *arguments, *home, folder=tmp_path)

    assert run("add", "op", "--admin").returncode == 0
    assert run("add", "bert").returncode == 0
    assert "/rescue/" in run("rescue", "op", "--url", "https://host/discreet").stdout
    refused = run("rescue", "bert")
    assert (refused.returncode, "for administrators only" in refused.stderr) == (2, True)
    assert run("link", "bert", ISSUER, "s-1").returncode == 0
    refused = run("reset", "bert")
    assert (refused.returncode, "logs in through single sign-on" in refused.stderr) == (2, True)
    assert run("unlink", "bert").returncode == 0
    assert "/welcome/" in run("reset", "bert").stdout
    assert "was removed" in run("reset-factor", "bert").stderr
