"""Replacing a table rewrites the DuckDB file: all other objects in it must be preserved."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest

from discreet.convert import read_source, write_target
from discreet.convert.databases import duckdb_file
from discreet.errors import SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

OBJECTS = """
CREATE SCHEMA s;
CREATE SEQUENCE q START 5;
CREATE TABLE a (x INT PRIMARY KEY, y INT DEFAULT nextval('q'));
INSERT INTO a (x) VALUES (1), (2);
CREATE TABLE b (z INT REFERENCES a (x));
INSERT INTO b VALUES (1);
CREATE INDEX by_y ON a (y);
CREATE MACRO one_more(i) AS i + 1;
CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE TABLE s.t (w VARCHAR);
INSERT INTO s.t VALUES ('an old word');
CREATE VIEW seen AS SELECT * FROM s.t;
CREATE VIEW outside AS SELECT * FROM read_csv('nowhere.csv');
"""
NEW = pl.DataFrame({"w": ["x", "y"]})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "it's.duckdb"
    (tmp_path / "nowhere.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)  # creating the view requires the file, relative to the working directory
    with duckdb.connect(str(path)) as connection:
        connection.execute(OBJECTS)
    (tmp_path / "nowhere.csv").unlink()
    return path


def test_all_other_objects_of_the_file_are_preserved(file: Path) -> None:
    write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert b"an old word" not in file.read_bytes()
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with duckdb.connect(str(file)) as connection:
        assert connection.execute("SELECT x, y FROM a ORDER BY x").fetchall() == [(1, 5), (2, 6)]
        assert connection.execute("SELECT nextval('q'), one_more(1), 'sad'::mood").fetchall() == [(7, 2, "sad")]
        assert connection.execute("SELECT * FROM seen ORDER BY w").fetchall() == [("x",), ("y",)]
        assert connection.execute("SELECT index_name FROM duckdb_indexes()").fetchall() == [("by_y",)]
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO b VALUES (9)")


def test_permissions_and_symbolic_links_are_preserved(file: Path) -> None:
    file.chmod(0o640)
    (file.parent / "link.duckdb").symlink_to(file)
    write_target(Microdata(NEW), f"duckdb:///{file.parent}/link.duckdb#s.t")
    assert (file.parent / "link.duckdb").is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert read_source(f"duckdb:///{file}#s.t", Policy()).frame.equals(NEW)


def test_a_file_that_another_process_has_open_is_not_changed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_file, "_WAIT", 0.2)
    before = file.read_bytes()
    with duckdb.connect(str(file), read_only=True), pytest.raises(SourceError, match="cannot be written"):
        write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_table_that_a_foreign_key_refers_to_cannot_be_replaced(file: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written"):
        write_target(Microdata(NEW), f"duckdb:///{file}#a")
    with duckdb.connect(str(file)) as connection:
        assert connection.execute("SELECT count(*) FROM a").fetchall() == [(2,)]


def test_the_write_ahead_log_of_a_killed_writer_is_applied(file: Path) -> None:
    connection = duckdb.connect(str(file))
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("CREATE TABLE late AS SELECT 42 AS n")
    connection.close()
    assert file.with_name(file.name + ".wal").exists()
    write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with duckdb.connect(str(file)) as reopened:
        assert reopened.execute("SELECT n FROM late").fetchall() == [(42,)]
