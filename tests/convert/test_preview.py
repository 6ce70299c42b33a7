"""A preview reads as an import does, says what it guessed and why, and shows why it cannot read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
import discreet.errors
from discreet.convert.reading import preview as previews
from discreet.convert.reading.preview import Preview, preview_source
from discreet.model.policy import Policy

VISITS = "Visits 2020;;;\nid;dob;income;note\n1;01/03/1970;1,5;NA\n2;02/04/1981;2,5;x\n"


def preview(file: Path, **read: Any) -> Preview:
    return preview_source(str(file), Policy.from_dict({"read": read} if read else {}))


def choices(shown: Preview) -> dict[str, tuple[str, bool]]:
    return {choice.option: (choice.value, choice.given) for choice in shown.choices}


def test_every_guess_of_a_text_file_is_shown_with_its_reason(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text(VISITS)
    shown = preview(file)
    assert choices(shown) == {
        "encoding": ("utf-8", False), "separator": (";", False), "skip": ("1", False), "header": ("1", False),
        "decimal": (",", False),
    }  # fmt: skip
    reasons = {choice.option: choice.reason for choice in shown.choices}
    assert reasons["separator"] == "4 of the first 4 rows have 4 fields with this separator"
    assert reasons["decimal"] == "the values of 'income' are numbers only with a decimal comma"
    assert reasons["skip"] == "the first row holds a title, not the table"
    assert (shown.records, shown.column_count, shown.lines[0]) == (2, 4, "Visits 2020;;;")
    assert shown.rows == ((1, "01/03/1970", 1.5, "NA"), (2, "02/04/1981", 2.5, "x"))
    born = next(column for column in shown.columns if column.name == "dob")
    assert born.date is not None
    assert born.date.alternatives == ("%d/%m/%Y", "%m/%d/%Y")
    assert shown.markers == ("NA",)


def test_options_change_what_is_shown_and_options_of_other_tables_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text(VISITS)
    shown = preview(file, dates={"dob": "%d/%m/%Y", "admitted": "%Y"}, text=["id", "ward"], missing=["NA"], decimal=",")
    assert [column.type for column in shown.columns] == ["String", "Date", "Float64", "String"]
    assert shown.rows[0][3] is None
    assert shown.dropped == ("admitted", "ward")
    assert dict(shown.policy.read.dates) == {"dob": "%d/%m/%Y"}
    assert choices(shown)["decimal"] == (",", True)
    wrong = preview(file, dates={"dob": "%Y"})
    assert "'dob' holds '01/03/1970', which is no date written %Y" in wrong.problem
    assert (wrong.columns, wrong.lines[1]) == ((), "id;dob;income;note")


def test_dates_of_digits_alone_are_read_where_the_options_say_so(tmp_path: Path) -> None:
    file = tmp_path / "d.csv"
    file.write_text("id,born\n1,19701231\n2,19810102\n")
    assert [column.type for column in preview(file).columns] == ["Int64", "Int64"]
    shown = preview(file, dates={"born": "%Y%m%d"})
    assert [column.type for column in shown.columns] == ["Int64", "Date"]
    assert discreet.read(file, {"read": {"dates": {"born": "%Y%m%d"}}}).frame.schema["born"] == pl.Date


def test_a_workbook_with_several_tables_offers_its_sheets(tmp_path: Path) -> None:
    import xlsxwriter

    file = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(file)) as book:
        for name in ("first", "second"):
            sheet = book.add_worksheet(name)
            for number, row in enumerate((["id", "age"], [1, 44], [2, 31])):
                sheet.write_row(number, 0, row)
    shown = preview(file)
    assert "tables in the sheets 'first', 'second'" in shown.problem
    assert shown.choices[0].alternatives == ("first", "second")
    chosen = preview(file, sheet="second")
    assert (chosen.problem, choices(chosen)["sheet"], chosen.records) == ("", ("second", True), 2)
    assert "separator" not in chosen.options
    assert preview(file, sheet="third").choices[0].alternatives == ("first", "second")


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16", "utf-8-sig"])
def test_the_encoding_is_recognised(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "x.csv"
    file.write_bytes("name,town\nJosé,Orléans\n".encode(encoding))
    shown = preview(file)
    assert choices(shown)["encoding"] == (encoding, False)
    assert shown.rows == (("José", "Orléans"),)


@pytest.mark.parametrize("encoding", ["punycode", "idna", "undefined", "zlib", "\0", "unicode_escape", "../x", "x" * 400])
def test_what_is_no_character_set_is_refused_with_a_sentence(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "x.csv"
    file.write_text("name,town\nx,y\n")
    assert "unknown encoding" in preview(file, encoding=encoding).problem
    with pytest.raises(discreet.errors.SourceError, match="unknown encoding"):
        discreet.read(file, {"read": {"encoding": encoding}})


def test_a_large_file_is_read_in_part_and_a_table_of_a_database_by_its_first_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"id": range(3000), "town": ["x" * 300] * 3000})
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        frame.write_csv(file)
    assert preview(tmp_path / "t.csv.gz").records == 3000
    monkeypatch.setattr(previews, "EXACT_BYTES", 10)
    shown = preview(tmp_path / "t.csv.gz")
    assert (shown.records, len(shown.rows), len(shown.columns[1].examples[0])) == (None, 20, 200)
    assert shown.lines[0] == "id,town"
    for address in (f"sqlite:///{tmp_path / 't.db'}#t", f"duckdb:///{tmp_path / 't.duckdb'}#t"):
        discreet.write(discreet.read(frame), address)
        of_table = preview_source(address, Policy())
        assert (of_table.records, len(of_table.rows), of_table.format) == (None, 20, "database table")


@given(
    st.lists(
        st.tuples(st.integers(-9, 9) | st.none(), st.sampled_from(["a", "b;c", "NA", "01/03/1970", ""]), st.floats(-5, 5)),
        max_size=6,
    )
)
def test_a_preview_shows_the_rows_that_reading_gives(rows: list[tuple[Any, ...]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "t.csv"
        pl.DataFrame(rows, schema={"n": pl.Int64, "t": pl.String, "x": pl.Float64}, orient="row").write_csv(file)
        shown, whole = preview(file), discreet.read(file).frame
    assert shown.rows == tuple(whole.rows())
    assert [(column.name, column.type) for column in shown.columns] == [(name, str(kind)) for name, kind in whole.schema.items()]
