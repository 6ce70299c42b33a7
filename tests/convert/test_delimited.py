"""What people trip over in CSV files."""

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


def test_leading_zeros_keep_a_column_text_wherever_they_stand(tmp_path: Path) -> None:
    early = read(tmp_path, "id,n\n01234,1\n5,2\n")
    late = read(tmp_path, "id,n\n" + "5,2\n" * 5000 + "01234,1\n")
    assert early["id"].to_list() == ["01234", "5"]
    assert late["id"][-1] == "01234"
    assert late["n"].dtype == early["n"].dtype == pl.Int64
    assert read(tmp_path, "a,b,c\n-01,0,0.5\n1,-7,00.5\n").schema == {"a": pl.String, "b": pl.Int64, "c": pl.String}


def test_a_plus_sign_keeps_a_column_text(tmp_path: Path) -> None:
    assert read(tmp_path, "phone,n\n+4930123,1\n+4930124,+2\n").dtypes == [pl.String, pl.String]
    assert read(tmp_path, "n\n" + "1\n" * 3000 + "+1\n")["n"][-1] == "+1"


def test_thousands_marks_of_the_table_a1_of_seed_002(tmp_path: Path) -> None:
    rows = [
        ["Name", "SSN", "Age", "Zip", "Diagnosis", "Income", "Debt"],
        ["John Wayne", "123456789", "44", "48202", "AIDS", "45,500", "1,200"],
        ["Mary Gore", "323232323", "44", "48202", "Asthma", "37,900", "900"],
    ]
    for mark in (",", "\t", ";"):
        out = io.StringIO()
        csv.writer(out, delimiter=mark).writerows(rows)
        found = read(tmp_path, out.getvalue())
        assert found["Income"].to_list() == [45500, 37900]
        assert found["Debt"].to_list() == [1200, 900]


