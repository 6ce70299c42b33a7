"""The experiments of Lebanon et al. 2006, appendix: risk against k and dictionary size, estimated against true risk.

Their table of retail items is not public; items of the same shape are generated (400,000 x 70 by default). Part of the
table is disclosed, dictionaries are made of the whole. Weights are uniform random numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import polars as pl

from discreet.engine.disclosure.dictionaries import Dictionary, side_attributes
from discreet.engine.disclosure.sensitivity import Form, Sensitivity, loss
from discreet.masking.min_risk_disclosure.losses import Disclosure, suppress_columns
from discreet.masking.min_risk_disclosure.min_risk import min_risk
from discreet.risks.decision.consistency import Similarity, count_consistent
from discreet.testing import items

SHARES = (0.25, 0.5, 0.75, 1.0)
SIZES = (0.1, 0.25, 0.5, 1.0)
WORDS = (
    "department",
    "color",
    "size",
    "material",
    "origin",
    "season",
    "unit",
    "carrier",
    "tax_class",
    "warranty",
    "packaging",
    "fragile",
)


def experiment(
    whole: pl.DataFrame, names: Sequence[str], disclosed: int, similarity: Similarity | None, seed: int = 0
) -> pl.DataFrame:
    """Mean loss for each k, dictionary size and form of sensitivity; each record discloses the k entries of least risk."""
    from discreet.model.microdata import Microdata

    data = Microdata(whole.head(disclosed).select(names))
    weights = dict(zip(names, np.random.default_rng(seed).random(len(names)).tolist(), strict=True))
    everyone = Dictionary("all", whole.select(names), tuple(names), None)
    problem = Disclosure(data, tuple(names), Sensitivity("phi5", tuple(names), weights), (everyone,))
    rows = []
    for share in SHARES:
        k = round(share * len(names))
        rule, _ = min_risk(problem, k)
        release = data.frame.with_columns(list(suppress_columns(data, problem.columns, rule).values()))
        shown = [rule[:, at] for at in range(len(names))]
        forms: tuple[Form, ...] = ("phi1", "phi5")
        worth = {form: Sensitivity(form, tuple(names), weights).phi(shown, disclosed) for form in forms}
        for size in SIZES:
            # the first records are the disclosed ones, so that every dictionary holds them
            book = whole.head(max(disclosed, round(size * whole.height))).select(names)
            rho = count_consistent(release, book, names, similarity=similarity)
            rows.append(
                {"attributes": len(names), "k": k, "dictionary": book.height, "rho": float(rho.mean())}
                | {
                    name: float(loss(worth[form], rho).mean())
                    for name, form in (("additive", "phi1"), ("multiplicative", "phi5"))
                }
            )
    return pl.DataFrame(rows)


def estimates(whole: pl.DataFrame, names: Sequence[str], disclosed: int, seed: int = 0) -> pl.DataFrame:
    """Estimated risk, with the disclosed table as dictionary, against the true one with larger and less complete ones."""
    generator = np.random.default_rng(seed)
    own = whole.head(disclosed).select(names)
    weights = dict(zip(names, generator.random(len(names)).tolist(), strict=True))
    rows = []
    for share in (0.4, 0.7, 1.0):
        shown = [generator.random(disclosed) < share for _ in names]
        release = own.with_columns([own[name].set(pl.Series(~seen), None) for name, seen in zip(names, shown, strict=True)])
        phi = Sensitivity("phi1", tuple(names), weights).phi(
            [seen & own[name].is_not_null().to_numpy() for name, seen in zip(names, shown, strict=True)], disclosed
        )
        estimated = float(loss(phi, count_consistent(release, own, names)).mean())
        for size in SIZES:
            for missing in (0.0, 0.1, 0.3):
                book = whole.head(max(disclosed, round(size * whole.height))).select(names)
                book = book.with_columns(
                    [book[name].set(pl.Series(generator.random(book.height) < missing), None) for name in names]
                )
                true = float(loss(phi, count_consistent(release, book, names)).mean())
                rows.append(
                    {
                        "disclosed share": share,
                        "dictionary": book.height,
                        "missing in it": missing,
                        "true": true,
                        "estimated": estimated,
                    }
                )
    return pl.DataFrame(rows)


def show(table: pl.DataFrame) -> None:
    print("| " + " | ".join(table.columns) + " |\n|" + "---|" * table.width)
    for row in table.rows():
        print("| " + " | ".join(f"{value:.4g}" if isinstance(value, float) else f"{value:,}" for value in row) + " |")
    print()


def chart(risks: pl.DataFrame, points: pl.DataFrame, target: str) -> None:
    """The paper's figure: risk against k for each dictionary and form; estimated against true risk with the diagonal."""
    import altair as alt

    forms = ("additive", "multiplicative")
    long = [{**row, "form": form, "risk": row[form]} for row in risks.to_dicts() for form in forms]
    base = alt.Chart(alt.Data(values=long)).encode(
        x=alt.X("k:Q", title="disclosed attributes, k", scale=alt.Scale(zero=False)),
        y=alt.Y("risk:Q", title="risk", scale=alt.Scale(type="log"), axis=alt.Axis(format="~g")),
        color=alt.Color("dictionary:N", title="dictionary, rows", sort=None),
    )  # fmt: skip
    left = base.mark_line().encode(strokeDash=alt.StrokeDash("form:N", title="sensitivity")) + base.mark_point(filled=True)
    cloud = alt.Chart(alt.Data(values=points.to_dicts())).mark_point().encode(
        x=alt.X("true:Q", title="true risk"),
        y=alt.Y("estimated:Q", title="estimated risk"),
        size=alt.Size("dictionary:Q", title="true dictionary, rows"),
    )  # fmt: skip
    most = float(points["estimated"].max())  # type: ignore[arg-type]
    line = alt.Chart(alt.Data(values=[{"at": 0.0}, {"at": most}])).mark_line(color="grey").encode(x="at:Q", y="at:Q")
    right = (line + cloud).properties(width=280, height=260)
    (left.properties(width=280, height=260) | right).resolve_scale(
        color="independent", size="independent", strokeDash="independent"
    ).save(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=400_000)
    parser.add_argument("--disclosed", type=int, default=2_000)
    parser.add_argument("--chart", help="write the figure to this SVG file")
    asked = parser.parse_args()
    data = items(asked.records)
    names = side_attributes(data)
    print(f"All {len(names)} attributes, equal values:\n")
    show(experiment(data.frame, names, asked.disclosed, None))
    print(f"{len(WORDS)} descriptive attributes, equal values:\n")
    show(experiment(data.frame, WORDS, asked.disclosed, None))
    print(f"{len(WORDS)} descriptive attributes, values with a Jaro similarity of 0.8:\n")
    risks = experiment(data.frame, WORDS, asked.disclosed, Similarity(threshold=0.8))
    show(risks)
    points = estimates(data.frame, WORDS, asked.disclosed)
    above = int((points["estimated"] >= points["true"]).sum())
    print(f"Estimated against true risk: {above} of {points.height} points on or above the diagonal\n")
    show(points)
    if asked.chart:
        chart(risks, points, asked.chart)


if __name__ == "__main__":
    main()
