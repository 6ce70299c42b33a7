"""Lebanon et al. (2006): risk under a dictionary of persons, with additive and multiplicative sensitivity (Figure 1)."""

from __future__ import annotations

import tempfile
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from discreet import registry, verbs
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report import charts
from discreet.reproduce.results import Comparison, Generators, Reproduction

_ATTRIBUTES = ("department", "color", "size", "material", "origin", "season", "unit", "carrier")
_DISCLOSED_SHARES = (0.25, 0.5, 0.75, 1.0)
"""k as a share of the attributes: how many of them MinRisk discloses per record."""
_DICTIONARY_SHARES = (0.1, 0.5, 1.0)
"""Size of the intruder's dictionary as a share of the table."""
_DIRECTION_ONLY = (
    "the paper's figure prints no numbers, so the direction is compared; generated items, two values agree where they are equal"
)
Risks = dict[tuple[str, float, float], float]
"""Risk by form of sensitivity (phi1 additive, phi5 multiplicative), disclosed share and dictionary share."""


def reproduce_decision(generators: Generators, records: int | None) -> Reproduction:
    """Risk against k and against the size of the dictionary, and the true risk against its estimate (Figure 1)."""
    items = generators.items(records or 4_000)
    attributes = {name: items.policy.attributes[name] for name in _ATTRIBUTES if name in items.policy.attributes}
    table = Microdata(items.frame.select(list(attributes)), Policy(attributes=attributes), items.source)
    disclosed = table.take(np.arange(len(table) // 10))
    weights = {name: attribute.sensitivity for name, attribute in attributes.items()}
    with tempfile.TemporaryDirectory() as folder:
        dictionaries = _write_dictionaries(table, Path(folder))
        masked = {share: _mask_to_k(disclosed, round(share * len(weights)), weights) for share in _DISCLOSED_SHARES}
        risks: Risks = {
            (form, share, size): _measure_risk(masked[share], dictionaries[size], weights, form)
            for share, size, form in product(_DISCLOSED_SHARES, _DICTIONARY_SHARES, ("phi1", "phi5"))
        }
        own_dictionary = Path(folder, "own.parquet")
        disclosed.frame.write_parquet(own_dictionary)
        estimates = _estimate_risks(masked, own_dictionary, weights, risks)
    figures = {"figure_1_left": _chart_risk_by_k(risks), "figure_1_right": _chart_estimates(estimates)}
    citation = registry.load("risk", "decision").citation
    return Reproduction("004", citation, table.source, _compare(risks, estimates), figures)


def _compare(risks: Risks, estimates: list[dict[str, Any]]) -> tuple[Comparison, ...]:
    rises = all(risks["phi5", low, 1.0] <= risks["phi5", high, 1.0] for low, high in pairwise(_DISCLOSED_SHARES))
    falls = all(risks["phi5", share, 0.1] >= risks["phi5", share, 1.0] for share in _DISCLOSED_SHARES)
    pairs = list(product(_DISCLOSED_SHARES, _DICTIONARY_SHARES))
    larger = sum(risks["phi5", share, size] >= risks["phi1", share, size] for share, size in pairs)
    by_k = " to ".join(f"{risks['phi5', share, 1.0]:.3g}" for share in (_DISCLOSED_SHARES[0], _DISCLOSED_SHARES[-1]))
    by_size = " to ".join(f"{risks['phi5', 1.0, size]:.3g}" for size in (0.1, 1.0))
    ratios = {
        size: [
            row["estimated"] / row["true"] for row in estimates if row["true"] and row["dictionary"] == _dictionary_label(size)
        ]
        for size in (0.1, 1.0)
    }
    return (
        Comparison(
            "risk as k grows from 25 % to 100 % of the attributes",
            "rises",
            f"{'rises' if rises else 'does not always rise'} ({by_k})",
            _DIRECTION_ONLY,
        ),
        Comparison(
            "risk as the dictionary grows from 10 % to 100 %",
            "falls",
            f"{'falls' if falls else 'does not always fall'} ({by_size})",
            _DIRECTION_ONLY,
        ),
        Comparison(
            "multiplicative against additive sensitivity",
            "always larger",
            f"larger in {larger} of {len(pairs)}",
            "exp of a sum exceeds the sum",
        ),
        Comparison(
            "estimated risk against true risk (Figure 1, right)",
            "always an upper bound",
            f"not below in {sum(row['estimated'] >= row['true'] for row in estimates)} of {len(estimates)}",
            "a theorem: the disclosed records are the smallest dictionary that an intruder can have",
        ),
        Comparison(
            "that bound as the true dictionary grows",
            "becomes looser",
            f"at most {max(ratios[1.0]):.3g} times the true risk with the whole table, {max(ratios[0.1]):.3g} with a tenth of it",
            _DIRECTION_ONLY,
        ),
    )


def _write_dictionaries(table: Microdata, folder: Path) -> dict[float, Path]:
    """The first records of the table as dictionaries, by their share of it."""
    paths = {}
    for size in _DICTIONARY_SHARES:
        paths[size] = folder / f"{size}.parquet"
        table.frame.head(round(size * len(table))).write_parquet(paths[size])
    return paths


def _mask_to_k(disclosed: Microdata, k: int, weights: dict[str, float]) -> Microdata:
    step = {"method": "min_risk_disclosure", "k": k, "weights": weights}
    return verbs.mask(disclosed, {"steps": [step]}).masked


def _measure_risk(masked: Microdata, dictionary: Path, weights: dict[str, float], form: str) -> float:
    parameters = {"dictionary": str(dictionary), "weights": weights, "sensitivity": form}
    return float(verbs.risk(masked, {"decision": parameters})["decision"]["risk"])


def _estimate_risks(
    masked: dict[float, Microdata], own_dictionary: Path, weights: dict[str, float], risks: Risks
) -> list[dict[str, Any]]:
    """Risk under the intruder's dictionary, and its estimate with the disclosed records as their own (Figure 1, right)."""
    rows = []
    for share, table in masked.items():
        estimated = _measure_risk(table, own_dictionary, weights, "phi5")
        rows += [
            {"true": risks["phi5", share, size], "estimated": estimated, "dictionary": _dictionary_label(size)}
            for size in _DICTIONARY_SHARES
        ]
    return rows


def _dictionary_label(size: float) -> str:
    return f"{size:.0%} of the table"


def _chart_estimates(rows: list[dict[str, Any]]) -> Any:
    """Estimated against true risk; points above the dashed diagonal are overestimates."""
    alt = charts.load_altair()
    largest = max(row["estimated"] for row in rows)
    points = alt.Chart(alt.Data(values=rows), width=360, height=360).mark_point(filled=True, size=70)
    diagonal = alt.Chart(alt.Data(values=[{"end": 0.0}, {"end": largest}])).mark_line(color="gray", strokeDash=[4, 4])
    return diagonal.encode(x="end:Q", y="end:Q") + points.encode(
        x=alt.X("true:Q", title="true risk"),
        y=alt.Y("estimated:Q", title="estimated risk"),
        color=alt.Color("dictionary:N", scale=alt.Scale(range=[charts.BEFORE, charts.INFORMED, charts.AFTER])),
        shape="dictionary:N",
    )


def _chart_risk_by_k(risks: Risks) -> Any:
    alt = charts.load_altair()
    rows = [
        {"k": share, "risk": risk, "dictionary": _dictionary_label(size)}
        for (form, share, size), risk in risks.items()
        if form == "phi5"
    ]
    return (
        alt.Chart(alt.Data(values=rows), width=480, height=280)
        .mark_line(point=True)
        .encode(
            x=alt.X("k:Q", title="share of the attributes disclosed", axis=alt.Axis(format="%")),
            y=alt.Y("risk:Q", title="risk, multiplicative sensitivity"),
            color=alt.Color("dictionary:N", scale=alt.Scale(range=[charts.BEFORE, charts.INFORMED, charts.AFTER])),
            strokeDash="dictionary:N",
        )
    )
