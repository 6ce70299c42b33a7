"""Pitfalls of CSV files: types, separators, encodings, quotes and missing values."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from discreet.convert import convert, read_source
from discreet.errors import SourceError
from discreet.model.policy import Policy


def read(folder: Path, content: str | bytes, name: str = "t.csv", **policy: Any) -> pl.DataFrame:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_source(path, Policy.from_dict(policy)).frame


def test_leading_zeros_anywhere_make_a_column_text(tmp_path: Path) -> None:
    early = read(tmp_path, "id,n\n01234,1\n5,2\n")
    late = read(tmp_path, "id,n\n" + "5,2\n" * 5000 + "01234,1\n")
    assert early["id"].to_list() == ["01234", "5"]
    assert late["id"][-1] == "01234"
    assert late["n"].dtype == early["n"].dtype == pl.Int64
    assert read(tmp_path, "a,b,c\n-01,0,0.5\n1,-7,00.5\n").schema == {"a": pl.String, "b": pl.Int64, "c": pl.String}


def test_a_plus_sign_makes_a_column_text(tmp_path: Path) -> None:
    assert read(tmp_path, "phone,n\n+4930123,1\n+4930124,+2\n").dtypes == [pl.String, pl.String]
    assert read(tmp_path, "n\n" + "1\n" * 3000 + "+1\n")["n"][-1] == "+1"


def test_thousands_separators_as_in_table_a1_of_truta_et_al(tmp_path: Path) -> None:
    rows = [
        ["Name", "SSN", "Age", "Zip", "Diagnosis", "Income", "Debt"],
        ["John Wayne", "123456789", "44", "48202", "AIDS", "45,500", "1,200"],
        ["Mary Gore", "323232323", "44", "48202", "Asthma", "37,900", "900"],
    ]
    for mark in (",", "\t", ";"):
        out = io.StringIO()
        csv.writer(out, delimiter=mark).writerows(rows)
        frame = read(tmp_path, out.getvalue())
        assert frame["Income"].to_list() == [45500, 37900]
        assert frame["Debt"].to_list() == [1200, 900]


def test_groups_that_do_not_have_three_digits_are_text(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n"1,2",1\n"3,4",2\n')["a"].to_list() == ["1,2", "3,4"]
    assert read(tmp_path, 'a,b\n"1,234.5",1\n"2,000",2\n')["a"].to_list() == [1234.5, 2000.0]


def test_decimal_commas_are_detected_in_semicolon_files(tmp_path: Path) -> None:
    frame = read(tmp_path, "id;x;y;z\n1;3,5;1.234;a\n2;1.200,25;1;b\n")
    assert frame.rows() == [(1, 3.5, 1234, "a"), (2, 1200.25, 1, "b")]
    assert read(tmp_path, "x;y\n1.5;2\n2.25;3\n").rows() == [(1.5, 2), (2.25, 3)]
    assert read(tmp_path, "x;y\n1,5;0.5\n2,5;1.5\n").rows() == [(1.5, 0.5), (2.5, 1.5)]


def test_the_policy_overrides_everything_detected(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1.234,x\n", read={"decimal": ",", "thousands": "."})["a"].to_list() == [1234]
    assert read(tmp_path, "a;b\n1,234;x\n", read={"decimal": ","})["a"].to_list() == [1.234]
    assert read(tmp_path, "a\n1'234\n5\n", read={"thousands": "'"})["a"].to_list() == [1234, 5]
    assert read(tmp_path, "a|b,c\n1|2,3\n", read={"separator": "|"}).columns == ["a", "b,c"]
    assert read(tmp_path, "zip\n48202\n", read={"text": ["zip"]})["zip"].to_list() == ["48202"]
    assert read(tmp_path, "ä\n".encode("cp850") + b"1\n", read={"encoding": "cp850"}).columns == ["ä"]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"read": {"decimal": ",", "thousands": ","}}, "both ','"),
        ({"read": {"text": ["zap"]}}, "'zap'"),
        ({"read": {"encoding": "klingon"}}, "klingon"),
        ({"read": {"separator": "é"}}, "separate"),
    ],
)
def test_an_impossible_read_section_is_a_clear_error(tmp_path: Path, policy: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read(tmp_path, "zip\n48202\n", **policy)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_detected(tmp_path: Path, mark: str) -> None:
    text = mark.join(["name", "age"]) + "\n" + "".join(f'"x, y; z|\t{i}"{mark}{i}\n' for i in range(5))
    assert read(tmp_path, text).columns == ["name", "age"]
    assert read(tmp_path, text)["age"].to_list() == [0, 1, 2, 3, 4]


def test_byte_order_marks_and_encodings_are_detected(tmp_path: Path) -> None:
    text = "größe,wert\nü,1\n€,2\n"
    expected = read(tmp_path, text)
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        assert read(tmp_path, text.encode(encoding)).equals(expected), encoding
    assert read(tmp_path, "größe,wert\nü\x81,1\n".encode("latin-1"))["größe"].to_list() == ["ü\x81"]


def test_a_late_byte_that_is_not_utf8_changes_the_encoding_of_the_whole_file(tmp_path: Path) -> None:
    content = b"name,n\n" + b"abc,1\n" * 400_000 + "Müller,2\n".encode("latin-1")
    assert read(tmp_path, content)["name"][-1] == "Müller"


def test_quoted_line_breaks_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\r\n1,"x\r\ny"\r\n2,"say ""hi"""\r\n')["b"].to_list() == ["x\r\ny", 'say "hi"']
    assert read(tmp_path, '"a\nb",c\n1,2\n').columns == ["a\nb", "c"]


