"""Truta et al. (2003), Kartal & Li (2016) and Lebanon et al. (2006): linking, several records a person, dictionaries."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet import registry, verbs
from discreet.model.attribute import Role
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy
from discreet.report import charts
from discreet.reproduce.appendix import appendix
from discreet.reproduce.reproduction import Line, Makers, Reproduction

_CASES: dict[str, tuple[int, dict[str, Any], str, str]] = {
    "probability of linking the target, the example": (
        482, {"domain": {"age": 50, "zip": 1000}}, "0.024 %", "(4.10) gives 0.024996 %; printed with two digits",
    ),
    "case A, young people are rare": (
        482, {"density": {"age": {"18..28": 1 / 10_000, "28..68": 9_999 / 40_000}}, "domain": {"zip": 1000}}, "4.98 %",
        "(4.10) gives 0.05 / (0.05 + 0.9999) = 4.76 %; the printed number does not follow from the formula",
    ),
    "case B, months and five digits": (
        48201, {"domain": {"age": 600, "zip": 100_000}}, "23.08 %", "23.0787 %, the same when rounded",
    ),
}  # fmt: skip
_NAMES = [*["Ashley"] * 2, "Bob", *["Charlie"] * 5, *["Diana"] * 2, *["Edward"] * 2, "Fred", "Greg", *["Harry"] * 5]
_PRINTED = {
    "Ashley": 100.0,
    "Bob": 16.7,
    "Charlie": 83.3,
    "Diana": 50.0,
    "Edward": 50.0,
    "Fred": 14.3,
    "Greg": 14.3,
    "Harry": 71.4,
}
_SHARES = (0.25, 0.5, 0.75, 1.0)
_WORDS = ["department", "color", "size", "material", "origin", "season", "unit", "carrier"]


def masked_microdata(makers: Makers, records: int | None) -> Reproduction:  # noqa: ARG001 - its tables have their own sizes
    """The three linking probabilities of section 4, and Appendix A."""
    lines = []
    for what, (code, beliefs, paper, why) in _CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            targets = Path(folder, "targets.csv")
            pl.DataFrame({"name": ["John Smith"], "age": [26], "zip": [code]}).write_csv(targets)
            parameters = {"population": 200_000_000, "model": "uniform", "targets": str(targets), **beliefs}
            found = verbs.risk(_file(code), {"target_linkage": parameters})["target_linkage"]["max"]
        lines.append(Line(what, paper, f"{found:.4%}", why))
    masked, drawn = appendix()
    made_of = "20,000 generated people, one of them the target; Appendix A on the ten patients it prints"
    citation = registry.load("risk", "target_linkage").citation
    return Reproduction("002", citation, made_of, (*lines, *masked), {"appendix_a": drawn})


def _file(code: int) -> Microdata:
    """20,000 people with ages and zip codes, one of them aged 26 in the target's."""
    at = np.arange(20_000)
    age, code_of = 18 + at * 7 % 50, at * 13 % 1000
    age[(age == 26) & (code_of == code)] = 27
    age[123], code_of[123] = 26, code
    policy = Policy.from_dict(
        {"attributes": {"age": {"role": "key"}, "zip": {"role": "key"}, "income": {"role": "confidential"}}}
    )
    return Microdata(pl.DataFrame({"age": age, "zip": code_of, "income": at}), policy)


def repeated_records(makers: Makers, records: int | None) -> Reproduction:
    """Table 2, and on generated patients what a partition by balance does where k records are not k persons."""
    groups = np.repeat([0, 1, 2, 3], (2, 6, 4, 7))
    policy = Policy.from_dict({"attributes": {"name": {"role": "person"}, "group": {"role": "key"}}})
    score = verbs.risk(Microdata(pl.DataFrame({"name": _NAMES, "group": groups}), policy), "repeated_records")["repeated_records"]
    found = score.per_record
    assert found is not None
    lines = [
        Line(
            f"re-identification of {name}", f"{printed} %", f"{100 * found['probability'][_NAMES.index(name)]:.1f} %", "the same"
        )
        for name, printed in _PRINTED.items()
    ]
    data = _ordered(makers.patients(records or 5_000))
    after = {
        name: verbs.mask(data, {"seed": 1, "steps": [{"method": "balanced_partition", **parameters}]}).masked
        for name, parameters in (("10 records", {"criterion": "records", "k": 10}), ("g at least 0.9", {"g": 0.9}))
    }
    rows = [{"label": "before", "value": _over(data, data)}]
    for name, table in after.items():
        rows.append({"label": name, "value": _over(table, data)})
        lines.append(
            Line(
                f"persons found with more than 50 %, groups of {name}", "not printed", f"{rows[-1]['value']:.2%}",
                f"the paper leaves its experiment out; generated patients, {rows[0]['value']:.1%} before masking",
            )
        )  # fmt: skip
    citation = registry.load("risk", "repeated_records").citation
    return Reproduction(
        "003", citation, data.source, tuple(lines), {"over": charts.shares(rows, "persons found with more than 50 %")}
    )


def _over(table: Microdata, original: Microdata) -> float:
    score = verbs.risk(table, "repeated_records", original=original)["repeated_records"]
    return float(score["over_threshold_share"])


def _ordered(data: Microdata) -> Microdata:
    """The patients with keys that have an order to be cut in."""
    changed = {
        name: said.model_copy(update={"role": Role.OTHER}) if name in ("race", "medication", "charge") else said
        for name, said in data.policy.attributes.items()
    }
    return data.with_policy(data.policy.with_(attributes=changed))


