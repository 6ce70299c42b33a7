"""Real servers for the converter's tests, and tables to send through it."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

ODD = ["01234", "true", "", " ", "NaN", '"', "=1+1", "2020-01-02", "1,5", "\\N"]
MOMENTS = st.datetimes(dt.datetime(1902, 1, 1), dt.datetime(2999, 12, 31)).map(lambda x: x.replace(microsecond=0))
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), max_size=12)
COLUMNS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "integer": (pl.Int64, st.integers(-(2**63), 2**63 - 1)),
    "small": (pl.Int64, st.integers(-9, 9)),
    "float": (pl.Float64, st.floats(allow_nan=False)),
    "finite": (pl.Float64, st.floats(-1e60, 1e60).filter(lambda x: x == 0 or abs(x) > 1e-60)),
    "text": (pl.String, st.one_of(WORDS, st.sampled_from(ODD))),
    "boolean": (pl.Boolean, st.booleans()),
    "date": (pl.Date, st.dates(dt.date(1902, 1, 1), dt.date(2999, 12, 31))),
    "moment": (pl.Datetime("us"), MOMENTS),
}  # fmt: skip


@pytest.fixture(scope="session")
def tables() -> Any:
    """A strategy of tables: some of the kinds of columns, each with nulls, of any small number of rows."""

    def made(kinds: list[str], least: int = 0) -> st.SearchStrategy[pl.DataFrame]:
        rows = st.integers(least, 8)
        return rows.flatmap(
            lambda n: st.fixed_dictionaries(
                {kind: st.lists(st.none() | COLUMNS[kind][1], min_size=n, max_size=n) for kind in kinds}
            ).map(
                lambda columns: pl.DataFrame(
                    {kind: pl.Series(values, dtype=COLUMNS[kind][0]) for kind, values in columns.items()}
                )
            )
        )

    return made


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A private PostgreSQL server; its URL."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pgserver asks for a runtime folder that not every machine has
        import pgserver

    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mysql() -> Iterator[str]:
    """A private MariaDB or MySQL server on a port of this machine alone; its URL."""
    program = next(
        (found for name in ("mariadbd", "mysqld") for place in (None, "/usr/sbin") if (found := _which(name, place))), None
    )
    if program is None:
        pytest.fail("no MariaDB or MySQL server is installed; run: bash tools/servers.sh (apt-get install mariadb-server)")
    folder = Path(tempfile.mkdtemp(prefix="my"))
    data = folder / "data"
    user = ["--user=root"] if os.geteuid() == 0 else []
    if installer := _which("mariadb-install-db", None) or _which("mysql_install_db", None):
        first = [
            installer,
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *user,
        ]
    else:
        first = [program, "--no-defaults", "--initialize-insecure", f"--datadir={data}", *user]
    subprocess.run(first, check=True, capture_output=True)
    port = _free_port()
    options = [
        f"--datadir={data}",
        f"--socket={folder}/s",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        f"--pid-file={folder}/pid",
    ]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([program, "--no-defaults", *options, *user], stdout=log, stderr=log)
    try:
        _wait_for(port, server, folder / "log")
        import pymysql

        with pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True) as link, link.cursor() as cursor:
            cursor.execute("CREATE DATABASE test_data CHARACTER SET utf8mb4")
        yield f"mysql://root@127.0.0.1:{port}/test_data"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "duckdb", "postgresql", "mysql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database of each system."""
    if request.param in ("sqlite", "duckdb"):
        return f"{request.param}:///{tmp_path}/file.db"
    return str(request.getfixturevalue(request.param))


def _which(name: str, place: str | None) -> str | None:
    return shutil.which(name, path=place)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            pytest.fail(f"the database server stopped: {log.read_text(errors='replace')[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the database server did not answer within 30 s")