def test_blank_lines_are_ignored_except_in_a_table_with_one_column(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n\n1,"x\n\ny"\n\r\n2,z\n\n\n').rows() == [(1, "x\n\ny"), (2, "z")]
    assert read(tmp_path, "a\n1\n\n2\n")["a"].to_list() == [1, None, 2]


def test_empty_and_duplicate_column_names_are_made_unique(tmp_path: Path) -> None:
    frame = read(tmp_path, "birth year,age,age,,age_2\n1,2,3,4,5\n")
    assert frame.columns == ["birth year", "age", "age_3", "column_4", "age_2"]
    assert frame.row(0) == (1, 2, 3, 4, 5)


def test_missing_values_and_empty_texts_are_distinguished(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n,""\n"",x\n').rows() == [(None, ""), ("", "x")]
    assert read(tmp_path, 'a,b\n,""\n1,2\n').rows() == [(None, None), (1, 2)]
    assert read(tmp_path, "a,b\n1\n2,3\n").rows() == [(1, None), (2, 3)]


def test_markers_are_read_as_missing_values(tmp_path: Path) -> None:
    policy = {"missing": ["NA", "?"], "attributes": {"b": {"missing": ["-9", "-8"]}, "c": {}}}
    frame = read(tmp_path, "a,b,c\nNA,1,x\n3,-9,?\n5,-8,-9\n", **policy)
    assert frame.rows() == [(None, 1, "x"), (3, None, None), (5, None, "-9")]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("policy", [{"attributes": {"wage": {"missing": ["99"]}}}, {"missing": ["99", "-9"]}])
def test_a_whole_number_marks_missing_values_among_fractions(tmp_path: Path, suffix: str, policy: dict[str, Any]) -> None:
    table = pl.DataFrame({"wage": [1.5, 99.0, 2.25]})
    path = tmp_path / f"wages.{suffix}"
    table.write_csv(path) if suffix == "csv" else table.write_parquet(path)
    assert read_source(path, Policy.from_dict(policy)).frame["wage"].to_list() == [1.5, None, 2.25]


def test_types_are_inferred(tmp_path: Path) -> None:
    text = (
        "b,d,t,z,n,f,inf,mixed,long,exact\n"
        "true,2020-02-29,2020-01-02T03:04:05,2020-01-02 03:04:05+01:00,,1.5,inf,1,9223372036854775808,9007199254740993\n"
        "FALSE,1850-01-01,2020-01-02 03:04:05.25,2020-01-02T03:04:05Z,,1e-3,-inf,true,1,1\n"
    )
    frame = read(tmp_path, text)
    zone = dt.UTC
    assert frame.rows() == [
        (True, dt.date(2020, 2, 29), dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(2020, 1, 2, 2, 4, 5, tzinfo=zone), None, 1.5,
         math.inf, "1", "9223372036854775808", 9007199254740993),
        (False, dt.date(1850, 1, 1), dt.datetime(2020, 1, 2, 3, 4, 5, 250_000), dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=zone),
         None, 0.001, -math.inf, "true", "1", 1),
    ]  # fmt: skip
    assert frame.schema["n"] == pl.String


@pytest.mark.parametrize("value", ["2020-02-30", "03/04/2020", "2020-1-2", "20:15:00"])
def test_dates_that_are_not_iso_8601_stay_text(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, f"a,b\n{value},1\n")["a"].to_list() == [value]


def test_the_last_row_counts_as_much_as_the_first_for_the_type(tmp_path: Path) -> None:
    for last, dtype in [
        ("1.5", pl.Float64),
        ("x", pl.String),
        ("99999999999999999999", pl.String),
        ("", pl.Int64),
        ("1e3", pl.Float64),
    ]:
        frame = read(tmp_path, "a,b\n" + "1,2\n" * 20_000 + f"{last},3\n")
        assert frame.schema == {"a": dtype, "b": pl.Int64}, last
    assert read(tmp_path, "a,b\n" + ",2\n" * 20_000 + "7,3\n").schema == {"a": pl.Int64, "b": pl.Int64}
    assert read(tmp_path, "a,b\n" + "2020-01-01,2\n" * 20_000 + "soon,3\n").schema == {"a": pl.String, "b": pl.Int64}


def test_tables_with_one_column_no_rows_or_many_columns_are_read(tmp_path: Path) -> None:
    assert read(tmp_path, "a\n1\n2\n").rows() == [(1,), (2,)]
    assert read(tmp_path, "a,b\n").shape == (0, 2)
    assert read(tmp_path, "a").shape == (0, 1)
    wide = pl.DataFrame({f"c{i}": [i, -i] for i in range(5000)})
    assert read(tmp_path, wide.write_csv()).equals(wide)


def test_a_file_name_with_wildcards_is_not_expanded(tmp_path: Path) -> None:
    assert read(tmp_path, "a\n1\n", "t[1]*.csv").shape == (1, 1)


def test_compressed_files_are_written_and_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "01"]})
    for suffix in (".csv.gz", ".csv.zst", ".tsv.gz", ".jsonl.gz", ".jsonl.zst"):
        frame.write_parquet(tmp_path / "t.parquet")
        assert convert(tmp_path / "t.parquet", tmp_path / f"t{suffix}", Policy()) == (2, 2)
        assert read_source(tmp_path / f"t{suffix}", Policy()).frame.equals(frame), suffix


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", b"\0\1\2", "a,b\n1,2,3\n", "a,b\n1,2\n1,2,3\n", 'a,b\n1,"x\n', b"\xff\xfe\x00", "\ufeff"],
)
def test_content_that_is_not_a_table_is_one_sentence(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(SourceError, match=r"t\.csv: ") as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


NUMBERS = ["0", "1", "-1", "01", "+1", "1.5", ".5", "5.", "-0", "1e5", "1E+5", "inf", "-inf", "nan", "-nan", "Infinity", "NaN"]
GROUPS = [" 1", "1 ", "\t1", "1,234", "1,23", "-1,234,567.5", "9" * 19, "9" * 18, "1e400", "00", "0.0", "-0.5"]
WORDS = ["", " ", "x", "true", "TRUE", "tRue", "1e", "e5", "-", "+", ".", "--1", "1_000", "0x1", "1.2.3"]
DATES = ["2020-01-02", "2020-02-30", "2020-01-02 03:04:05", "2020-01-02T03:04:05.5"]
FIELDS = st.one_of(
    *(st.sampled_from(examples) for examples in (NUMBERS, GROUPS, WORDS, DATES)),
    st.integers().map(str),
    st.floats().map(repr),
    st.text('0123456789+-.eE, "x\n', max_size=5),
)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=5), st.sampled_from([0, 0, 1500]))
@example([("1", "01")], 1500)
@example([(" ", "1")], 1500)
def test_inferred_types_agree_with_a_slow_reference(tmp_path: Path, rows: list[tuple[str, str]], before: int) -> None:
    """Integers precede the drawn rows, which misleads a reader that infers types from the first rows."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["a", "b"])
    all_rows = [("1", "2")] * before + rows
    writer.writerows(all_rows)
    frame = read(tmp_path, out.getvalue())
    for index, name in enumerate(("a", "b")):
        dtype, values = slow_reference([row[index] for row in all_rows])
        assert frame.schema[name] == dtype, (name, rows)
        assert [str(value) for value in frame[name].to_list()] == [str(value) for value in values]


def slow_reference(texts: list[str]) -> tuple[Any, list[Any]]:
    """The type of a column and its values, by the documented rules, one value at a time."""
    present = [text.strip(" \t") for text in texts if text.strip(" \t")]
    whole = r"-?(0|[1-9]\d*)"
    number = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?(inf|infinity|nan)"
    grouped = r"-?[1-9]\d{0,2}(,\d{3})+"

    def all_match(*patterns: str, flags: int = re.ASCII) -> bool:
        return bool(present) and all(any(re.fullmatch(p, text, flags) for p in patterns) for text in present)

    def parse_all(parse: Any) -> list[Any]:
        parsed = [parse(text.strip(" \t")) if text.strip(" \t") else None for text in texts]
        return [None if isinstance(value, float) and math.isnan(value) else value for value in parsed]

    if all_match("true|false|True|False|TRUE|FALSE"):
        return pl.Boolean, parse_all(lambda text: text.lower() == "true")
    if all_match(whole):
        if all(-(2**63) <= int(text) < 2**63 for text in present):
            return pl.Int64, parse_all(int)
        return pl.String, texts
    if all_match(number, flags=re.ASCII | re.IGNORECASE):
        return pl.Float64, parse_all(float)
    if all_match(whole, grouped) and all(abs(int(text.replace(",", ""))) < 2**63 for text in present):
        return pl.Int64, parse_all(lambda text: int(text.replace(",", "")))
    if all_match(number, grouped + r"(\.\d*)?", flags=re.ASCII | re.IGNORECASE):
        return pl.Float64, parse_all(lambda text: float(text.replace(",", "")))
    for dtype, parse in ((pl.Date, dt.date.fromisoformat), (pl.Datetime("us"), dt.datetime.fromisoformat)):
        pattern = r"\d{4}-\d\d-\d\d" + ("" if dtype == pl.Date else r"[T ]\d\d:\d\d:\d\d(\.\d{1,6})?")
        if all_match(pattern):
            try:
                return dtype, parse_all(parse)
            except ValueError:
                pass
    return pl.String, texts
