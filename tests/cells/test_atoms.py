"""Agreement by atoms against an oracle that tries every value of a small universe."""

import datetime
import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.cells.agreement import agreeing_codes
from discreet.engine.cells.atoms import read_sides, shared_atoms
from discreet.engine.encoding.columns import encode_series
from discreet.errors import UnexplainedCellError
from discreet.model.cells import ColumnCells, Group, Interval, Prefix, parse_cell, parse_value, union
from discreet.model.hierarchy import Hierarchy

BIG = 2**60
NUMBERS = [at / 2 for at in range(-2, 15)]
DAYS = [datetime.date(2014, 1, 30) + datetime.timedelta(days=at) for at in range(5)]
TEXTS = ["".join(word) for size in range(4) for word in itertools.product("ab", repeat=size)]


def _interval(values):
    bound = st.sampled_from(values)
    both = st.tuples(bound, bound, st.booleans(), st.booleans()).map(
        lambda one: Interval(min(one[:2]), max(one[:2]), one[2], one[3])
    )
    low = st.tuples(bound, st.booleans()).map(lambda one: Interval(-np.inf, one[0], False, one[1]))
    high = st.tuples(bound, st.booleans()).map(lambda one: Interval(one[0], np.inf, one[1], False))
    return st.one_of(both, low, high)


def _ordered_cells(values, kind):
    interval = _interval(values)
    word = st.sampled_from(values).map(str)
    group = st.tuples(st.frozensets(word, min_size=1), st.frozensets(interval, max_size=2), st.booleans()).map(
        lambda one: Group(*one)
    )
    return st.one_of(word, interval.map(str), group.map(str), st.just("*"), st.none())


def _text_cells():
    word = st.sampled_from(TEXTS)
    prefix = st.tuples(st.sampled_from(TEXTS), st.integers(1, 2)).map(lambda one: Prefix(one[0], len(one[0]) + one[1]))
    prefix = prefix.filter(lambda one: one.length <= 3 and one.length > 1)
    group = st.tuples(st.frozensets(word, min_size=1), st.frozensets(prefix, max_size=2), st.booleans()).map(
        lambda one: Group(*one)
    )
    return st.one_of(word, prefix.map(str), group.map(str), st.just("*"), st.none())


def _holds(text, value, kind):
    """Whether a cell may stand for a value, by the grammar's own classes."""
    cell = parse_cell(text, kind)
    if cell is None:
        return parse_value(text, kind) == value
    if isinstance(cell, Group):
        members = {parse_value(member, kind) for member in cell.members}
        return (value in members or any(value in part for part in cell.parts)) != cell.others
    return value in cell


def _check(left, right, kind, universe):
    one, other = (encode_series(pl.Series("x", side, dtype=pl.String)) for side in (left, right))
    declared = ColumnCells(kind=kind)
    mine, theirs = shared_atoms([(one, declared), (other, declared)])
    agreeing = agreeing_codes(mine, theirs)
    starts, members = agreeing.starts, agreeing.members
    for code, text in enumerate(one.values.to_list()):
        found = set(members[starts[code] : starts[code + 1]].tolist())
        for there, word in enumerate(other.values.to_list()):
            if "*" in (text, word):
                assert mine.blank[code] or theirs.blank[there]
                assert not mine.blank[code] or set(mine.of(code)) >= set(theirs.of(there))
                assert there not in found
                continue
            truth = any(_holds(text, value, kind) and _holds(word, value, kind) for value in universe)
            assert (there in found) == truth, (text, word)
            assert bool(set(mine.of(code)) & set(theirs.of(there))) == truth


# end points lie among whole numbers, so that the universe has a value in every gap
@settings(max_examples=150, deadline=None)
@given(st.lists(_ordered_cells([0, 1, 2, 5], "number"), max_size=5), st.lists(_ordered_cells([0, 1, 2, 5], "number"), max_size=5))
def test_numbers_agree_where_some_number_lies_in_both(left, right):
    _check(left, right, "number", [*NUMBERS])


