"""Tables through the ODBC drivers of Debian: PostgreSQL, MariaDB and SQLite."""

from __future__ import annotations

import datetime as dt
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest
from command_line import run_command

import discreet
from discreet.convert import read_source, write_target
from discreet.convert.databases import odbc
from discreet.convert.databases.address import parse_address
from discreet.convert.writing.destinations import check_targets, format_place
from discreet.errors import SourceError, redact_credentials
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

SECRET = "s3;cr}et"
FRAME = pl.DataFrame(
    {
        "flag": [True, None, False],
        "whole": [2**62, None, -3],
        "real": [1.5, None, 1e300],
        "day": [dt.date(2020, 2, 29), None, dt.date(1902, 1, 1)],
        "moment": [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1902, 1, 1)],
        'a "name` with; marks': ["Ünï😀 'x'", None, ""],
        "long": ["y" * 300_000, None, "z"],
    }
)


def _install(folder: Path, sections: dict[str, dict[str, str]]) -> None:
    drivers = {"PostgreSQL Unicode": "psqlodbcw.so", "MariaDB Unicode": "libmaodbc.so", "SQLite3": "libsqlite3odbc.so"}
    (folder / "odbcinst.ini").write_text("".join(f"[{name}]\nDriver={file}\n\n" for name, file in drivers.items()))
    lines = [f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in pairs.items()) for name, pairs in sections.items()]
    (folder / "odbc.ini").write_text("\n".join(lines))


