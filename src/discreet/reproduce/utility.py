"""Figure 3 of Orooji & Knapp (2018) on suppression: what the classical models lose beside it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from discreet import verbs
from discreet.model.microdata import Microdata
from discreet.report import charts
from discreet.reproduce.reproduction import Line

_MODELS: dict[str, dict[str, Any]] = {
    **{f"k-anonymity, k = {k}": {"k": k} for k in (2, 5, 10)},
    "l-diversity, l = 2": {"l": 2},
    "t-closeness, t = 0.2": {"t": 0.2},
}
_OTHERS = "the text prints no number of the figure; the paper used ARX, ours partitions the table (Mondrian)"


def utility(data: Microdata, keys: list[str], ours: float) -> tuple[list[Line], Any]:
    """NCP of the keys under each model, beside one pass of suppression; all attributes that are not keys count as sensitive."""
    lost = {
        name: _ncp(data, keys, {"method": "generalization", "columns": keys, "algorithm": "partition", **parameters})
        for name, parameters in _MODELS.items()
    }
    lines = [Line(f"Figure 3: NCP, {name}", "larger than ours", f"{value:.2%}", _OTHERS) for name, value in lost.items()]
    anonymous = [lost[f"k-anonymity, k = {k}"] for k in (2, 5, 10)]
    least = all(ours < value for value in lost.values())
    rising = all(a < b for a, b in pairwise(anonymous))
    most = max(lost, key=lambda name: lost[name])
    lines += [
        Line(
            "Figure 3: the least loss",
            "one pass of suppression",
            "the same" if least else "not ours",
            "at one pass, not at safety",
        ),
        Line("Figure 3: k-anonymity as k grows", "loses more", "loses more" if rising else "does not always", "2, 5 and 10"),
        Line("Figure 3: the greatest loss", "l-diversity", most, "17 skewed sensitive attributes in both"),
    ]
    rows = [
        {"label": "one pass of suppression", "value": ours},
        *({"label": name, "value": value} for name, value in lost.items()),
    ]
    return lines, charts.shares(rows, "NCP of the 10 keys")


def _ncp(data: Microdata, keys: list[str], step: dict[str, Any]) -> float:
    made = verbs.mask(data, {"seed": 1, "steps": [step]}).masked
    return float(verbs.loss(data, made, {"ncp": {"attributes": keys}})["ncp"]["loss"])
