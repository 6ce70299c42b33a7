"""discreet user, and the arguments that discreet serve refuses before it starts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.web.auth import accounts
from discreet.web.db.store import Store
from discreet.web.settings import Settings


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["discreet", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


def test_users_from_add_to_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    home = ("--home", str(tmp_path / "home"))
    assert run(monkeypatch, "user", "add", "anna", "--admin", "--url", "https://discreet.example/", *home) == 0
    link = capsys.readouterr().out.strip()
    assert link.startswith("https://discreet.example/welcome/")
    store = Store.open(Settings.make(tmp_path / "home"))
    with store.write() as connection:
        assert accounts.set_password_with_link(connection, link.rpartition("/")[2], "a longer password than most").admin
    store.close()
    assert run(monkeypatch, "user", "add", "ANNA", *home) == 2
    assert "the user 'anna' exists already" in capsys.readouterr().err
    assert run(monkeypatch, "user", "add", "bert", *home) == 0
    assert run(monkeypatch, "user", "disable", "anna", *home) == 2
    assert "only administrator" in capsys.readouterr().err
    assert run(monkeypatch, "user", "disable", "bert", *home) == 0
    assert run(monkeypatch, "user", "list", *home) == 0
    shown = capsys.readouterr().out
    assert [line.split() for line in shown.splitlines() if line.startswith(("anna", "bert"))] == [
        ["anna", "administrator", "active"],
        ["bert", "user", "disabled"],
    ]
    assert run(monkeypatch, "user", "disable", "bert", "--enable", *home) == 0
    capsys.readouterr()
    assert run(monkeypatch, "user", "reset", "anna", *home) == 0
    again = capsys.readouterr().out.strip()
    assert again.startswith("http://127.0.0.1:8080/welcome/")
    assert again.rpartition("/")[2] != link.rpartition("/")[2]
    assert run(monkeypatch, "user", "reset", "nobody", *home) == 2


def test_serve_explains_a_wrong_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ("--home", str(tmp_path / "home"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert run(monkeypatch, "serve", "--port", str(taken.getsockname()[1]), *home) == 2
    assert "choose another with --port" in capsys.readouterr().err
    assert run(monkeypatch, "serve", "--port", "0", "--database", "oracle://x/y", *home) == 2
    assert "use postgresql://" in capsys.readouterr().err
    assert run(monkeypatch, "serve", "--port", "0", "--source", "nonsense", *home) == 2
    assert "NAME=URL" in capsys.readouterr().err
    assert run(monkeypatch, "serve", "--port", "0", "--database", "postgresql://u:secret@127.0.0.1:9/x", *home) == 2
    message = capsys.readouterr().err
    assert "cannot connect to the database" in message
    assert "secret" not in message
