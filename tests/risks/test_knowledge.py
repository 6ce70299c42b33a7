"""Independent knowledge and attributes that are known together, against sums over all sets, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.known_sets.family import family
from discreet.engine.known_sets.sums import probability_of
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.risks.known_sets.measure import KnownSets

CHANCES = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.95, 1.0])
CELLS = st.sampled_from([None, "a", "a", "b", "c"])
EPSILONS = st.sampled_from([0.0, 0.02, 0.2])
MISSING = st.sampled_from(["category", "wildcard"])


@st.composite
def policies(draw: st.DrawFn, names: list[str]) -> dict[str, Any]:
    attributes = {name: {"known": draw(CHANCES), "sensitivity": draw(st.sampled_from([0.0, 0.4, 1.0]))} for name in names}
    attributes[names[0]]["sensitivity"] = attributes[names[0]]["sensitivity"] or 0.5
    if draw(st.booleans()):  # nothing that may be known is sensitive
        attributes = {name: {"known": one["known"], "sensitivity": 0.0} for name, one in attributes.items()}
        attributes[names[0]] = {"known": 0.0, "sensitivity": 0.5}
    together = []
    if len(names) > 1 and draw(st.booleans()):
        together = [draw(st.permutations(names))[: draw(st.integers(2, min(3, len(names))))]]
    return {"attributes": attributes, "known_together": together}


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> Microdata:
    height = draw(st.integers(least, 7))
    names = [f"x{at}" for at in range(draw(st.integers(1, 4)))]
    columns = {name: [draw(CELLS) for _ in range(height)] for name in names}
    if draw(st.booleans()):  # one attribute is enough to find a record alone
        columns = {name: [cell and f"{cell}{row}" for row, cell in enumerate(cells)] for name, cells in columns.items()}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    return Microdata(frame, Policy.from_dict(draw(policies(names))))


def units_of(data: Microdata) -> list[tuple[tuple[str, ...], float]]:
    """The attributes that are known as one, with their probability, straight from the policy."""
    groups = [tuple(group) for group in data.policy.known_together]
    single = [(name,) for name in data.columns if not any(name in group for group in groups)]
    return [(unit, max(float(data.attribute(name).known) for name in unit)) for unit in [*groups, *single]]


def all_known_sets(data: Microdata, knowledge: str) -> list[tuple[frozenset[str], float, float]]:
    """Every known set with its probability and the largest probability of it and of all larger sets."""
    sets = []
    units = units_of(data)
    for chosen in itertools.product([False, True], repeat=len(units)):
        chance, most = 1.0, 1.0
        for is_known, (_, known) in zip(chosen, units, strict=True):
            if knowledge == "products":
                chance, most = chance * (known if is_known else 1.0), most * (known if is_known else 1.0)
            else:
                chance *= known if is_known else 1 - known
                most *= known if is_known else max(known, 1 - known)
        names = frozenset(name for is_known, (unit, _) in zip(chosen, units, strict=True) if is_known for name in unit)
        sets.append((names, chance, most))
    return sets


def agree(one: Any, other: Any, missing: str) -> bool:
    return one == other or (missing == "wildcard" and (one is None or other is None))


def sums_one_by_one(data: Microdata, knowledge: str, missing: str, epsilon: float) -> dict[str, np.ndarray]:
    """Sums over kept and over all sets of each record: of likelihood times consequence, and of likelihood alone."""
    rows = data.frame.to_dicts()
    sums = {name: np.zeros(len(rows)) for name in ("kept", "all", "found", "mass", "total_chance")}
    for names, chance, most in all_known_sets(data, knowledge):
        kept = not names or most > epsilon * (1 + 1e-12)
        for at, row in enumerate(rows):
            count = sum(all(agree(row[name], other[name], missing) for name in names) for other in rows)
            learnt = sum(
                data.attribute(name).sensitivity * data.attribute(name).value_weight(row[name])
                for name in data.columns
                if name not in names
            )
            part = chance * learnt / count
            sums["kept"][at] += part if kept else 0.0
            sums["all"][at] += part
            sums["found"][at] += chance / count
            sums["mass"][at] += chance * learnt if names else 0.0
            sums["total_chance"][at] += chance
    return sums


@settings(max_examples=150, deadline=None)
@given(tables(), EPSILONS, MISSING, st.sampled_from(["products", "independent"]))
def test_risks_are_the_sums_over_all_known_sets(data: Microdata, epsilon: float, missing: Any, knowledge: Any) -> None:
    score = KnownSets(alpha=1, epsilon=epsilon, missing=missing, knowledge=knowledge).measure(data)
    rows, slow = score.per_record, sums_one_by_one(data, knowledge, missing, epsilon)
    np.testing.assert_allclose(rows["risk"], slow["kept"], atol=1e-12, rtol=1e-9)
    assert (rows["lower"].to_numpy() <= slow["all"] + 1e-12).all()
    assert (rows["upper"].to_numpy() >= slow["all"] - 1e-12).all()
    if epsilon == 0:
        np.testing.assert_allclose(rows["lower"], slow["all"], atol=1e-12)
        np.testing.assert_allclose(rows["upper"], slow["all"], atol=1e-12)
    if knowledge == "independent":
        np.testing.assert_allclose(slow["total_chance"], 1.0)
        found = rows["reidentification"].to_numpy()
        assert (rows["reidentification_lower"].to_numpy() <= slow["found"] + 1e-12).all()
        assert (rows["reidentification_upper"].to_numpy() >= slow["found"] - 1e-12).all()
        assert (found >= 0).all()
        assert (rows["reidentification_upper"].to_numpy() <= 1).all()
        if epsilon == 0:
            np.testing.assert_allclose(found, slow["found"], atol=1e-12)
            assert score["reidentification"] == pytest.approx(slow["found"].mean())
            assert score["reidentification_max"] == pytest.approx(slow["found"].max())


@settings(max_examples=80, deadline=None)
@given(tables(), MISSING, st.sampled_from(["products", "independent"]))
def test_the_effective_class_size_leaves_out_the_empty_set_with_its_probability(
    data: Microdata, missing: Any, knowledge: Any
) -> None:
    rows = KnownSets(epsilon=0, missing=missing, knowledge=knowledge).measure(data).per_record
    slow = sums_one_by_one(data, knowledge, missing, 0.0)
    empty = next(chance for names, chance, _ in all_known_sets(data, knowledge) if not names)
    consequence = rows["consequence"].to_numpy()
    for at, size in enumerate(rows["effective_k"].to_list()):
        without = slow["all"][at] - empty * consequence[at] / len(data)
        if slow["mass"][at] <= 1e-12:
            assert size is None
        else:
            assert size == pytest.approx(slow["mass"][at] / without, rel=1e-6)


@settings(max_examples=150, deadline=None)
@given(tables(), EPSILONS, MISSING, st.sampled_from(["products", "independent"]))
def test_the_top_set_is_the_set_with_the_largest_part(data: Microdata, epsilon: float, missing: Any, knowledge: Any) -> None:
    """Also below a set that finds a record alone, where a larger set may be likelier; of equal parts, the first set's."""
    rows = KnownSets(alpha=1, epsilon=epsilon, missing=missing, knowledge=knowledge).measure(data).per_record
    values = data.frame.to_dicts()
    for at, row in enumerate(values):
        likeliest, parts = 0.0, {}
        for names, chance, most in all_known_sets(data, knowledge):
            asked = all(missing == "category" or row[name] is not None for name in names)
            if not asked or (names and most <= epsilon * (1 + 1e-12)):
                continue
            count = sum(all(agree(row[name], other[name], missing) for name in names) for other in values)
            learnt = sum(
                data.attribute(name).sensitivity * data.attribute(name).value_weight(row[name])
                for name in data.columns
                if name not in names
            )
            parts[len(names), tuple(sorted(names))] = chance * learnt / count
            likeliest = max(likeliest, chance / count)
        best = max(parts.values())
        first = min(place for place, part in parts.items() if part >= best * (1 - 1e-12))
        assert rows["top_set"][at] == "+".join(first[1]) or best < 1e-12, "where nothing is learnt, rounding may choose"
        assert rows["top_share"][at] * rows["risk"][at] == pytest.approx(best, abs=1e-12)
        assert rows["likelihood"][at] == pytest.approx(likeliest, abs=1e-12)


