"""How far the verdict holds, on the first page of a report: what it rests on, and what the public form leaves out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import discreet
from discreet.model.sensitivity import Sensitivity
from discreet.report.evidence import collect
from discreet.report.page import render
from discreet.report.public_report.evidence import publish
from discreet.report.sensitivity_charts import plot_sensitivity, reach_rows, tornado_rows

FRAME = pl.DataFrame({"age": [30, 30, 41, 41, 52, 30], "zip": [1, 1, 2, 2, 3, 2], "disease": ["Flu", "HIV"] * 3})


def policy(**extra: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "age": {"role": "key", "known": 0.2},
            "zip": {"role": "key", "known": 0.1},
            "disease": {"role": "confidential", "sensitivity": 1.0},
        },
        "risk": {"known_sets": {"alpha": 1, "epsilon": 0, "threshold": 0.6, **extra}},
        "limits": {"known_sets.high_risk": 0},
        "plan": {"steps": []},
    }


def test_the_internal_report_says_where_the_verdict_flips_and_the_public_one_what_it_rests_on() -> None:
    data = discreet.read(FRAME, policy())
    exact = collect(data, discreet.mask(data))
    (entry,) = exact["how_far"]
    assert entry["strongest"] == "age"
    assert any("off by at most" in sentence for sentence in entry["sentences"])
    page = render(exact)
    assert "How far this holds" in page
    assert page.index("How far this holds") < page.index("Records by risk, before and after")
    public = publish(exact)["how_far"]
    assert public[0]["sentences"] == ["The verdict rests most on the guess for age."]
    assert all(row["less"] == round(row["less"], 2) for row in public[0]["rows"])
    assert "off by at most" not in render(publish(exact))


def test_a_verdict_is_not_said_to_rest_on_guesses_that_no_limit_depends_on() -> None:
    """With a limit on k alone, a report said that the verdict rests most on the guess for a town."""
    content = policy() | {"limits": {"k_anonymity.k": 1}}
    content["risk"] = {**content["risk"], "k_anonymity": {}}
    data = discreet.read(FRAME, content)
    exact = collect(data, discreet.mask(data))
    entries = [entry for entry in exact["how_far"] if entry["measure"] == "known_sets"]
    sentences = [sentence for entry in (*entries, *publish(exact)["how_far"]) for sentence in entry["sentences"]]
    assert not any(sentence.startswith("The verdict rests") for sentence in sentences)
    assert any(sentence.startswith("No limit is on known_sets; its mean risk rests most") for sentence in sentences)


def test_a_report_says_that_it_was_not_examined_where_it_cannot_be() -> None:
    data = discreet.read(FRAME, policy(population="model", sampling_fraction=0.1))
    exact = collect(data, discreet.mask(data))
    assert "was not examined" in exact["how_far"][0]["sentences"][0]
    assert publish(exact)["how_far"] == []


def test_the_tornado_is_the_elasticity_times_ten_percent_and_cut_off_at_one() -> None:
    result = discreet.risk(discreet.read(FRAME, policy()))["known_sets"].sensitivity()
    rows = {row["label"]: row for row in tornado_rows(result)}
    shares = {f"{row['attribute']} ({row['guess']})": row["mean"] for row in result.influence.iter_rows(named=True)}
    for label, row in rows.items():
        assert row["less"] == pytest.approx(-0.1 * shares[label])
    assert rows["age (known)"]["more"] == pytest.approx(0.1 * shares["age (known)"])
    assert rows["disease (sensitivity)"]["more"] == 0
    assert len(plot_sensitivity(result).to_dict()["vconcat"]) == 3
    assert {row["label"] for row in reach_rows(result)} >= {"known of age", "known of zip"}


def test_a_result_without_anything_to_draw_is_refused_and_a_notebook_shows_the_sentences() -> None:
    with pytest.raises(discreet.DiscreetError, match="nothing to draw"):
        plot_sensitivity(Sensitivity("known_sets", 3))
    result = discreet.risk(discreet.read(FRAME, policy()))["known_sets"].sensitivity()
    assert "rests most on your guess for age" in result._repr_html_()