def decision(makers: Makers, records: int | None) -> Reproduction:
    """Risk against k and against the dictionary's size, for additive and multiplicative sensitivity (Figure 1)."""
    whole = makers.items(records or 4_000)
    said = {name: whole.policy.attributes[name] for name in _WORDS if name in whole.policy.attributes}
    names = list(said)
    table = Microdata(whole.frame.select(names), Policy(attributes=said), whole.source)
    disclosed = table.take(np.arange(len(table) // 10))
    weights = {name: one.sensitivity for name, one in said.items()}
    risks: dict[tuple[str, float, float], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for share in _SHARES:
            step = {"method": "min_risk_disclosure", "k": round(share * len(names)), "weights": weights}
            made = verbs.mask(disclosed, {"steps": [step]}).masked
            for size in (0.1, 0.5, 1.0):
                book = Path(folder, f"{size}.parquet")
                table.frame.head(round(size * len(table))).write_parquet(book)
                for form in ("phi1", "phi5"):
                    parameters = {"dictionary": str(book), "weights": weights, "sensitivity": form}
                    risks[form, share, size] = verbs.risk(made, {"decision": parameters})["decision"]["risk"]
    rising = all(risks["phi5", a, 1.0] <= risks["phi5", b, 1.0] for a, b in pairwise(_SHARES))
    falling = all(risks["phi5", share, 0.1] >= risks["phi5", share, 1.0] for share in _SHARES)
    above = sum(risks["phi5", share, size] >= risks["phi1", share, size] for share in _SHARES for size in (0.1, 0.5, 1.0))
    trend = "the paper's figure has no printed numbers, so the direction is compared; generated items, agreement by equality"
    numbers = " to ".join(f"{risks['phi5', share, 1.0]:.3g}" for share in (_SHARES[0], _SHARES[-1]))
    sizes = " to ".join(f"{risks['phi5', 1.0, size]:.3g}" for size in (0.1, 1.0))
    both = _true_and_estimated(table, disclosed, weights)
    looser = {
        size: [row["estimated"] / row["true"] for row in both if row["true"] and row["dictionary"].startswith(f"{size:.0%}")]
        for size in (0.1, 1.0)
    }
    lines = (
        Line(
            "risk as k grows from 25 % to 100 % of the attributes",
            "rises",
            f"{'rises' if rising else 'does not always rise'} ({numbers})",
            trend,
        ),
        Line(
            "risk as the dictionary grows from 10 % to 100 %",
            "falls",
            f"{'falls' if falling else 'does not always fall'} ({sizes})",
            trend,
        ),
        Line(
            "multiplicative against additive sensitivity",
            "always larger",
            f"larger in {above} of 12",
            "exp of a sum exceeds the sum",
        ),
        Line(
            "estimated risk against true risk (Figure 1, right)",
            "always an upper bound",
            f"not below in {sum(row['estimated'] >= row['true'] for row in both)} of {len(both)}",
            "a theorem: the disclosed records are the smallest dictionary that an intruder can have",
        ),
        Line(
            "that bound as the true dictionary grows",
            "becomes looser",
            f"{max(looser[1.0]):.3g} times the true risk at most with the whole table, {max(looser[0.1]):.3g} with a tenth",
            trend,
        ),
    )
    drawn = {"figure_1_left": _lines(risks), "figure_1_right": _scatter(both)}
    return Reproduction("004", registry.load("risk", "decision").citation, table.source, lines, drawn)


def _true_and_estimated(table: Microdata, disclosed: Microdata, weights: dict[str, float]) -> list[dict[str, Any]]:
    """Risk under the intruder's dictionary and under the disclosed records as their own (Figure 1, right)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "own.parquet")
        disclosed.frame.write_parquet(own)
        for share in _SHARES:
            step = {"method": "min_risk_disclosure", "k": round(share * len(weights)), "weights": weights}
            made = verbs.mask(disclosed, {"steps": [step]}).masked
            estimated = _risk(made, own, weights)
            for size in (0.1, 0.5, 1.0):
                book = Path(folder, f"{size}.parquet")
                table.frame.head(round(size * len(table))).write_parquet(book)
                rows.append(
                    {"true": _risk(made, book, weights), "estimated": estimated, "dictionary": f"{size:.0%} of the table"}
                )
    return rows


def _risk(made: Microdata, book: Path, weights: dict[str, float]) -> float:
    parameters = {"dictionary": str(book), "weights": weights, "sensitivity": "phi5"}
    return float(verbs.risk(made, {"decision": parameters})["decision"]["risk"])


def _scatter(rows: list[dict[str, Any]]) -> Any:
    alt = charts.altair()
    top = max(row["estimated"] for row in rows)
    points = alt.Chart(alt.Data(values=rows), width=360, height=360).mark_point(filled=True, size=70)
    ends = alt.Chart(alt.Data(values=[{"at": 0.0}, {"at": top}])).mark_line(color="gray", strokeDash=[4, 4])
    return ends.encode(x="at:Q", y="at:Q") + points.encode(
        x=alt.X("true:Q", title="true risk"),
        y=alt.Y("estimated:Q", title="estimated risk"),
        color=alt.Color("dictionary:N", scale=alt.Scale(range=[charts.BEFORE, charts.INFORMED, charts.AFTER])),
        shape="dictionary:N",
    )


def _lines(risks: dict[tuple[str, float, float], float]) -> Any:
    alt = charts.altair()
    rows = [
        {"k": share, "risk": risk, "dictionary": f"{size:.0%} of the table"}
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
