"""A damaged file, or one of another format than its suffix: one sentence that names it, whatever its bytes are."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import xlwt
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.convert import convert, read_source, write_target
from discreet.convert.files.formats import FORMATS
from discreet.errors import PolicyError, SourceError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "c": [0.5, None, 2.0]})
KINDS = sorted({form.name: suffix for suffix, form in reversed(FORMATS.items())}.values())
RELAXED = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_error(path: Path) -> str:
    """The message of the SourceError that reading raises."""
    with pytest.raises(SourceError) as caught:
        read_source(path, Policy())
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def write_sample(folder: Path, suffix: str) -> Path:
    path = folder / f"good{suffix}"
    if suffix == ".sas7bdat":
        path.write_bytes(b"\0" * 200)
    elif suffix == ".xls":
        book = xlwt.Workbook()
        sheet = book.add_sheet("data")
        for row, cells in enumerate([FRAME.columns, *FRAME.rows()]):
            for column, cell in enumerate(cells):
                sheet.write(row, column, cell)
        book.save(str(path))
    else:
        write_target(Microdata(FRAME), path)
    return path


@pytest.mark.parametrize("suffix", KINDS)
def test_a_missing_file_or_a_folder_is_a_clear_error(tmp_path: Path, suffix: str) -> None:
    assert "no such file" in read_error(tmp_path / f"none{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder" in read_error(tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", [suffix for suffix in KINDS if suffix not in (".csv", ".tsv")])
def test_text_with_the_suffix_of_another_format_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text("a,b\n1,2\n" * 100)
    read_error(path)


@pytest.mark.parametrize("suffix", KINDS)
def test_an_empty_file_or_parquet_with_another_suffix_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"")
    read_error(path)
    if suffix not in (".parquet", ".pq"):
        FRAME.write_parquet(path)
        read_error(path)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".xlsx", ".csv.gz", ".dta"])
def test_a_truncated_file_is_an_error(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_target(Microdata(pl.concat([FRAME] * 5000)), path)
    whole = path.read_bytes()
    for part in (0.3, 0.6, 0.95):
        path.write_bytes(whole[: int(len(whole) * part)])
        read_error(path)


def error_message(run: Callable[[], object]) -> str:
    """The message of a SourceError, or empty; any other exception fails the test."""
    try:
        run()
    except SourceError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("suffix", KINDS)
@RELAXED
@given(content=st.binary(max_size=300))
def test_any_bytes_give_a_table_or_a_source_error(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    message = error_message(lambda: read_source(path, Policy()))
    assert not message or message.startswith(str(path))


@pytest.mark.parametrize("suffix", [suffix for suffix in KINDS if suffix != ".sas7bdat"])
@RELAXED
@given(data=st.data())
def test_a_damaged_file_gives_a_table_or_a_source_error(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    path = tmp_path / f"good{suffix}"
    if not path.exists():
        write_sample(tmp_path, suffix)
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    broken = tmp_path / f"t{suffix}"
    broken.write_bytes(bytes(whole))
    message = error_message(lambda: read_source(broken, Policy()))
    assert not message or message.startswith(str(broken))


@RELAXED
@given(content=st.text(st.sampled_from('a1,;"\n\r\t \0é.-+|'), max_size=60))
def test_any_text_gives_a_table_or_a_source_error(tmp_path: Path, content: str) -> None:
    path, target = tmp_path / "t.csv", tmp_path / "t.parquet"
    path.write_bytes(content.encode())
    message = error_message(lambda: read_source(path, Policy()))
    assert not message or message.startswith(str(path))
    assert bool(message) == bool(error_message(lambda: convert(path, target, Policy(), overwrite=True)))
    if not message:
        assert pl.read_parquet(target).equals(read_source(path, Policy()).frame)


def test_an_unknown_or_missing_suffix_is_an_error(tmp_path: Path) -> None:
    assert "did you mean '.csv'" in read_error(tmp_path / "t.cvs")
    assert "without a suffix has no format" in read_error(tmp_path / "table")
    with pytest.raises(SourceError, match="is not the suffix"):
        write_target(Microdata(FRAME), tmp_path / "t.doc")
    assert list(tmp_path.iterdir()) == []


def test_writing_sas7bdat_suggests_a_transport_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"t\.sas7bdat: .*write \.xpt"):
        write_target(Microdata(FRAME), tmp_path / "t.sas7bdat")
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_gzip_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:-6])
    assert "gzip" in read_error(tmp_path / "t.csv.gz")


def test_a_policy_column_that_is_not_in_the_file_is_an_error(tmp_path: Path) -> None:
    path = write_sample(tmp_path, ".csv")
    policy = Policy.from_dict({"attributes": {"aa": {"role": "key"}}})
    for run in (lambda: read_source(path, policy), lambda: convert(path, tmp_path / "t.parquet", policy, overwrite=True)):
        with pytest.raises(PolicyError, match="'aa' is not a column"):
            run()
    assert not (tmp_path / "t.parquet").exists()


def test_nested_values_are_an_error_that_names_the_column(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1, "list": [1, 2]}\n')
    assert "'list' holds nested values" in read_error(tmp_path / "t.jsonl")


def test_an_excel_sheet_is_selected_by_name(tmp_path: Path) -> None:
    path = write_sample(tmp_path, ".xlsx")
    assert read_source(path, Policy.from_dict({"read": {"sheet": "data"}})).frame.equals(FRAME)
    with pytest.raises(SourceError, match="no sheet 'dat'; did you mean 'data'"):
        read_source(path, Policy.from_dict({"read": {"sheet": "dat"}}))


def test_a_table_that_exceeds_the_limits_of_excel_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="'a' has a text of more than"):
        write_target(Microdata(pl.DataFrame({"a": ["x" * 40_000]})), tmp_path / "t.xlsx")
    with pytest.raises(SourceError, match="an Excel sheet holds"):
        write_target(Microdata(pl.DataFrame({"a": pl.int_range(1_048_576, eager=True)})), tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_excel_text_becomes_neither_formula_nor_link(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["=1+1", "http://example.org", "007", "@x", "-1"]})
    write_target(Microdata(frame), tmp_path / "t.xlsx")
    assert read_source(tmp_path / "t.xlsx", Policy()).frame.equals(frame)
