"""Who takes part in a count over known sets, and with which weights."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.known_sets import inputs
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.inputs import (
    build_queries,
    cells_agree,
    consequences,
    find_sensitive_records,
    patterns_of,
    single_pattern,
    weights_of,
)
from discreet.engine.known_sets.queries import Queries
from discreet.engine.known_sets.sums import attributes, family_of, known_sets, probability_of
from discreet.engine.known_sets.terms import Pattern
from discreet.errors import DataError
from discreet.model.cells import ColumnCells
from discreet.model.hierarchy import HierarchySpec
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing import table


def test_identifiers_and_persons_take_no_part_however_known_and_keys_need_a_probability_or_a_sensitivity():
    data = table(
        {"name": ["a"], "who": ["p"], "age": [1], "town": ["x"], "ill": ["Flu"]},
        identifier=["name"], person=["who"], key=["age", "town"],
        known={"name": 0.9, "who": 0.9, "age": 0.5}, sensitivity={"name": 1.0, "ill": 1.0},
    )  # fmt: skip
    assert attributes(data) == ["age", "ill"]
    with pytest.raises(DataError, match="needs at least one attribute"):
        attributes(table({"name": ["a"], "age": [1]}, identifier=["name"], key=["age"], known={"name": 1.0}))


def test_patterns_are_the_distinct_combinations_of_unknown_and_lost_attributes():
    unknown = [np.array([0, 1, 0, 1], np.uint8), np.array([0, 0, 0, 1], np.uint8)]
    lost = [None, np.array([0, 0, 1, 0], np.uint8)]
    which, patterns = patterns_of(unknown, lost, 4)
    assert [patterns[at] for at in which] == [
        Pattern(),
        Pattern(frozenset({0})),
        Pattern(frozenset(), frozenset({1})),
        Pattern(frozenset({0, 1})),
    ]
    assert len(patterns) == 4
    none = np.zeros(3, np.uint8)
    which, patterns = patterns_of([none], [None], 3)
    assert (which.tolist(), patterns) == ([0, 0, 0], [Pattern()])
    assert single_pattern(2)[1] == [Pattern()]
    assert patterns_of([np.zeros(0, np.uint8)], [None], 0)[1] == [Pattern()]


def test_weights_are_split_into_attributes_of_kept_sets_and_the_rest():
    """D and P of an attribute that is in no kept set are w p / (1 + p) and 1 + p, and nothing where its probability is 0."""
    data = table(
        {"age": [1, 2], "ill": ["Flu", "Cold"], "pay": [10, 20]},
        key=["age"], confidential=["ill", "pay"],
        known={"age": 0.9, "ill": 0.25}, sensitivity={"age": 0.5, "ill": 1.0, "pay": 0.75},
    )  # fmt: skip
    data = data.with_policy(
        data.policy.with_(
            attributes={name: one.model_copy(update={"default": 1.0}) for name, one in data.policy.attributes.items()}
        )
    )
    names = ["age", "ill", "pay"]
    tree = family([0.9, 0.25, 0.0], 0.3, 100)
    assert [tree.members(node) for node in range(len(tree))] == [(), (0,)]
    weights = weights_of(data, names)
    slots = np.arange(2)
    queries = build_queries(data, tree, names, slots, *single_pattern(2))
    assert find_sensitive_records(data, weights).tolist() == [True, True]
    assert consequences(data, weights, slots).tolist() == queries.weight.tolist() == [2.25, 2.25]
    assert queries.single.tolist() == [[0.5], [0.5]]
    assert queries.rest == pytest.approx([1.0 * 0.25 / 1.25] * 2)
    assert queries.spread == pytest.approx([1.25] * 2)
    lost = build_queries(data, tree, names, slots, np.array([0, 1], np.int32), [Pattern(), Pattern(frozenset(), frozenset({1}))])
    assert lost.rest == pytest.approx([0.2, 0.0]), "a record that is not found by an attribute learns nothing through it"
    assert lost.spread == pytest.approx([1.25, 1.0])


def test_a_record_whose_values_have_no_weight_is_not_sensitive():
    data = table({"age": [1, 2, 3], "ill": ["Flu", "Cold", None]}, key=["age"], known={"age": 0.9}, sensitivity={"ill": 1.0})
    ill = data.policy.attributes["ill"].model_copy(update={"values": {"Flu": 0.5}, "default": 0.0})
    data = data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "ill": ill}))
    assert find_sensitive_records(data, weights_of(data, ["age", "ill"])).tolist() == [True, False, False]


def test_queries_of_some_patterns_keep_their_numbers_and_ask_by_the_same_attributes():
    patterns = [Pattern(), Pattern(frozenset({2})), Pattern(frozenset(), frozenset({0})), Pattern(frozenset({0, 1}))]
    pattern = np.array([3, 0, 1, 2, 1, 0], np.int32)
    numbers = np.arange(6.0)
    queries = Queries(numbers, numbers + 10, numbers + 20, (numbers + 30)[:, None], [1], pattern, patterns)
    own, some = queries.of_patterns(1, 3)
    assert own.tolist() == [2, 3, 4]
    assert some.patterns == patterns[1:3], "no others, for their terms would take memory"
    assert (some.weight.tolist(), some.rest.tolist(), some.spread.tolist()) == ([2, 3, 4], [12, 13, 14], [22, 23, 24])
    assert (some.single.tolist(), some.singles) == ([[32], [33], [34]], [1])
    assert [some.patterns[at] for at in some.pattern] == [patterns[at] for at in pattern[own]]
    for place in range(4):
        asks_not = [place in patterns[at].unknown | patterns[at].lost for at in pattern]
        silent = queries.silent(place)
        assert (silent is None) == (not any(asks_not))
        assert silent is None or silent.tolist() == asks_not


@pytest.mark.parametrize(
    "labels",
    [["20..30", "25..40", "30..50", "*", "45"], ["20", "25", "30", "*", "45"], ["20..50", "{20|45}", "30", None, "!{45}"]],
)
@pytest.mark.parametrize("layers", [inputs._MOST_LAYERED, 2, 0], ids=["by layers", "of too many layers", "by overlap"])
def test_an_intruder_with_true_values_counts_every_cell_that_contains_them(labels, layers, monkeypatch):
    """The risk of each record against all sets of two keys, by hand."""
    monkeypatch.setattr(inputs, "_MOST_LAYERED", layers)
    ages, towns = [20, 25, 30, 35, 45], ["x", "y", "x", "y", "x"]
    policy = {"key": ["age", "town"], "known": {"age": 0.5, "town": 0.4}, "sensitivity": {"ill": 1.0}}
    data = table({"age": ages, "town": towns, "ill": ["a"] * 5}, **policy)
    data = data.with_policy(
        data.policy.with_(
            attributes={name: one.model_copy(update={"default": 1.0}) for name, one in data.policy.attributes.items()}
        )
    )
    masked = data.with_columns({"age": pl.Series("age", labels, dtype=pl.String)})
    sums = known_sets(masked, epsilon=0.0, max_sets=100, original=data)

    def holds(label, age):
        if label in (None, "*"):
            return True
        if label.startswith("!"):
            return str(age) not in label[2:-1].split("|")
        if label.startswith("{"):
            return str(age) in label[1:-1].split("|")
        low, dots, high = label.partition("..")
        return int(low) <= age < int(high) if dots else age == int(low)

    for at, record in enumerate(sums.slots.tolist()):
        expected = 0.0
        for known, chance in (((), 1.0), (("age",), 0.5), (("town",), 0.4), (("age", "town"), 0.2)):
            agree = [
                ("age" not in known or holds(labels[other], ages[record]))
                and ("town" not in known or towns[other] == towns[record])
                for other in range(5)
            ]
            expected += chance / sum(agree) if agree[record] else 0.0
        assert sums.per_record.risk[at] == pytest.approx(expected), record


AGES, TOWNS = (20, 25, 30, 35, 45), ("x", "y", "z")
AGES_OF = {
    "20": {20}, "25": {25}, "30": {30}, "35": {35}, "45": {45}, "20..30": {20, 25}, "25..40": {25, 30, 35},
    "30..50": {30, 35, 45}, "20..50": {*AGES}, "{20|45}": {20, 45}, "{25|30}": {25, 30},
    "!{45}": {20, 25, 30, 35}, "*": {*AGES}, None: {*AGES},
}  # fmt: skip
TOWNS_OF = {"x": {"x"}, "y": {"y"}, "z": {"z"}, "{x|y}": {"x", "y"}, "{y|z}": {"y", "z"}, "*": {*TOWNS}, None: {*TOWNS}}
RECORDS = st.tuples(
    st.sampled_from([*AGES, None]), st.sampled_from(TOWNS), st.sampled_from(list(AGES_OF)), st.sampled_from(list(TOWNS_OF)),
    st.sampled_from("aab"),
)  # fmt: skip


def sick(ages, towns, ills):
    """Records of whom only the illness a is sensitive."""
    data = table(
        {"age": ages, "town": towns, "ill": ills},
        key=["age", "town"], known={"age": 0.5, "town": 0.4}, sensitivity={"ill": 1.0},
    )  # fmt: skip
    ill = data.policy.attributes["ill"].model_copy(update={"values": {"a": 1.0}, "default": 0.0})
    return data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "ill": ill}))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(RECORDS, min_size=2, max_size=9), st.sampled_from([inputs._MOST_LAYERED, 2, 0]), st.randoms(use_true_random=False)
)
def test_cells_of_several_columns_that_hold_the_true_values_are_counted(records, most_layered, random):
    """Each record's risk against all sets of two columns whose cells overlap, whichever records of the original are left."""
    ages, towns, age_labels, town_labels, ills = zip(*records, strict=True)
    data = sick(pl.Series(ages, dtype=pl.Int64), towns, ills)
    labels = {"age": pl.Series("age", age_labels, dtype=pl.String), "town": pl.Series("town", town_labels, dtype=pl.String)}
    left = sorted(random.sample(range(len(records)), random.randint(1, len(records))))
    masked = data.with_columns(labels).take(np.array(left))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "_MOST_LAYERED", most_layered)
        sums = known_sets(masked, epsilon=0.0, max_sets=100, original=data)
    assert sums.slots.tolist() == [slot for slot, record in enumerate(left) if ills[record] == "a"]
    for at, record in enumerate(left[slot] for slot in sums.slots):
        expected, asked = 1 / len(left), len(left)
        for known, chance in (({"age"}, 0.5), ({"town"}, 0.4), ({"age", "town"}, 0.2)):
            agreeing = [
                other
                for other in left
                if ("age" not in known or ages[record] is None or ages[record] in AGES_OF[age_labels[other]])
                and ("town" not in known or towns[record] in TOWNS_OF[town_labels[other]])
            ]
            if record in agreeing:
                expected, asked = expected + chance / len(agreeing), min(asked, len(agreeing))
        assert sums.per_record.risk[at] == pytest.approx(expected)
        assert sums.per_record.count_all[at] == asked, "who agrees on all that finds the record"


