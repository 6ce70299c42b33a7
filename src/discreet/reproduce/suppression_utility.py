"""Figure 3 of Orooji & Knapp (2018b): information loss of the classical privacy models beside targeted suppression."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from discreet import verbs
from discreet.model.microdata import Microdata
from discreet.report import charts
from discreet.reproduce.results import Comparison

_MODELS: dict[str, dict[str, Any]] = {
    **{f"k-anonymity, k = {k}": {"k": k} for k in (2, 5, 10)},
    "l-diversity, l = 2": {"l": 2},
    "t-closeness, t = 0.2": {"t": 0.2},
}
_ALGORITHMS_DIFFER = "the paper prints no numbers for this figure; it used ARX, we use Mondrian partitioning"


def compare_utility(data: Microdata, keys: list[str], suppression_loss: float) -> tuple[list[Comparison], Any]:
    """NCP of the keys under each model, beside one pass of suppression; all attributes that are not keys count as sensitive."""
    losses = {
        name: _ncp(data, keys, {"method": "generalization", "columns": keys, "algorithm": "partition", **parameters})
        for name, parameters in _MODELS.items()
    }
    comparisons = [
        Comparison(f"Figure 3: NCP, {name}", "larger than one pass of suppression", f"{loss:.2%}", _ALGORITHMS_DIFFER)
        for name, loss in losses.items()
    ]
    k_anonymity = [losses[f"k-anonymity, k = {k}"] for k in (2, 5, 10)]
    suppression_is_least = all(suppression_loss < loss for loss in losses.values())
    rises_with_k = all(smaller < larger for smaller, larger in pairwise(k_anonymity))
    greatest = max(losses, key=lambda name: losses[name])
    comparisons += [
        Comparison(
            "Figure 3: the smallest loss",
            "one pass of suppression",
            "the same" if suppression_is_least else "another model",
            "after one pass, which does not remove every high-risk record",
        ),
        Comparison(
            "Figure 3: k-anonymity as k grows", "loses more", "loses more" if rises_with_k else "does not always", "k = 2, 5, 10"
        ),
        Comparison("Figure 3: the greatest loss", "l-diversity", greatest, "17 skewed sensitive attributes in both"),
    ]
    bars = [
        {"label": "one pass of suppression", "value": suppression_loss},
        *({"label": name, "value": loss} for name, loss in losses.items()),
    ]
    return comparisons, charts.share_chart(bars, "NCP of the 10 keys")


def _ncp(data: Microdata, keys: list[str], step: dict[str, Any]) -> float:
    masked = verbs.mask(data, {"seed": 1, "steps": [step]}).masked
    return float(verbs.loss(data, masked, {"ncp": {"attributes": keys}})["ncp"]["loss"])
