"""The parts of a report against slow and obvious versions: distributions, redaction, histograms, hashes."""

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
from discreet.report.distributions import distributions
from discreet.report.histograms import histogram
from discreet.report.redaction import Redactor
from discreet.report.riskiest import count_agreeing, riskiest
from discreet.report.small_counts import MIN_SHOWN_COUNT
from discreet.report.vega_bundle import vega_bundle
from discreet.risks.known_sets.measure import KnownSets
from discreet.testing import table

WORDS = st.lists(st.sampled_from([None, "a", "b", "c", "dd", "ee", "ff"]), max_size=60)
NUMBERS = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-50, 50).map(float), st.just(918273645.5)), max_size=80)


@settings(max_examples=60)
@given(WORDS, WORDS)
def test_no_category_that_fewer_than_five_records_have_is_named(before: list[str | None], after: list[str | None]) -> None:
    original, masked = (Microdata(pl.DataFrame({"x": pl.Series(values, dtype=pl.String)})) for values in (before, after))
    [distribution] = distributions(original, masked, Redactor(original))
    counts, released = Counter(before), Counter(after)
    for row in distribution["rows"]:
        if row["label"] in counts and row["label"] is not None:
            assert counts[row["label"]] >= MIN_SHOWN_COUNT
            assert row["before"] == counts[row["label"]]
        if row["label"] in released:
            assert row["after"] == released[row["label"]]


@settings(max_examples=80)
@given(NUMBERS, NUMBERS)
def test_bins_count_every_number_once_and_do_not_name_a_rare_value(before: list[float | None], after: list[float | None]) -> None:
    original, masked = (Microdata(pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})) for values in (before, after))
    [distribution] = distributions(original, masked, Redactor(original, internal=True))
    known = [value for value in before if value is not None]
    assert sum(row["before"] for row in distribution["rows"]) == len(known)
    [public] = distributions(original, masked, Redactor(original))
    if max(before.count(918273645.5), after.count(918273645.5)) < MIN_SHOWN_COUNT:
        assert all("918273645" not in row["label"] for row in public["rows"])


def test_the_ends_of_bins_are_round_and_not_extreme_values() -> None:
    values = [20_000.0 + 137 * index for index in range(200)] + [918273645.0]
    data = Microdata(pl.DataFrame({"income": values}))
    [distribution] = distributions(data, data, Redactor(data))
    labels = [row["label"] for row in distribution["rows"]]
    assert labels[0].startswith(("below", "20000"))
    assert not any("9182" in label for label in labels)
    assert all(row["before"] is None or row["before"] >= MIN_SHOWN_COUNT or row["before"] == 0 for row in distribution["rows"])


def test_dates_are_binned_by_years() -> None:
    days = pl.Series([date(1950, 3, 1) + timedelta(days=97 * index) for index in range(200)])
    data = Microdata(pl.DataFrame({"birth": days}))
    [distribution] = distributions(data, data, Redactor(data))
    assert all(len(word) == 4 for row in distribution["rows"] for word in row["label"].split() if word.isdigit())


def test_rare_values_and_nothing_else_are_removed_from_a_policy() -> None:
    policy = Policy.from_dict(
        {
            "attributes": {"job": {"values": {"nurse": 0.1, "astronaut": 0.9}, "order": ["nurse", "astronaut"]}},
            "plan": {"steps": [{"method": "sampling", "fraction": 0.5}]},
        }
    )
    data = Microdata(pl.DataFrame({"job": ["nurse"] * 9 + ["astronaut"]}), policy)
    redacted = Redactor(data).redact_policy(policy.model_dump(mode="json", exclude_defaults=True))
    assert redacted["attributes"]["job"] == {"values": {"nurse": 0.1, "(withheld)": 0.9}, "order": ["nurse", "(withheld)"]}
    assert redacted["plan"]["steps"] == [{"method": "sampling", "fraction": 0.5}]
    assert "astronaut" in str(Redactor(data, internal=True).redact_policy(policy.model_dump(mode="json")))


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
    ranked = riskiest(measure, score, data)
    risks = score.per_record["risk"].to_numpy()
    order = [int(record) for record in np.lexsort((np.arange(len(risks)), -risks)) if risks[record] > 0][:10]
    assert [row["record"] - 1 for row in ranked] == order


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, "x", "y"])), min_size=1, max_size=20))
def test_count_agreeing_equals_a_plain_loop(rows: list[tuple[int | None, str | None]]) -> None:
    data = Microdata(pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.String}, orient="row"))
    for wildcard in (False, True):
        slow = sum(
            all(
                first == value or (wildcard and (first is None or value is None))
                for first, value in zip(rows[0], row, strict=True)
            )
            for row in rows
        )
        assert count_agreeing(data, ["a", "b"], 0, wildcard=wildcard) == slow


@settings(max_examples=60)
@given(st.lists(st.sampled_from([0.0, 1e-12, 0.001, 0.05, 0.1, 1.0, 9.99, 10.0, 123456.0]), max_size=40))
def test_every_record_is_counted_once_in_the_histogram(risks: list[float]) -> None:
    score = Score("mine", {}, pl.DataFrame({"risk": pl.Series(risks, dtype=pl.Float64)}))
    counts = histogram(score, score)
    assert counts is not None
    assert sum(row["before"] for row in counts["rows"]) == len(risks)
    zero = [row["before"] for row in counts["rows"] if row["label"] == "0"]
    assert zero == ([risks.count(0.0)] if 0.0 in risks else [])


def test_the_highest_interval_of_probabilities_is_one_and_not_one_to_ten() -> None:
    probabilities = Score("inference", {}, per_record=pl.DataFrame({"success": [0.0, 0.3, 1.0]}))
    counts = histogram(probabilities, probabilities)
    assert counts is not None
    assert [row["label"] for row in counts["rows"]] == ["0", "0.1 to 1", "1"]
    larger = Score("inference", {}, per_record=pl.DataFrame({"success": [0.0, 0.3, 1.5]}))
    counts = histogram(probabilities, larger)
    assert counts is not None
    assert [row["label"] for row in counts["rows"]] == ["0", "0.1 to 1", "1 to 10"]


def test_class_sizes_are_counted_in_intervals_of_sizes() -> None:
    score = Score("k_anonymity", {}, pl.DataFrame({"class_size": [1, 2, 2, 4, 4, 4, 4, 12_000]}))
    counts = histogram(score, score)
    assert counts is not None
    assert {row["label"]: row["before"] for row in counts["rows"]} == {"1": 1, "2": 2, "3 to 4": 4, "10,000 and more": 1}


def test_the_hash_is_that_of_the_file_and_no_password_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,2\n")
    assert provenance.sha256(path) == hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert provenance.sha256("postgresql://me:word@host/db#t") is None
    assert "word" not in provenance.redact_location("postgresql://me:word@host/db#t")


def test_the_script_is_cached_and_a_damaged_cache_file_is_not_used(tmp_path: Path) -> None:
    script = vega_bundle(tmp_path / "cache")
    [cached] = (tmp_path / "cache").iterdir()
    assert cached.read_text(encoding="utf-8") == script
    cached.write_text(script[:1000], encoding="utf-8")
    assert vega_bundle(tmp_path / "cache") == script
    assert cached.read_text(encoding="utf-8") == script
    (tmp_path / "file").write_text("a file where the cache folder should be")
    assert vega_bundle(tmp_path / "file") == script
