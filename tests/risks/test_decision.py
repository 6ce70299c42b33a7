"""The risk `decision` against the definitions written out: every Phi, dictionaries, prior, Theorem 1 and 3."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.disclosure.dictionaries import Dictionary, precedes
from discreet.errors import DataError, DiscreetError, ParameterError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy, parse_policy
from discreet.registry import create
from discreet.risks.decision.measure import Decision
from discreet.testing import table

NAMES = ["a", "b", "c"]
weight = st.sampled_from([0.0, 0.25, 1.0, 2.5, math.inf])
cell = st.none() | st.sampled_from(["x", "y"])
rows = st.lists(st.tuples(cell, cell, cell), max_size=6)


def microdata(content, folder=None, **attributes):
    frame = pl.DataFrame(content, schema=dict.fromkeys(NAMES, pl.String), orient="row")
    policy = Policy.from_dict({"attributes": attributes or {name: {"role": "key"} for name in NAMES}}, folder=folder)
    return Microdata(frame, policy)


def suppressed(content, bits):
    """Some of the cells, one bit a cell."""
    return [
        tuple(None if bits >> (3 * at + column) & 1 else value for column, value in enumerate(row))
        for at, row in enumerate(content)
    ]


def product(*factors):
    return 0.0 if 0 in factors else math.prod(factors)


def slow_phi(form, row, weights, record=1.0, order=2, sets=None):
    """The appendix as it is printed, term by term."""
    shown = [at for at, value in enumerate(row) if value is not None]
    if form == "phi1":
        return sum(weights[at] for at in shown)
    if form == "phi2":
        return sum(record for _ in shown)
    total = sum(product(weights[at], record) for at in shown)
    if form in ("phi4", "phi5"):
        for size in range(2, order + 1):
            for members in itertools.combinations(shown, size):
                joint = sets.get(members, 0.0) if sets else product(*[weights[at] for at in members])
                total += product(joint, record)
    if form == "phi5":
        return math.exp(total) if total < 700 else math.inf
    return total


def slow_rho(row, dictionary):
    return sum(all(x is None or y is None or x == y for x, y in zip(row, other, strict=True)) for other in dictionary)


def slow_loss(phi, rho):
    return 0.0 if rho == 0 or phi == 0 else phi / rho


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-9, nan_ok=False) if math.isfinite(expected) else found == expected


@settings(deadline=None, max_examples=80)
@given(rows, rows, st.tuples(weight, weight, weight), st.data())
def test_every_phi_and_every_risk_is_the_printed_formula(tmp_path_factory, content, book, weights, data):
    folder = tmp_path_factory.mktemp("book")
    form = data.draw(st.sampled_from(["phi1", "phi2", "phi3", "phi4", "phi5"]))
    order = data.draw(st.sampled_from([1, 2, 3])) if form in ("phi4", "phi5") else None
    sets = data.draw(st.dictionaries(st.sampled_from([(0, 1), (1, 2), (0, 1, 2)]), weight)) if order and order > 1 else {}
    records = data.draw(st.lists(weight, min_size=len(content), max_size=len(content)))
    pl.DataFrame({"weight": records}, schema={"weight": pl.Float64}).write_parquet(folder / "w.parquet")
    pl.DataFrame(book, schema=dict.fromkeys(NAMES, pl.String), orient="row").write_parquet(folder / "book.parquet")
    named = dict(zip(NAMES, weights, strict=True)) | {"*".join(NAMES[at] for at in key): w for key, w in sets.items()}
    measure = Decision(sensitivity=form, weights=named, record_weights="w.parquet", order=order, dictionary="book.parquet")
    score = measure.measure(microdata(content, str(folder)))
    phis = [
        slow_phi(form, row, weights, 1.0 if form == "phi1" else record, order or 1, sets)
        for row, record in zip(content, records, strict=True)
    ]
    rhos = [slow_rho(row, book) for row in content]
    losses = [slow_loss(phi, rho) for phi, rho in zip(phis, rhos, strict=True)]
    assert score.per_record["rho"].to_list() == rhos
    assert all(map(close, score.per_record["phi"].to_list(), phis))
    assert all(map(close, score.per_record["loss"].to_list(), losses))
    risk = sum(losses) / len(losses) if losses else 0.0
    assert close(score["risk"], risk)
    assert close(score["bayes"], risk)
    assert close(score["worst"], risk)
    assert score["unmatched"] == rhos.count(0)


def test_a_table_of_weights_has_one_weight_per_attribute_and_record(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0], "b": [0.0, 5.0], "weight": [3.0, 10.0]}).write_csv(tmp_path / "w.csv")
    data = microdata([("x", "y", None), (None, "y", "x")], str(tmp_path))
    found = Decision(sensitivity="phi3", weights={"c": 7.0}, record_weights="w.csv").measure(data).per_record["phi"]
    assert found.to_list() == [3.0, 120.0]


def test_a_single_weight_column_weights_records_even_if_named_as_an_attribute(tmp_path):
    pl.DataFrame({"a": [2.0, 3.0]}).write_csv(tmp_path / "w.csv")
    data = microdata([("x", "y", None), (None, "y", "x")], str(tmp_path))
    assert Decision(sensitivity="phi2", record_weights="w.csv").measure(data).per_record["phi"].to_list() == [4.0, 6.0]


def test_weights_of_records_follow_the_identifier_or_the_row(tmp_path):
    pl.DataFrame({"who": ["q", "p"], "weight": [2.0, 3.0]}).write_csv(tmp_path / "by_id.csv")
    pl.DataFrame({"weight": [5.0, 7.0]}).write_csv(tmp_path / "by_row.csv")
    policy = Policy.from_dict({"attributes": {"who": {"role": "identifier"}, "a": {"role": "key"}}}, folder=str(tmp_path))
    data = Microdata(pl.DataFrame({"who": ["p", "q"], "a": [1, 2]}), policy)
    one = Decision(sensitivity="phi2", record_weights="by_id.csv").measure(data)
    assert one.per_record["phi"].to_list() == [3.0, 2.0]
    last = data.take(np.array([1]))
    assert Decision(sensitivity="phi2", record_weights="by_row.csv").measure(last).per_record["phi"].to_list() == [7.0]


@settings(deadline=None, max_examples=30)
@given(rows, rows, rows, st.integers(0, 4))
def test_bayes_and_worst_are_taken_over_the_dictionaries(tmp_path_factory, content, book, other, quarter):
    folder = tmp_path_factory.mktemp("books")
    for name, people in (("one", book), ("two", other)):
        pl.DataFrame(people, schema=dict.fromkeys(NAMES, pl.String), orient="row").write_parquet(folder / f"{name}.parquet")
    data = microdata(content, str(folder))
    files = ["one.parquet", {"file": "two.parquet", "name": "second"}]
    risks = []
    for people in (book, other):
        losses = [slow_loss(slow_phi("phi1", row, (1, 1, 1)), slow_rho(row, people)) for row in content]
        risks.append(sum(losses) / len(losses) if losses else 0.0)
    score = Decision(dictionary=files).measure(data)
    assert close(score["worst"], max(risks))
    assert close(score["risk"], max(risks))
    assert score["bayes"] is None
    p = quarter / 4
    score = Decision(dictionary=files, prior={"one.parquet": p, "second": 1 - p}).measure(data)
    assert close(score["bayes"], p * risks[0] + (1 - p) * risks[1])
    assert close(score["risk"], score["bayes"])
    lost = [slow_rho(row, book) + slow_rho(row, other) == 0 for row in content]
    assert score["unmatched"] == sum(lost)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_theorem_1_the_risk_under_a_smaller_fuller_dictionary_is_an_upper_bound(data):
    people = data.draw(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=5))
    hidden = suppressed(people, data.draw(st.integers(0, 2**15 - 1)))
    strangers = data.draw(rows)
    full = pl.DataFrame(people, schema=dict.fromkeys(NAMES, pl.String), orient="row").with_columns(id=pl.int_range(pl.len()))
    wide = pl.DataFrame([*hidden, *strangers], schema=dict.fromkeys(NAMES, pl.String), orient="row")
    wide = wide.with_columns(id=pl.int_range(pl.len()))
    hat, true = Dictionary("hat", full, tuple(NAMES), "id"), Dictionary("true", wide, tuple(NAMES), "id")
    assert precedes(hat, true, NAMES).holds
    disclosed = suppressed(people, data.draw(st.integers(0, 2**15 - 1)))
    weights = data.draw(st.tuples(weight, weight, weight))
    form = data.draw(st.sampled_from(["phi1", "phi5"]))
    measure = Decision(sensitivity=form, weights=dict(zip(NAMES, weights, strict=True)))
    release = microdata(disclosed)
    bound, truth = (measure.measure(release, original=Microdata(one.frame, release.policy)) for one in (hat, true))
    assert bound["unmatched"] == 0
    assert truth["risk"] <= bound["risk"] * (1 + 1e-12)
    assert (truth.per_record["rho"] >= bound.per_record["rho"]).all()


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_definition_8_is_tested_as_it_is_written(data):
    people = data.draw(st.lists(st.tuples(cell, cell), min_size=1, max_size=4))
    others = data.draw(st.lists(st.tuples(st.integers(0, 4), cell, cell), max_size=6))
    names = ["a", "b"]
    theta = pl.DataFrame(people, schema=dict.fromkeys(names, pl.String), orient="row").with_columns(id=pl.int_range(pl.len()))
    eta = pl.DataFrame(others, schema={"id": pl.Int64, "a": pl.String, "b": pl.String}, orient="row")
    expected = all(
        any(v[0] == i and all(y is None or x == y for x, y in zip(row, v[1:], strict=True)) for v in others)
        for i, row in enumerate(people)
    )
    found = precedes(Dictionary("theta", theta, ("a", "b"), "id"), Dictionary("eta", eta, ("a", "b"), "id"), names)
    assert found.holds == expected
    assert found.holds or found.reason


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(*[st.sampled_from("xy")] * 3), min_size=1, max_size=8), st.data(), st.integers(1, 5))
def test_theorem_3_a_rule_is_k_anonymous_exactly_where_its_loss_is_at_most_c_over_k(content, data, k):
    original = microdata(content)
    disclosed = microdata(suppressed(content, data.draw(st.integers(0, 2**24 - 1))))
    # a constant sensitivity is phi5 with weights 0: Phi = 1
    score = Decision(sensitivity="phi5", weights=dict.fromkeys(NAMES, 0.0)).measure(disclosed, original=original)
    loss, rho = score.per_record["loss"].to_numpy(), score.per_record["rho"].to_numpy()
    assert (rho >= 1).all()
    assert ((rho >= k) == (loss <= 1 / k + 1e-12)).all()
    assert ((rho < k) == (loss > 1 / k + 1e-12)).all()


def many(generator, cases, people, columns=3):
    """Thousands of small tables in one: the column ``case`` keeps them apart."""
    sizes = generator.integers(1, people + 1, cases)
    case = np.repeat(np.arange(cases), sizes)
    return case, generator.integers(0, 2, (len(case), columns))


def as_frame(case, values, null):
    shown = {name: pl.Series(values[:, at]).set(pl.Series(null[:, at]), None) for at, name in enumerate(NAMES)}
    return pl.DataFrame({"case": case, **shown})


CASES = Policy.from_dict({"attributes": {name: {"role": "key"} for name in ["case", *NAMES]}})


@pytest.mark.parametrize("seed", range(3))
def test_theorem_1_over_thousands_of_cases(seed):
    generator = np.random.default_rng(seed)
    case, values = many(generator, 2000, 5)
    missing = generator.random(values.shape) < 0.2
    hat = as_frame(case, values, missing)
    others, strange = many(generator, 2000, 5)
    true = pl.concat([
        as_frame(case, values, missing | (generator.random(values.shape) < 0.4)),
        as_frame(others, strange, generator.random(strange.shape) < 0.3),
    ])  # fmt: skip
    release = Microdata(as_frame(case, values, missing | (generator.random(values.shape) < 0.5)), CASES)
    for form, weights in (("phi1", {"a": 1.0, "b": 0.2, "c": 3.0}), ("phi5", {"a": 2.0, "c": 0.5}), ("phi1", {"b": math.inf})):
        measure = Decision(sensitivity=form, weights=weights)
        bound, truth = (measure.measure(release, original=Microdata(one, CASES)).per_record for one in (hat, true))
        losses = pl.DataFrame({"case": case, "bound": bound["loss"], "truth": truth["loss"]}).group_by("case").sum()
        assert losses.height == 2000
        assert (losses["truth"] <= losses["bound"] * (1 + 1e-12)).all()
        assert (bound["rho"] > 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_theorem_3_over_thousands_of_cases(seed):
    generator = np.random.default_rng(seed)
    case, values = many(generator, 2000, 8)
    original = as_frame(case, values, np.zeros(values.shape, dtype=bool))
    release = as_frame(case, values, generator.random(values.shape) < 0.5)
    measure = Decision(sensitivity="phi5", weights=dict.fromkeys(NAMES, 0.0))
    score = measure.measure(Microdata(release, CASES), original=Microdata(original, CASES)).per_record
    agree = [(release[name].is_null() | (release[name] == original[name])).all() for name in NAMES]
    assert all(agree)
    for k in range(1, 7):
        keeps = score["rho"] >= k
        assert (score["loss"].filter(keeps) <= 1 / k + 1e-12).all()
        assert (score["loss"].filter(~keeps) > 1 / k + 1e-12).all()
        assert keeps.sum() > 0


def test_without_a_dictionary_rho_is_the_size_of_the_class():
    data = table(
        {"age": [1, 1, 2], "sex": ["f", "f", "m"], "ill": ["flu", "cold", "flu"]}, key=["age", "sex"], confidential=["ill"]
    )
    assert Decision().measure(data).per_record["rho"].to_list() == [2, 2, 1]


def test_suppression_never_raises_another_records_risk():
    full = microdata([("x", "y", "x"), ("x", "y", "y"), ("y", "y", "x")])
    less = microdata([("x", None, "x"), ("x", "y", "y"), ("y", "y", "x")])
    before, after = (Decision().measure(one).per_record["loss"].to_list() for one in (full, less))
    assert all(new <= old for old, new in zip(before, after, strict=True))


def test_an_infinite_weight_counts_only_for_records_consistent_with_somebody(tmp_path):
    pl.DataFrame({"a": ["x"], "b": ["x"]}).write_csv(tmp_path / "book.csv")
    policy = parse_policy("risk: {decision: {weights: {c: .inf, a: 1}, dictionary: book.csv}}", folder=str(tmp_path))
    measure = create("risk", "decision", policy.risk["decision"])
    data = microdata([("y", "x", "x"), ("x", "x", None)], str(tmp_path))
    assert measure.measure(data).per_record["loss"].to_list() == [0.0, 1.0]
    data = microdata([("x", "x", "x")], str(tmp_path))
    score = measure.measure(data)
    assert score["risk"] == math.inf
    assert score.to_dict()["risk"] is None


def test_columns_of_a_dictionary_are_mapped_to_attributes(tmp_path):
    pl.DataFrame({"given": ["x", "x", "y"], "b": ["q", "q", "q"]}).write_csv(tmp_path / "book.csv")
    data = microdata([("x", "q", "z")], str(tmp_path))
    source = {"file": "book.csv", "columns": {"given": "a"}, "name": "book"}
    score = Decision(dictionary=[source]).measure(data)
    assert score.per_record["rho"].to_list() == [2]
    assert score.summary["dictionaries"] == {"book": 1.5}


def test_a_coarse_release_is_compared_with_the_values_it_may_stand_for(tmp_path):
    pl.DataFrame({"age": [21, 25, 35]}).write_csv(tmp_path / "book.csv")
    policy = Policy.from_dict({"attributes": {"age": {"role": "key"}}}, folder=str(tmp_path))
    release = Microdata(pl.DataFrame({"age": ["20..30", "30..40", "*"]}), policy)
    assert Decision(dictionary="book.csv").measure(release).per_record["rho"].to_list() == [2, 1, 3]


def test_similar_names_are_consistent(tmp_path):
    pl.DataFrame({"a": ["martha", "marhta", "john"]}).write_csv(tmp_path / "book.csv")
    data = microdata([("martha", "q", "z")], str(tmp_path))
    assert Decision(dictionary="book.csv").measure(data).per_record["rho"].to_list() == [1]
    assert Decision(dictionary="book.csv", similarity=0.8).measure(data).per_record["rho"].to_list() == [2]


def wrong_dictionaries(tmp_path):
    pl.DataFrame({"z": [1]}).write_csv(tmp_path / "strange.csv")
    pl.DataFrame({"who": ["0001"], "a": ["x"]}).write_parquet(tmp_path / "others.parquet")
    policy = Policy.from_dict({"attributes": {"who": {"role": "identifier"}, "a": {"role": "key"}}}, folder=str(tmp_path))
    return Microdata(pl.DataFrame({"who": ["p1", "p2"], "a": ["x", "y"]}), policy)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dictionary": "strange.csv"}, "shares no attribute"),
        ({"dictionary": "others.parquet"}, "no value of the identifier 'who'"),
        ({"dictionary": {"file": "strange.csv", "columns": {"y": "a"}}}, "has no column 'y'"),
        ({"dictionary": {"file": "strange.csv", "columns": {"z": "aa"}}}, "did you mean 'a'"),
        ({"dictionary": "nowhere.csv"}, "no such file"),
        ({"weights": {"aa": 1.0}}, "did you mean 'a'"),
        ({"record_weights": "strange.csv", "sensitivity": "phi2"}, "1 rows of weights for 2 records"),
    ],
)
def test_dictionaries_and_weights_that_do_not_fit_raise_errors_before_any_work(tmp_path, parameters, message):
    data = wrong_dictionaries(tmp_path)
    with pytest.raises(DiscreetError, match=message):
        Decision(**parameters).measure(data)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dictionary": ["p", "q"], "prior": {"p": 0.5, "q": 0.4}}, r"must sum to 1; it sums to 0\.9"),
        ({"dictionary": ["p", "q"], "prior": {"p": 1.0}}, "no probability for 'q'"),
        ({"dictionary": ["p"], "prior": {"r": 1.0}}, "'r', which is not one of the dictionaries"),
        ({"dictionary": ["p", "p"]}, "two dictionaries are named 'p'"),
        ({"prior": {"p": 1.0}}, "none is named"),
        ({"weights": {"a": -1.0}}, "weight of 'a' must be 0 or more"),
        ({"order": 2}, "phi1 has no interactions"),
        ({"sensitivity": "phi6"}, "phi1"),
    ],
)
def test_an_invalid_parameter_is_reported_without_data(parameters, message):
    with pytest.raises(ParameterError, match=message):
        create("risk", "decision", parameters)


def test_notes_state_the_bound_of_theorem_1_where_it_holds(tmp_path):
    pl.DataFrame({"who": [1, 2, 3], "a": ["x", "y", None]}).write_csv(tmp_path / "phone.csv")
    pl.DataFrame({"who": [1, 2, 3], "a": ["x", "z", None]}).write_csv(tmp_path / "wrong.csv")
    policy = Policy.from_dict({"attributes": {"who": {"role": "identifier"}, "a": {"role": "key"}}}, folder=str(tmp_path))
    data = Microdata(pl.DataFrame({"who": [1, 2], "a": ["x", "y"]}), policy)
    notes = " ".join(Decision(dictionary="phone.csv").measure(data).notes)
    assert "is an upper bound of that under 'phone.csv'" in notes
    notes = " ".join(Decision(dictionary="wrong.csv").measure(data).notes)
    assert "gives no upper bound" in notes
    assert "has other values for 1 of its persons" in notes
    pl.DataFrame({"who": [1, 2], "a": ["x", "y"]}).write_csv(tmp_path / "staff.csv")
    notes = " ".join(Decision(dictionary=["staff.csv", "phone.csv"]).measure(data).notes)
    assert "the risk under 'phone.csv' is at most that under 'staff.csv'" in notes


def test_no_rows_and_no_columns():
    assert Decision().measure(microdata([]))["risk"] == 0.0
    with pytest.raises(DataError, match="no attribute"):
        Decision().measure(table({"who": [1]}, identifier=["who"]))


def test_explain_returns_sentences_on_a_record():
    data = microdata([("x", None, "x"), ("x", "y", "x")])
    assert Decision().explain(data, 0) == [
        "It discloses a, c, with sensitivity 2 (phi1).",
        "2 persons in the worst dictionary are consistent with it; expected loss: 1.",
    ]


def test_a_dictionary_that_changes_is_read_again(tmp_path):
    file = tmp_path / "people.csv"
    policy = {"attributes": {"town": {"role": "key"}}, "risk": {"decision": {"dictionary": str(file)}}}
    data = discreet.read(pl.DataFrame({"town": ["a", "b"]}), policy)
    file.write_text("town\na\nb\n")
    assert discreet.risk(data)["decision"].per_record["rho"].to_list() == [1, 1]
    file.write_text("town\na\na\na\nb\n")
    assert discreet.risk(data)["decision"].per_record["rho"].to_list() == [3, 1]
