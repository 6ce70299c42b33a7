"""Tables with a known truth: planted dependencies are found, and nothing is found where there is nothing."""

import numpy as np
import polars as pl
import pytest
from planted import KINDS, independent, masked_at_random, planted

from discreet.risks.coverage.measure import Coverage

EACH = 5


def restored(score):
    rows = score.per_attribute.filter(pl.col("attribute") == "hidden")
    return rows.height == 1 and rows["restored_from"][0] is not None


@pytest.mark.parametrize("kind", KINDS)
def test_planted_dependencies_are_found(kind):
    missed = []
    for seed in range(EACH):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        original, masked, how = masked_at_random(rng, planted(rng, kind), "hidden")
        if not restored(Coverage().measure(masked, original=original)):
            missed.append((seed, how))
    assert not missed


def test_on_independent_columns_nothing_is_reported():
    reported = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 99])
        frame = pl.DataFrame(independent(rng))
        column = [name for name in frame.columns if name != "small"][seed % (frame.width - 1)]
        original, masked, how = masked_at_random(rng, frame, column)
        score = Coverage().measure(masked, original=original)
        if score["restorable"] or score["read_back"]:
            reported.append((seed, column, how, score.gaps))
    assert len(reported) <= 1  # of forty: at most one in twenty is allowed


def test_a_number_that_determines_everybody_restores_nobody():
    """A record's own number goes with one value each, in the records at hand and in no other."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"number": rng.permutation(900), "hidden": rng.integers(0, 5, 900), "small": rng.integers(0, 4, 900)})
    original, masked, _ = masked_at_random(rng, frame, "hidden")
    assert Coverage().measure(masked, original=original)["restorable"] == 0


def test_a_term_that_was_masked_itself_restores_nothing():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 1000, 500), rng.integers(0, 1000, 500)
    frame = pl.DataFrame({"a": a, "b": b, "total": a + b, "small": rng.integers(0, 4, 500)})
    original, _, _ = masked_at_random(rng, frame, "small")
    noise = {name: frame[name] + pl.Series(rng.integers(200, 900, 500)) for name in ("a", "b")}
    masked = original.with_columns(noise).drop(["total"])
    rows = Coverage().measure(masked, original=original).per_attribute.filter(pl.col("restored_from").is_not_null())
    assert "total" not in rows["attribute"].to_list()


@pytest.mark.parametrize("sample", [200, 12_000])
def test_a_sample_finds_what_all_records_show_and_says_that_it_is_one(sample):
    rng = np.random.default_rng(7)
    town = rng.integers(0, 10, 5_000)
    frame = pl.DataFrame({"town": town, "hidden": np.array(list("abcdefghij"))[town], "small": rng.integers(0, 4, 5_000)})
    original = masked_at_random(rng, frame, "small")[0]
    score = Coverage(sample=sample).measure(original.drop(["hidden"]), original=original)
    assert score["restorable"] == 1
    assert any("of a sample of" in note for note in score.notes) == (sample < 5_000)


def test_the_order_of_the_released_rows_changes_nothing():
    rng = np.random.default_rng(8)
    original, masked, _ = masked_at_random(rng, planted(rng, "two columns"), "hidden")
    plain = Coverage(sample=100).measure(masked, original=original)
    turned = Coverage(sample=100).measure(masked.take(rng.permutation(len(masked))), original=original)
    assert plain.summary == turned.summary
    assert plain.per_attribute["restored_share"].to_list() == turned.per_attribute["restored_share"].to_list()
