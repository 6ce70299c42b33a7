"""No password appears anywhere, however malformed the address that holds it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import discreet
from discreet.convert import convert, read_source, write_target
from discreet.convert.databases.address import parse_address
from discreet.convert.writing.destinations import format_place
from discreet.errors import DiscreetError, SourceError, redact_credentials
from discreet.model.policy import Policy
from discreet.report.provenance import redact_location
from discreet.testing import table

FORMS = [
    "postgresql://user:{}@127.0.0.1:1/db#t",
    "mysql://user:{}@127.0.0.1:1/db#t",
    "postgresql://user:{}@127.0.0.1:1/db",
    "postgresql://user:{}@/db#t",
    "postgresql://user:{}",
    "postgresql://user:{}#t",
    "mysql://user:{}/db#t",
    "postgresql:/user:{}@host/db#t",
    "postgresql:user:{}@host/db#t",
    "postgresql//user:{}@host/db#t",
    "postgressql://user:{}@host/db#t",
    "oracle://user:{}@host/db#t",
    "sqlite://user:{}@host/db#t",
    "user:{}@host/db#t",
    "postgresql://us er:{}@ho st/db#t",
    "postgresql://user:{}@host:port/db#t",
    "postgresql://user:{}@a@127.0.0.1:1/db#t",
]
# unusual letters between the reserved characters, so that a piece of a password is recognised in any message
PARTS = ["Zq9w", "Xk7v", "Jh5y", "#", "@", "/", ":", "?", "%", "%4", "&", "=", "://", "$", "+", " ", "\n"]
PASSWORDS = st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map("".join)


def pieces(secret: str) -> list[str]:
    return [part for part in ("Zq9w", "Xk7v", "Jh5y") if part in secret]


def reads_as_host(secret: str) -> bool:
    """Whether an address without a host of its own is a valid one with this in place of its password: password@host."""
    password, at, host = secret.rpartition("@")
    return bool(password and at and pieces(host))


def errors_about(address: str) -> Iterator[Exception]:
    calls = (
        lambda: read_source(address, Policy()),
        lambda: write_target(table({"a": [1]}), address),
        lambda: convert(address, "never.csv", Policy()),
        lambda: discreet.write(table({"a": [1]}), address),
        lambda: parse_address(address),
    )
    for call in calls:
        try:
            call()
        except DiscreetError as error:
            yield error


@settings(max_examples=60, deadline=None)
@given(secret=PASSWORDS, form=st.sampled_from(FORMS))
@example(secret="Zq9w#Xk7v", form=FORMS[0])
@example(secret="Zq9w@Xk7v", form=FORMS[0])
@example(secret="Zq9w/Xk7v@Jh5y", form=FORMS[0])
@example(secret="Zq9w@Jh5y/Xk7v#Xk7v", form=FORMS[2])
@example(secret="Zq9w", form="postgresql://us/er:{}@host/db#t")
@example(secret="@Zq9w", form="mysql://user:{}/db#t")
def test_no_message_contains_a_piece_of_a_password(secret: str, form: str) -> None:
    if not pieces(secret) or ("@" not in form and reads_as_host(secret)):
        return
    address = form.format(secret)
    messages = [text for error in errors_about(address) for text in (str(error), repr(error), *traceback.format_exception(error))]
    messages += [redact_location(address), format_place(address)]
    for text in messages:
        assert not [piece for piece in pieces(secret) if piece in text], (secret, form, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://anna@host:5432/db#t exists", "postgresql://anna@host:5432/db#t exists"),
        ("postgresql://host/db#a would overwrite mysql://b@h/db#t", "postgresql://host/db#a would overwrite mysql://b@h/db#t"),
        ("'postgresql://u:p w@h/db'", "'postgresql://…@h/db'"),
        ("postgresql://u:p@q", "postgresql://…"),
        ("sc://host:443/;token=abc;user_id=u#t", "sc://host:443/;token=…;user_id=u#t"),
        ("mysql:/u:p@h/db", "…@h/db"),
        ("u:p@h/db#t: there is no such file", "…@h/db#t: there is no such file"),
        ("https://example.org/a?b=c", "https://example.org/a?b=c"),
        ("postgresql//u:p w@h/db#t: there is no such file", "postgresql//…@h/db#t: there is no such file"),
        ("u:p w@h:5432/db: there is no such file", "…@h:5432/db: there is no such file"),
        ("u:p\nw@h/db", "…@h/db"),
        ("u: p w@h/db", "…@h/db"),
        ("age: must be a number", "age: must be a number"),
        ("age: must be a number; ask a@b.org", "age: must be a number; ask a@b.org"),
        ("no address", "no address"),
    ],
)
def test_an_address_is_displayed_without_its_password(text: str, expected: str) -> None:
    assert redact_credentials(text) == expected
    assert str(SourceError(text)) == expected


def test_the_command_line_prints_no_password(quick_cli: object, tmp_path: Path) -> None:
    run: object = quick_cli
    (tmp_path / "p.yaml").write_text("attributes: {a: {role: key}}\n")
    for words in (
        ["analyze", "postgresql://u:Zq9w#Xk7v@127.0.0.1:1/db#t"],
        ["mask", "postgresql://u:Zq9w@Xk7v@127.0.0.1:1/db#t", "out.csv", "-p", "p.yaml"],
        ["convert", "postgresql:/u:Zq9w@h/db#t", "out.csv"],
        ["convert", "p.yaml", "mysql://u:Zq9w/Xk7v#@h/db#t"],
    ):
        done = run(*words)  # type: ignore[operator]
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert "Zq9w" not in done.stdout + done.stderr
        assert "Xk7v" not in done.stdout + done.stderr


def test_a_misplaced_address_is_not_repeated(quick_cli: object) -> None:
    for words in (["u:Zq9w Xk7v@h:5432/db"], ["convert", "a.csv", "b.csv", "postgresql//u:Zq9w Xk7v@h/db#t"]):
        done = quick_cli(*words)  # type: ignore[operator]
        assert done.returncode == 2
        assert "Zq9w" not in done.stdout + done.stderr
        assert "Xk7v" not in done.stdout + done.stderr


def test_the_settings_of_a_server_show_no_password(tmp_path: Path) -> None:
    from discreet.web.db.store import Store
    from discreet.web.settings import Settings

    settings = Settings.make(tmp_path, "postgresql://u:Zq9w@h/db", sources=["clinic=mysql://u:Xk7v@h/db"])
    assert "Zq9w" not in repr(settings)
    assert "Xk7v" not in repr(settings)
    assert Store(settings.database).redacted_address == "postgresql://…@h/db"
    for address in ("postgresql://u:Zq9w@Xk7v@h/db", "nonsense://u:Zq9w@h/db", "Zq9w"):
        with pytest.raises(SourceError) as caught:
            Store(address)
        assert not [piece for piece in ("Zq9w", "Xk7v") if piece in str(caught.value) and "://" in address]
