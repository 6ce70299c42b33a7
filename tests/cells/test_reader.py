"""The rules by which a label gets its meaning, in their order."""

import polars as pl
import pytest

from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.reader import meaning_of, read_column
from discreet.engine.encoding.columns import encode_series
from discreet.errors import UnexplainedCellError
from discreet.model.cells import ColumnCells, Group, Interval, Prefix
from discreet.model.hierarchy import Hierarchy

TOWNS = Hierarchy.from_rows((("a", "north", "*"), ("b", "north", "*"), ("c", "south", "*"), ("d", "south", "*")))


def read(texts, kind="text", **options):
    column = encode_series(pl.Series("x", texts))
    reading = read_column(column, kind, options.pop("cells", None), options.pop("hierarchy", None), **options)
    return dict(zip(column.values.to_list(), range(len(column.values)), strict=True)), reading


def test_a_star_and_a_null_are_blank_and_nothing_else_is():
    code, reading = read(["*", "a", None])
    assert [bool(reading.blank[code["*"]]), bool(reading.blank[code["a"]]), bool(reading.blank[-1])] == [True, False, True]
    assert not reading.plain[code["*"]]


def test_a_declared_label_comes_before_whatever_it_looks_like():
    declared = ColumnCells(kind="number", labels={"5": "10..20", "6": "*", "7": "8"})
    code, reading = read(["5", "6", "7", "9"], "number", cells=declared)
    assert reading.cells == {code["5"]: Interval(10, 20)}
    assert reading.blank.tolist() == [text == "6" for text in code]
    assert reading.positions[code["7"]] == 8
    assert reading.positions[code["9"]] == 9
    assert reading.plain.tolist() == [text in ("7", "9") for text in code]


def test_a_label_of_a_hierarchy_stands_for_its_leaves_unless_labels_are_declared():
    code, reading = read(["north", "a"], hierarchy=TOWNS)
    assert reading.cells == {code["north"]: Group(frozenset("ab"))}
    _, reading = read(["north", "a"], hierarchy=TOWNS, cells=ColumnCells(kind="text"))
    assert reading.cells == {}


def test_a_list_with_labels_of_a_hierarchy_stands_for_all_their_leaves():
    code, reading = read(["{north|c}", "!{south}"], hierarchy=TOWNS)
    assert reading.cells[code["{north|c}"]] == Group(frozenset("abc"))
    assert reading.cells[code["!{south}"]] == Group(frozenset("cd"), frozenset(), True)


def test_a_text_that_the_original_does_not_have_is_an_error_unless_it_is_a_leaf():
    assert read(["a", "z"], known=frozenset("az"))[1].plain.all()
    assert read(["a", "d"], known=frozenset("a"), hierarchy=TOWNS)[1].plain.all()
    with pytest.raises(UnexplainedCellError, match="holds 'z', which is no value of the original"):
        read(["a", "z"], known=frozenset("a"))
    assert read(["a", "z"], known=frozenset("a"), cells=ColumnCells(kind="text"))[1].plain.all(), "its labels are declared"


def test_a_text_among_numbers_stands_for_itself_only_where_it_may():
    with pytest.raises(UnexplainedCellError, match="holds 'unknown', which is no number"):
        read(["1", "unknown"], "number")
    for options in ({"allow_other_texts": True}, {"known": frozenset({"unknown"})}):
        code, reading = read(["1", "unknown"], "number", **options)
        assert reading.other_texts == {code["unknown"]: "unknown"}
        assert not reading.plain[code["unknown"]]


def test_the_meaning_of_one_text_follows_the_same_rules():
    declared = ColumnCells(kind="number", labels={"low": "0..10", "any": "*"})
    assert meaning_of("*", "number", None) == "*"
    assert meaning_of("low", "number", declared) == Interval(0, 10)
    assert meaning_of("any", "number", declared) == "*"
    assert meaning_of("3", "number", declared) == "3"
    assert meaning_of("1..3", "number", None) == Interval(1, 3)
    assert meaning_of("words", "number", None) is None
    assert meaning_of("north", "text", None, TOWNS) == Group(frozenset("ab"))


@pytest.mark.parametrize(
    ("released", "numeric", "shares"),
    [
        (["20..40", "60", None], True, {"20..40": 0.5, "60": 0.0}),
        (["20..40", "60", None], False, {"20..40": 0.5, "60": 0.0}),
        (["0..100", ">=40"], True, {"0..100": 1.0, ">=40": 0.5}),
        (["0..100", ">=40"], False, {"0..100": 1.0, ">=40": 0.5}),
        (["30..35", "{20|60}"], False, {"30..35": 0.0, "{20|60}": 0.5}),
        (["!{20}", "*"], True, {"!{20}": 0.75, "*": 1.0}),
    ],
)
def test_the_share_of_a_cell_is_its_width_or_the_values_that_it_contains(released, numeric, shares):
    ages = encode_series(pl.Series("age", [20, 30, 40, 60]))
    column = encode_series(pl.Series("age", released, dtype=pl.String))
    containment = read_containment(ages, column, numeric=numeric)
    found = dict(zip(column.values.to_list(), containment.share.tolist(), strict=False))
    assert found == shares
    if None in released:
        assert containment.share[-1] == 1.0


