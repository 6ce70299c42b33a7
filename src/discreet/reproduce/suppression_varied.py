"""Orooji & Knapp (2018b) with its guesses varied: what one pass of suppression does where the guesses are others.

The paper ends with the remark that the effect of the publicly-known probabilities, weights and threshold needs to be
characterized. Here its experiment is repeated with all probabilities, and with the threshold, multiplied by a factor. Weights
need no runs of their own: the risk is linear in them, so all weights times c is the threshold divided by c.
"""

from __future__ import annotations

import itertools
from typing import Any

from discreet import verbs
from discreet.model.microdata import Microdata
from discreet.model.score import Score
from discreet.report import charts
from discreet.reproduce.results import Comparison

_PROBABILITIES = "all probabilities"
_FACTORS = {_PROBABILITIES: (0.1, 0.25, 0.5, 1.0, 1.5), "threshold": (0.1, 1.0, 10.0, 30.0, 100.0)}


def vary_guesses(data: Microdata, threshold: float, keys: list[str]) -> tuple[list[Comparison], Any]:
    """One pass of suppression under each factor: high-risk records before and after and the loss, as rows and as a chart."""
    rows, comparisons = [], []
    for guess, factors in _FACTORS.items():
        for factor in factors:
            if guess == _PROBABILITIES:
                varied, level = data.with_policy(_scale_known(data, factor)), threshold
            else:
                varied, level = data, threshold * factor
            before, after, loss = _suppress_once(varied, level, keys)
            rows += [
                {"guess": guess, "factor": factor, "series": series, "share": score["high_risk_share"]}
                for series, score in (("before", before), ("after", after))
            ]
            comparisons.append(
                Comparison(
                    f"guesses varied: {guess} x {factor:g}",
                    "not done",
                    f"{before['high_risk']:,} to {after['high_risk']:,} high-risk records, NCP {loss:.2%}",
                    f"one pass at the threshold {level:.3g}; the reduction depends on the guesses",
                )
            )
    return comparisons, _chart(rows)


def _suppress_once(data: Microdata, threshold: float, keys: list[str]) -> tuple[Score, Score, float]:
    """The risks before and after one pass of suppression at a threshold, and its loss."""
    measure = {"known_sets": {"threshold": threshold, "missing": "wildcard"}}
    step = {"method": "targeted_suppression", "threshold": threshold, "passes": 1, "missing": "wildcard"}
    masked = verbs.mask(data, {"seed": 1, "steps": [step]}).masked
    before, after = (verbs.risk(table, measure)["known_sets"] for table in (data, masked))
    return before, after, float(verbs.loss(data, masked, {"ncp": {"attributes": keys}})["ncp"]["loss"])


def influence_of_guesses(data: Microdata, threshold: float) -> Comparison:
    """On which guess the number of high-risk records of the original rests most."""
    result = verbs.risk(data, {"known_sets": {"threshold": threshold}})["known_sets"].sensitivity()
    assert result.influence is not None
    first = result.influence.sort("mean", descending=True).row(0, named=True)
    return Comparison(
        "guess that the mean risk rests on most",
        "not done",
        f"{first['attribute']} ({first['guess']}): elasticity {first['mean']:.2f}",
        "share of the mean risk from known sets with the attribute, or from its sensitivity",
    )


def _scale_known(data: Microdata, factor: float) -> Any:
    attributes = {
        name: attribute.model_copy(update={"known": min(1.0, float(attribute.known) * factor)})
        for name, attribute in data.policy.attributes.items()
    }
    return data.policy.with_(attributes=attributes)


def _chart(rows: list[dict[str, Any]]) -> Any:
    """The share of high-risk records before and after one pass, against the factor on the guess; a panel per guess."""
    alt = charts.load_altair()
    scale = alt.Scale(domain=["before", "after"], range=[charts.BEFORE, charts.AFTER])
    return (
        alt.Chart(alt.Data(values=rows), width=260, height=240)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "factor:Q",
                title="factor (logarithmic)",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=sorted({*itertools.chain(*_FACTORS.values())}), format="~g"),
            ),
            y=alt.Y("share:Q", title="share of high-risk records", axis=alt.Axis(format=".1%")),
            color=alt.Color("series:N", scale=scale, legend=alt.Legend(title=None, orient="top")),
            column=alt.Column("guess:N", title=None, sort=list(_FACTORS)),
        )
        .resolve_scale(x="independent")
    )