@pytest.mark.parametrize("many", [False, True])
def test_a_record_lacks_or_has_lost_any_of_its_attributes(many):
    """All combinations of what is unknown of and lost by two attributes are patterns of their own."""
    flags = np.array([[at >> bit & 1 for at in range(16)] for bit in range(4)], dtype=np.uint8)
    if many:
        flags = np.repeat(flags, 3, axis=1)
    which, patterns = patterns_of([flags[0], flags[1]], [flags[2], flags[3]], flags.shape[1])
    assert len(patterns) == 16
    for row, at in enumerate(which):
        assert patterns[at] == Pattern(
            frozenset(place for place in (0, 1) if flags[place, row]),
            frozenset(place for place in (0, 1) if flags[2 + place, row]),
        )


def test_more_combinations_of_nulls_than_can_be_counted_are_an_error(monkeypatch):
    data = sick(pl.Series([1, 2, None]), ["x", "y", "x"], ["a", "a", "b"])
    monkeypatch.setattr(inputs, "MOST_CLASSES", 2)
    known_sets(data, epsilon=0.0, max_sets=100, missing="wildcard")
    monkeypatch.setattr(inputs, "MOST_CLASSES", 1)
    with pytest.raises(DataError, match="stand in 2 different combinations of attributes, and at most 1 can"):
        known_sets(data, epsilon=0.0, max_sets=100, missing="wildcard")


