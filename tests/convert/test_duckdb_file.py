"""A table of a DuckDB file is replaced by writing the file anew: all else that it holds must come along."""

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

HELD = """
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
    place = tmp_path / "it's.duckdb"
    (tmp_path / "nowhere.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)  # the view names the file from here, and is made only where it is
    with duckdb.connect(str(place)) as link:
        link.execute(HELD)
    (tmp_path / "nowhere.csv").unlink()
    return place


def test_all_else_in_the_file_comes_along(file: Path) -> None:
    write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert b"an old word" not in file.read_bytes()
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with duckdb.connect(str(file)) as link:
        assert link.execute("SELECT x, y FROM a ORDER BY x").fetchall() == [(1, 5), (2, 6)]
        assert link.execute("SELECT nextval('q'), one_more(1), 'sad'::mood").fetchall() == [(7, 2, "sad")]
        assert link.execute("SELECT * FROM seen ORDER BY w").fetchall() == [("x",), ("y",)]
        assert link.execute("SELECT index_name FROM duckdb_indexes()").fetchall() == [("by_y",)]
        with pytest.raises(duckdb.ConstraintException):
            link.execute("INSERT INTO b VALUES (9)")


def test_rights_and_links_stay(file: Path) -> None:
    file.chmod(0o640)
    (file.parent / "link.duckdb").symlink_to(file)
    write_target(Microdata(NEW), f"duckdb:///{file.parent}/link.duckdb#s.t")
    assert (file.parent / "link.duckdb").is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert read_source(f"duckdb:///{file}#s.t", Policy()).frame.equals(NEW)


def test_a_file_that_somebody_else_has_open_stays_as_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duckdb_file, "_WAIT", 0.2)
    before = file.read_bytes()
    with duckdb.connect(str(file), read_only=True), pytest.raises(SourceError, match="cannot be written"):
        write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_what_others_need_cannot_be_replaced(file: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written"):
        write_target(Microdata(NEW), f"duckdb:///{file}#a")
    with duckdb.connect(str(file)) as link:
        assert link.execute("SELECT count(*) FROM a").fetchall() == [(2,)]


def test_a_log_that_a_killed_writer_left_is_taken_in(file: Path) -> None:
    link = duckdb.connect(str(file))
    link.execute("PRAGMA disable_checkpoint_on_shutdown")
    link.execute("CREATE TABLE late AS SELECT 42 AS n")
    link.close()
    assert file.with_name(file.name + ".wal").exists()
    write_target(Microdata(NEW), f"duckdb:///{file}#s.t")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    with duckdb.connect(str(file)) as found:
        assert found.execute("SELECT n FROM late").fetchall() == [(42,)]