@settings(max_examples=80, deadline=None)
@given(st.lists(_ordered_cells(DAYS[::2], "date"), max_size=4), st.lists(_ordered_cells(DAYS[::2], "date"), max_size=4))
def test_dates_agree_where_some_day_lies_in_both(left, right):
    _check([*left, "2014-01"], [*right, "2014-02"], "date", [DAYS[0] - datetime.timedelta(1), *DAYS, datetime.date(2014, 2, 27)])


@settings(max_examples=150, deadline=None)
@given(st.lists(_text_cells(), max_size=5), st.lists(_text_cells(), max_size=5))
def test_texts_agree_where_some_text_is_in_both(left, right):
    # cells are made of two letters: the third one makes texts that no cell names
    universe = ["".join(word) for size in range(4) for word in itertools.product("abc", repeat=size)]
    _check(left, right, "text", [*universe, "a text that nobody names"])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(_interval([BIG, BIG + 1, BIG + 2]).map(str), st.sampled_from([BIG, BIG + 1]).map(str)), min_size=1))
def test_integers_beyond_2_to_the_53_are_distinguished(cells):
    true = encode_series(pl.Series("x", [BIG, BIG + 1, BIG + 2]))
    said = encode_series(pl.Series("x", cells, dtype=pl.String))
    mine, theirs = shared_atoms([(true, None), (said, None)], reference=0)
    agreeing = agreeing_codes(theirs, mine)
    starts, members = agreeing.starts, agreeing.members
    for code, text in enumerate(said.values.to_list()):
        inside = [value for value in (BIG, BIG + 1, BIG + 2) if _holds(text, value, "number")]
        found = [BIG + at for at in members[starts[code] : starts[code + 1]].tolist()]
        assert found == ([] if theirs.blank[code] else inside)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(_interval([0, 1, 2, 5]), st.sampled_from(["0", "1", "7"])), min_size=1, max_size=5))
def test_a_union_contains_exactly_the_values_of_its_cells(cells):
    made = str(union(cells, "number"))
    for value in NUMBERS:
        truth = any(_holds(str(cell), value, "number") for cell in cells)
        assert made == "*" or _holds(made, value, "number") == truth


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.tuples(_interval([0, 1, 0.1, 10**18 + 1, -3]), st.just("number")),
        st.tuples(_interval(DAYS), st.just("date")),
        st.tuples(_interval([datetime.datetime(2014, 1, 2, 3, 4, 5, 6), datetime.datetime(1, 1, 1)]), st.just("datetime")),
        st.tuples(_interval([datetime.time(1), datetime.time(23, 59, 59, 999999)]), st.just("time")),
        st.tuples(
            _interval([datetime.timedelta(days=-1, seconds=3, microseconds=7), datetime.timedelta(days=2)]), st.just("duration")
        ),
        st.tuples(st.frozensets(st.text(max_size=4), min_size=1).map(Group), st.just("text")),
        st.tuples(
            st.text(min_size=1, max_size=3).filter(lambda text: text[-1] != "*").map(lambda text: Prefix(text, len(text) + 2)),
            st.just("text"),
        ).filter(lambda one: not str(one[0]).startswith(("{", "!{"))),
        st.tuples(
            st.tuples(
                st.frozensets(st.text(max_size=3)),
                st.frozensets(
                    st.text(alphabet="a|*\\{}", max_size=3)
                    .filter(lambda text: not text.endswith("*"))
                    .map(lambda text: Prefix(text, len(text) + 2)),
                    min_size=1,
                ),
                st.booleans(),
            ).map(lambda one: Group(*one)),
            st.just("text"),
        ),
    )
)
def test_a_cell_is_read_back_as_it_was_written(one):
    cell, kind = one
    assert parse_cell(str(cell), kind) == cell


def test_declared_labels_apply_whatever_type_a_file_reader_gave_them():
    true = encode_series(pl.Series("born", [datetime.date(1992, 3, 1), datetime.date(1993, 3, 1)]))
    for said in (pl.Series("born", ["1992"]), pl.Series("born", [1992]), pl.Series("born", [1992.0])):
        mine, theirs = shared_atoms([(true, None), (encode_series(said), None)], reference=0)
        assert agreeing_codes(theirs, mine).members.tolist() == [0]
    groups = ColumnCells(kind="number", labels={"1": "{5|6}"})
    for said in (pl.Series("x", ["1"]), pl.Series("x", [1])):
        true = encode_series(pl.Series("x", [1, 5, 6]))
        mine, theirs = shared_atoms([(true, None), (encode_series(said), groups)], reference=0)
        assert agreeing_codes(theirs, mine).members.tolist() == [1, 2]


