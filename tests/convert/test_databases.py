"""The same tests on every database system: SQLite, DuckDB, PostgreSQL, MySQL/MariaDB."""

from __future__ import annotations

import datetime as dt
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.convert import convert, read_source, write_target
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

FRAME = pl.DataFrame(
    {
        "i": [1, None, -(2**63)],
        "big": [2**53 + 1, 0, None],
        "f": [1.5, None, -0.1],
        "s": ["01234", "", None],
        "odd": ["x%s'\"\\`\n", "ü€😀", ":a ?"],
        "b": [True, None, False],
        "d": [dt.date(2020, 2, 29), None, dt.date(1850, 1, 1)],
        "t": [dt.datetime(2020, 1, 2, 3, 4, 5, 6), None, None],
        "none": pl.Series([None] * 3, dtype=pl.String),
        "no number": pl.Series([None] * 3, dtype=pl.Int64),
        "na\"me%s `w]; DROP TABLE x; -- :x (y)'": [1, 2, 3],
    }
)
HOSTILE = "x\"; DROP TABLE kept; -- `%s'[".replace("%", "%25")


def read(url: str, **policy: Any) -> pl.DataFrame:
    return read_source(url, Policy.from_dict(policy)).frame


@pytest.mark.servers
def test_a_written_table_is_read_back_unchanged(database: str) -> None:
    url = f"{database}#as_written"
    write_target(Microdata(FRAME), url)
    result = read(url)
    assert result.equals(FRAME)
    assert result.schema == FRAME.schema


@pytest.mark.servers
def test_overwriting_replaces_the_table_and_leaves_no_temporary_table(database: str) -> None:
    url = f"{database}#again"
    for rows in (3, 1, 0):
        write_target(Microdata(FRAME.head(rows)), url)
        result = read(url)
        assert result.equals(FRAME.head(rows))
        assert result.schema == FRAME.schema
    assert not [name for name in table_names(database) if name.startswith("discreet_")]


@pytest.mark.servers
def test_a_table_name_with_sql_is_quoted(database: str) -> None:
    write_target(Microdata(FRAME), f"{database}#kept")
    url = f"{database}#{HOSTILE}"
    with pytest.raises(SourceError, match="there is no table"):
        read(url)
    write_target(Microdata(FRAME.select("i")), url)
    assert read(url).equals(FRAME.select("i"))
    assert read(f"{database}#kept").equals(FRAME)


@pytest.mark.servers
def test_a_table_name_with_a_dot_is_written_in_quotes(database: str) -> None:
    url = f'{database}#"a.b"'
    write_target(Microdata(FRAME.select("i")), url)
    assert read(url).equals(FRAME.select("i"))
    assert "a.b" in table_names(database)


@pytest.mark.servers
def test_a_missing_table_is_named_in_the_error(database: str) -> None:
    write_target(Microdata(FRAME), f"{database}#kept")
    with pytest.raises(SourceError, match=r"#nobody: there is no table 'nobody'$"):
        read(f"{database}#nobody")
    with pytest.raises(SourceError, match="nowhere"):
        read(f"{database}#nowhere.nobody")


@pytest.mark.servers
def test_writing_to_a_missing_schema_is_an_error(database: str) -> None:
    with pytest.raises(SourceError, match="cannot be written"):
        write_target(Microdata(FRAME), f"{database}#nowhere.t")


@pytest.mark.servers
def test_a_view_is_read_and_never_replaced(database: str) -> None:
    write_target(Microdata(FRAME.select("i")), f"{database}#under")
    run_sql(database, "DROP VIEW IF EXISTS over_it", "CREATE VIEW over_it AS SELECT * FROM under")
    assert read(f"{database}#over_it").equals(FRAME.select("i"))
    with pytest.raises(SourceError, match=r"view|not a table"):
        write_target(Microdata(FRAME), f"{database}#over_it")
    run_sql(database, "DROP VIEW over_it")


@pytest.mark.servers
def test_a_schema_is_given_before_a_dot(database: str) -> None:
    if database.startswith("sqlite"):
        url = f"{database}#main.t"
    else:
        run_sql(database, "DROP SCHEMA IF EXISTS other" + (" CASCADE" if "mysql" not in database else ""), "CREATE SCHEMA other")
        url = f"{database}#other.t"
    write_target(Microdata(FRAME), url)
    assert read(url).equals(FRAME)
    assert ("t" in table_names(database)) == database.startswith("sqlite")


