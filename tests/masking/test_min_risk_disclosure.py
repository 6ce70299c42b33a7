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


def slow_loss(shown, weights, people, form, independent):
    """The loss of one record by the definitions: Phi over |rho|, or over the product of the single counts."""
    known = [at for at, value in enumerate(shown) if value is not None]
    if independent:
        rho = float(len(people))
        for at in known:
            rho *= sum(other[at] in (None, shown[at]) for other in people) / len(people) if people else 0.0
    else:
        rho = sum(all(other[at] in (None, shown[at]) for at in known) for other in people)
    total = sum(weights[at] for at in known)
    phi = total if form == "phi1" else math.exp(total)
    return 0.0 if rho == 0 or phi == 0 else phi / rho


def rules(rows, k, per):
    """All rules of the class, as what they disclose; where there are fewer than k entries, all of them."""
    cells = [[at for at, value in enumerate(one) if value is not None] for one in rows]
    if per == "record":
        for choice in itertools.product(*[itertools.combinations(own, min(k, len(own))) for own in cells]):
            yield [
                tuple(v if at in chosen else None for at, v in enumerate(one)) for one, chosen in zip(rows, choice, strict=True)
            ]
        return
    if per == "table":
        every = [(i, at) for i, own in enumerate(cells) for at in own]
        picks = itertools.combinations(every, min(k, len(every)))
    else:
        columns = [[(i, at) for i, own in enumerate(cells) if at in own] for at in range(3)]
        picks = (
            sum(choice, ()) for choice in itertools.product(*[itertools.combinations(one, min(k, len(one))) for one in columns])
        )
    for pick in picks:
        chosen = set(pick)
        yield [tuple(v if (i, at) in chosen else None for at, v in enumerate(one)) for i, one in enumerate(rows)]


def risks(disclosed, weights, books, form, independent):
    return [sum(slow_loss(one, weights, book, form, independent) for one in disclosed) / len(disclosed) for book in books]


def value(found, prior):
    if prior is None:
        return max(found)
    return sum(p * one for p, one in zip(prior, found, strict=True) if p)


def solve(rows, books, weights, k, per, *, form="phi5", independent=True, prior=None, effort=200):
    data = Microdata(frame(rows), Policy.from_dict({"attributes": {name: {"role": "key"} for name in NAMES}}))
    function = Sensitivity(form, tuple(NAMES), dict(zip(NAMES, weights, strict=True)))
    held = tuple(Dictionary(str(at), frame(book), tuple(NAMES), None) for at, book in enumerate(books))
    problem = Disclosure(data, tuple(NAMES), function, held, independent)
    found = least_risk(problem, k, per, prior, effort)
    rule = found.rule & problem.available
    disclosed = [tuple(v if rule[i, at] else None for at, v in enumerate(one)) for i, one in enumerate(rows)]
    counts = {"record": rule.sum(axis=1), "table": rule.sum(keepdims=True), "attribute": rule.sum(axis=0)}[per]
    room = {
        "record": problem.available.sum(axis=1),
        "table": problem.available.sum(keepdims=True),
        "attribute": problem.available.sum(axis=0),
    }[per]
    assert (counts.ravel() == np.minimum(k, room).ravel()).all()
    return found, disclosed


def same(found, expected):
    return found == pytest.approx(expected, rel=1e-9) if math.isfinite(expected) else found == expected


small = st.lists(row, min_size=1, max_size=3)
books = st.lists(row, max_size=5)


@settings(deadline=None, max_examples=150)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 3))
def test_min_risk_equals_the_enumeration_of_all_rules_a_record(rows, book, weights, k):
    found, disclosed = solve(rows, [book], weights, k, "record")
    best = min(risks(one, weights, [book], "phi5", True)[0] for one in rules(rows, k, "record"))
    assert same(found.risk, best)
    assert same(risks(disclosed, weights, [book], "phi5", True)[0], best)
    assert found.exact


