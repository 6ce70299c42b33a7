"""Files as people have them: titles, several header rows, totals, several sheets, stray quotation marks, dates of all kinds."""

import datetime as dt

import pandas as pd
import polars as pl
import pytest
import xlsxwriter

import discreet
from discreet.errors import SourceError

TABLE = [["id", "age", "sex"], [1, 44, "f"], [2, 31, "m"], [3, 50, "f"]]


def text(tmp_path, content, policy=None):
    path = tmp_path / "t.csv"
    path.write_text(content)
    return discreet.read(path, policy)


def workbook(tmp_path, **sheets):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for row, cells in enumerate(rows):
                for column, cell in enumerate(cells):
                    if cell is not None:
                        sheet.write(row, column, cell)
    return path


def test_a_title_above_the_column_names_is_left_out_and_said(tmp_path):
    data = text(tmp_path, "Survey of 2020\n\nid,age,sex\n1,44,f\n2,31,m\n3,50,f\n")
    assert (data.columns, len(data)) == (["id", "age", "sex"], 3)
    assert data.frame["age"].to_list() == [44, 31, 50]
    assert "skip: 1" in data.notes[0]


def test_two_rows_of_column_names_are_joined_in_text_and_in_a_sheet(tmp_path):
    rows = [
        ["id", "Visit 1", None, "Visit 2", None],
        [None, "weight", "pulse", "weight", "pulse"],
        [1, 70, 61, 71, 60],
        [2, 80, 59, 81, 66],
    ]
    content = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows) + "\n"
    for data in (text(tmp_path, content), discreet.read(workbook(tmp_path, s=rows))):
        assert data.columns == ["id", "Visit 1 weight", "Visit 1 pulse", "Visit 2 weight", "Visit 2 pulse"]
        assert data.frame.row(1) == (2, 80, 59, 81, 66)


def test_totals_and_notes_below_a_table_are_left_out_and_said(tmp_path):
    rows = [["region", "n", "m"], ["A", 1, 2], ["B", 3, 4], ["Total", 4, 6], ["Source: register"]]
    for data in (
        text(tmp_path, "region,n,m\nA,1,2\nB,3,4\nTotal,4,6\nSource: register\n"),
        discreet.read(workbook(tmp_path, s=rows)),
    ):
        assert data.frame.rows() == [("A", 1, 2), ("B", 3, 4)]
        assert any("totals or notes" in note for note in data.notes)


def test_the_policy_says_where_the_column_names_are(tmp_path):
    data = text(tmp_path, "x,y,z\nid,age,sex\n1,-,f\n2,31,m\n", {"read": {"skip": 1, "header": 1, "missing": ["-"]}})
    assert data.frame.rows() == [(1, None, "f"), (2, 31, "m")]


def test_a_workbook_with_several_tables_asks_which_one(tmp_path):
    path = workbook(tmp_path, first=TABLE, second=TABLE)
    with pytest.raises(SourceError, match=r"'first', 'second'.*read: \{sheet: first\}"):
        discreet.read(path)
    assert len(discreet.read(path, {"read": {"sheet": "second"}})) == 3


def test_the_only_sheet_with_a_table_is_taken_and_said(tmp_path):
    data = discreet.read(workbook(tmp_path, about=[["About this file"]], data=TABLE))
    assert data.columns == ["id", "age", "sex"]
    assert "'data'" in data.notes[0]


def test_a_quotation_mark_inside_a_field_is_read_and_said(tmp_path):
    data = text(tmp_path, 'id,size,x\n1,19" wheel,a\n2,"b, c",q\n3,wheel 20" x,a\n4,19",c\n')
    assert data.frame["size"].to_list() == ['19" wheel', "b, c", 'wheel 20" x', '19"']
    assert data.frame["id"].dtype == pl.Int64
    assert "PyArrow" in data.notes[0]


def test_a_broken_row_is_named_by_its_line(tmp_path):
    with pytest.raises(SourceError, match="line 3 has 3 fields, but there are 2 columns"):
        text(tmp_path, "id,size\n1,a\n2,b,c\n3,d\n")


def test_a_row_that_is_too_long_is_named_and_not_a_short_one_above_it(tmp_path):
    with pytest.raises(SourceError, match="line 4 has 4 fields, but there are 3 columns"):
        text(tmp_path, "id,age,x\n1,2,3\n2,3\n4,5,6,7\n")


def test_an_archive_is_named_as_one(tmp_path):
    with pytest.raises(SourceError, match="unpack it"):
        discreet.read(tmp_path / "t.7z")


def test_a_title_with_separators_in_it_is_left_out(tmp_path):
    titled = "Survey of people, 2020, all regions\nSource: office\n\nid,age,sex\n1,30,f\n2,40,m\n3,50,f\n"
    data = text(tmp_path, titled)
    assert data.frame.columns == ["id", "age", "sex"]
    assert data.frame["age"].to_list() == [30, 40, 50]
    plain = text(tmp_path, "name,city,note\nAna,Rome,x\nBo,,\nCid,Oslo,y\nDee,1,2\n")
    assert plain.frame.columns == ["name", "city", "note"], "a record with one value below the names is no sign of a title"


