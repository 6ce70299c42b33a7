"""One body on both engines: each measure against its definition, written out slowly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.testing import table

ROWS = 60
KNOWN = {"age": 0.5, "state": 0.3, "sex": 0.8, "job": 0.1}


def people(rows: int = ROWS) -> discreet.Microdata:
    """A small table with ties, nulls, a skewed attribute and a sensitive one that is known too."""
    random = np.random.default_rng(7)
    ages: list[Any] = random.integers(30, 36, rows).tolist()
    ages[::7] = [None] * len(ages[::7])
    content = {
        "age": ages,
        "state": random.choice(["MI", "OH", "IN"], rows, p=[0.8, 0.1, 0.1]).tolist(),
        "sex": random.choice(["f", "m"], rows).tolist(),
        "job": random.choice([1.5, 2.5, float("nan")], rows).tolist(),
        "ill": random.choice(["Flu", "Cold", None], rows).tolist(),
    }
    return table(
        content, key=["age", "state", "sex", "job"], confidential=["ill"], known=KNOWN, sensitivity={"ill": 1.0, "sex": 0.25}
    )


def rows_of(data: discreet.Microdata) -> list[dict[str, Any]]:
    return data.frame.fill_nan(None).to_dicts()


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_k_anonymity_is_the_number_of_equal_keys(read: Any, rows: int) -> None:
    data = people(ROWS)
    data = data.replace(data.frame.head(rows), data.records[:rows])
    keys = [tuple(row[name] for name in KNOWN) for row in rows_of(data)]
    sizes = Counter(keys)
    score = discreet.risk(read(data), "k_anonymity")["k_anonymity"]
    assert score["k"] == min(sizes.values(), default=0)
    assert score["classes"] == len(sizes)
    assert score["unique"] == sum(size == 1 for size in sizes.values())
    assert score.per_record["class_size"].to_list() == [sizes[key] for key in keys]


def known_sets(data: discreet.Microdata) -> tuple[list[float], list[str]]:
    """The sum of Orooji & Knapp (2018) over all sets, and the set that adds most."""
    rows, names = rows_of(data), list(KNOWN)
    risks, tops = [], []
    for row in rows:
        total, best = 0.0, (0.0, "")
        for width in range(len(names) + 1):
            for known in combinations(names, width):
                chance = float(np.prod([KNOWN[name] for name in known]))
                alike = sum(all(other[name] == row[name] for name in known) for other in rows)
                learnt = 1.0 + (0.0 if "sex" in known else 0.25)
                part = chance / alike * learnt
                total += part
                if part > best[0] * (1 + 1e-12):
                    best = (part, "+".join(known))
        risks.append(total)
        tops.append(best[1])
    return risks, tops


def test_known_sets_is_the_sum_over_all_sets(read: Any) -> None:
    data = people()
    risks, tops = known_sets(data)
    score = discreet.risk(read(data), {"known_sets": {"alpha": 1, "epsilon": 0}})["known_sets"]
    found = score.per_record
    assert found["risk"].to_list() == pytest.approx(risks, rel=1e-9)
    assert found["top_set"].to_list() == tops
    assert score["mean"] == pytest.approx(np.mean(risks), rel=1e-9)
    assert score["max"] == pytest.approx(max(risks), rel=1e-9)
    assert score["quantiles"]["0.9"] == pytest.approx(sorted(risks)[int(np.ceil(0.9 * ROWS)) - 1], rel=1e-9)


def test_the_interval_holds_the_sum_over_all_sets(read: Any) -> None:
    data = people()
    risks, _ = known_sets(data)
    found = discreet.risk(read(data), {"known_sets": {"alpha": 1, "epsilon": 0.1}})["known_sets"].per_record
    assert (found["lower"].to_numpy() <= np.array(risks) * (1 + 1e-9)).all()
    assert (found["upper"].to_numpy() >= np.array(risks) * (1 - 1e-9)).all()
    assert (found["risk"].to_numpy() < np.array(risks)).any()


def test_a_blank_agrees_with_anything_where_it_may(read: Any) -> None:
    data = people()
    rows = rows_of(data)
    sizes = [sum(all(None in (one[name], two[name]) or one[name] == two[name] for name in KNOWN) for two in rows) for one in rows]
    on_engine = read(data)
    score = discreet.risk(on_engine, {"k_anonymity": {"missing": "wildcard"}})["k_anonymity"]
    assert score.per_record["class_size"].to_list() == sizes
    decision = discreet.risk(on_engine, {"decision": {"sensitivity": "phi1", "weights": {"ill": 1.0, "sex": 0.5}}})["decision"]
    worth = [(row["ill"] is not None) + 0.5 for row in rows]
    assert decision.per_record["loss"].to_list() == pytest.approx([one / size for one, size in zip(worth, sizes, strict=True)])
    linkage = discreet.risk(on_engine, {"target_linkage": {"model": "uniform", "sampling_fraction": 0.5}})["target_linkage"]
    different = {name: len({row[name] for row in rows} - {None}) for name in KNOWN}
    expected = []
    for row, size in zip(rows, sizes, strict=True):
        ratio = float(np.prod([different[name] for name in KNOWN if row[name] is not None]))
        expected.append(0.5 / ROWS * ratio / (0.5 / ROWS * ratio * size + 0.5))
    assert linkage.per_record["probability"].to_list() == pytest.approx(expected, rel=1e-9)


def test_the_examples_of_the_measures_hold(read: Any) -> None:
    pay = read(table({"age": [44, 44, 55, 55], "pay": [1, 2, 2, 3]}, key=["age"], confidential=["pay"]))
    found = discreet.risk(pay, ["t_closeness", "l_diversity"])
    assert found["t_closeness"]["t"] == pytest.approx(0.25, rel=1e-9)
    assert found["l_diversity"]["l"] == 2
    assert found["l_diversity"].per_record["entropy_l"].to_list() == pytest.approx([2.0] * 4)
    persons = read(table({"name": ["Bob", *["Charlie"] * 5], "age": ["36-49"] * 6}, person=["name"], key=["age"]))
    score = discreet.risk(persons, "repeated_records")["repeated_records"]
    assert (score["k"], score["min_persons"], score["over_threshold"]) == (6, 2, 1)
    assert score["min_g"] == pytest.approx(10 / 36, rel=1e-9)
    assert score.per_record["probability"].to_list() == pytest.approx([1 / 6, *[5 / 6] * 5])


def test_a_frame_says_where_it_is(read: Any) -> None:
    data = read(people())
    assert len(data) == ROWS
    assert data.columns == people().columns
    assert isinstance(data.to_polars(), pl.DataFrame)
    assert data.to_polars().fill_nan(None).equals(people().frame.fill_nan(None))
