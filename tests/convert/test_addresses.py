"""Addresses of tables: how they are parsed, and that a password is never displayed."""

from __future__ import annotations

import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.convert import read_source, write_target
from discreet.convert.databases.address import parse_address
from discreet.errors import SourceError
from discreet.model.policy import Policy
from discreet.testing import table


@pytest.mark.parametrize(
    ("text", "system", "schema", "name", "shown"),
    [
        ("postgresql://u:s3@h/db#t", "postgresql", None, "t", "postgresql://u@h/db#t"),
        ("postgres://h:99/db#s.t", "postgresql", "s", "t", "postgres://h:99/db#s.t"),
        ("mysql+pymysql://u:s3@h/db#a%20b", "mysql", None, "a b", "mysql://u@h/db#a b"),
        ("mariadb://u:%23s3@h/db?password=s3&charset=utf8#t", "mysql", None, "t", "mariadb://u@h/db?charset=utf8#t"),
        ('sqlite:///x/y#1.db#"a.b"."c""d"', "sqlite", "a.b", 'c"d', 'sqlite:///x/y#1.db#"a.b"."c""d"'),
        ("duckdb:////abs/file#t", "duckdb", None, "t", "duckdb:////abs/file#t"),
    ],
)
def test_addresses_are_parsed_and_displayed_without_passwords(
    text: str, system: str, schema: str | None, name: str, shown: str
) -> None:
    address = parse_address(text)
    assert (address.system, address.schema, address.table, address.name) == (system, schema, name, shown)
    assert "s3" not in repr(address)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:s3cret@h/db", "postgresql://u:s3cret@h/db#", "postgresql://u:s3cret@h#t", "postgresql://u:s3#cret@h/db",
        "postgresql://u:12#s3cret@h/db", "mysql://u:12/x#s3cret@h/db", "oracle://u:s3cret@h/db#t", "postgresql://u:s3cret@h:no/db#t",
        "postgresql://u:s3cret@h/db#a.b.c", "postgresql://u:s3cret@h/db#.", 'postgresql://u:s3cret@h/db#"a', "sqlite:///#t",
        "sqlite:///:memory:#t", "://", "://#", "postgresql://u:s3cret@127.0.0.1:1/db#t", "mysql://u:s3cret@127.0.0.1:1/db#t",
    ],
)  # fmt: skip
def test_errors_about_malformed_addresses_do_not_contain_the_password(text: str) -> None:
    for run in (lambda: read_source(text, Policy()), lambda: write_target(table({"a": [1]}), text)):
        with pytest.raises(SourceError) as caught:
            run()
        assert "cret" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "cret" not in "".join(traceback.format_exception(caught.value))  # nor the driver's own message


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=30), st.sampled_from(["postgresql", "mysql", "sqlite", "duckdb"]), st.text(max_size=12))
def test_any_text_is_an_address_or_a_source_error_without_the_password(rest: str, scheme: str, secret: str) -> None:
    secret = f"s3cret{secret}"
    try:
        parse_address(f"{scheme}://user:{secret}@{rest}")
    except SourceError as error:
        message = str(error)
    else:
        return
    assert secret not in message