@pytest.fixture(params=["sqlite", "postgresql", "mysql"])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a data source of each driver, in a configuration folder of its own."""
    monkeypatch.setenv("ODBCSYSINI", str(tmp_path))
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    if request.param == "sqlite":
        pairs = {"Driver": "SQLite3", "Database": f"{tmp_path}/file.db"}
    else:
        url = urlsplit(request.getfixturevalue(request.param))
        host = parse_qs(url.query).get("host", [url.hostname or ""])[0]
        driver = "PostgreSQL Unicode" if request.param == "postgresql" else "MariaDB Unicode"
        port = str(url.port or 5432)
        pairs = {"Driver": driver, "Server": host, "Servername": host, "Port": port, "Database": url.path[1:]}
        pairs |= {"UID": str(url.username), "Username": str(url.username)}
    name = f"{request.param}_{secrets.token_hex(4)}"  # the driver manager remembers what a name meant before
    _install(tmp_path, {name: pairs})
    yield name
    for table in ("t 0", "t 1", "kept", "decimals", "v", "base"):
        _run(name, f"DROP VIEW {_quoted(name, table)}", f"DROP TABLE {_quoted(name, table)}", forgive=True)


def _quoted(name: str, table: str) -> str:
    database: Any = odbc.Odbc(parse_address(f"odbc://{name}#x"))
    with database._metadata() as (_, driver):
        products = {"sqlite": "sqlite", "postgresql": "postgresql", "mysql": ("mariadb", "mysql")}
        assert driver.product.lower().startswith(products[name.partition("_")[0]]), "another driver answers"
        return str(driver.quote(table))


def _run(name: str, *statements: str, forgive: bool = False) -> None:
    import pyodbc

    connection = pyodbc.connect(f"DSN={name}", autocommit=True)
    for statement in statements:
        try:
            connection.execute(statement)
        except pyodbc.Error:
            if not forgive:
                raise
    connection.close()


def _read(name: str, table: str) -> pl.DataFrame:
    return read_source(f"odbc://{name}#{table}", Policy()).frame


@pytest.mark.servers
def test_a_table_comes_back_as_it_was_written(source: str) -> None:
    for number, frame in enumerate((FRAME, FRAME.drop("long"))):  # rows one by one, and Arrow batches
        write_target(Microdata(frame), f"odbc://{source}#t {number}", overwrite=False)
        back = _read(source, f"t {number}")
        assert back.columns == frame.columns
        if back.schema["flag"] != pl.Boolean:  # tinyint(1) of MariaDB is a number to its driver
            back = back.with_columns(pl.col("flag").cast(pl.Boolean))
        assert back.to_dicts() == frame.to_dicts()
    write_target(Microdata(FRAME.drop("long").clear()), f"odbc://{source}#t 1", overwrite=True)
    assert _read(source, "t 1").height == 0


@pytest.mark.servers
def test_a_table_that_exists_is_emptied_and_filled_or_refused(source: str) -> None:
    write_target(Microdata(pl.DataFrame({"a": [1], "b": ["x"]})), f"odbc://{source}#kept")
    with pytest.raises(SourceError, match=r"kept exists; add --overwrite"):
        write_target(Microdata(pl.DataFrame({"a": [2], "b": ["y"]})), f"odbc://{source}#kept", overwrite=False)
    write_target(Microdata(pl.DataFrame({"b": ["y", "z"], "a": [2, 3]})), f"odbc://{source}#kept")
    assert _read(source, "kept").select("a", "b").rows() == [(2, "y"), (3, "z")]
    with pytest.raises(SourceError, match="the table has other columns"):
        write_target(Microdata(pl.DataFrame({"c": [1]})), f"odbc://{source}#kept")
    assert _read(source, "kept").height == 2


@pytest.mark.servers
def test_a_write_that_fails_leaves_the_old_rows(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_target(Microdata(pl.DataFrame({"a": [1, 2]})), f"odbc://{source}#kept")
    insert = odbc._insert

    def fail_at_the_end(*arguments: Any) -> None:
        insert(*arguments)
        raise OSError("the line is cut")

    monkeypatch.setattr(odbc, "_insert", fail_at_the_end)
    for table in ("kept", "base"):
        with pytest.raises(SourceError, match="the line is cut"):
            write_target(Microdata(pl.DataFrame({"a": [3]})), f"odbc://{source}#{table}")
    assert _read(source, "kept")["a"].to_list() == [1, 2]
    with pytest.raises(SourceError, match="there is no table 'base'"):
        _read(source, "base")


@pytest.mark.servers
def test_decimals_keep_their_digits_and_views_are_read_only(source: str) -> None:
    _run(
        source,
        "CREATE TABLE decimals (price decimal(10, 2), whole decimal(20, 0), half real)",
        "INSERT INTO decimals VALUES (1.25, 12345678901234567, 0.5)",
        "INSERT INTO decimals VALUES (NULL, NULL, NULL)",
        "CREATE VIEW v AS SELECT price FROM decimals",
    )
    assert _read(source, "decimals").rows() == [(1.25, 12345678901234567, 0.5), (None, None, None)]
    assert _read(source, "v").height == 2
    with pytest.raises(SourceError, match="'v' is a view"):
        write_target(Microdata(pl.DataFrame({"price": [1.0]})), f"odbc://{source}#v")


@pytest.mark.servers
def test_the_command_line_takes_a_data_source(source: str, tmp_path: Path) -> None:
    discreet.write(discreet.read(pl.DataFrame({"age": [30, 40]})), tmp_path / "people.csv")
    done = run_command("convert", "people.csv", f"odbc://{source}#base", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"2 records x 1 attributes written to odbc://{source}#base\n")
    again = run_command("convert", f"odbc://{source}#base", "back.csv", folder=tmp_path)
    assert again.returncode == 0
    assert (tmp_path / "back.csv").read_text() == "age\n30\n40\n"
    refused = run_command("convert", f"odbc://{source}#base", f"odbc://{source}#base", "--overwrite", folder=tmp_path)
    assert refused.returncode == 2
    assert "would overwrite" in refused.stderr


@pytest.mark.servers  # the driver manager, which make check does without
def test_a_connection_string_needs_no_data_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODBCSYSINI", str(tmp_path))
    _install(tmp_path, {})
    with sqlite3.connect(tmp_path / "a.db") as link:
        link.execute("CREATE TABLE t (a integer, b varchar(3))")
        link.execute("INSERT INTO t VALUES (1, 'é')")
    link.close()
    address = f"odbc:///?Driver={{SQLite3}};Database={tmp_path}/a.db;PWD={{a b}}#t"
    assert discreet.read(address).frame.rows() == [(1, "é")]
    assert "a b" not in discreet.read(address).source
    with pytest.raises(SourceError, match="there is no table 'nothing'"):
        discreet.read(address.replace("#t", "#nothing"))


@pytest.mark.parametrize(
    "address",
    [
        "odbc://anna:s3%3Bcr%7Det@clinic#t",
        "odbc:///?Driver={No Such Driver};Server=h;UID=anna;PWD={s3;cr}}et}#t",
        "odbc:///?Driver=x;Authentication=s3%3Bcr%7Det#t",
        "odbc:///?Driver=x;PWD={s3;cr}}et}",
        "odbc://anna:s3;cr}et@clinic@x#t",
        "odbc://s3;cr}et#t",
        "odbc:///?PWD={s3;cr}}et}#t",
    ],
)
def test_a_password_stands_in_no_message(address: str) -> None:
    with pytest.raises(SourceError) as caught:
        discreet.read(address)
    with pytest.raises(SourceError) as refused:
        check_targets({"TARGET": address}, {"SOURCE": address})
    for text in (str(caught.value), str(refused.value), format_place(address), redact_credentials(address)):
        assert SECRET not in text
        assert "s3" not in text, text
        assert "cr}et" not in text, text
    assert "Traceback" not in str(caught.value)


def test_the_environment_gives_user_and_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_ODBC_PASSWORD", SECRET)
    monkeypatch.setenv("DISCREET_ODBC_USER", "anna")
    address = parse_address("odbc://clinic#s.t")
    assert address.url.query["connection"] == "DSN=clinic;UID=anna;PWD={s3;cr}}et}"
    assert (address.name, address.schema, address.table) == ("odbc://clinic#s.t", "s", "t")
    assert SECRET in address.secrets
    assert SECRET not in repr(address)


def test_a_missing_driver_manager_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    database: Any = odbc.Odbc(parse_address("odbc://clinic#t"))
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    with pytest.raises(SourceError, match="odbc://clinic#t: the driver manager unixODBC"):
        database.read()
