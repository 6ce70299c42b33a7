"""discreet sensitivity: how far the verdicts hold where guesses are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import output
from discreet.cli.options import From, Json, Link, Overwrite, PolicyFile, places_of

if TYPE_CHECKING:
    from discreet.model.sensitivity import Sensitivity

_CHARTS = (".html", ".svg", ".png", ".json")
_SHOWN = 25
"""Rows of the curve that are printed; --json has all."""


def sensitivity(
    source: Annotated[str, typer.Argument(help="The microdata to release; - for standard input.", show_default=False)],
    policy: PolicyFile,
    masked: Annotated[
        str | None,
        typer.Argument(help="The masked microdata, whose verdicts are examined with SOURCE as the original.", show_default=False),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="About how long the searches may take.")] = 60.0,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A risk measure; repeatable. Default: those of the policy.")
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option("--records", help="Write the elasticities of each record's risk to this file, columns MEASURE.GUESS.NAME."),
    ] = None,
    chart: Annotated[
        Path | None, typer.Option("--chart", help="Write the charts to this file: .html, .svg, .png or .json.")
    ] = None,
    link: Link = None,
    source_format: From = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Find at which guesses each verdict would change, and which guess it rests on most."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    if chart is not None and chart.suffix not in _CHARTS:
        raise typer.BadParameter(f"--chart writes {', '.join(_CHARTS)}; got '{chart}'")
    places = places_of(source, masked or "", source_format)
    loaded_policy = load_policy(policy)
    check_targets(
        {"--records": records, "--chart": chart},
        {"SOURCE": places[0], "MASKED": masked, "--policy": policy, "--link": link},
        policy=loaded_policy,
        overwrite=overwrite,
    )
    with output.show_progress():
        data = verbs.read(places[0], loaded_policy)
        release = verbs.read(places[1], loaded_policy) if masked is not None else None
        if link is not None:
            if release is None:
                raise typer.BadParameter("--link connects a masked table with its original; give MASKED too")
            release = verbs.link(data, release, link)
        results = verbs.sensitivity(data, release, measure or None, seconds=seconds)
        if records is not None:
            _write_elasticities(results, records, overwrite=overwrite)
        if chart is not None:
            _write_charts(results, chart)
    fixed = [limit for limit in loaded_policy.limits if limit.split(".")[0] not in results]
    if json:
        output.print_json(
            {
                "records": len(data if release is None else release),
                "measures": {name: result.to_dict() for name, result in results.items()},
                "unaffected": fixed,
            }
        )
    else:
        for result in results.values():
            _print_result(result)
        if not results:
            print("No measure of the policy rests on a guess, so its verdicts do not change with any.")
        for limit in fixed:
            print(f"{limit} rests on no guess of the policy; discreet assess judges it.")
    if not loaded_policy.limits:
        output.print_message("no limits are set, so there is no verdict to examine")
    states = {verdict.status for result in results.values() for verdict in result.verdicts}
    for result in results.values():
        for verdict in result.verdicts:
            if verdict.status != "met":
                output.print_message(f"{verdict.status}: {verdict.sentence}")
    if states - {"met"} or not loaded_policy.limits:
        raise typer.Exit(1)


def _print_result(result: Sensitivity) -> None:
    """Print the sentences first, then where each verdict flips, the influence of each guess, and the curve."""
    print("\n".join(result.sentences) + "\n")
    rows = [
        (
            reach.limit,
            reach.status,
            reach.subject,
            reach.given,
            _bracket(reach.flips_down),
            _bracket(reach.flips_up),
            reach.guarantee,
        )
        for reach in result.reaches
    ]
    if rows:
        columns = ("limit", "status", "guess", "given", "flips where it falls to", "flips where it rises to", "guarantee")
        output.print_table(f"Where verdicts flip ({result.measure})", columns, rows)
    if result.influence is not None and len(result.influence):
        influence = [
            (
                row["attribute"],
                row["guess"],
                row["given"],
                row["mean"],
                row["high_risk"],
                row["high_risk_less"],
                row["high_risk_more"],
            )
            for row in result.influence.iter_rows(named=True)
        ]
        columns = (
            "attribute", "guess", "given", "elasticity of the mean", "of the high-risk records", "high-risk at -10 %", "at +10 %",
        )  # fmt: skip
        output.print_table(f"Influence of the guesses ({result.measure})", columns, influence)
    if result.curve is not None and len(result.curve):
        step = max(1, len(result.curve) // _SHOWN)
        curve = result.curve.gather_every(step)
        output.print_table("High-risk records by threshold", ("threshold", "share", "at least", "at most"), curve.rows())


def _bracket(values: tuple[float, float] | None) -> str:
    if values is None:
        return "–"
    low, high = sorted(values)
    return f"{high:.4g}" if high - low <= 2e-3 * max(high, 1e-6) else f"{low:.4g} to {high:.4g}"


def _write_elasticities(results: dict[str, Sensitivity], target: Path, *, overwrite: bool) -> None:
    import polars as pl

    from discreet.convert import write_target
    from discreet.errors import DataError
    from discreet.model.microdata import Microdata

    tables = {name: result.per_record() for name, result in results.items()}
    named = [
        table.rename({column: f"{name}.{column}" for column in table.columns}) for name, table in tables.items() if table.width
    ]
    if not named:
        raise DataError("no measure of the policy has elasticities per record; known_sets has")
    write_target(Microdata(pl.concat(named, how="horizontal")), target, private=True, overwrite=overwrite)


def _write_charts(results: dict[str, Sensitivity], target: Path) -> None:
    from discreet.errors import DataError

    charts = [result.plot() for result in results.values() if result.reaches or result.influence is not None]
    if not charts:
        raise DataError("there is nothing to draw: no verdict of the policy rests on a guess")
    combined = charts[0]
    for further in charts[1:]:
        combined = combined & further
    combined.save(str(target))