def test_each_release_of_one_original_is_read_by_itself():
    """What an unmasked column holds is read once, and nothing that another release, a hierarchy or labels say is taken for it."""
    ages, towns = [20, 25, 30, 45], ["x", "y", "x", "z"]
    data = sick(ages, towns, ["a"] * 4)

    def risks(masked, original=data):
        return known_sets(masked, epsilon=0.0, max_sets=100, original=original).per_record.risk.tolist()

    def by_hand(holds):
        """Sets of both columns, where the age of a record agrees with these records and the town with its twins."""
        made = []
        for at in range(4):
            of_town = {other for other in range(4) if towns[other] == towns[at]}
            parts = ((0.5, holds[at]), (0.4, of_town), (0.2, holds[at] & of_town))
            made.append(1 / 4 + sum(chance / len(agreeing) for chance, agreeing in parts))
        return pytest.approx(made)

    alone, pairs = [{0}, {1}, {2}, {3}], [{0, 1}, {0, 1}, {2, 3}, {2, 3}]
    in_ranges = data.with_columns({"age": pl.Series("age", ["20..30", "20..30", "30..50", "30..50"])})
    for _ in range(2):
        assert risks(data) == by_hand(alone)
        assert risks(in_ranges) == by_hand(pairs)
    declared = ColumnCells(kind="number", labels={"low": "20..30", "high": "30..50"})
    labels = pl.Series("age", ["low", "low", "high", "high"])
    assert risks(data.with_columns({"age": labels}, cells={"age": declared})) == by_hand(pairs)
    age = data.policy.attributes["age"].model_copy(
        update={"hierarchy": HierarchySpec(groups=[{"low": ["20", "25"], "high": ["30", "45"]}])}
    )
    explained = data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "age": age}))
    assert risks(explained.with_columns({"age": labels}), explained) == by_hand(pairs)


