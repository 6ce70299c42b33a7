"""Files that would expand to far more than they hold are refused before they are read."""

from __future__ import annotations

import gzip
import resource
import zipfile
from pathlib import Path

import polars as pl
import pytest

import discreet
from discreet.convert.files.expansion import check_expansion
from discreet.errors import DataError, MemoryLimitError
from discreet.model.policy import Policy

SHEET = (
    '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c></row>{rows}</sheetData></worksheet>'
)


def workbook(path: Path, rows: str) -> Path:
    """A small workbook whose sheet has these rows."""
    pl.DataFrame({"age": [1]}).write_excel(path)
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, SHEET.format(rows=rows) if name == "xl/worksheets/sheet1.xml" else content)
    return path


@pytest.mark.trust("Bad input", "A small file that stands for a huge table is refused before it is read")
@pytest.mark.parametrize(
    "cell", ['<row r="2"><c r="XFD1048576"><v>1</v></c></row>', "<row r='2'><c  t='n' r = 'xfd1048576'><v>1</v></c></row>"]
)
def test_a_workbook_with_one_far_cell_is_refused(tmp_path: Path, cell: str) -> None:
    path = workbook(tmp_path / "far.xlsx", cell)
    assert path.stat().st_size < 10_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match=r"row 1,048,576 and column 16,384.*delete empty rows"):
        discreet.read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000, "kilobytes"


@pytest.mark.parametrize("prefix", ["", '<row r="2"><c><v>1</v></c></row>' * 3])
def test_cells_without_a_reference_are_counted(tmp_path: Path, prefix: str) -> None:
    path = workbook(tmp_path / "far.xlsx", f'{prefix}<row r="1000000">{"<c><v>1</v></c>" * 16_000}</row>')
    assert path.stat().st_size < 10_000
    with pytest.raises(DataError, match=r"row 1,000,000 and column 16,000"):
        discreet.read(path)
    rows = "".join(f"<row><c t='n'><v>{at}</v></c><c/></row>" for at in range(200))
    check_expansion(workbook(tmp_path / "near.xlsx", rows), 64 * 201 * 2 + 10_000)


def test_an_ordinary_workbook_is_read(tmp_path: Path) -> None:
    path = workbook(tmp_path / "near.xlsx", '<row r="2"><c r="A2"><v>1</v></c></row>')
    check_expansion(path, 1e6)
    assert len(discreet.read(path)) == 1


def test_a_gzip_file_is_bounded_by_what_it_expands_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "zeros.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a\n")
        for _ in range(200):
            file.write(b"0\n" * 500_000)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(DataError, match="expands to more than 50 MB of text; at most 50 MB are allowed"):
        check_expansion(path, 50e6)
    check_expansion(path, 500e6)
    monkeypatch.setenv("DISCREET_MEMORY", "100MB")
    with pytest.raises(MemoryLimitError, match="decompressed text needs about"):
        discreet.read(path)


def test_a_parquet_file_is_bounded_by_its_rows_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "constant.parquet"
    pl.DataFrame({f"c{number}": pl.repeat(1, 3_000_000, eager=True) for number in range(4)}).write_parquet(path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(DataError, match=r"3,000,000 records of 4 columns, about 96 MB; at most 50 MB are allowed"):
        check_expansion(path, 50e6)
    check_expansion(path, 100e6)
    assert len(discreet.read(path, Policy())) == 3_000_000
