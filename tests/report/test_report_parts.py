"""The parts of a report against slow and obvious versions: small counts, withheld words, classes of risk, hashes."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.model.score import Score
from discreet.report import provenance
from discreet.report.bundle import bundle
from discreet.report.distributions import distributions
from discreet.report.histograms import histogram
from discreet.report.redaction import Discretion
from discreet.report.small_counts import LEAST
from discreet.report.worst import agreeing, riskiest
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import table

WORDS = st.lists(st.sampled_from([None, "a", "b", "c", "dd", "ee", "ff"]), max_size=60)
NUMBERS = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-50, 50).map(float), st.just(918273645.5)), max_size=80)


@settings(max_examples=60)
@given(WORDS, WORDS)
def test_no_category_that_fewer_than_five_records_hold_is_named(before: list[str | None], after: list[str | None]) -> None:
    one, other = (Microdata(pl.DataFrame({"x": pl.Series(values, dtype=pl.String)})) for values in (before, after))
    [told] = distributions(one, other, Discretion(one))
    counts, released = Counter(before), Counter(after)
    for row in told["rows"]:
        if row["label"] in counts and row["label"] is not None:
            assert counts[row["label"]] >= LEAST
            assert row["before"] == counts[row["label"]]
        if row["label"] in released:
            assert row["after"] == released[row["label"]]


@settings(max_examples=80)
@given(NUMBERS, NUMBERS)
def test_bins_hold_every_number_once_and_none_holds_few_where_there_are_enough(
    before: list[float | None], after: list[float | None]
) -> None:
    one, other = (Microdata(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})) for values in (before, after))
    [told] = distributions(one, other, Discretion(one, internal=True))
    known = [value for value in before if value is not None]
    assert sum(row["before"] for row in told["rows"]) == len(known)
    [discreet] = distributions(one, other, Discretion(one))
    if max(before.count(918273645.5), after.count(918273645.5)) < LEAST:
        assert all("918273645" not in row["label"] for row in discreet["rows"])


def test_the_ends_of_bins_are_round_and_nobody_s_extreme_value() -> None:
    values = [20_000.0 + 137 * at for at in range(200)] + [918273645.0]
    data = Microdata(pl.DataFrame({"income": values}))
    [told] = distributions(data, data, Discretion(data))
    labels = [row["label"] for row in told["rows"]]
    assert labels[0].startswith(("below", "20000"))
    assert not any("9182" in label for label in labels)
    assert all(row["before"] is None or row["before"] >= LEAST or row["before"] == 0 for row in told["rows"])


def test_dates_are_binned_by_years() -> None:
    days = pl.Series([date(1950, 3, 1) + timedelta(days=97 * at) for at in range(200)])
    data = Microdata(pl.DataFrame({"birth": days}))
    [told] = distributions(data, data, Discretion(data))
    assert all(len(word) == 4 for row in told["rows"] for word in row["label"].split() if word.isdigit())


def test_a_policy_loses_the_rare_values_it_names_and_nothing_else() -> None:
    policy = Policy.from_dict(
        {
            "attributes": {"job": {"values": {"nurse": 0.1, "astronaut": 0.9}, "order": ["nurse", "astronaut"]}},
            "plan": {"steps": [{"method": "sampling", "fraction": 0.5}]},
        }
    )
    data = Microdata(pl.DataFrame({"job": ["nurse"] * 9 + ["astronaut"]}), policy)
    told = Discretion(data).policy(policy.model_dump(mode="json", exclude_defaults=True))
    assert told["attributes"]["job"] == {"values": {"nurse": 0.1, "(withheld)": 0.9}, "order": ["nurse", "(withheld)"]}
    assert told["plan"]["steps"] == [{"method": "sampling", "fraction": 0.5}]
    assert "astronaut" in str(Discretion(data, internal=True).policy(policy.model_dump(mode="json")))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([None, "x", "y"])), min_size=1, max_size=30))
def test_the_riskiest_records_are_those_of_the_full_table(rows: list[tuple[str, str | None]]) -> None:
    data = table(
        {"sex": [row[0] for row in rows], "ill": [row[1] for row in rows]},
        known={"sex": 0.5, "ill": 0.2},
        sensitivity={"ill": 1.0},
    )
    measure = KnownSets(epsilon=0.01)
    score = measure.measure(data)
    found = riskiest(measure, score, data)
    risks = score.per_record["risk"].to_numpy()
    order = [int(at) for at in np.lexsort((np.arange(len(risks)), -risks)) if risks[at] > 0][:10]
    assert [row["record"] - 1 for row in found] == order


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "x", "y"])), min_size=1, max_size=20))
def test_agreeing_counts_what_a_loop_counts(rows: list[tuple[int | None, str | None]]) -> None:
    data = Microdata(pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row"))
    for wildcard in (False, True):
        slow = sum(
            all(one == other or (wildcard and (one is None or other is None)) for one, other in zip(rows[0], row, strict=True))
            for row in rows
        )
        assert agreeing(data, ["a", "b"], 0, wildcard=wildcard) == slow


@settings(max_examples=60)
@given(st.lists(st.sampled_from([0.0, 1e-12, 0.001, 0.05, 0.1, 1.0, 9.99, 10.0, 123456.0]), max_size=40))
def test_every_record_is_in_one_class_of_the_histogram(risks: list[float]) -> None:
    score = Score("mine", {}, pl.DataFrame({"risk": pl.Series(risks, dtype=pl.Float64)}))
    made = histogram(score, score)
    assert made is not None
    assert sum(row["before"] for row in made["rows"]) == len(risks)
    zero = [row["before"] for row in made["rows"] if row["label"] == "0"]
    assert zero == ([risks.count(0.0)] if 0.0 in risks else [])


def test_class_sizes_are_told_in_classes_of_sizes() -> None:
    score = Score("k_anonymity", {}, pl.DataFrame({"class_size": [1, 2, 2, 4, 4, 4, 4, 12_000]}))
    made = histogram(score, score)
    assert made is not None
    assert {row["label"]: row["before"] for row in made["rows"]} == {"1": 1, "2": 2, "3 to 4": 4, "10,000 and more": 1}


def test_the_hash_is_that_of_the_file_and_no_password_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,2\n")
    assert provenance.sha256(path) == hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert provenance.sha256("postgresql://me:word@host/db#t") is None
    assert "word" not in provenance.shown("postgresql://me:word@host/db#t")


def test_the_script_is_kept_and_one_that_is_not_whole_is_not_used(tmp_path: Path) -> None:
    made = bundle(tmp_path / "cache")
    [kept] = (tmp_path / "cache").iterdir()
    assert kept.read_text(encoding="utf-8") == made
    kept.write_text(made[:1000], encoding="utf-8")
    assert bundle(tmp_path / "cache") == made
    assert kept.read_text(encoding="utf-8") == made
    (tmp_path / "file").write_text("in the way")
    assert bundle(tmp_path / "file") == made
