"""|rho| against the plain double loop: exact values, coarse cells and similar texts, nulls on either side."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Jaro

from discreet.errors import DataError
from discreet.model.hierarchy import Hierarchy
from discreet.risks.decision.consistency import Similarity, count_consistent

NAMES = ["a", "b", "c"]


def tables(values):
    row = st.tuples(*[st.none() | values] * 3)
    return st.lists(row, max_size=7).map(lambda rows: pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row"))


def slow(disclosed, dictionary, agree, missing="wildcard"):
    def same(x, y):
        if missing == "category":
            return (x is None and y is None) or (x is not None and y is not None and agree(x, y)) or "*" in (x, y)
        return x is None or y is None or agree(x, y)

    return [sum(all(map(same, y, row)) for row in dictionary.rows()) for y in disclosed.rows()]


plain = tables(st.sampled_from(["x", "y", "z"]))


@settings(deadline=None, max_examples=80)
@given(plain, plain, st.sampled_from(["wildcard", "category"]))
def test_exact_consistency_equals_a_double_loop(disclosed, dictionary, missing):
    found = count_consistent(disclosed, dictionary, NAMES, missing=missing)
    assert found.tolist() == slow(disclosed, dictionary, lambda x, y: x == y, missing)


@settings(deadline=None, max_examples=80)
@given(plain, plain, st.sampled_from(["wildcard", "category"]))
def test_many_patterns_of_nulls_are_counted_as_few_are(disclosed, dictionary, missing):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.engine.classes.groups._FEW_PATTERN_PAIRS", -1)
        patch.setattr("discreet.engine.classes.groups._GROUPING_COST", 1e9)
        found = count_consistent(disclosed, dictionary, NAMES, missing=missing)
    assert found.tolist() == slow(disclosed, dictionary, lambda x, y: x == y, missing)


def test_nulls_in_every_pattern_are_counted_exactly():
    generator = np.random.default_rng(1)
    values, hidden = generator.integers(0, 5, (2000, 8)), generator.random((2000, 8)) < 0.4
    frame = pl.DataFrame({str(at): pl.Series(values[:, at]).set(pl.Series(hidden[:, at]), None) for at in range(8)})
    found = count_consistent(frame, frame, frame.columns)
    shown = np.where(hidden, -1, values)
    agree = ((shown[:, None] == shown[None]) | hidden[:, None] | hidden[None]).all(axis=2).sum(axis=1)
    assert (found == agree).all()


cells = st.sampled_from(["1", "2", "7", "1..3", "[2, 7]", "<2", "{1|7}", "*", "word"])


def may_be(x, y):
    """Whether two cells can stand for one value, written with sets of what each may be."""
    world = {
        "1": {1},
        "2": {2},
        "7": {7},
        "1..3": {1, 1.5, 2, 2.5},
        "[2, 7]": {2, 2.5, 5, 7},
        "<2": {-9, 0, 1, 1.5},
        "{1|7}": {1, 7},
    }
    if "*" in (x, y) or x == y:
        return True
    return bool(world.get(x, set()) & world.get(y, set()))


@settings(deadline=None, max_examples=80)
@given(tables(cells), tables(cells), st.sampled_from(["wildcard", "category"]))
def test_a_coarse_cell_agrees_with_every_value_it_may_stand_for(disclosed, dictionary, missing):
    found = count_consistent(disclosed, dictionary, NAMES, missing=missing)
    assert found.tolist() == slow(disclosed, dictionary, may_be, missing)


def test_an_interval_agrees_with_numbers_of_another_type():
    release = pl.DataFrame({"age": ["20..30", "[30, 40]", "*"]})
    assert count_consistent(release, pl.DataFrame({"age": [20, 29, 30, 40]}), ["age"]).tolist() == [2, 2, 4]


def test_a_hierarchys_label_agrees_with_its_leaves():
    tree = Hierarchy.from_rows([("48201", "4820*"), ("48202", "4820*"), ("49001", "4900*")])
    release = pl.DataFrame({"zip": ["4820*", "49001", "4900*"]})
    book = pl.DataFrame({"zip": [48201, 48202, 48201, 49001]})
    assert count_consistent(release, book, ["zip"], hierarchies={"zip": tree}).tolist() == [3, 1, 1]


words = tables(st.sampled_from(["mary", "marie", "martha", "john", "jon", "m", ""]))


@settings(deadline=None, max_examples=80)
@given(words, words, st.sampled_from([0.6, 0.8, 1.0]), st.sampled_from([(), ("a",)]))
def test_similarity_of_attributes_equals_a_double_loop(disclosed, dictionary, threshold, block):
    found = count_consistent(disclosed, dictionary, NAMES, similarity=Similarity(threshold=threshold, block=block))

    def agree(at, x, y):
        return x == y or (NAMES[at] not in block and Jaro.similarity(x, y) >= threshold - 1e-12)

    expected = [
        sum(
            all(x is None or y is None or agree(at, x, y) for at, (x, y) in enumerate(zip(one, row, strict=True)))
            for row in dictionary.rows()
        )
        for one in disclosed.rows()
    ]
    assert found.tolist() == expected


@settings(deadline=None, max_examples=80)
@given(words, words, st.sampled_from([0.6, 0.8, 1.0]), st.sampled_from([(), ("a",), tuple(NAMES)]))
def test_similarity_of_records_equals_a_double_loop(disclosed, dictionary, threshold, block):
    found = count_consistent(disclosed, dictionary, NAMES, similarity=Similarity(threshold=threshold, of="record", block=block))

    def agree(one, row):
        scores = []
        for name, x, y in zip(NAMES, one, row, strict=True):
            if x is None or y is None:
                continue
            if name not in block:
                scores.append(1.0 if x == y else Jaro.similarity(x, y))
            elif x != y:
                return False
        return not scores or np.sum(scores) >= (threshold - 1e-12) * len(scores)

    assert found.tolist() == [sum(agree(one, row) for row in dictionary.rows()) for one in disclosed.rows()]


def test_too_many_pairs_are_refused_before_they_are_compared(monkeypatch):
    monkeypatch.setattr("discreet.engine.linkage.value_pairs.MOST_PAIRS", 3)
    frame = pl.DataFrame({"a": ["x", "y"]})
    with pytest.raises(DataError, match="'a' has 2 values here and 2"):
        count_consistent(frame, frame, ["a"], similarity=Similarity())