def test_below_a_set_that_finds_a_record_alone_only_a_likelier_set_is_the_top_set() -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [1, 2], "ill": ["x", "y"]})
    for chance, top in ((0.3, "a"), (0.7, "a+b")):
        attributes = {"a": {"known": 0.6}, "b": {"known": chance}, "ill": {"sensitivity": 1.0}}
        data = Microdata(frame, Policy.from_dict({"attributes": attributes}))
        rows = KnownSets(epsilon=0, knowledge="independent").measure(data).per_record
        assert rows["top_set"].to_list() == [top] * 2


@given(tables(), st.sampled_from(["products", "independent"]))
def test_the_probability_of_one_set_is_that_of_its_units(data: Microdata, knowledge: Any) -> None:
    for names, chance, _ in all_known_sets(data, knowledge):
        if chance > 0:
            assert probability_of(data, sorted(names), knowledge) == pytest.approx(chance)


@settings(max_examples=60, deadline=None)
@given(tables(least=2), st.data(), EPSILONS)
def test_an_intruder_with_true_values_is_counted_in_both_readings(data: Microdata, draw: st.DataObject, epsilon: float) -> None:
    """Masked cells are the true values, another value, or blank; a set that no longer finds the record adds nothing."""
    masked = {
        name: pl.Series([draw.draw(st.sampled_from([value, value, None, "b"])) for value in data.frame[name]], dtype=pl.String)
        for name in data.columns
    }
    release = Microdata(pl.DataFrame(masked), data.policy)
    rows = KnownSets(alpha=1, epsilon=0, knowledge="independent").measure(release, original=data).per_record
    true, cells = data.frame.to_dicts(), release.frame.to_dicts()
    expected, found = np.zeros(len(data)), np.zeros(len(data))
    for names, chance, _ in all_known_sets(data, "independent"):
        for at, row in enumerate(true):
            asked = [name for name in names if row[name] is not None]
            matches = [all(cell[name] is None or cell[name] == row[name] for name in asked) for cell in cells]
            if not matches[at]:
                continue
            learnt = sum(
                data.attribute(name).sensitivity * data.attribute(name).value_weight(cells[at][name])
                for name in data.columns
                if name not in names
            )
            expected[at] += chance * learnt / sum(matches)
            found[at] += chance / sum(matches)
    np.testing.assert_allclose(rows["risk"], expected, atol=1e-12)
    np.testing.assert_allclose(rows["reidentification"], found, atol=1e-12)
    some = KnownSets(alpha=1, epsilon=epsilon, knowledge="independent").measure(release, original=data)
    assert (some.per_record["lower"].to_numpy() <= expected + 1e-12).all()
    assert (some.per_record["upper"].to_numpy() >= expected - 1e-12).all()


