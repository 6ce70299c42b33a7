"""Zip archives and older workbooks as uploads: read like the table inside, bounded, under the name that the user gave."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
import xlwt

from discreet.errors import DataError, SourceError
from discreet.web.jobs.work import import_
from discreet.web.projects.datasets import format_suffix


def _import(folder: Path, source: Path, name: str, **limits: float) -> dict[str, Any]:
    inputs = {
        "project": {"name": "P"}, "policy": {}, "folder": str(folder), "job": "j1", "name": name, "source": str(source),
        "limits": limits, "parameters": {},
    }  # fmt: skip
    return import_(cast("Any", inputs), cast("Any", None))


def _zip(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(f"{name}.csv", text)
    return path


def test_the_table_of_an_uploaded_archive_is_imported(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "0123.zip", people="id,age\n1,30\n2,40\n")
    row = _import(tmp_path, archive, "people.zip")["row"]
    assert (row["records"], row["name"]) == (2, "people.zip")
    assert pl.read_parquet(tmp_path / row["file"])["age"].to_list() == [30, 40]
    assert format_suffix("People.ZIP") == ".zip"


def test_an_archive_that_expands_beyond_the_servers_limit_or_holds_several_tables_is_refused(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "0123.zip", people="x\n" + "0\n" * 2_000_000)
    with pytest.raises(DataError, match=r"people\.zip: 'people\.csv' expands to more than"):
        _import(tmp_path, archive, "people.zip", expanded_bytes=1e6)
    several = _zip(tmp_path / "0124.zip", a="x\n1\n", b="x\n1\n")
    with pytest.raises(SourceError, match=r"two\.zip: contains 2 tables \(a\.csv, b\.csv\)") as caught:
        _import(tmp_path, several, "two.zip")
    assert "0124" not in str(caught.value), "the name on the server is nobody's business"
    assert not list((tmp_path / "data").glob("*.parquet"))


def test_an_older_workbook_is_imported(tmp_path: Path) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("s")
    for row, cells in enumerate((("id", "age", "sex"), (1, 30, "f"), (2, 40, "m"))):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    book.save(str(tmp_path / "0123.xls"))
    row = _import(tmp_path, tmp_path / "0123.xls", "people.xls")["row"]
    assert row["records"] == 2