def test_the_share_of_a_label_counts_the_leaves_of_its_hierarchy():
    towns = encode_series(pl.Series("town", ["a", "b", "c"]))
    column = encode_series(pl.Series("town", ["north", "c"]))
    containment = read_containment(towns, column, TOWNS, numeric=False)
    assert dict(zip(column.values.to_list(), containment.share.tolist(), strict=True)) == {"north": 0.5, "c": 0.0}
    assert containment.matrix().sum() == 3
    assert containment.range == 0.0


def test_a_column_of_one_value_has_no_range_and_no_share():
    containment = read_containment(encode_series(pl.Series("x", [5, 5])), encode_series(pl.Series("x", ["0..10"])))
    assert (containment.range, containment.share.tolist()) == (0.0, [0.0])


def test_texts_among_numbers_have_no_range_so_that_shares_are_counted_in_values():
    mixed = encode_series(pl.Series("x", ["10", "20", "unknown"]))
    containment = read_containment(mixed, encode_series(pl.Series("x", ["0..25"])))
    assert (containment.range, containment.numbers.tolist()) == (0.0, [])
    assert containment.share.tolist() == pytest.approx([2 / 3])


def test_a_label_of_a_hierarchy_that_reads_as_an_interval_is_the_interval():
    ages = Hierarchy.from_rows((("10", "10..20", "*"), ("15", "10..20", "*"), ("25", "20..30", "*"), ("26", "20..30", "*")))
    code, reading = read(["10..20", "25"], "number", hierarchy=ages)
    assert reading.cells == {code["10..20"]: Interval(10, 20)}, "values between its leaves, too"


def test_the_share_of_an_interval_is_its_width_unless_the_attribute_is_said_to_be_no_number():
    containment = read_containment(encode_series(pl.Series("age", [20, 30, 40, 60])), encode_series(pl.Series("age", ["20..45"])))
    assert containment.share.tolist() == [0.625]
    shares = encode_series(pl.Series("share", [0.25, 0.5, 1.0]))
    assert read_containment(shares, encode_series(pl.Series("share", ["0.25..0.625"]))).share.tolist() == [0.5]


def test_the_share_of_a_group_counts_values_behind_its_patterns_and_is_never_above_one():
    true = encode_series(pl.Series("x", ["a", "ba", "bb", "c"]))
    assert read_containment(true, encode_series(pl.Series("x", ["{a|b*}"]))).share.tolist() == [0.75]
    assert read_containment(true, encode_series(pl.Series("x", ["{a|b|c|d|e}"]))).share.tolist() == [1.0]


def test_a_text_that_is_no_value_of_the_originals_kind_is_an_error_in_a_release():
    with pytest.raises(UnexplainedCellError, match="holds 'middle', which is no number"):
        read_containment(encode_series(pl.Series("age", [20, 30])), encode_series(pl.Series("age", ["20", "middle"])))


def test_a_list_contains_its_texts_also_where_their_codes_are_not_in_the_order_of_their_lengths():
    true = encode_series(pl.Series("x", ["a", "aa", "b", "c"]))
    containment = read_containment(true, encode_series(pl.Series("x", ["{aa|b}"])), numeric=False)
    assert [true.values[int(code)] for code in containment.matrix()[0].nonzero()[0]] == ["aa", "b"]


def test_the_share_of_a_cell_does_not_depend_on_lists_beside_it():
    places = Hierarchy.from_rows((("a", "Übrige"), ("b", "Übrige"), ("c", "Ort"), ("d", "Ort")))
    true, released = (encode_series(pl.Series("x", texts)) for texts in (["a", "b", "c", "d"], ["Übrige", "{a|c|d}"]))
    containment = read_containment(true, released, places, numeric=False)
    assert dict(zip(released.values.to_list(), containment.share.tolist(), strict=True)) == {"Übrige": 0.5, "{a|c|d}": 0.75}
    released = encode_series(pl.Series("x", ["!{b}", "!{c}", "!{d}", "a"]))
    containment = read_containment(encode_series(pl.Series("x", ["m"])), released, numeric=False)
    assert containment.share.tolist() == [0.0] * 4, "each contains the one value"
    assert containment.matrix().ravel().tolist() == [True, True, True, False]


def test_what_a_label_of_a_hierarchy_looks_like_does_not_matter_unless_it_is_an_interval():
    texts = Hierarchy.from_rows((("41", "4*", "*"), ("420", "4*", "*"), ("50", "5", "*")))
    code, reading = read(["4*", "50"], hierarchy=texts)
    assert reading.cells == {code["4*"]: Group(frozenset({"41", "420"}))}
    numbers = Hierarchy.from_rows(
        (
            ("1", "{1|2}", "*"),
            ("2", "{1|2}", "*"),
            ("3", "{1|2}", "*"),
            ("7", "many", "*"),
            ("8", "many", "*"),
            ("NA", "many", "*"),
        )
    )
    code, reading = read(["{1|2}", "many", "7"], "number", hierarchy=numbers)
    assert reading.cells == {code["{1|2}"]: Group(frozenset("123")), code["many"]: Group(frozenset("78"))}
    assert not reading.blank[:-1].any()


def test_cells_behind_a_declared_label_are_read_too():
    code, reading = read(["1x", "3..4", "9"], "number", cells=ColumnCells(kind="number", labels={"1x": "1..2"}))
    assert reading.cells == {code["1x"]: Interval(1, 2), code["3..4"]: Interval(3, 4)}
    code, reading = read(["ab", "a*", "*"], cells=ColumnCells(kind="text"))
    assert reading.cells == {code["a*"]: Prefix("a", 2)}