def test_equal_releases_of_different_true_values_are_asked_for_apart():
    towns = ["x", "y"] * 30
    data = sick([at % 6 for at in range(60)], towns, ["a"] * 60)
    labels = {"age": pl.Series("age", ["0..3", "3..6"])[[at % 6 // 3 for at in range(60)]], "town": pl.Series("town", ["x"] * 60)}
    sums = known_sets(data.with_columns(labels), epsilon=0.0, max_sets=100, original=data)
    found = [1 / 60 + 0.5 / 30 + (0.4 / 60 + 0.2 / 30 if town == "x" else 0.0) for town in towns]
    assert sums.per_record.risk.tolist() == pytest.approx(found)


def test_certain_consequences_are_summed_for_everyone_whatever_is_sensitive():
    data = sick([1, 1, 2], ["x", "y", "y"], ["b", "b", "a"])
    sums = known_sets(data, epsilon=0.0, max_sets=100, certain=True)
    assert sums.slots.tolist() == [0, 1, 2]
    assert sums.per_record.risk.tolist() == pytest.approx(
        [1 / 3 + 0.25 + 0.4 + 0.2, 1 / 3 + 0.25 + 0.2 + 0.2, 1 / 3 + 0.5 + 0.2 + 0.2]
    )


def test_a_unit_of_which_only_some_attributes_are_counted_has_its_probability():
    attributes_of = {"a": {"known": 0.3}, "b": {"known": 0.9}, "c": {"known": 0.5}}
    policy = Policy.from_dict({"attributes": attributes_of, "known_together": [["a", "b"]]})
    data = Microdata(pl.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 1]}), policy)
    for knowledge, rest in (("products", 1.0), ("independent", 0.5)):
        assert probability_of(data, ["a", "b"], knowledge) == pytest.approx(0.9 * rest)
        assert probability_of(data, ["a", "b", "c"], knowledge) == pytest.approx(0.45)
        tree = family_of(data, ["a", "c"], 0.0, 100, knowledge)
        chances = {tree.members(node): float(tree.chance[node]) for node in range(len(tree))}
        assert chances[(0,)] == pytest.approx(0.9 * rest)
        assert chances[(0, 1)] == pytest.approx(0.45)