def test_years_as_names_under_merged_cells_are_names(tmp_path):
    rows = [
        ["Bodies of people", None, None, None, None],
        [None, "Height", None, "Weight", None],
        ["id", 2019, 2020, 2019, 2020],
        [1, 170, 171, 60, 61],
        [2, 180, 181, 70, 71],
        ["Total", 350, 352, 130, 132],
        ["Note: made up", None, None, None, None],
    ]
    names = ["id", "Height 2019", "Height 2020", "Weight 2019", "Weight 2020"]
    sheet = discreet.read(workbook(tmp_path, data=rows))
    assert sheet.frame.columns == names
    assert sheet.frame["Weight 2020"].to_list() == [61, 71]
    lines = "\n".join(",".join("" if cell is None else str(cell) for cell in row) for row in rows[1:5])
    assert text(tmp_path, lines + "\n").frame.columns == names
    unnamed = text(tmp_path, "id,size,,x\n1,5,6,7\n2,8,9,10\n3,11,12,13\n")
    assert unnamed.frame.columns == ["id", "size", "column_3", "x"], "a record of numbers is no second row of names"


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["01/03/1970", "25/12/1981"], dt.date(1970, 3, 1)),
        (["01/03/1970", "12/25/1981"], dt.date(1970, 1, 3)),
        (["15.04.1988", "1.5.1990"], dt.date(1988, 4, 15)),
        (["15.04.88", "01.05.12"], dt.date(1988, 4, 15)),
        (["31DEC1999", "01JAN2000"], dt.date(1999, 12, 31)),
        (["4 May 2001", "30 Jun 2002"], dt.date(2001, 5, 4)),
        (["2001/05/04", "2002/06/30"], dt.date(2001, 5, 4)),
    ],
)
def test_dates_in_any_unambiguous_format_are_dates_for_every_method(tmp_path, texts, first):
    data = text(tmp_path, "id;day\n" + "".join(f"{n};{day}\n" for n, day in enumerate(texts * 4)), {
        "attributes": {"day": {"role": "key", "hierarchy": {"dates": ["month", "year"]}}},
        "plan": {"seed": 1, "steps": [{"method": "global_recoding", "columns": ["day"], "level": 2}]},
    })  # fmt: skip
    assert data.frame["day"][0] == first
    assert any("'day' was read as dates" in note for note in data.notes)
    assert set(discreet.mask(data).masked.frame["day"]) <= {str(year) for year in range(1900, 2030)}


def test_years_of_two_digits_are_read_with_the_stated_pivot(tmp_path):
    content = "id;day\n1;15.04.45\n2;01.05.12\n"
    assert text(tmp_path, content).frame["day"].dt.year().to_list() == [1945, 2012]
    moved = text(tmp_path, content, {"read": {"pivot": 50}})
    assert moved.frame["day"].dt.year().to_list() == [2045, 2012]
    assert "00 to 49" in moved.notes[0]


def test_dates_whose_day_and_month_cannot_be_told_apart_are_asked_for(tmp_path):
    content = "id;dob\n1;01/03/1970\n2;02/04/1980\n"
    data = text(tmp_path, content)
    assert data.frame["dob"].dtype == pl.String
    assert "read: {dates: {dob: '%d/%m/%Y'}}" in data.notes[0]
    assert discreet.analyze(data)["dob"].attribute.level == "nominal"
    assert text(tmp_path, content, {"read": {"dates": {"dob": "%m/%d/%Y"}}}).frame["dob"][0] == dt.date(1970, 1, 3)
    with pytest.raises(SourceError, match="'01/03/1970', which is no date written %Y-%m-%d"):
        text(tmp_path, content, {"read": {"dates": {"dob": "%Y-%m-%d"}}})


def test_the_index_and_the_order_of_categories_of_pandas_are_kept():
    grades = pd.Categorical(["lo", "hi", "lo"], categories=["lo", "mid", "hi"], ordered=True)
    data = discreet.read(pd.DataFrame({"g": grades, "v": [1, 2, 3]}, index=pd.Index(["p1", "p2", "p3"], name="pid")))
    assert data.columns == ["pid", "g", "v"]
    assert "'pid'" in data.notes[0]
    assert data.policy.attributes["g"].order == ("lo", "mid", "hi")
    assert discreet.read(pd.DataFrame({"v": [1, 2]})).columns == ["v"]
    numbers = discreet.read(pd.DataFrame({"n": pd.Categorical([3, 1, 2], categories=[3, 1, 2], ordered=True)}))
    assert numbers.policy.attributes["n"].order == ("3", "1", "2"), "categories may be numbers"


def test_microaggregation_never_counts_values_below_zero():
    frame = pl.DataFrame({"a": ["x", "x", "x", None, "y", "y", "y", "y"], "b": [1.0, 1.1, 1.2, 1.15, 9.0, 9.1, 9.2, 9.3]})
    step = {"method": "microaggregation", "columns": ["a", "b"], "size": 4, "missing": "category"}
    policy = {"attributes": {"a": {"role": "key"}, "b": {"role": "key"}}, "plan": {"seed": 1, "steps": [step]}}
    log = str(discreet.mask(discreet.read(frame, policy)).log)
    assert "-1 values" not in log
    assert "1 missing values became" in log