@settings(deadline=None, max_examples=150)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 9))
def test_the_cheapest_marginal_costs_equal_the_enumeration_of_all_rules_of_a_total(rows, book, weights, k):
    found, disclosed = solve(rows, [book], weights, k, "table")
    best = min(risks(one, weights, [book], "phi5", True)[0] for one in rules(rows, k, "table"))
    assert same(found.risk, best)
    assert same(risks(disclosed, weights, [book], "phi5", True)[0], best)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0, 1.5, 4.0]), min_size=3, max_size=3), min_size=1, max_size=3),
    st.integers(0, 9),
)
def test_marginal_costs_never_fall_for_any_gamma(gammas, k):
    """Also below 1, which weights of 0 or more never make: the proof asks only for gamma of 0 or more."""
    from discreet.masking.min_risk_disclosure.min_risk import cheapest_in_total

    for one in gammas:
        losses = np.cumprod([1.0, *sorted(one)])
        steps = np.diff(losses)
        assert (np.diff(steps) >= -1e-15).all()
    if any(0 < gamma < 1 for one in gammas for gamma in one):
        return
    costs = np.log(np.array(gammas), where=np.array(gammas) > 0, out=np.full((len(gammas), 3), -np.inf))
    rule = cheapest_in_total(np.zeros(len(gammas)), costs, np.ones(costs.shape, dtype=bool), k)
    best = min(
        sum(math.prod(one[at] for at in range(3) if (i, at) in pick) for i, one in enumerate(gammas))
        for pick in itertools.combinations([(i, at) for i in range(len(gammas)) for at in range(3)], min(k, 3 * len(gammas)))
    )
    assert math.prod(gammas[0][at] for at in range(3) if rule[0, at]) + sum(
        math.prod(one[at] for at in range(3) if rule[i, at]) for i, one in enumerate(gammas) if i
    ) == pytest.approx(best)


@settings(deadline=None, max_examples=200)
@given(small, books, st.tuples(weight, weight, weight), st.integers(0, 3))
def test_a_quota_an_attribute_lies_between_its_bound_and_the_best(rows, book, weights, k):
    found, disclosed = solve(rows, [book], weights, k, "attribute")
    best = min(risks(one, weights, [book], "phi5", True)[0] for one in rules(rows, k, "attribute"))
    assert same(found.risk, risks(disclosed, weights, [book], "phi5", True)[0])
    assert found.bound <= best * (1 + 1e-9) or math.isinf(best)
    assert found.risk >= best * (1 - 1e-9)


@settings(deadline=None, max_examples=150)
@given(
    small, st.lists(books, min_size=1, max_size=2), st.tuples(weight, weight, weight), st.integers(0, 4),
    st.sampled_from(["record", "table"]), st.sampled_from(["phi1", "phi5"]), st.booleans(),
    st.sampled_from([None, 0.0, 0.25, 0.5]),
)  # fmt: skip
def test_enumeration_is_exact_as_the_dictionary_is_for_bayes_and_for_the_worst(
    rows, books, weights, k, per, form, independent, p
):
    prior = None if p is None or len(books) == 1 else [p, 1 - p]
    found, disclosed = solve(rows, books, weights, k, per, form=form, independent=independent, prior=prior)
    best = min(value(risks(one, weights, books, form, independent), prior) for one in rules(rows, k, per))
    assert same(found.risk, best)
    assert same(value(risks(disclosed, weights, books, form, independent), prior), best)
    assert found.exact