@st.composite
def ranged_tables(draw: st.DrawFn) -> Microdata:
    data = draw(tables())
    ranged = {}
    for name, attribute in list(data.policy.attributes.items())[:2]:
        low, high = sorted((draw(CHANCES), draw(CHANCES)))
        low, high = (low, high) if low < high else (0.2, 0.6)
        ranged[name] = {"known": [low, high], "sensitivity": attribute.sensitivity}
    others = {
        name: {"known": attribute.known, "sensitivity": attribute.sensitivity}
        for name, attribute in list(data.policy.attributes.items())[2:]
    }
    return Microdata(data.frame, Policy.from_dict({"attributes": ranged | others}))


@settings(max_examples=50, deadline=None)
@given(ranged_tables(), st.lists(st.floats(0, 1), min_size=2, max_size=2), EPSILONS)
def test_no_guess_inside_the_ranges_is_outside_the_best_and_worst_case(
    data: Microdata, places: list[float], epsilon: float
) -> None:
    """Also where the risk falls in a probability, because knowing a sensitive attribute leaves less to learn."""
    measure = KnownSets(epsilon=epsilon, knowledge="independent")
    score = measure.measure(data)
    rows = score.per_record
    inside = {}
    for place, (name, attribute) in zip([*places, 0.0, 0.0], data.policy.attributes.items(), strict=False):
        low = getattr(attribute.known, "low", float(attribute.known))
        inside[name] = attribute.model_copy(update={"known": low + place * (float(attribute.known) - low)})
    point = KnownSets(epsilon=0, knowledge="independent").measure(data.with_policy(data.policy.with_(attributes=inside)))
    true = point.per_record["risk"].to_numpy()
    assert (rows["upper"].to_numpy() >= true - 1e-9).all()
    assert (rows["reidentification_upper"].to_numpy() >= point.per_record["reidentification"].to_numpy() - 1e-12).all()
    if epsilon == 0:
        assert (rows["risk_worst"].to_numpy() >= true - 1e-9).all()
        assert (rows["risk_best"].to_numpy() <= true + 1e-9).all()
        corners = [measure.measure(data.with_policy(corner)).per_record for corner in data.policy.corners()]
        risks = np.array([corner["risk"].to_numpy() for corner in corners])
        np.testing.assert_allclose(rows["risk"], risks.max(axis=0), atol=1e-9)
        np.testing.assert_allclose(rows["risk_best"], risks.min(axis=0), atol=1e-9)
        for size, low in zip(point.per_record["effective_k"], rows["effective_k_low"], strict=True):
            assert size is None or low <= size * (1 + 1e-9)
    assert score["high_risk"] == int((rows["risk"] > 0.01).sum())
    assert score["high_risk"] == score["high_risk_high"]
    assert score.bounds["high_risk"][1] >= int((true > 0.01).sum())