def test_a_hierarchy_explains_its_labels():
    tree = Hierarchy.from_rows([("Ohio", "Midwest"), ("Iowa", "Midwest"), ("Utah", "West")])
    true, said = encode_series(pl.Series("s", ["Iowa", "Ohio", "Utah"])), encode_series(pl.Series("s", ["Midwest", "West"]))
    mine, theirs = shared_atoms([(true, None), (said, None)], hierarchy=tree, reference=0)
    assert agreeing_codes(theirs, mine).members.tolist() == [0, 1, 2]


def test_an_unexplained_label_is_an_error_and_never_a_value():
    states, ages = encode_series(pl.Series("s", ["Iowa", "Ohio"])), encode_series(pl.Series("s", [1, 2]))
    said = encode_series(pl.Series("s", ["Midwest"]))
    for true in (states, ages):
        with pytest.raises(UnexplainedCellError, match="'s' holds 'Midwest'"):
            shared_atoms([(true, None), (said, None)], reference=0)
    declared = ColumnCells(kind="text")  # a pseudonym
    mine, theirs = shared_atoms([(states, None), (said, declared)], reference=0)
    assert not len(agreeing_codes(mine, theirs).members)
    shared_atoms([(said, None)])  # alone, a text is a value


def test_two_complements_agree_over_texts_that_no_cell_names():
    one, other = (encode_series(pl.Series("x", side)) for side in (["!{a|b}"], ["!{b|a}", "{a|b}"]))
    declared = ColumnCells(kind="text")
    mine, theirs = shared_atoms([(one, declared), (other, declared)])
    agreeing = agreeing_codes(mine, theirs)
    starts, members = agreeing.starts, agreeing.members
    texts = other.values.to_list()
    assert [texts[code] for code in members[starts[0] : starts[1]]] == ["!{b|a}"]


def test_numbers_are_compared_with_intervals_written_as_texts_where_neither_is_the_original():
    numbers, texts = encode_series(pl.Series("x", [1, 7])), encode_series(pl.Series("x", ["0..5", "7"]))
    mine, theirs = shared_atoms([(numbers, None), (texts, None)])
    agreeing = agreeing_codes(mine, theirs)
    starts, members = agreeing.starts, agreeing.members
    labels = texts.values.to_list()
    assert [labels[code] for code in members[starts[0] : starts[1]]] == ["0..5"]
    assert [labels[code] for code in members[starts[1] : starts[2]]] == ["7"]


@given(*(st.lists(st.frozensets(st.sampled_from(TEXTS[:8]), min_size=1, max_size=3), min_size=2, max_size=5) for _ in range(2)))
def test_lists_of_texts_agree_where_they_have_a_member_in_common(left, right):
    one, other = (encode_series(pl.Series("x", [str(Group(members)) for members in side])) for side in (left, right))
    mine, theirs = shared_atoms([(side, ColumnCells(kind="text")) for side in (one, other)])
    agreeing = agreeing_codes(mine, theirs)
    starts, members = agreeing.starts, agreeing.members
    for code, text in enumerate(one.values.to_list()):
        common = [
            there
            for there, word in enumerate(other.values.to_list())
            if parse_cell(text, "text").members & parse_cell(word, "text").members
        ]
        assert members[starts[code] : starts[code + 1]].tolist() == common


def test_cells_agree_beyond_the_last_and_before_the_first_number_that_a_column_names():
    _check([">5", "<0"], [">5", "<0", "5", "0"], "number", NUMBERS)


def test_complements_of_both_halves_of_the_axis_do_not_agree():
    below, above = Interval(-np.inf, 5, False, False), Interval(5, np.inf, True, False)
    left, right = (str(Group(frozenset({"1"}), frozenset({half}), True)) for half in (below, above))
    _check([left, right], [right, "5", "4"], "number", NUMBERS)


