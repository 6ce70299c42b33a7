"""A value that the policy names and no record holds is a typing error, and never a risk of 0 without a word."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest

import discreet
from discreet.engine.cells.listed_values import _is_slip, check_column, check_groups, check_listed_values
from discreet.engine.encoding.columns import encode_series
from discreet.errors import DataError, ParameterError, PolicyError
from discreet.model.attribute import Attribute
from discreet.model.cells import ColumnCells
from discreet.model.policy import Policy


def _data(column: list[Any], attribute: dict[str, Any], dtype: Any = None) -> discreet.Microdata:
    frame = pl.DataFrame({"town": ["A", "B"] * (len(column) // 2), "x": pl.Series(column, dtype=dtype)})
    said = {"role": "confidential", "sensitivity": 1.0, **attribute}
    content = {
        "attributes": {"town": {"role": "key", "known": 0.5}, "x": said},
        "risk": {"known_sets": {"alpha": 1}},
        "plan": {"seed": 1, "steps": [{"method": "sampling", "fraction": 0.9}]},
    }
    return discreet.read(frame, Policy.from_dict(content))


def _without_plan(data: discreet.Microdata) -> discreet.Microdata:
    return data.with_policy(data.policy.with_(plan=Policy().plan))


ILL = ["HIV", "flu", "none", "flu"] * 3


@pytest.mark.parametrize("values", [{"HVI": 1.0}, {"HVI": 1.0, "flu": 0.2}, {"hiv": 1.0, "flu": 0.2}, {"HIV ": 1.0}])
def test_a_slip_is_an_error_that_names_the_value(values: dict[str, float]) -> None:
    data = _data(ILL, {"values": values})
    for verb in (discreet.risk, discreet.mask, lambda table: discreet.assess(table, table)):
        with pytest.raises(PolicyError, match=r"x\.values' names '[^']*', which does not occur; did you mean 'HIV'\?"):
            verb(data)


def test_a_list_that_matches_nothing_is_an_error() -> None:
    data = _data(ILL, {"values": {"Leukemia": 1.0}})
    for verb in (discreet.mask, lambda table: discreet.assess(table, table), lambda table: discreet.risk(_without_plan(table))):
        with pytest.raises(PolicyError, match=r"'x\.values' matches no value of 'x': 'Leukemia' does not occur"):
            verb(data)
    # a table that is measured alone under a plan may be its release, in which the value does not occur any more
    assert any("Leukemia" in note for note in discreet.risk(data)["known_sets"].notes)


def test_one_listed_value_that_does_not_occur_is_an_error_beside_others_that_do() -> None:
    """It may be any value of the table in another spelling, so that its weight would be lost without a word."""
    data = _data(ILL, {"values": {"Leukemia": 1.0, "HIV": 0.9}})
    for verb in (discreet.mask, lambda table: discreet.assess(table, table), lambda table: discreet.risk(_without_plan(table))):
        with pytest.raises(
            PolicyError, match=r"'x\.values' names 'Leukemia', which does not occur; known: flu, none; set allow_"
        ):
            verb(data)
    # a table that is measured alone under a plan may be its release, in which the value does not occur any more
    score = discreet.risk(data)["known_sets"]
    assert any("'x.values' names 'Leukemia', which does not occur in this table" in note for note in score.notes)
    assert discreet.mask(_data(ILL, {"values": {"Leukemia": 1.0, "HIV": 0.9}, "allow_absent": True})).masked is not None


def test_a_weight_that_matches_nothing_is_an_error_among_very_many_values() -> None:
    """A column of numbers with over a hundred thousand values is checked like any other."""
    column = [number + 0.5 for number in range(100_002)]
    assert discreet.risk(_without_plan(_data(column, {"values": {"17.5": 1.0, "<9": 0.5}})))["known_sets"]["max"] > 0
    with pytest.raises(PolicyError, match=r"'x\.values' names '17', which does not occur; it has 100,001 values"):
        discreet.risk(_without_plan(_data(column, {"values": {"17": 1.0, "17.5": 0.2}})))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"ill": ["HVI", "flu"]}, "names 'HVI', which does not occur; did you mean 'HIV'"),
        ({"ill": ["HIV", "flu"], "odd": ["gout"]}, "no value of 'x' stands in the group 'odd'"),
        ({"*": ["HIV", "flu"]}, "is not a label of a group"),
    ],
)
def test_a_step_with_misspelt_groups_is_an_error(groups: dict[str, list[str]], message: str) -> None:
    data = _data(ILL, {})
    step = {"method": "global_recoding", "columns": ["x"], "groups": groups}
    with pytest.raises(PolicyError, match=message):
        discreet.mask(data.with_policy(data.policy.with_(plan=Policy.from_dict({"plan": {"steps": [step]}}).plan)))


def test_a_star_is_no_label_of_some_values() -> None:
    """It is read as any value, so that the records under it would seem to be like all others."""
    data = _data(ILL, {"hierarchy": {"groups": [{"*": ["HIV"], "else": ["flu", "none"]}]}})
    step = {"method": "global_recoding", "columns": ["x"], "level": 1}
    with pytest.raises(DataError, match=r"has the label '\*' for 'HIV' on level 1"):
        discreet.mask(data.with_policy(data.policy.with_(plan=Policy.from_dict({"plan": {"steps": [step]}}).plan)))


def test_the_error_says_where_to_allow_it_and_counts_what_it_does_not_name() -> None:
    with pytest.raises(PolicyError, match=r"\(allow_absent: true at 'x' if both are right\)"):
        discreet.mask(_data(ILL, {"values": {"HVI": 1.0}}))
    five, six = ({f"illness number {at}": 1.0 for at in range(number)} for number in (5, 6))
    with pytest.raises(PolicyError, match=r"'illness number 3', 'illness number 4' do not occur"):
        discreet.mask(_data(ILL, {"values": five}))
    with pytest.raises(PolicyError, match=r"'illness number 3', 'illness number 4' and 1 more do not occur"):
        discreet.mask(_data(ILL, {"values": six}))


def test_a_value_is_suggested_in_one_notation() -> None:
    with pytest.raises(PolicyError, match=r"names '70', which does not occur; known: 1\.0, 2\.0, 3\.5; set"):
        discreet.mask(_data([1.0, 2.0, 3.5, 9.0], {"values": {"70": 1.0, "9": 0.5}}))


def test_labels_with_a_declared_meaning_are_no_typing_errors() -> None:
    data = _data(["young", "old", "young", "old"], {"values": {"30": 1.0, "young": 0.5}})
    with pytest.raises(PolicyError, match="names '30', which does not occur"):
        check_listed_values(data)
    meaning = ColumnCells(kind="number", labels={"young": "0..40", "old": "40..100"})
    assert check_listed_values(discreet.Microdata(data.frame, data.policy, cells={"x": meaning})) == []


def test_allow_absent_ends_it() -> None:
    score = discreet.risk(_data(ILL, {"values": {"HVI": 1.0}, "allow_absent": True}))["known_sets"]
    assert score["mean"] == 0
    assert any("no record has anything to learn" in note for note in score.notes)


@pytest.mark.parametrize(
    ("column", "key"),
    [
        ([1, 2, 3, 2], "1.0"),
        ([1.0, 2.0, 3.0, 2.5], "1"),
        ([1e-07, 2.0, 3.0, 2.0], "1e-7"),
        ([1e-07, 2.0, 3.0, 2.0], "0.0000001"),
        ([True, False, False, False], "True"),
        ([True, False, False, False], "TRUE"),
        ([dt.date(2014, 5, 31), dt.date(2014, 6, 1), dt.date(2014, 6, 1), dt.date(2014, 6, 1)], "2014-05-31"),
        ([dt.datetime(2014, 5, 31), dt.datetime(2014, 6, 1), dt.datetime(2014, 6, 1), dt.datetime(2014, 6, 1)], "2014-05-31"),
        (["1", "2", "3", "2"], "1"),
    ],
)
def test_a_number_date_or_truth_is_found_however_it_is_written(column: list[Any], key: str) -> None:
    score = discreet.risk(_data(column, {"values": {key: 1.0}}))["known_sets"]
    assert (score.per_record["consequence"] > 0).to_list() == [True, False, False, False]


@pytest.mark.parametrize(("column", "key"), [([1, 2, 3, 2], "01"), (["01", "02", "03", "02"], "1")])
def test_a_code_with_a_zero_is_no_number(column: list[Any], key: str) -> None:
    with pytest.raises(PolicyError, match="matches no value"):
        discreet.mask(_data(column, {"values": {key: 1.0}}))


def test_an_interval_that_holds_nothing_is_no_error_beside_others_but_leaves_the_verdict_incomplete() -> None:
    data = _data([1, 2, 3, 2], {"values": {"<0": 1.0, "1..4": 0.5}})
    assert any("'<0'" in note for note in discreet.risk(_without_plan(data))["known_sets"].notes)
    data = data.with_policy(data.policy.with_(limits={"known_sets.max": 1.0}, plan=Policy().plan))
    assessment = discreet.assess(data, data)
    assert any("'x.values' names '<0'" in gap for gap in assessment.gaps)
    assert assessment.status == "incomplete"


def test_codes_that_differ_by_a_sign_are_two_values() -> None:
    """Neither is taken for a slip of the other, but a weight for a code that nobody has is an error all the same."""
    data = _data(["I20", "I22", "I22", "I25"], {"values": {"I21": 1.0, "I22": 0.5}})
    with pytest.raises(PolicyError, match=r"'x\.values' names 'I21', which does not occur; did you mean 'I25'\?"):
        discreet.mask(data)


def test_order_and_groups_are_looked_at_too() -> None:
    low = ["low", "middle", "high", "high"]
    with pytest.raises(DataError, match="the value 'high' of 'x' is not in its order: low, middle, hihg"):
        discreet.risk(_data(low, {"level": "ordinal", "order": ["low", "middle", "hihg"]}))
    groups = {"groups": [{"some": ["lwo", "middle"], "more": ["high"]}]}
    with pytest.raises(PolicyError, match=r"x\.hierarchy\.groups' names 'lwo'"):
        discreet.mask(_data(low, {"hierarchy": groups}))


def test_a_release_is_not_taken_for_a_list_of_typing_errors() -> None:
    """Values that masking took away or made coarser are not expected in what is released."""
    data = _data(ILL, {"values": {"HIV": 1.0, "flu": 0.2}})
    released = data.with_columns({"x": pl.Series(["{HIV|flu}", None, None, None] * 3)})
    assert discreet.risk(released)["known_sets"]["max"] > 0
    assert discreet.assess(data, released).after["known_sets"]["max"] > 0


def test_a_column_that_is_null_everywhere_is_no_error() -> None:
    assert discreet.risk(_data([None] * 4, {"values": {"HIV": 1.0}}, pl.String))["known_sets"]["max"] == 0


@pytest.mark.parametrize(
    ("name", "role"), [("persn", "person"), ("Person", "person"), ("clinik", "household"), ("nmae", "identifier")]
)
def test_a_misspelt_column_is_an_error_also_where_a_release_may_lack_it(name: str, role: str) -> None:
    frame = pl.DataFrame({"person": [1, 1, 2, 2], "clinic": ["a", "a", "b", "b"], "name": list("wxyz"), "sex": list("mmff")})
    roles = {name: {"role": role}, "sex": {"role": "key"}}
    data = discreet.read(frame, {"attributes": roles, "limits": {"k_anonymity.k": 2}})
    with pytest.raises(PolicyError, match=f"'{name}' is not a column of .*did you mean"):
        discreet.mask(data)
    with pytest.raises(PolicyError, match=f"'{name}' is not a column of .*did you mean"):
        discreet.assess(data, data)


def test_cells_of_a_column_that_does_not_exist_are_an_error_and_absent_identifiers_are_none() -> None:
    frame = pl.DataFrame({"visit1": [1, 2, 3, 4], "sex": list("mmff")})
    policy = {"attributes": {"visit2": {"role": "identifier"}, "passport": {"role": "identifier"}, "sex": {"role": "key"}}}
    assert discreet.mask(discreet.read(frame, policy)).masked.columns == ["visit1", "sex"]
    cells = {"sxe": {"kind": "text", "labels": {"any": "{m|f}"}}}
    with pytest.raises(PolicyError, match=r"'cells' describes 'sxe'.*did you mean 'sex'"):
        discreet.mask(discreet.read(frame, {**policy, "cells": cells}))


@pytest.mark.parametrize(("policy_name", "column"), [("nam", "name"), ("name", "nam")])
def test_names_of_three_letters_are_no_misspelt_names(policy_name: str, column: str) -> None:
    policy = Policy.from_dict({"attributes": {policy_name: {"role": "identifier"}}})
    assert check_listed_values(discreet.Microdata(pl.DataFrame({column: [1, 2]}), policy)) == []


@pytest.mark.parametrize(
    ("values", "attribute"),
    [
        (["{a|b}", "c"], {"values": {"b": 1.0}}),
        (["0..5", "7"], {"values": {"3": 1.0}}),
        (["3", "7"], {"values": {"3": 1.0}, "hierarchy": {"widths": [5]}}),
    ],
    ids=["one list", "one interval", "a hierarchy without groups"],
)
def test_one_cell_of_a_release_is_enough_to_expect_no_listed_value(values: list[str], attribute: dict[str, Any]) -> None:
    assert check_column(encode_series(pl.Series("x", values)), Attribute.model_validate(attribute), "the policy") == []


def test_groups_of_a_step_may_be_absent_where_the_attribute_allows_it() -> None:
    column = encode_series(pl.Series("x", ["HIV", "flu"]))
    check_groups(column, {"odd": ["gout"]}, Attribute(allow_absent=True), "global_recoding")
    with pytest.raises(ParameterError, match="no value of 'x' stands in the group 'odd'"):
        check_groups(column, {"odd": ["gout"]}, Attribute(), "global_recoding")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("fever", "fevre", True),
        ("fever", "fevxy", False),
        ("pneumonia", "pnuemonja", True),
        ("Leukemia", "Lukmia", False),
        ("flu", "fl1", False),
        ("fl1", "flu", False),
        ("Leukemia", "Luekemai", True),
        ("leukemi", "luekeim", False),
        ("night fever", "nihgt fever", True),
        ("pneumonia", "pnexmoxix", False),
    ],
)
def test_words_differ_by_one_slip_or_by_two_where_both_are_long(first: str, second: str, expected: bool) -> None:
    assert _is_slip(first, second) is expected


def _check_names(attributes: dict[str, Any], columns: list[str], **more: Any) -> list[str]:
    frame = pl.DataFrame({name: [1, 2] for name in columns})
    return check_listed_values(discreet.Microdata(frame, Policy.from_dict({"attributes": attributes, **more})))


@pytest.mark.parametrize(
    ("absent", "column"), [("VISIT DAY", "visitday"), ("visti1", "visit1"), ("nmae", "name"), ("clinics", "clinic"), ("ID", "id")]
)
def test_a_column_that_differs_by_one_slip_is_meant_whatever_else_the_policy_names(absent: str, column: str) -> None:
    identifier = {"role": "identifier"}
    with pytest.raises(PolicyError, match=f"'{absent}' is not a column of .*did you mean '{column}'"):
        _check_names({"sex": identifier, absent: identifier}, ["sex", column, "other"])
    assert _check_names({column: identifier, absent: identifier}, [column]) == [], "a column that the policy names is not meant"


@pytest.mark.parametrize(("absent", "column"), [("clniik", "clinic"), ("visit2", "visit1"), ("passport", "clinic")])
def test_a_column_that_differs_by_more_may_be_absent(absent: str, column: str) -> None:
    assert _check_names({absent: {"role": "identifier"}}, [column]) == []


def test_cells_may_describe_what_the_policy_names_and_a_release_may_lack_any_column() -> None:
    cells = {"cells": {"gone": {"kind": "text", "labels": {"any": "{m|f}"}}}}
    assert _check_names({"gone": {"role": "identifier"}}, ["sex"], **cells) == []
    assert _check_names({"clinic": {"role": "identifier"}}, ["clinic", "clinics"]) == [], "nothing is meant by a name that exists"
    assert _check_names({}, ["gone"], **cells) == []
    policy = Policy.from_dict({"attributes": {"nmae": {"role": "identifier"}}, **cells})
    assert check_listed_values(discreet.Microdata(pl.DataFrame({"name": [1]}), policy), initial=False) == []


def test_every_column_with_listed_values_is_looked_at() -> None:
    said = {"sensitivity": 1.0, "values": {"<0": 1.0, "1..4": 0.5}}
    widths = {"hierarchy": {"widths": [5]}}
    attributes = {"a": {}, "b": {**said, **widths}, "c": {**said, "allow_absent": True}, "d": said}
    policy = Policy.from_dict({"attributes": attributes})
    warnings = check_listed_values(discreet.Microdata(pl.DataFrame({name: [1, 2] for name in "abcd"}), policy))
    assert [warning.partition(",")[0] for warning in warnings] == ["'b.values' names '<0'", "'d.values' names '<0'"]
    policy = Policy.from_dict({"attributes": {"a": {"order": ["low", "hihg"], "hierarchy": {"prefixes": [2]}}}})
    with pytest.raises(PolicyError, match=r"'a\.order' names 'hihg'"):
        check_listed_values(discreet.Microdata(pl.DataFrame({"a": ["low", "high"]}), policy))


def _check(values: list[Any], attribute: dict[str, Any], **more: Any) -> list[str]:
    return check_column(encode_series(pl.Series("x", values)), Attribute.model_validate(attribute), "the policy", **more)


def test_slips_in_an_order_and_in_groups_are_found_unless_the_value_that_is_meant_is_listed_too() -> None:
    values = ["low", "middle", "high"]
    with pytest.raises(PolicyError, match=r"'x\.order' names 'hihg'.*did you mean 'high'\? \(allow_absent: true at 'x'"):
        _check(values, {"order": ["low", "middle", "hihg"]})
    assert _check(values, {"order": ["low", "middle", "hihg", "high"]}) == []
    assert _check(values, {"order": ["hihg"], "allow_absent": True}) == []
    groups = {"some": ["low", "middle"], "more": ["HIGH"]}
    with pytest.raises(PolicyError, match=r"'x\.hierarchy\.groups' names 'HIGH'.*did you mean 'high'\?"):
        _check(values, {"hierarchy": {"groups": [groups]}})
    assert _check([1.0, 2.0], {"order": ["1", "2.0"]}) == [], "in either notation"
    assert _check(["low", "LOW", "high"], {"order": ["low", "high"]}) == [], "a value that occurs is no slip of another"
    with pytest.raises(PolicyError, match="did you mean 'bat'"):
        _check(["hat", "rat", "mat", "bat", "fat", "sat"], {"order": ["cat"]})


def test_a_weight_without_a_value_is_an_error_or_in_a_release_a_warning_that_suggests_what_is_not_listed() -> None:
    listed = {"values": {"HIV": 1.0, "flu": 0.5, "gout": 0.2}}
    with pytest.raises(PolicyError, match=r"names 'gout', which does not occur; every value of the table is listed; set"):
        _check(["HIV", "flu"], listed)
    assert _check(["HIV", "flu"], listed, initial=False) == ["'x.values' names 'gout', which does not occur in this table"]
    assert _check(["cold", "flu"], {"values": {"gout": 1.0}}, initial=False) == [
        "'x.values' names 'gout', which does not occur in this table; known: cold, flu"
    ]
    assert _check(["HIV", "flu", "gout"], listed) == []
    assert (
        check_column(encode_series(pl.Series("x", [None], dtype=pl.String)), Attribute.model_validate(listed), "the policy") == []
    )


def test_groups_of_a_step_are_compared_with_the_values_that_occur() -> None:
    column = encode_series(pl.Series("x", ["HIV", "flu", "cold"]))
    check_groups(column, {"ill": ["HIV", "gout"], "well": ["cold", "flu"]}, Attribute(), "global_recoding")
    with pytest.raises(PolicyError, match=r"'x: groups' names 'HVI'.*did you mean 'HIV'\? \(allow_absent: true at 'x' if"):
        check_groups(column, {"ill": ["HVI", "flu"]}, Attribute(), "global_recoding")
    with pytest.raises(ParameterError, match=r"global_recoding\.groups: no value of 'x' stands in the group 'odd'"):
        check_groups(column, {"ill": ["HIV"], "odd": []}, Attribute(), "global_recoding")
    check_groups(encode_series(pl.Series("x", [None], dtype=pl.String)), {"odd": ["gout"]}, Attribute(), "global_recoding")