def test_groups_that_are_not_of_three_digits_are_no_thousands(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n"1,2",1\n"3,4",2\n')["a"].to_list() == ["1,2", "3,4"]
    assert read(tmp_path, 'a,b\n"1,234.5",1\n"2,000",2\n')["a"].to_list() == [1234.5, 2000.0]


def test_decimal_commas_in_semicolon_files(tmp_path: Path) -> None:
    found = read(tmp_path, "id;x;y;z\n1;3,5;1.234;a\n2;1.200,25;1;b\n")
    assert found.rows() == [(1, 3.5, 1234, "a"), (2, 1200.25, 1, "b")]
    assert read(tmp_path, "x;y\n1.5;2\n2.25;3\n").rows() == [(1.5, 2), (2.25, 3)]
    assert read(tmp_path, "x;y\n1,5;0.5\n2,5;1.5\n").rows() == [(1.5, 0.5), (2.5, 1.5)]


def test_the_policy_overrules_every_guess(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1.234,x\n", read={"decimal": ",", "thousands": "."})["a"].to_list() == [1234]
    assert read(tmp_path, "a;b\n1,234;x\n", read={"decimal": ","})["a"].to_list() == [1.234]
    assert read(tmp_path, "a\n1'234\n5\n", read={"thousands": "'"})["a"].to_list() == [1234, 5]
    assert read(tmp_path, "a|b,c\n1|2,3\n", read={"separator": "|"}).columns == ["a", "b,c"]
    assert read(tmp_path, "zip\n48202\n", read={"text": ["zip"]})["zip"].to_list() == ["48202"]
    assert read(tmp_path, "ä\n".encode("cp850") + b"1\n", read={"encoding": "cp850"}).columns == ["ä"]


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ({"read": {"decimal": ",", "thousands": ","}}, "both ','"),
        ({"read": {"text": ["zap"]}}, "'zap'"),
        ({"read": {"encoding": "klingon"}}, "klingon"),
        ({"read": {"separator": "é"}}, "separate"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_told(tmp_path: Path, policy: Any, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        read(tmp_path, "zip\n48202\n", **policy)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_separator_is_found(tmp_path: Path, mark: str) -> None:
    text = mark.join(["name", "age"]) + "\n" + "".join(f'"x, y; z|\t{i}"{mark}{i}\n' for i in range(5))
    assert read(tmp_path, text).columns == ["name", "age"]
    assert read(tmp_path, text)["age"].to_list() == [0, 1, 2, 3, 4]


def test_byte_order_marks_and_encodings(tmp_path: Path) -> None:
    text = "größe,wert\nü,1\n€,2\n"
    expected = read(tmp_path, text)
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        assert read(tmp_path, text.encode(encoding)).equals(expected), encoding
    assert read(tmp_path, "größe,wert\nü\x81,1\n".encode("latin-1"))["größe"].to_list() == ["ü\x81"]


def test_late_bytes_that_are_not_utf8_do_not_break_what_is_before(tmp_path: Path) -> None:
    content = b"name,n\n" + b"abc,1\n" * 400_000 + "Müller,2\n".encode("latin-1")
    assert read(tmp_path, content)["name"][-1] == "Müller"


def test_quoted_line_breaks_and_windows_line_ends(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\r\n1,"x\r\ny"\r\n2,"say ""hi"""\r\n')["b"].to_list() == ["x\r\ny", 'say "hi"']
    assert read(tmp_path, '"a\nb",c\n1,2\n').columns == ["a\nb", "c"]


def test_blank_lines_are_no_records_but_a_missing_value_of_a_single_column(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n\n1,"x\n\ny"\n\r\n2,z\n\n\n').rows() == [(1, "x\n\ny"), (2, "z")]
    assert read(tmp_path, "a\n1\n\n2\n")["a"].to_list() == [1, None, 2]


def test_names_with_spaces_empty_or_twice_the_same(tmp_path: Path) -> None:
    found = read(tmp_path, "birth year,age,age,,age_2\n1,2,3,4,5\n")
    assert found.columns == ["birth year", "age", "age_3", "column_4", "age_2"]
    assert found.row(0) == (1, 2, 3, 4, 5)


def test_missing_values_and_empty_texts_are_two_things(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n,""\n"",x\n').rows() == [(None, ""), ("", "x")]
    assert read(tmp_path, 'a,b\n,""\n1,2\n').rows() == [(None, None), (1, 2)]
    assert read(tmp_path, "a,b\n1\n2,3\n").rows() == [(1, None), (2, 3)]


def test_markers_are_missing_values(tmp_path: Path) -> None:
    policy = {"missing": ["NA", "?"], "attributes": {"b": {"missing": ["-9", "-8"]}, "c": {}}}
    found = read(tmp_path, "a,b,c\nNA,1,x\n3,-9,?\n5,-8,-9\n", **policy)
    assert found.rows() == [(None, 1, "x"), (3, None, None), (5, None, "-9")]


def test_types(tmp_path: Path) -> None:
    text = (
        "b,d,t,z,n,f,inf,mixed,long,exact\n"
        "true,2020-02-29,2020-01-02T03:04:05,2020-01-02 03:04:05+01:00,,1.5,inf,1,9223372036854775808,9007199254740993\n"
        "FALSE,1850-01-01,2020-01-02 03:04:05.25,2020-01-02T03:04:05Z,,1e-3,-inf,true,1,1\n"
    )
    found = read(tmp_path, text)
    zone = dt.UTC
    assert found.rows() == [
        (True, dt.date(2020, 2, 29), dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(2020, 1, 2, 2, 4, 5, tzinfo=zone), None, 1.5,
         math.inf, "1", "9223372036854775808", 9007199254740993),
        (False, dt.date(1850, 1, 1), dt.datetime(2020, 1, 2, 3, 4, 5, 250_000), dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=zone),
         None, 0.001, -math.inf, "true", "1", 1),
    ]  # fmt: skip
    assert found.schema["n"] == pl.String


@pytest.mark.parametrize("value", ["2020-02-30", "03/04/2020", "2020-1-2", "20:15:00"])
def test_what_is_no_iso_date_stays_text(tmp_path: Path, value: str) -> None:
    assert read(tmp_path, f"a,b\n{value},1\n")["a"].to_list() == [value]


def test_the_last_row_decides_as_much_as_the_first(tmp_path: Path) -> None:
    for last, dtype in [
        ("1.5", pl.Float64),
        ("x", pl.String),
        ("99999999999999999999", pl.String),
        ("", pl.Int64),
        ("1e3", pl.Float64),
    ]:
        found = read(tmp_path, "a,b\n" + "1,2\n" * 20_000 + f"{last},3\n")
        assert found.schema == {"a": dtype, "b": pl.Int64}, last
    assert read(tmp_path, "a,b\n" + ",2\n" * 20_000 + "7,3\n").schema == {"a": pl.Int64, "b": pl.Int64}
    assert read(tmp_path, "a,b\n" + "2020-01-01,2\n" * 20_000 + "soon,3\n").schema == {"a": pl.String, "b": pl.Int64}


def test_one_column_no_rows_and_many_columns(tmp_path: Path) -> None:
    assert read(tmp_path, "a\n1\n2\n").rows() == [(1,), (2,)]
    assert read(tmp_path, "a,b\n").shape == (0, 2)
    assert read(tmp_path, "a").shape == (0, 1)
    wide = pl.DataFrame({f"c{i}": [i, -i] for i in range(5000)})
    assert read(tmp_path, wide.write_csv()).equals(wide)


def test_a_name_with_signs_of_a_pattern_is_a_name(tmp_path: Path) -> None:
    assert read(tmp_path, "a\n1\n", "t[1]*.csv").shape == (1, 1)


def test_packed_files(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "01"]})
    for suffix in (".csv.gz", ".csv.zst", ".tsv.gz", ".jsonl.gz", ".jsonl.zst"):
        frame.write_parquet(tmp_path / "t.parquet")
        assert convert(tmp_path / "t.parquet", tmp_path / f"t{suffix}", Policy()) == (2, 2)
        assert read_source(tmp_path / f"t{suffix}", Policy()).frame.equals(frame), suffix


@pytest.mark.parametrize(
    "content",
    ["", "\n\n", b"\0\1\2", "a,b\n1,2,3\n", "a,b\n1,2\n1,2,3\n", 'a,b\n1,"x\n', b"\xff\xfe\x00", "\ufeff"],
)
def test_what_is_no_table_is_one_sentence(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(SourceError, match=r"t\.csv: ") as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


NUMBERS = ["0", "1", "-1", "01", "+1", "1.5", ".5", "5.", "-0", "1e5", "1E+5", "inf", "-inf", "nan", "-nan", "Infinity", "NaN"]
GROUPS = [" 1", "1 ", "\t1", "1,234", "1,23", "-1,234,567.5", "9" * 19, "9" * 18, "1e400", "00", "0.0", "-0.5"]
WORDS = ["", " ", "x", "true", "TRUE", "tRue", "1e", "e5", "-", "+", ".", "--1", "1_000", "0x1", "1.2.3"]
DATES = ["2020-01-02", "2020-02-30", "2020-01-02 03:04:05", "2020-01-02T03:04:05.5"]
FIELDS = st.one_of(
    *(st.sampled_from(some) for some in (NUMBERS, GROUPS, WORDS, DATES)),
    st.integers().map(str),
    st.floats().map(repr),
    st.text('0123456789+-.eE, "x\n', max_size=5),
)


@settings(deadline=None, max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=5), st.sampled_from([0, 0, 1500]))
@example([("1", "01")], 1500)
@example([(" ", "1")], 1500)
def test_types_are_those_of_a_slow_look_at_every_value(tmp_path: Path, rows: list[tuple[str, str]], before: int) -> None:
    """Before the drawn rows stand plain ones that mislead a reader who looks at the first only."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["a", "b"])
    every = [("1", "2")] * before + rows
    writer.writerows(every)
    found = read(tmp_path, out.getvalue())
    for place, name in enumerate(("a", "b")):
        dtype, values = slow([row[place] for row in every])
        assert found.schema[name] == dtype, (name, rows)
        assert [str(value) for value in found[name].to_list()] == [str(value) for value in values]


def slow(texts: list[str]) -> tuple[Any, list[Any]]:
    """The type of a column, and its values, by the rules of the documentation, one value at a time."""
    there = [text.strip(" \t") for text in texts if text.strip(" \t")]
    whole = r"-?(0|[1-9]\d*)"
    number = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?|-?(inf|infinity|nan)"
    grouped = r"-?[1-9]\d{0,2}(,\d{3})+"

    def all_match(*patterns: str, flags: int = re.ASCII) -> bool:
        return bool(there) and all(any(re.fullmatch(p, text, flags) for p in patterns) for text in there)

    def made(read_one: Any) -> list[Any]:
        read_all = [read_one(text.strip(" \t")) if text.strip(" \t") else None for text in texts]
        return [None if isinstance(value, float) and math.isnan(value) else value for value in read_all]

    if all_match("true|false|True|False|TRUE|FALSE"):
        return pl.Boolean, made(lambda text: text.lower() == "true")
    if all_match(whole):
        if all(-(2**63) <= int(text) < 2**63 for text in there):
            return pl.Int64, made(int)
        return pl.String, texts
    if all_match(number, flags=re.ASCII | re.IGNORECASE):
        return pl.Float64, made(float)
    if all_match(whole, grouped) and all(abs(int(text.replace(",", ""))) < 2**63 for text in there):
        return pl.Int64, made(lambda text: int(text.replace(",", "")))
    if all_match(number, grouped + r"(\.\d*)?", flags=re.ASCII | re.IGNORECASE):
        return pl.Float64, made(lambda text: float(text.replace(",", "")))
    for dtype, read_one in ((pl.Date, dt.date.fromisoformat), (pl.Datetime("us"), dt.datetime.fromisoformat)):
        pattern = r"\d{4}-\d\d-\d\d" + ("" if dtype == pl.Date else r"[T ]\d\d:\d\d:\d\d(\.\d{1,6})?")
        if all_match(pattern):
            try:
                return dtype, made(read_one)
            except ValueError:
                pass
    return pl.String, texts
