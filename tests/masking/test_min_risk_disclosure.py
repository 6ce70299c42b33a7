"""Rules of least risk against the enumeration of all rules, on tables small enough for it."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import mask
from discreet.engine.disclosure.dictionaries import Dictionary
from discreet.engine.disclosure.sensitivity import Sensitivity
from discreet.engine.draws.draw import KeyedDraw
from discreet.errors import DiscreetError
from discreet.masking.min_risk_disclosure.least_risk import least_risk
from discreet.masking.min_risk_disclosure.losses import Disclosure
from discreet.masking.min_risk_disclosure.method import MinRiskDisclosure
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.testing import table

NAMES = ["a", "b", "c"]
cell = st.none() | st.sampled_from(["x", "y", "z"])
row = st.tuples(cell, cell, cell)
weight = st.sampled_from([0.0, 0.5, 1.0, 3.0, math.inf])


def frame(rows):
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")


def slow_loss(disclosed, weights, people, form, independent):
    """The loss of one record by the definition: Phi over |rho|, or over the product of the single counts."""
    known = [column for column, value in enumerate(disclosed) if value is not None]
    if independent:
        rho = float(len(people))
        for column in known:
            rho *= sum(person[column] in (None, disclosed[column]) for person in people) / len(people) if people else 0.0
    else:
        rho = sum(all(person[column] in (None, disclosed[column]) for column in known) for person in people)
    total = sum(weights[column] for column in known)
    phi = total if form == "phi1" else math.exp(total)
    return 0.0 if rho == 0 or phi == 0 else phi / rho


def rules(rows, k, per):
    """All rules of the class, as the rows they disclose; all entries if there are fewer than k."""
    cells = [[column for column, value in enumerate(record) if value is not None] for record in rows]
    if per == "record":
        for choice in itertools.product(*[itertools.combinations(present, min(k, len(present))) for present in cells]):
            yield [
                tuple(v if column in chosen else None for column, v in enumerate(record))
                for record, chosen in zip(rows, choice, strict=True)
            ]
        return
    if per == "table":
        entries = [(i, column) for i, present in enumerate(cells) for column in present]
        picks = itertools.combinations(entries, min(k, len(entries)))
    else:
        columns = [[(i, column) for i, present in enumerate(cells) if column in present] for column in range(3)]
        picks = (
            sum(choice, ())
            for choice in itertools.product(*[itertools.combinations(record, min(k, len(record))) for record in columns])
        )
    for pick in picks:
        chosen = set(pick)
        yield [tuple(v if (i, column) in chosen else None for column, v in enumerate(record)) for i, record in enumerate(rows)]


def risks(disclosed, weights, books, form, independent):
    return [sum(slow_loss(record, weights, book, form, independent) for record in disclosed) / len(disclosed) for book in books]


def value(risk_by_book, prior):
    if prior is None:
        return max(risk_by_book)
    return sum(p * risk for p, risk in zip(prior, risk_by_book, strict=True) if p)


def solve(rows, books, weights, k, per, *, form="phi5", independent=True, prior=None, effort=200):
    data = Microdata(frame(rows), Policy.from_dict({"attributes": {name: {"role": "key"} for name in NAMES}}))
    function = Sensitivity(form, tuple(NAMES), dict(zip(NAMES, weights, strict=True)))
    dictionaries = tuple(Dictionary(str(column), frame(book), tuple(NAMES), None) for column, book in enumerate(books))
    problem = Disclosure(data, tuple(NAMES), function, dictionaries, independent)
    result = least_risk(problem, k, per, prior, effort)
    rule = result.rule & problem.available
    disclosed = [tuple(v if rule[i, column] else None for column, v in enumerate(record)) for i, record in enumerate(rows)]
    counts = {"record": rule.sum(axis=1), "table": rule.sum(keepdims=True), "attribute": rule.sum(axis=0)}[per]
    room = {
        "record": problem.available.sum(axis=1),
        "table": problem.available.sum(keepdims=True),
        "attribute": problem.available.sum(axis=0),
    }[per]
    assert (counts.ravel() == np.minimum(k, room).ravel()).all()
    return result, disclosed


def same(actual, expected):
    return actual == pytest.approx(expected, rel=1e-9) if math.isfinite(expected) else actual == expected


small = st.lists(row, min_size=1, max_size=3)
books = st.lists(row, max_size=5)


@settings(deadline=None, max_examples=150)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 3))
def test_min_risk_equals_the_enumeration_of_all_rules_per_record(rows, book, weights, k):
    result, disclosed = solve(rows, [book], weights, k, "record")
    best = min(risks(candidate, weights, [book], "phi5", True)[0] for candidate in rules(rows, k, "record"))
    assert same(result.risk, best)
    assert same(risks(disclosed, weights, [book], "phi5", True)[0], best)
    assert result.exact


@settings(deadline=None, max_examples=60)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 9))
def test_the_smallest_marginal_costs_equal_the_enumeration_of_all_rules_for_a_total(rows, book, weights, k):
    result, disclosed = solve(rows, [book], weights, k, "table")
    best = min(risks(candidate, weights, [book], "phi5", True)[0] for candidate in rules(rows, k, "table"))
    assert same(result.risk, best)
    assert same(risks(disclosed, weights, [book], "phi5", True)[0], best)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.5, 4.0]), min_size=3, max_size=3), min_size=1, max_size=3),
    st.integers(0, 9),
)
def test_marginal_costs_never_fall_for_any_gamma(gammas, k):
    """Also below 1, which weights of 0 or more never produce: the proof requires only gamma of 0 or more."""
    from discreet.masking.min_risk_disclosure.min_risk import cheapest_in_total

    for record in gammas:
        losses = np.cumprod([1.0, *sorted(record)])
        steps = np.diff(losses)
        assert (np.diff(steps) >= -1e-15).all()
    if any(0 < gamma < 1 for record in gammas for gamma in record):
        return
    costs = np.log(np.array(gammas), where=np.array(gammas) > 0, out=np.full((len(gammas), 3), -np.inf))
    rule = cheapest_in_total(np.zeros(len(gammas)), costs, np.ones(costs.shape, dtype=bool), k)
    best = min(
        sum(math.prod(record[column] for column in range(3) if (i, column) in pick) for i, record in enumerate(gammas))
        for pick in itertools.combinations(
            [(i, column) for i in range(len(gammas)) for column in range(3)], min(k, 3 * len(gammas))
        )
    )
    assert math.prod(gammas[0][column] for column in range(3) if rule[0, column]) + sum(
        math.prod(record[column] for column in range(3) if rule[i, column]) for i, record in enumerate(gammas) if i
    ) == pytest.approx(best)


@settings(deadline=None, max_examples=80)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 3))
def test_quotas_per_attribute_have_a_valid_bound_and_are_never_better_than_the_best_rule(rows, book, weights, k):
    result, disclosed = solve(rows, [book], weights, k, "attribute")
    best = min(risks(candidate, weights, [book], "phi5", True)[0] for candidate in rules(rows, k, "attribute"))
    assert same(result.risk, risks(disclosed, weights, [book], "phi5", True)[0])
    assert result.bound <= best * (1 + 1e-9) or math.isinf(best)
    assert result.risk >= best * (1 - 1e-9)


@settings(deadline=None, max_examples=150)
@given(
    small, st.lists(books, min_size=1, max_size=2), st.tuples(weight, weight, weight), st.integers(0, 4),
    st.sampled_from(["record", "table"]), st.sampled_from(["phi1", "phi5"]), st.booleans(),
    st.sampled_from([None, 0.0, 0.25, 0.5]),
)  # fmt: skip
def test_enumeration_is_exact_for_bayes_and_minimax_risk(rows, books, weights, k, per, form, independent, p):
    prior = None if p is None or len(books) == 1 else [p, 1 - p]
    result, disclosed = solve(rows, books, weights, k, per, form=form, independent=independent, prior=prior)
    best = min(value(risks(candidate, weights, books, form, independent), prior) for candidate in rules(rows, k, per))
    assert same(result.risk, best)
    assert same(value(risks(disclosed, weights, books, form, independent), prior), best)
    assert result.exact


@settings(deadline=None, max_examples=40)
@given(
    small, st.lists(books, min_size=1, max_size=2), st.tuples(weight, weight, weight), st.integers(0, 4),
    st.sampled_from(["record", "table", "attribute"]), st.sampled_from(["phi1", "phi5"]), st.booleans(),
    st.sampled_from([None, 0.25]),
)  # fmt: skip
def test_search_is_never_worse_than_min_risk_nor_better_than_the_bound(rows, books, weights, k, per, form, independent, p):
    from discreet.masking.min_risk_disclosure import least_risk as module

    prior = None if p is None or len(books) == 1 else [p, 1 - p]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MAX_EVALUATIONS", 0)
        patch.setattr(module, "_MINIMAX_ROUNDS", 6)
        result, disclosed = solve(rows, books, weights, k, per, form=form, independent=independent, prior=prior)
    best = min(value(risks(candidate, weights, books, form, independent), prior) for candidate in rules(rows, k, per))
    reached = value(risks(disclosed, weights, books, form, independent), prior)
    assert same(result.risk, reached)
    assert reached >= best * (1 - 1e-9)
    assert result.bound <= best * (1 + 1e-9) or math.isinf(best)
    if len(books) == 1 and per != "attribute":
        _, start = solve(rows, books, weights, k, per)
        assert reached <= value(risks(start, weights, books, form, independent), None) * (1 + 1e-9)


def test_attributes_outside_the_columns_are_disclosed_and_count_in_the_risk():
    data = table({"a": ["x", "x", "y", "y"], "b": ["q", "r", "q", "q"], "c": [1, 2, 3, 3]}, key=["a", "b", "c"])
    masked = MinRiskDisclosure(k=3, per="table").mask(data, ["a", "b"], KeyedDraw(1))
    assert masked.frame["c"].to_list() == [1, 2, 3, 3]
    assert int(masked.frame["a"].is_not_null().sum() + masked.frame["b"].is_not_null().sum()) == 3
    # c makes the last two records the safest, so that theirs are the cheapest entries
    assert masked.frame["b"].to_list()[2:] == ["q", "q"]


def test_a_file_of_weights_and_a_dictionary_of_its_own_names(tmp_path):
    pl.DataFrame({"given": ["x"] * 9 + ["y"], "b": ["q"] * 5 + ["r"] * 5}).write_csv(tmp_path / "book.csv")
    policy = Policy.from_dict(
        {
            "attributes": {"a": {"role": "key"}, "b": {"role": "key"}},
            "plan": {
                "steps": [
                    {
                        "method": "min_risk_disclosure",
                        "k": 1,
                        "weights": {"a": 0.0, "b": 0.0},
                        "dictionary": {"file": "book.csv", "columns": {"given": "a"}},
                    }
                ]
            },
        },
        folder=str(tmp_path),
    )
    release = mask(Microdata(pl.DataFrame({"a": ["x", "y"], "b": ["q", "r"]}), policy))
    assert release.masked.frame.rows() == [("x", None), (None, "r")]
    assert release.log[0].notes == (
        "2 entries of 4 are disclosed (by MinRisk).",
        "The risk, computed with independent attributes, is 0.155556 per record.",
        "No rule with as many entries has a lower risk.",
    )


def test_an_infinite_weight_is_disclosed_last_and_reported():
    data = table({"a": ["x", "x"], "b": ["q", "r"]}, key=["a", "b"])
    method = MinRiskDisclosure(k=1, weights={"a": math.inf})
    assert method.mask(data, ["a", "b"], KeyedDraw(1)).frame["a"].to_list() == [None, None]
    masked = MinRiskDisclosure(k=2, weights={"a": math.inf}).mask(data, ["a", "b"], KeyedDraw(1))
    assert "the risk is infinite; lower k" in " ".join(method.notes(data, masked, ["a", "b"]))


def test_ties_go_to_the_first_attributes():
    data = table({"a": ["x"], "b": ["y"], "c": ["z"]}, key=["a", "b", "c"])
    assert MinRiskDisclosure(k=2).mask(data, NAMES, KeyedDraw(1)).frame.rows() == [("x", "y", None)]


@pytest.mark.parametrize("per", ["record", "table", "attribute"])
def test_the_release_does_not_depend_on_the_order_of_rows(per):
    data = table({"a": ["x", "y", "x", "y"], "b": ["q", "q", "r", "r"]}, key=["a", "b"])
    method = MinRiskDisclosure(k=1, per=per)
    shuffled = data.take(np.array([2, 0, 3, 1]))
    restored = method.mask(shuffled, ["a", "b"], KeyedDraw(1)).frame[[1, 3, 0, 2]]
    assert method.mask(data, ["a", "b"], KeyedDraw(1)).frame.equals(restored)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 4}, "k is 4 per record, but there are only 3 attributes"),
        ({"k": 7, "per": "table"}, "only 6 entries"),
        ({"k": 3, "per": "attribute"}, "only 2 records"),
        ({"k": 1, "dictionary": "nowhere.csv"}, "no such file"),
        ({"k": 1, "weights": {"d": 1.0}}, "weights name 'd'"),
    ],
)
def test_unsuitable_parameters_are_refused_before_anything_changes(parameters, message):
    data = table({"a": ["x", "y"], "b": ["y", "x"], "c": ["z", "z"]}, key=NAMES)
    with pytest.raises(DiscreetError, match=message):
        MinRiskDisclosure(**parameters).check(data, NAMES)


def test_an_empty_table_stays_empty():
    data = table({"a": pl.Series([], dtype=pl.String)}, key=["a"])
    assert len(MinRiskDisclosure(k=0).mask(data, ["a"], KeyedDraw(1))) == 0