@settings(max_examples=40, deadline=None)
@given(tables(least=2), st.sampled_from(["products", "independent"]))
def test_decide_leaves_no_record_in_doubt(data: Microdata, knowledge: Any) -> None:
    threshold = 0.3
    score = KnownSets(alpha=1, epsilon=0.3, threshold=threshold, knowledge=knowledge, decide=True).measure(data)
    true = sums_one_by_one(data, knowledge, "category", 0.0)["all"]
    near = np.abs(true - threshold) < 1e-9
    if not near.any():
        assert score["undecided"] == 0
        assert score["high_risk"] == int((true > threshold).sum())


def test_a_tolerance_narrows_every_interval() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 3], "b": [1, 2, 2, 1], "c": [1, 1, 1, 2]})
    attributes = {name: {"known": 0.3, "sensitivity": 0.5} for name in frame.columns}
    data = Microdata(frame, Policy.from_dict({"attributes": attributes}))
    wide = KnownSets(epsilon=0.2, knowledge="independent").measure(data)
    narrow = KnownSets(epsilon=0.2, knowledge="independent", tolerance=1e-6).measure(data)
    assert wide["widest"] > 1e-3
    assert narrow["widest"] <= 1e-6


@pytest.mark.parametrize("knowledge", ["products", "independent"])
@pytest.mark.parametrize("together", [[], [["a", "b"]]])
def test_large_tables_have_the_same_numbers(monkeypatch: pytest.MonkeyPatch, knowledge: Any, together: Any) -> None:
    """Sets summed on distinct rows, against the counter of small tables."""
    random = np.random.default_rng(1)
    frame = pl.DataFrame({name: random.integers(0, 4, 500) for name in "abcd"})
    attributes = {name: {"known": known, "sensitivity": 0.5} for name, known in zip("abcd", (0.9, 0.6, 0.3, 0.05), strict=True)}
    data = Microdata(frame, Policy.from_dict({"attributes": attributes, "known_together": together}))
    measure = KnownSets(epsilon=0.02, knowledge=knowledge)
    small = measure.measure(data)
    from discreet.risks.known_sets.large import size as large_size
    from discreet.risks.known_sets.large import sums as large

    monkeypatch.setattr(large_size, "LARGE_TABLE", 100)
    called = []
    summed = large.large_sums
    monkeypatch.setattr(large, "large_sums", lambda *arguments: called.append(1) or summed(*arguments))
    shorter = measure.measure(data.with_policy(data.policy))
    assert called
    for field in ("sets", "high_risk", "mean", "max", "effective_k_min", "effective_k_median", "below_5", "undecided"):
        assert shorter[field] == pytest.approx(small[field]), field
        if field != "effective_k_median":  # bounded less tightly, without the sizes of all records
            assert shorter.bounds.get(field, (0, 0)) == pytest.approx(small.bounds.get(field, (0, 0)), rel=1e-6), field
    columns = ["record", "risk", "top_set", "top_share"]
    for mine, other in zip(shorter.riskiest(5)[columns].to_dicts(), small.riskiest(5)[columns].to_dicts(), strict=True):
        assert mine["risk"] == pytest.approx(other["risk"])


@given(st.lists(CHANCES, max_size=6), st.sampled_from([0.0, 0.01, 0.1, 0.4]))
def test_independent_knowledge_never_keeps_a_set_that_the_product_drops(chances: list[float], epsilon: float) -> None:
    independent = family(chances, epsilon, 100, knowledge="independent")
    products = family(chances, epsilon, 100)
    kept = {independent.members(node) for node in range(len(independent))}
    assert kept <= {products.members(node) for node in range(len(products))}
    for names in itertools.chain.from_iterable(
        itertools.combinations(range(len(chances)), size) for size in range(len(chances) + 1)
    ):
        likelihood = math.prod(chance if at in names else 1 - chance for at, chance in enumerate(chances))
        assert likelihood <= epsilon * (1 + 1e-12) or names in kept, "every set with a probability above epsilon is kept"


