"""Generalization: the optimum against exhaustive search, and every equivalence class against the definitions of the models."""

import itertools
import math
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet import Microdata, Policy
from discreet.engine.cells.containment import read_containment
from discreet.engine.cells.hierarchies import hierarchy_of
from discreet.engine.draws.draw import KeyedDraw
from discreet.engine.encoding.columns import encode, encode_series
from discreet.errors import DataError, ParameterError, PolicyError
from discreet.losses.ncp.measure import Ncp
from discreet.masking.generalization.method import Generalization
from discreet.testing import table

DRAW = KeyedDraw(7)
ATTRIBUTES = {
    "a": {"role": "key", "hierarchy": {"widths": [2, 4]}},
    "b": {"role": "key", "hierarchy": {"groups": [{"xy": ["x", "y"], "zw": ["z", "w"]}]}},
    "c": {"role": "key"},
    "s": {"role": "confidential"},
    "u": {"role": "confidential", "level": "nominal", "hierarchy": {"groups": [{"01": ["0", "1"], "23": ["2", "3"]}]}},
}
rows_of = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 7)),
        st.sampled_from("xyzw"),
        st.sampled_from([True, False]),
        st.one_of(st.none(), st.integers(0, 3)),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=14,
)
models = st.sampled_from(
    [
        {"k": 2}, {"k": 3}, {"k": 2, "l": 2}, {"k": 1, "l": 1.8, "diversity": "entropy"},
        {"l": 2, "diversity": "recursive", "c": 2.0},
        {"k": 2, "t": 0.3}, {"k": 2, "l": 2, "t": 0.5, "distance": {"u": "hierarchical", "s": "equal"}},
    ]
)  # fmt: skip


def microdata(rows):
    frame = pl.DataFrame(
        rows, schema={"a": pl.Int64, "b": pl.String, "c": pl.Boolean, "s": pl.Int64, "u": pl.Int64}, orient="row"
    )
    return Microdata(frame, Policy.from_dict({"attributes": ATTRIBUTES}))