@settings(deadline=None, max_examples=100)
@given(
    small, st.lists(books, min_size=1, max_size=2), st.tuples(weight, weight, weight), st.integers(0, 4),
    st.sampled_from(["record", "table", "attribute"]), st.sampled_from(["phi1", "phi5"]), st.booleans(),
    st.sampled_from([None, 0.25]),
)  # fmt: skip
def test_search_never_does_worse_than_min_risk_nor_better_than_the_bound(rows, books, weights, k, per, form, independent, p):
    from discreet.masking.min_risk_disclosure import least_risk as module

    prior = None if p is None or len(books) == 1 else [p, 1 - p]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_EVALUATIONS", 0)
        patch.setattr(module, "_ROUNDS", 6)
        found, disclosed = solve(rows, books, weights, k, per, form=form, independent=independent, prior=prior)
    best = min(value(risks(one, weights, books, form, independent), prior) for one in rules(rows, k, per))
    reached = value(risks(disclosed, weights, books, form, independent), prior)
    assert same(found.risk, reached)
    assert reached >= best * (1 - 1e-9)
    assert found.bound <= best * (1 + 1e-9) or math.isinf(best)
    if len(books) == 1 and per != "attribute":
        _, start = solve(rows, books, weights, k, per)
        assert reached <= value(risks(start, weights, books, form, independent), None) * (1 + 1e-9)


def test_attributes_outside_the_columns_are_disclosed_anyway_and_count():
    data = table({"a": ["x", "x", "y", "y"], "b": ["q", "r", "q", "q"], "c": [1, 2, 3, 3]}, key=["a", "b", "c"])
    made = MinRiskDisclosure(k=3, per="table").mask(data, ["a", "b"], KeyedDraw(1))
    assert made.frame["c"].to_list() == [1, 2, 3, 3]
    assert int(made.frame["a"].is_not_null().sum() + made.frame["b"].is_not_null().sum()) == 3
    # c makes the last two records the safest, so that theirs are the cheapest entries
    assert made.frame["b"].to_list()[2:] == ["q", "q"]


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
        "The risk, counted by independent attributes, is 0.155556 a record.",
        "No rule with as many entries has less.",
    )


def test_an_infinite_weight_is_disclosed_last_and_told():
    data = table({"a": ["x", "x"], "b": ["q", "r"]}, key=["a", "b"])
    method = MinRiskDisclosure(k=1, weights={"a": math.inf})
    assert method.mask(data, ["a", "b"], KeyedDraw(1)).frame["a"].to_list() == [None, None]
    made = MinRiskDisclosure(k=2, weights={"a": math.inf}).mask(data, ["a", "b"], KeyedDraw(1))
    assert "the risk is infinite; lower k" in " ".join(method.notes(data, made, ["a", "b"]))


def test_ties_go_to_the_first_attributes_so_that_a_release_is_the_same_anywhere():
    data = table({"a": ["x"], "b": ["y"], "c": ["z"]}, key=["a", "b", "c"])
    assert MinRiskDisclosure(k=2).mask(data, NAMES, KeyedDraw(1)).frame.rows() == [("x", "y", None)]


@pytest.mark.parametrize("per", ["record", "table", "attribute"])
def test_the_release_does_not_depend_on_the_order_of_rows(per):
    data = table({"a": ["x", "y", "x", "y"], "b": ["q", "q", "r", "r"]}, key=["a", "b"])
    method = MinRiskDisclosure(k=1, per=per)
    shuffled = data.take(np.array([2, 0, 3, 1]))
    there = method.mask(shuffled, ["a", "b"], KeyedDraw(1)).frame[[1, 3, 0, 2]]
    assert method.mask(data, ["a", "b"], KeyedDraw(1)).frame.equals(there)


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
def test_what_does_not_fit_is_told_before_anything_is_changed(parameters, message):
    data = table({"a": ["x", "y"], "b": ["y", "x"], "c": ["z", "z"]}, key=NAMES)
    with pytest.raises(DiscreetError, match=message):
        MinRiskDisclosure(**parameters).check(data, NAMES)


def test_no_rows():
    data = table({"a": pl.Series([], dtype=pl.String)}, key=["a"])
    assert len(MinRiskDisclosure(k=0).mask(data, ["a"], KeyedDraw(1))) == 0
