"""What only PostgreSQL and MariaDB have: their own types, roles with passwords, zero dates."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa

from discreet.convert import read_source, write_target
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

SECRET = "s3cret#/@ 'x"
WRONG = "wr0ng%23%2F%40%20%27x"


def run(url: str, *statements: str) -> None:
    driver = url.replace("postgresql:", "postgresql+psycopg:").replace("mysql:", "mysql+pymysql:")
    with sa.create_engine(driver, poolclass=sa.NullPool).begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def read(url: str) -> pl.DataFrame:
    return read_source(url, Policy()).frame


@pytest.mark.servers
def test_types_of_postgresql_are_read(postgresql: str) -> None:
    run(
        postgresql,
        "DROP TABLE IF EXISTS kinds",
        "DROP TYPE IF EXISTS mood",
        "CREATE TYPE mood AS ENUM ('glad', 'sad')",
        "CREATE TABLE kinds (n numeric, whole numeric(20), long numeric, price money, id uuid, j jsonb, many int[], m mood, "
        "net inet, span interval, c char(3), small smallint, r real, z timestamptz, tz timetz, tt time)",
        "INSERT INTO kinds VALUES (1.25, 12345678901234567, 1e30, 3.5, '00000000-0000-0000-0000-00000000000a', '{\"a\": 1}', "
        "'{1,2}', 'glad', '10.0.0.1', '1 day', 'ab', 4, 0.5, '2020-01-02 03:04:05+01', '01:02:03+01', '01:02:03')",
        "INSERT INTO kinds (n) VALUES (NULL)",
    )
    frame = read(f"{postgresql}#kinds")
    moment = dt.datetime(2020, 1, 2, 2, 4, 5, tzinfo=dt.UTC)
    assert frame.row(0) == (
        1.25, 12345678901234567, str(10**30), 3.5, "00000000-0000-0000-0000-00000000000a", '{"a": 1}', "{1,2}", "glad",
        "10.0.0.1/32", "1 day", "ab", 4, 0.5, moment, "01:02:03+01", dt.time(1, 2, 3),
    )  # fmt: skip
    assert frame.row(1) == (None,) * 16


@pytest.mark.servers
def test_types_of_mysql_are_read(mysql: str) -> None:
    run(
        mysql,
        "SET sql_mode = ''",
        "DROP TABLE IF EXISTS kinds",
        "CREATE TABLE kinds (b tinyint(1), t tinyint(1), u bigint unsigned, n decimal(10, 2), whole decimal(20, 0), f float, "
        "d date, m datetime(6), tm time, y year, bits bit(3), e enum('a', 'b'), s set('a', 'b'), x blob)",
        "INSERT INTO kinds VALUES (1, 7, 18446744073709551615, 1.25, 12345678901234567, 1.2345678, '0000-00-00', "
        "'2020-01-02 03:04:05.25', '23:59:59', 2020, b'101', 'a', 'a,b', 'text')",
        "INSERT INTO kinds (b, d, tm) VALUES (0, '2020-02-29', '00:00:00')",
    )
    frame = read(f"{mysql}#kinds")
    assert frame.row(0)[:5] == (True, 7, "18446744073709551615", 1.25, 12345678901234567)
    assert frame["f"][0] == pytest.approx(1.2345678, rel=1e-7)
    assert frame.row(0)[6:] == (None, dt.datetime(2020, 1, 2, 3, 4, 5, 250_000), dt.time(23, 59, 59), 2020, 5, "a", "a,b", "text")
    assert frame.row(1)[0] is False
    assert frame["d"].to_list() == [None, dt.date(2020, 2, 29)]


@pytest.mark.servers
def test_infinity_is_an_error_in_mysql_that_names_the_column(mysql: str) -> None:
    with pytest.raises(SourceError, match="'x' holds infinity"):
        write_target(Microdata(pl.DataFrame({"x": [float("inf")]})), f"{mysql}#t")


@pytest.mark.servers
def test_names_that_postgresql_would_truncate_are_an_error(postgresql: str) -> None:
    with pytest.raises(SourceError, match="at most 63 bytes"):
        write_target(Microdata(pl.DataFrame({"x" * 64: [1]})), f"{postgresql}#t")
    with pytest.raises(SourceError, match="at most 63 bytes"):
        write_target(Microdata(pl.DataFrame({"x": [1]})), f"{postgresql}#{'t' * 64}")


@pytest.mark.servers
def test_a_wrong_password_of_postgresql_is_an_error_that_does_not_contain_it(postgresql: str) -> None:
    folder = Path(str(sa.make_url(postgresql).query["host"]))
    hba = folder / "pg_hba.conf"
    hba.write_text("local all keeper scram-sha-256\n" + hba.read_text())
    doubled = SECRET.replace("'", "''")
    run(
        postgresql,
        f"CREATE ROLE keeper LOGIN PASSWORD '{doubled}'",
        "GRANT CREATE, USAGE ON SCHEMA public TO keeper",
        "SELECT pg_reload_conf()",
    )
    _check_passwords(postgresql.replace("//postgres:@", "//keeper:{}@"), "password authentication failed")


@pytest.mark.servers
def test_a_wrong_password_of_mysql_is_an_error_that_does_not_contain_it(mysql: str) -> None:
    doubled = SECRET.replace("'", "''")
    run(mysql, f"CREATE OR REPLACE USER keeper@'%%' IDENTIFIED BY '{doubled}'", "GRANT ALL ON test_data.* TO keeper@'%%'")
    _check_passwords(mysql.replace("//root@", "//keeper:{}@"), "Access denied")


def _check_passwords(url_template: str, message: str) -> None:
    from urllib.parse import quote

    frame = pl.DataFrame({"a": [1]})
    right = url_template.format(quote(SECRET, safe="")) + "#owned"
    write_target(Microdata(frame), right)
    data = read_source(right, Policy())
    assert data.frame.equals(frame)
    assert "s3cret" not in data.source
    wrong = url_template.format(WRONG) + "#owned"
    for access in (lambda: read(wrong), lambda: write_target(Microdata(frame), wrong)):
        with pytest.raises(SourceError, match=message) as caught:
            access()
        _assert_absent("wr0ng", caught.value)


def _assert_absent(secret: str, error: Any) -> None:
    import traceback

    assert secret not in str(error)
    assert secret not in "".join(traceback.format_exception(error))
