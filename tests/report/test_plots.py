"""Every result has a chart, in Python and in a notebook."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import registry
from discreet.errors import DataError
from discreet.model.results import Release
from discreet.model.score import Score
from discreet.report.charts import to_svg
from discreet.report.histograms import describe_field
from discreet.testing.samples import sample


def test_an_assessment_shows_before_and_after_on_one_scale(release: Release) -> None:
    assessment = discreet.assess(release.original, release)
    parts = assessment.plot().to_dict()["vconcat"]
    assert len(parts) == 2
    values = parts[0]["data"]["values"]
    assert {row["series"] for row in values} == {"before", "after", "after (attacker knows the original values)"}
    assert parts[0]["encoding"]["y"]["scale"]["type"] == "symlog"
    page = assessment._repr_html_()
    assert "<svg" in page
    assert "high_risk" in page


@pytest.mark.parametrize("name", registry.installed_names("risk"))
def test_every_risk_measure_has_a_chart(name: str) -> None:
    measure: Any = registry.load("risk", name).example()
    data = measure.example_data() or sample(60)
    score = measure.measure(data, original=data if measure.needs_original(data) else None)
    assert "<path" in to_svg(score.plot(), "a", "t", "d")


@pytest.mark.parametrize("name", registry.installed_names("loss"))
def test_every_loss_measure_has_a_chart(name: str, release: Release) -> None:
    score = discreet.loss(release.original, release, name)[name]
    assert "<svg" in score._repr_html_()


def test_a_score_without_numbers_is_refused_by_plot_and_still_has_a_table() -> None:
    score = Score("<mine>", {"none": None}, pl.DataFrame({"word": ["a"]}))
    with pytest.raises(DataError, match="no number to draw"):
        score.plot()
    assert "&lt;mine&gt;" in score._repr_html_()


def test_importing_discreet_does_not_import_the_chart_libraries() -> None:
    code = "import sys, discreet; discreet.Score, discreet.Assessment; assert 'altair' not in sys.modules; "
    code += "assert not any(name.startswith('discreet.report') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_axes_of_charts_say_what_a_number_per_record_is() -> None:
    for name in registry.installed_names("risk"):
        for field in registry.load("risk", name).record_meaning:
            assert "_" not in describe_field(name, field).partition("(")[0] or "*" in field, f"{name}.{field}"
    assert (
        describe_field("linkability", "linked")
        == "probability that both parts of the record's person are linked through the release"
    )