@pytest.mark.servers
def test_missing_markers_of_the_policy_apply_to_database_tables(database: str) -> None:
    frame = pl.DataFrame({"age": [41, 999], "state": ["MI", "n/a"]})
    write_target(Microdata(frame), f"{database}#marked")
    result = read(f"{database}#marked", missing=["n/a"], attributes={"age": {"missing": ["999"]}})
    assert result.rows() == [(41, "MI"), (None, None)]


@pytest.mark.servers
def test_a_file_is_converted_to_a_table_and_back(database: str, tmp_path: Path) -> None:
    Microdata(FRAME).frame.write_parquet(tmp_path / "in.parquet")
    assert convert(tmp_path / "in.parquet", f"{database}#way", Policy(), overwrite=True) == FRAME.shape
    assert convert(f"{database}#way", tmp_path / "out.parquet", Policy()) == FRAME.shape
    assert pl.read_parquet(tmp_path / "out.parquet").equals(FRAME)


@pytest.mark.servers
def test_a_failed_write_leaves_the_old_table(database: str) -> None:
    write_target(Microdata(FRAME), f"{database}#old")
    twice = pl.DataFrame({"a": [1], "A" if "postgres" not in database else "x" * 64: [2]})  # one name to most databases
    with pytest.raises(SourceError, match="#old"):
        write_target(Microdata(twice), f"{database}#old")
    assert read(f"{database}#old").equals(FRAME)
    assert not [name for name in table_names(database) if name.startswith("discreet_")]


KILLED = """
import os, signal, sys, importlib
import polars as pl
from discreet.convert import write_target
from discreet.model.microdata import Microdata

url, module = sys.argv[1:]
target = importlib.import_module("discreet.convert.databases." + module)
quoted = target._quoted

def killing(*parts):
    if len(parts) == 2 and parts[-1] == "held":  # the moment before the new table takes the old one's place
        os.kill(os.getpid(), signal.SIGKILL)
    return quoted(*parts)

target._quoted = killing
write_target(Microdata(pl.DataFrame({"new": [1]})), url)
"""


@pytest.mark.servers
def test_a_killed_write_leaves_the_old_table(database: str) -> None:
    url = f"{database}#held"
    write_target(Microdata(FRAME), url)
    module = {"sqlite": "sqlite_file", "duckdb": "duckdb_file"}.get(database.partition(":")[0], database.partition(":")[0])
    done = subprocess.run([sys.executable, "-c", KILLED, url, module], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert read(url).equals(FRAME)
    write_target(Microdata(FRAME.head(1)), url)
    assert read(url).equals(FRAME.head(1))
    for name in [name for name in table_names(database) if name.startswith("discreet_")]:
        assert "mysql" in database, "a temporary table remains although the database could have rolled it back"
        run_sql(database, f"DROP TABLE {name}")


@pytest.mark.servers
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_tables_are_read_back_unchanged(database: str, tables: Any, data: st.DataObject) -> None:
    kinds = ["integer", "finite", "text", "boolean", "date", "moment"]
    kinds += [] if "mysql" in database else ["float"]
    frame = data.draw(tables(kinds))
    write_target(Microdata(frame), f"{database}#random")
    result = read(f"{database}#random")
    assert result.equals(frame)
    assert result.schema == frame.schema


def table_names(url: str) -> list[str]:
    if url.startswith("duckdb"):
        import duckdb

        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            return [
                name
                for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main'").fetchall()
            ]
    import sqlalchemy as sa

    return sa.inspect(_engine(url)).get_table_names()


def run_sql(url: str, *statements: str) -> None:
    if url.startswith("duckdb"):
        import duckdb

        with duckdb.connect(url.removeprefix("duckdb:///")) as connection:
            for statement in statements:
                connection.execute(statement)
        return
    import sqlalchemy as sa

    with _engine(url).begin() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def _engine(url: str) -> Any:
    import sqlalchemy as sa

    for plain, driver in (("postgresql:", "postgresql+psycopg:"), ("mysql:", "mysql+pymysql:")):
        url = url.replace(plain, driver, 1) if url.startswith(plain) else url
    return sa.create_engine(url, poolclass=sa.NullPool)