def distance(kind, inside, whole):
    values = sorted(set(whole))
    if kind == "ordered":
        if len(values) < 2:
            return 0.0
        gaps = (sum(v <= d for v in inside) / len(inside) - sum(v <= d for v in whole) / len(whole) for d in values[:-1])
        return sum(map(abs, gaps)) / (len(values) - 1)
    levels = [lambda v: v] if kind == "equal" else [lambda v: v, lambda v: v // 2]
    total = 0.0
    for label in levels:
        names = {label(v) for v in values}
        total += (
            sum(
                abs(sum(label(v) == n for v in inside) / len(inside) - sum(label(v) == n for v in whole) / len(whole))
                for n in names
            )
            / 2
        )
    return total / len(levels)


def satisfies(model, members, everyone):
    """The models by their definitions, on one class of rows (…, s, u)."""
    if len(members) < model.get("k", 1):
        return False
    for column, default in ((3, "ordered"), (4, "hierarchical")):
        inside = [row[column] for row in members if row[column] is not None]
        whole = [row[column] for row in everyone if row[column] is not None]
        if not inside:
            continue
        counts = sorted((inside.count(v) for v in set(inside)), reverse=True)
        if "l" in model:
            kind = model.get("diversity", "distinct")
            if kind == "entropy":
                diversity = math.exp(-sum(n / len(inside) * math.log(n / len(inside)) for n in counts))
            elif kind == "recursive":
                diversity = max(
                    (i for i in range(1, len(counts) + 1) if counts[0] < model["c"] * sum(counts[i - 1 :])), default=0
                )
            else:
                diversity = len(counts)
            if diversity < model["l"] - 1e-9:
                return False
        if "t" in model and distance(model.get("distance", {}).get("su"[column - 3], default), inside, whole) > model["t"] + 1e-9:
            return False
    return True


def exhaustive(rows, model, limit, data):
    """Every node of the lattice: the least loss, by the formula of the loss metric."""
    levels = {name: hierarchy_of(data, name) for name in "abc"}
    best = None
    for node in itertools.product(*(range(levels[name].height + 1) for name in "abc")):
        labels, shares = [], []
        for column, name in enumerate("abc"):
            tree, level = levels[name], node[column]
            domain = len(tree.leaves) + any(row[column] is None for row in rows)
            texts, costs = [], []
            for row in rows:
                if level == tree.height:
                    texts.append("*")
                    costs.append(1.0)
                elif row[column] is None:
                    texts.append(None)
                    costs.append(1 / domain)
                else:
                    label = tree.labels[level][tree.position[str(row[column]).lower() if name == "c" else str(row[column])]]
                    texts.append(label)
                    costs.append(tree.labels[level].count(label) / domain)
            labels.append(texts)
            shares.append((domain, costs))
        classes = {}
        for number, key in enumerate(zip(*labels, strict=True)):
            classes.setdefault(key, []).append(number)
        bad = {i for members in classes.values() if not satisfies(model, [rows[i] for i in members], rows) for i in members}
        if len(bad) > limit:
            continue
        n, product = len(rows), 1.0
        for domain, costs in shares:
            total = sum(1.0 if i in bad else cost for i, cost in enumerate(costs))
            product *= 1 + ((total - n / domain) / (n - n / domain) if domain > 1 else 0.0)
        loss = product ** (1 / 3) - 1
        best = loss if best is None else min(best, loss)
    return best


def loss_metric(data, masked, rows):
    """The loss metric of a release, read off its cells."""
    product = 1.0
    for column, name in enumerate("abc"):
        tree = hierarchy_of(data, name)
        domain = len(tree.leaves) + any(row[column] is None for row in rows)
        blank = masked.frame.select(pl.all_horizontal(pl.col("a", "b", "c").is_null())).to_series()
        total = 0.0
        for value, gone in zip(masked.frame[name].cast(pl.String).to_list(), blank, strict=True):
            total += (
                1
                if gone or value == "*"
                else 1 / domain
                if value is None
                else len(tree.members[value.lower() if name == "c" else value]) / domain
            )
        n = len(rows)
        product *= 1 + ((total - n / domain) / (n - n / domain) if domain > 1 else 0.0)
    return product ** (1 / 3) - 1


@settings(deadline=None, max_examples=60)
@given(rows_of, models, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_full_domain_is_the_optimum_of_exhaustive_search(rows, model, limit):
    data = microdata(rows)
    method = Generalization(**model, suppression_limit=limit)
    best = exhaustive(rows, model, math.floor(limit * len(rows) + 1e-9), data)
    if best is None:
        with pytest.raises(DataError, match="no generalization of these keys satisfies the model"):
            method.mask(data, ["a", "b", "c"], DRAW)
        return
    masked = method.mask(data, ["a", "b", "c"], DRAW)
    assert loss_metric(data, masked, rows) == pytest.approx(best, rel=1e-9, abs=1e-9)
    classes = masked.frame.with_row_index().group_by("a", "b", "c").agg("index").rows()
    for *keys, members in classes:
        if keys != [None, None, None]:
            assert satisfies(model, [rows[i] for i in members], rows)


@settings(deadline=None, max_examples=60)
@given(rows_of, models, st.booleans())
def test_every_class_of_a_partition_satisfies_the_model_and_contains_its_values(rows, model, strict):
    data = microdata(rows)
    assume(satisfies(model, rows, rows))
    masked = Generalization(**model, algorithm="partition", strict=strict).mask(data, ["a", "b", "c"], DRAW)
    for *_, members in masked.frame.with_row_index().group_by("a", "b", "c").agg("index").rows():
        assert len(members) >= model.get("k", 1)
    for name in "abc":
        before, after = encode(data, [name])[0], encode_series(masked.frame[name])
        tree = hierarchy_of(data, name) if name != "c" else None
        assert read_containment(before, after, tree).contains(after.codes, before.codes).all()
    if strict:
        again = Generalization(**model, algorithm="partition").mask(microdata(rows[::-1]), ["a", "b", "c"], DRAW)
        assert again.frame.reverse().equals(masked.frame)


def test_released_classes_of_a_strict_partition_satisfy_the_model():
    # distinct parts never share labels under strict cutting, so the classes that a reader sees are those that were checked
    rng = np.random.default_rng(3)
    data = microdata(
        [(int(a), "xyzw"[b], bool(c), int(s), int(u)) for a, b, c, s, u in rng.integers(0, [8, 4, 2, 4, 4], (300, 5))]
    )
    for model in ({"k": 7}, {"k": 4, "l": 3}, {"k": 4, "t": 0.25}, {"l": 2.5, "diversity": "entropy"}):
        masked = Generalization(**model, algorithm="partition").mask(data, ["a", "b", "c"], DRAW)
        rows = data.frame.rows()
        for *_, members in masked.frame.with_row_index().group_by("a", "b", "c").agg("index").rows():
            assert satisfies(model, [rows[i] for i in members], rows)


def test_partition_cuts_numbers_groups_and_dates():
    policy = {"attributes": {name: {"role": "key"} for name in ("n", "g", "d")}}
    frame = pl.DataFrame(
        {"n": [1, 2, 8, 9], "g": ["p", "q", "r", "r"], "d": ["2014-01-01", "2014-02-01", "2015-05-01", "2015-05-02"]}
    )
    data = Microdata(frame.with_columns(pl.col("d").str.to_date()), Policy.from_dict(policy))
    released = Generalization(k=2, algorithm="partition", ends="exact").mask(data, ["n", "g", "d"], DRAW).frame
    assert released["n"].to_list() == ["[1, 2]", "[1, 2]", "[8, 9]", "[8, 9]"]
    assert released["g"].to_list() == ["{p|q}", "{p|q}", "r", "r"]
    assert released["d"].to_list() == ["2014-Q1", "2014-Q1", "2015-05", "2015-05"]


def test_relaxed_cutting_divides_equal_values_that_strict_cutting_does_not():
    data = table({"a": [1, 1, 1, 1, 1, 1, 1, 2]}, key=["a"])
    assert Generalization(k=4, algorithm="partition").mask(data, ["a"], DRAW).frame["a"].n_unique() == 1
    relaxed = Generalization(k=4, algorithm="partition", strict=False).mask(data, ["a"], DRAW).frame["a"].to_list()
    assert relaxed == ["1"] * 4 + ["[1, 3]"] * 4  # seven records hold 1, but only one holds 2


def test_a_suppressed_record_is_blank_or_removed():
    data = table({"a": [1, 1, 1, 2], "s": list("wxyz")}, key=["a"], confidential=["s"])
    blank = Generalization(k=2, suppression_limit=0.25).mask(data, ["a"], DRAW)
    assert blank.frame.rows() == [(1, "w"), (1, "x"), (1, "y"), (None, "z")]
    warnings = Generalization(k=2, suppression_limit=0.25).promise(blank, ["a"])
    assert warnings == [warning for warning in warnings if "1 suppressed records" in warning]
    gone = Generalization(k=2, suppression_limit=0.25, suppressed="remove").mask(data, ["a"], DRAW)
    assert gone.records.tolist() == [0, 1, 2]
    assert Generalization(k=2).promise(gone, ["a"]) == []
    assert "2 records lie in classes" in Generalization(k=2).promise(data.take(np.array([0, 3])), ["a"])[0]


def test_ncp_can_be_minimised_instead():
    data = microdata([(a, b, True, 0, 0) for a in range(8) for b in "xyzw"])
    masked = Generalization(k=4, loss="ncp").mask(data, ["a", "b", "c"], DRAW)
    nodes = itertools.product(range(4), range(3), range(2))
    losses = []
    for node in nodes:
        trees = [hierarchy_of(data, name) for name in "abc"]
        columns = {
            name: pl.Series(
                [tree.labels[level][tree.position[str(v).lower() if name == "c" else str(v)]] for v in data.frame[name]]
            )
            for name, tree, level in zip("abc", trees, node, strict=True)
        }
        coarser = data.with_columns(columns)
        if coarser.frame.group_by("a", "b", "c").len()["len"].min() >= 4:
            losses.append(Ncp().measure(data, coarser)["loss"])
    assert Ncp().measure(data, masked)["loss"] == pytest.approx(min(losses), rel=1e-9)


def test_a_wide_table_whose_labels_outgrow_an_integer_is_still_grouped():
    rng = np.random.default_rng(1)
    names = [f"k{i}" for i in range(12)]
    frame = pl.DataFrame({name: rng.integers(0, 50, 60) for name in names}).with_columns(pl.lit(1).alias("k0"))
    data = Microdata(frame, Policy.from_dict({"attributes": {name: {"role": "key"} for name in names}}))
    masked = Generalization(k=5).mask(data, names, DRAW)
    assert masked.frame["k0"].n_unique() == 1
    assert masked.frame.group_by(names).len()["len"].min() >= 5


def test_impossible_requirements_raise_errors_that_say_why():
    data = table({"a": [1, 2], "s": list("xy")}, key=["a"], confidential=["s"])
    with pytest.raises(ValueError, match="at least one of k, l and t"):
        Generalization()
    with pytest.raises(DataError, match="needs keys"):
        Generalization(k=2).check(data, [])
    with pytest.raises(DataError, match="'s' cannot be a key and sensitive"):
        Generalization(l=2).check(data, ["s"])
    with pytest.raises(DataError, match="role confidential"):
        Generalization(l=2).check(table({"a": [1]}, key=["a"]), ["a"])
    with pytest.raises(ParameterError, match="names 'q', which is not sensitive"):
        Generalization(t=0.2, distance={"q": "equal"}).check(data, ["a"])
    with pytest.raises(DataError, match="all 2 records together"):
        Generalization(k=3, algorithm="partition").mask(data, ["a"], DRAW)
    assert Generalization(k=3, algorithm="partition", suppression_limit=1).mask(data, ["a"], DRAW).frame["a"].null_count() == 2
    many = table({f"c{i}": [1, 2] for i in range(25)}, key=[f"c{i}" for i in range(25)])
    with pytest.raises(DataError, match="33,554,432 combinations"):
        Generalization(k=2).mask(many, many.columns, DRAW)
    assert issubclass(ParameterError, PolicyError)


def test_an_empty_table_stays_empty():
    data = table({"a": pl.Series([], dtype=pl.Int64)}, key=["a"])
    assert len(Generalization(k=2).mask(data, ["a"], DRAW)) == 0


def test_a_search_out_of_time_says_how_far_it_is_from_the_optimum(monkeypatch):
    from discreet.masking.generalization import lattice

    random = np.random.default_rng(5)
    columns = {name: random.integers(0, 64, 400) for name in ("a", "b", "c", "d")}
    hierarchy = {"role": "key", "hierarchy": {"widths": [2, 4, 8, 16, 32]}}
    policy = {"attributes": dict.fromkeys(columns, hierarchy), "plan": {"steps": []}}
    data = discreet.read(pl.DataFrame(columns), policy)
    step = {"method": "generalization", "k": 3, "suppression_limit": 0.1}
    optimum = discreet.mask(data, {"steps": [step]})
    assert optimum.log[0].notes == ()
    moments = iter(range(0, 10**9, 10))
    monkeypatch.setattr(lattice, "monotonic", lambda: next(moments))
    stopped = discreet.mask(data, {"steps": [step | {"seconds": 1}]})
    (note,) = stopped.log[0].notes
    words = re.search(r"after (\d+) of 2,401 combinations .* the loss is ([\d.]+), at most [\d.]+ % more than .* ([\d.]+)$", note)
    assert words is not None, note
    monkeypatch.undo()
    keys = list(columns)
    found = Generalization(k=3, suppression_limit=0.1).search_full_domain(data, keys)
    assert found.is_optimal
    assert float(words[3]) <= found.node.loss + 1e-6 <= float(words[2]) + 2e-6
    assert int(words[1]) < found.counted