def test_words_among_numbers_agree_with_themselves_alone():
    one, other = (
        encode_series(pl.Series("x", side))
        for side in (["0..9", ">=9", "!{5}", "never", "unknown"], ["5", "unknown", "never", "older"])
    )
    mine, theirs = shared_atoms([(one, None), (other, None)])
    agreeing = agreeing_codes(mine, theirs)
    starts, members = agreeing.starts, agreeing.members
    labels = other.values.to_list()
    found = {
        text: [labels[there] for there in members[starts[code] : starts[code + 1]]]
        for code, text in enumerate(one.values.to_list())
    }
    words = ["never", "older", "unknown"]
    assert found == {"0..9": ["5"], ">=9": [], "!{5}": words, "never": ["never"], "unknown": ["unknown"]}


def test_originals_are_read_as_the_first_kind_that_explains_every_text_of_the_release():
    original = encode_series(pl.Series("x", ["1..2", "2014-01-05", "other"]))
    for released, kind in (
        (["1..2", "3"], "number"),
        (["1..2", "2014-01-01..2014-02-01"], "date"),
        (["1..2", "2014-01-05T10:00..2014-01-05T12:00"], "datetime"),
        (["1..2", "three"], "text"),
        (["2014-01-01..2014-02-01", "other"], "date"),
    ):
        sides = [(original, None), (encode_series(pl.Series("x", released)), None)]
        assert [reading.kind for reading in read_sides(sides, reference=0)] == [kind, kind], released


def test_only_plain_values_are_single_atoms():
    numbers = ["5", "5..7", "{5|9}", "*", "[6, 6]", ">=9"]
    texts = ["ab", "a*", "{ab|b|c}", "*", "{ab}"]
    for released, kind, single in ((numbers, "number", {"5", "[6, 6]"}), (texts, "text", {"ab", "{ab}"})):
        column = encode_series(pl.Series("x", released))
        (atoms,) = shared_atoms([(column, ColumnCells(kind=kind))])
        assert {text for text, is_single in zip(column.values, atoms.is_single, strict=False) if is_single} == single


def test_columns_are_compared_as_the_kind_that_holds_the_values_of_all():
    days = encode_series(pl.Series("x", [datetime.date(2014, 1, 1), datetime.date(2014, 1, 3)]))
    moments = encode_series(pl.Series("x", [datetime.datetime(2014, 1, 1), datetime.datetime(2014, 1, 1, 12)]))
    words, nothing = encode_series(pl.Series("x", ["a", "b"])), encode_series(pl.Series("x", [], dtype=pl.Int64))
    for columns, kind in (
        ([days, moments], "datetime"),
        ([moments, days], "datetime"),
        ([days, days], "date"),
        ([moments, moments], "datetime"),
        ([nothing, words], "text"),
    ):
        assert {reading.kind for reading in read_sides([(column, None) for column in columns])} == {kind}
    agreeing = agreeing_codes(*shared_atoms([(days, None), (moments, None)]))
    assert (agreeing.starts.tolist(), agreeing.members.tolist()) == ([0, 1, 1], [0]), "a day is its first moment"


def test_an_original_value_that_is_also_a_label_is_that_value_alone():
    tree = Hierarchy.from_rows([("a", "ab"), ("b", "ab"), ("ab", "ab")])
    true, released = (encode_series(pl.Series("x", texts)) for texts in (["a", "ab", "b"], ["a", "ab"]))
    mine, theirs = shared_atoms([(true, None), (released, None)], hierarchy=tree, reference=0)
    agreeing = agreeing_codes(theirs, mine)
    starts, members = agreeing.starts, agreeing.members
    assert (starts.tolist(), members.tolist()) == ([0, 1, 4], [0, 0, 1, 2])


def test_an_original_without_values_says_nothing_about_the_texts_of_a_release():
    released = encode_series(pl.Series("x", ["a"]))
    _, theirs = shared_atoms([(encode_series(pl.Series("x", [], dtype=pl.String)), None), (released, None)], reference=0)
    assert theirs.is_single[0]