LABELS = ["20..30", "25", "45", None, "*", "30..50"]
TRUE_AGES = [20, 25, 45, 30, None, 35]


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_cells_agree_with_the_cell_of_a_record_where_they_share_a_value_and_nulls_as_the_policy_says(missing):
    masked = sick([20] * 6, ["x"] * 6, ["a"] * 6).with_columns({"age": pl.Series("age", LABELS, dtype=pl.String)})
    values = {label: AGES_OF[label] for label in LABELS} | {"*": {*AGES, None}}
    if missing == "category":
        values[None] = {None}
    for record, own in enumerate(LABELS):
        agreeing = cells_agree(masked, "age", record, -1, missing, None)
        assert agreeing.tolist() == [bool(values[own] & values[label]) for label in LABELS], own


def test_cells_agree_with_the_true_value_of_the_row_that_a_record_comes_from():
    """Released rows in another order and one fewer, a declared label, and a missing true value, which excludes no cell."""
    data = sick(pl.Series(TRUE_AGES), ["x"] * 6, ["a"] * 6)
    order = [3, 0, 5, 4, 1]
    labels = [LABELS[row] for row in order]
    released = pl.Series("age", ["young" if label == "20..30" else label for label in LABELS], dtype=pl.String)
    declared = ColumnCells(kind="number", labels={"young": "20..30"})
    masked = data.with_columns({"age": released}, cells={"age": declared}).take(np.array(order))
    for record, row in enumerate(order):
        agreeing = cells_agree(masked, "age", record, row, "category", data)
        assert agreeing.tolist() == [TRUE_AGES[row] is None or TRUE_AGES[row] in AGES_OF[label] for label in labels], row


@pytest.mark.parametrize("names", [["age", "ill", "town"], ["age", "town", "ill"]])
@pytest.mark.parametrize("knowledge", ["products", "independent"])
def test_a_unit_in_no_kept_set_counts_once_and_only_what_is_sensitive_of_it_is_learnt(knowledge, names):
    """Two attributes that are known together, of which one is sensitive: eq. 5 over being known and not, whichever is lost.

    A true value that is missing (the last pattern) loses nothing: the record agrees with it.
    """
    data = table(
        {"age": [1, 2], "ill": ["Flu", "Cold"], "town": ["x", "y"]},
        key=["age", "town"], known={"age": 0.9, "ill": 0.2, "town": 0.2}, sensitivity={"ill": 1.0},
    )  # fmt: skip
    ill = data.policy.attributes["ill"].model_copy(update={"default": 1.0})
    data = data.with_policy(data.policy.with_(attributes={**data.policy.attributes, "ill": ill}))
    tree = family([0.9, 0.2, 0.2], 0.3, 100, knowledge=knowledge, together=[[1, 2]])
    assert [tree.members(node) for node in range(len(tree))] == [(), (0,)]
    patterns = [Pattern(), Pattern(frozenset(), frozenset({1})), Pattern(frozenset(), frozenset({2}))]
    queries = build_queries(data, tree, names, np.arange(2), np.array([0, 1], np.int32), patterns)
    other = build_queries(data, tree, names, np.arange(2), np.array([2, 0], np.int32), patterns)
    missing = build_queries(data, tree, names, np.arange(2), np.zeros(2, np.int32), [Pattern(frozenset({1, 2}))])
    not_known = 0.8 if knowledge == "independent" else 1.0
    assert queries.spread == pytest.approx([0.2 + not_known, not_known])
    assert queries.rest == pytest.approx([0.2 / (0.2 + not_known), 0.0])
    assert other.spread == pytest.approx([not_known, 0.2 + not_known])
    assert other.rest == pytest.approx([0.0, 0.2 / (0.2 + not_known)])
    assert missing.spread == pytest.approx([0.2 + not_known] * 2)
    assert missing.rest == pytest.approx([0.2 / (0.2 + not_known)] * 2)
