"""Standard streams, several files, archives and older workbooks as sources and targets."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from pathlib import Path

import polars as pl
import pytest
import xlwt
from command_line import run_command, run_on_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.convert.places import archives
from discreet.convert.places.archives import unpack_table
from discreet.errors import DataError, SourceError

POLICY = """
attributes: {id: {role: identifier}, age: {role: key}, sex: {role: key}}
risk: {k_anonymity: {}}
plan: {steps: [{method: remove_identifiers}, {method: rounding, columns: [age], base: 20}]}
"""
TABLE = b"id,age,sex\n1,30,f\n2,40,m\n3,30,f\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.yaml").write_text(POLICY)
    (tmp_path / "a.csv").write_bytes(TABLE)
    (tmp_path / "b.csv").write_text("sex,id,age\nf,4,50\nm,5,51\n")
    return tmp_path


def _parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _arrow_stream(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_ipc_stream(file)
    return file.getvalue()


def test_every_command_reads_standard_input(folder: Path) -> None:
    release = folder / "release.csv"
    release.write_text("age,sex\n40,f\n40,m\n40,f\n")
    for arguments in (
        ("risk", "-", "-p", "p.yaml", "--json"),
        ("analyze", "-", "--json"),
        ("loss", "-", "release.csv", "-p", "p.yaml", "--json"),
        ("assess", "-", "release.csv", "-p", "p.yaml", "--json"),
        ("mask", "-", "masked.csv", "-p", "p.yaml", "--json"),
        ("convert", "-", "copy.csv"),
    ):
        done = run_command(*arguments, folder=folder, stdin=TABLE)
        assert done.returncode in (0, 1), (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert (folder / "copy.csv").read_bytes() == TABLE
    assert len((folder / "masked.csv").read_text().splitlines()) == 4


def test_standard_output_holds_the_table_and_nothing_else(folder: Path) -> None:
    done = run_command("mask", "-", "-", "-p", "p.yaml", folder=folder, stdin=TABLE)
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["40,f", "40,f", "40,m", "age,sex"]
    assert "Release" in done.stderr
    refused = run_command("mask", "-", "-", "-p", "p.yaml", "--json", folder=folder, stdin=TABLE)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_stream_is_recognised_by_its_first_bytes_or_by_its_named_format(folder: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "zip": ["01", "02"]})
    for content in (_parquet(frame), _arrow_stream(frame), b"id,zip\n1,01\n2,02\n"):
        for form in ("parquet", "arrow"):
            done = run_on_bytes("convert", "-", "-", "--to", form, folder=folder, stdin=content)
            assert done.returncode == 0, done.stderr
            read = pl.read_parquet if form == "parquet" else pl.read_ipc
            assert read(io.BytesIO(done.stdout)).equals(frame)
    tabs = run_command("convert", "-", "-", "--from", "tsv", folder=folder, stdin=b"a\tb\n1\tx,y\n")
    assert tabs.stdout == 'a,b\n1,"x,y"\n'


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("loss", "-", "-", "-p", "p.yaml"), "standard input (-) can be read only once"),
        (("risk", "a.csv", "-p", "p.yaml", "--records", "-"), "only a table can be written to standard output"),
        (("convert", "a.csv", "c.csv", "--from", "csv"), "--from is the format of a standard stream"),
        (("convert", "-", "c.csv", "--from", "csw"), "'csw' is not a format of a stream; did you mean 'csv'?"),
        (("risk", "-", "a.csv", "-p", "p.yaml"), "- cannot be one of several sources"),
        (("convert", "-", "c.csv"), "standard input: is empty"),
        (("convert", "a.csv", "b.csv", "p.yaml", "--overwrite"), "with several sources the last argument is the target"),
        (("convert", "a.csv", "a.csv", "c.csv"), "a.csv: is named twice"),
        (("convert", "x*.csv", "c.csv"), "x*.csv: matches no file"),
        (("convert", "*.csv", "a.csv", "--overwrite"), "would overwrite SOURCE a.csv"),
        (("convert", "two.zip", "c.csv"), "contains 2 tables (a.csv, b.csv); name one, such as two.zip#a.csv"),
        (("convert", "two.zip#c.csv", "c.csv"), "has no member 'c.csv'"),
        (("convert", "a.csv", "c.zip"), "archives are read, not written"),
        (("convert", "a.csv", "c.xls"), "c.xls: cannot be written: workbooks of this format can be read but not written"),
        (("convert", "damaged.zip", "c.csv"), "damaged.zip: is damaged"),
    ],
)
def test_a_wrong_call_gets_one_sentence_and_nothing_is_written(folder: Path, arguments: tuple[str, ...], sentence: str) -> None:
    with zipfile.ZipFile(folder / "two.zip", "w") as archive:
        archive.write(folder / "a.csv", "a.csv")
        archive.write(folder / "b.csv", "b.csv")
    (folder / "damaged.zip").write_bytes((folder / "two.zip").read_bytes()[:60])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run_command(*arguments, folder=folder)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.replace("│", " ").split()), done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_several_files_are_one_table_with_columns_by_name(folder: Path) -> None:
    for source in (["a.csv", "b.csv"], ["[ab].csv"], ["?.csv"]):
        done = run_command("convert", *source, "all.parquet", "-p", "p.yaml", "--overwrite", folder=folder)
        assert done.returncode == 0, done.stderr
        assert pl.read_parquet(folder / "all.parquet").rows() == [
            (1, 30, "f"), (2, 40, "m"), (3, 30, "f"), (4, 50, "f"), (5, 51, "m"),
        ]  # fmt: skip
        (folder / "all.parquet").unlink()
    data = discreet.read([folder / "b.csv", folder / "a.csv"])
    assert data.frame.columns == ["sex", "id", "age"]
    assert data.notes[0] == f"2 files were read as one table, in this order: {folder}/b.csv, {folder}/a.csv"
    with pytest.raises(SourceError, match="would overwrite"):
        discreet.write(data, folder / "b.csv", overwrite=True)
    measured = run_command("risk", "a.csv", "b.csv", "-p", "p.yaml", "--json", folder=folder)
    assert '"records": 5' in measured.stdout


def test_a_missing_column_is_named_with_its_file(folder: Path) -> None:
    (folder / "c.csv").write_text("id,age,sexx\n1,2,f\n")
    for verb in (discreet.read, discreet.scan):
        with pytest.raises(SourceError, match=r"c\.csv: has no column 'sex', which .*a\.csv has; did you mean 'sexx'"):
            verb([folder / "a.csv", folder / "c.csv"], {"attributes": {"age": {"role": "key"}}})


def test_types_of_several_files_are_reconciled_without_losing_digits(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("code,born,empty,x\n1.50,03/04/1999,,1\n")
    (tmp_path / "2.csv").write_text("code,born,empty,x\nA,25/12/1980,7,2.5\n")
    frame = discreet.read(tmp_path / "?.csv").frame
    assert frame["code"].to_list() == ["1.50", "A"]
    assert frame["empty"].to_list() == [None, 7]
    assert frame["x"].to_list() == [1.0, 2.5]
    assert frame["born"].dt.year().to_list() == [1999, 1980]
    frame.select("x").write_parquet(tmp_path / "n.parquet")
    pl.DataFrame({"x": ["text"]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(SourceError, match=r"t\.parquet: the column 'x' is String, in .*n\.parquet it is Float64"):
        discreet.read([tmp_path / "n.parquet", tmp_path / "t.parquet"])


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | st.sampled_from("xyz")), max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_measuring_several_files_is_measuring_all_their_rows(parts: list[list[tuple[int | None, str | None]]]) -> None:
    schema = {"n": pl.Int64, "t": pl.String}
    policy = {"attributes": {"n": {"role": "key"}, "t": {"role": "key"}}}
    with tempfile.TemporaryDirectory() as name:
        for number, rows in enumerate(parts):
            pl.DataFrame(rows, schema=schema, orient="row").write_parquet(f"{name}/{number}.parquet")
        whole = pl.DataFrame([row for rows in parts for row in rows], schema=schema, orient="row")
        assert discreet.read(f"{name}/*.parquet").frame.equals(whole)
        scanned = discreet.risk(discreet.scan(f"{name}/*.parquet", policy, ["k_anonymity"]), ["k_anonymity"])
        assert (
            scanned["k_anonymity"].to_dict()
            == discreet.risk(discreet.read(whole, policy), ["k_anonymity"])["k_anonymity"].to_dict()
        )


def test_a_table_in_an_archive_is_read_under_the_archives_name(folder: Path) -> None:
    with zipfile.ZipFile(folder / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.md", "about")
        archive.writestr("__MACOSX/._a.csv", "x")
        archive.write(folder / "a.csv", "data/a.csv")
        archive.writestr("../../escape.csv", "id\n1\n")
    data = discreet.read(folder / "one.zip")
    assert data.source == f"{folder}/one.zip#data/a.csv"
    assert data.frame.height == 3
    before = set(folder.parent.rglob("*"))
    assert discreet.read(f"{folder}/one.zip#../../escape.csv").frame.rows() == [(1,)]
    assert set(folder.parent.rglob("*")) == before
    with pytest.raises(SourceError, match=r"one\.zip#data/a\.csv: the policy's read.text names 'z'"):
        discreet.read(folder / "one.zip", {"read": {"text": ["z"]}})
    assert '"records": 3' in run_command("risk", "one.zip", "-p", "p.yaml", "--json", folder=folder).stdout


def test_an_archive_expands_to_a_bounded_size_whatever_its_directory_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * 5_000_000)
    with pytest.raises(DataError, match="expands to more than"):
        unpack_table(tmp_path / "bomb.zip", None, "bomb.zip", 1_000_000)
    monkeypatch.setattr(archives, "MAX_EXPANDED_BYTES", 1e6)
    with pytest.raises(DataError, match=r"bomb\.zip: 'a\.csv' expands to more than"):
        discreet.read(tmp_path / "bomb.zip")


def test_private_copies_are_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = folder / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    with zipfile.ZipFile(folder / "one.zip", "w") as archive:
        archive.write(folder / "a.csv", "a.csv")
    data = discreet.scan(folder / "one.zip", {"attributes": {"age": {"role": "key"}}}, ["k_anonymity"])
    inside = next(copies.iterdir())
    assert oct(inside.stat().st_mode & 0o777) == "0o700"
    assert data.frame.height == 3  # the copy is still there where the table itself is asked for
    del data
    assert not list(copies.iterdir())


def test_older_workbooks_and_opendocument_are_read(tmp_path: Path) -> None:
    book = xlwt.Workbook()
    sheet = book.add_sheet("people")
    for row, cells in enumerate((("id", "name", "height"), (1, "Ana", 1.5), (2, "Bo", 2.25))):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    book.save(str(tmp_path / "t.xls"))
    assert discreet.read(tmp_path / "t.xls").frame.rows() == [(1, "Ana", 1.5), (2, "Bo", 2.25)]
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'.format
    rows = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in (("id", "b"), ("x", "y"), ("z", "u"))
    )
    content = (
        '<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
        f'<office:body><office:spreadsheet><table:table table:name="s">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(tmp_path / "t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    assert discreet.read(tmp_path / "t.ods").frame.rows() == [("x", "y"), ("z", "u")]


def test_a_file_whose_name_has_a_wildcard_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text("x\n1\n")
    (tmp_path / "a1.csv").write_text("x\n2\n")
    assert discreet.read(tmp_path / "a[1].csv").frame.rows() == [(1,)]
    assert os.listdir(tmp_path)