def test_too_many_independent_sets_are_refused_with_an_epsilon_that_fits() -> None:
    with pytest.raises(DiscreetError, match="epsilon: ") as caught:
        family([0.4] * 12, 0.0, 100, knowledge="independent")
    fitting = float(str(caught.value).split("epsilon: ")[1].split(" ")[0])
    assert len(family([0.4] * 12, fitting, 100, knowledge="independent")) <= 100


@pytest.mark.parametrize(
    ("parameters", "policy", "words"),
    [
        ({"population": "model"}, {}, "population: model takes knowledge: products"),
        ({"decide": True}, {"a": {"known": [0.1, 0.2]}}, "decide is not available"),
        ({}, {name: {"known": [0.1, 0.2]} for name in "abcde"}, "at most 4 ranges"),
    ],
)
def test_what_independent_knowledge_cannot_do_is_refused_by_name(parameters: Any, policy: Any, words: str) -> None:
    frame = pl.DataFrame({name: [1, 2, 2] for name in "abcde"})
    attributes = {name: {"known": 0.5, "sensitivity": 0.5} | policy.get(name, {}) for name in "abcde"}
    content = {"attributes": attributes, "risk": {"known_sets": {"knowledge": "independent"} | parameters}}
    with pytest.raises(DiscreetError, match=words):
        discreet.risk(discreet.read(frame, content))


def test_explain_names_independent_sets_with_their_probability() -> None:
    frame = pl.DataFrame({"a": [1, 2, 2], "b": [1, 1, 2], "ill": ["x", "y", "y"]})
    attributes = {"a": {"known": 0.9}, "b": {"known": 0.8}, "ill": {"sensitivity": 1.0}}
    data = Microdata(frame, Policy.from_dict({"attributes": attributes}))
    sentences = KnownSets(alpha=1, epsilon=0, knowledge="independent").explain(data, 0)
    assert "knowledge independent" in sentences[0]
    assert any("knows a + b and nothing else (probability 0.72) finds it alone" in sentence for sentence in sentences)
    total = 0.72 + 0.18 + 0.08 / 2 + 0.02 / 3
    assert f"risk {total:.6g}" in sentences[0]


def test_an_open_limit_on_the_probability_is_decided_by_more_sets() -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame({name: random.integers(0, 3, 40) for name in "abcdef"} | {"ill": ["x"] * 40})
    attributes = {name: {"known": 0.2} for name in "abcdef"} | {"ill": {"sensitivity": 1.0}}
    data = Microdata(frame, Policy.from_dict({"attributes": attributes}))
    measure = KnownSets(epsilon=0.1, knowledge="independent")
    exact = KnownSets(epsilon=0, knowledge="independent").measure(data)["reidentification"]
    low, high = measure.measure(data).bounds["reidentification"]
    assert low < exact * 0.999 < exact * 1.001 < high
    for required in (exact * 0.999, exact * 1.001):
        bounds = measure.for_limits({"reidentification": required}, seconds=10).measure(data).bounds["reidentification"]
        assert bounds[0] <= exact <= bounds[1]
        assert not bounds[0] <= required < bounds[1]


def test_a_population_table_that_is_the_file_gives_the_risk_of_the_file_with_units(tmp_path: Any) -> None:
    random = np.random.default_rng(4)
    frame = pl.DataFrame({name: random.integers(0, 3, 40) for name in "abc"} | {"ill": ["x", "y"] * 20})
    frame.write_csv(tmp_path / "people.csv")
    attributes = {name: {"known": 0.4} for name in "abc"} | {"ill": {"sensitivity": 1.0}}
    policy = {"attributes": attributes, "known_together": [["a", "c"]]}
    data = discreet.read(frame, policy)
    table = str(tmp_path / "people.csv")
    of_population = discreet.risk(data, {"known_sets": {"population": "table", "population_table": table}})["known_sets"]
    of_file = discreet.risk(data, {"known_sets": {}})["known_sets"]
    for field in ("mean", "max", "high_risk", "sets"):
        assert of_population[field] == pytest.approx(of_file[field]), field
    assert any("known together as one unit: a + c" in note for note in of_population.notes)
