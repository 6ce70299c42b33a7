"""discreet risk: measure which records are at risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import Engine, From, Json, Link, Overwrite, PolicyFile, Source, place_of


def risk(
    source: Source,
    policy: PolicyFile,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A risk measure; repeatable. Default: those of the policy.")
    ] = None,
    original: Annotated[
        str | None, typer.Option("--original", help="The initial microdata, where SOURCE is a masked table.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option("--records", help="Write one row per record to this file, columns MEASURE.FIELD.")
    ] = None,
    explain: Annotated[int | None, typer.Option("--explain", min=1, help="Explain one record, counted from 1.")] = None,
    link: Link = None,
    source_format: From = None,
    overwrite: Overwrite = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure the risk of every record, by each risk measure of the policy."""
    from discreet import verbs
    from discreet.assessment.unlimited import describe_unlimited_risks
    from discreet.cli.records import write_records
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    table = place_of(source, source_format)
    loaded_policy = load_policy(policy)
    check_targets(
        {"--records": records},
        {"SOURCE": table, "--policy": policy, "--original": original, "--link": link},
        policy=loaded_policy,
        overwrite=overwrite,
    )
    with output.show_progress():
        if original is None:
            data = verbs.scan(
                table, loaded_policy, measure or None, output.print_message, by_record=records is not None, engine=engine
            )
        else:
            data = verbs.read(table, loaded_policy, engine=engine)
        originals = verbs.read(original, loaded_policy, engine=engine) if original is not None else None
        if link is not None:
            if originals is None:
                raise typer.BadParameter("--link connects a masked table with its original; give --original too")
            data = verbs.link(originals, data, link)
        scores = verbs.risk(data, measure or None, originals)
        explanation = verbs.explain(data, explain - 1, measure or None, originals) if explain is not None else []
        if records is not None:
            write_records(scores, records, overwrite=overwrite)
    if json:
        content = {"records": len(data), "measures": {name: score.to_dict() for name, score in scores.items()}}
        bounds = {name: dict(score.bounds) for name, score in scores.items() if score.bounds}
        content |= {"bounds": bounds} if bounds else {}
        output.print_json(content | ({"explanation": explanation} if explanation else {}))
    else:
        output.print_scores(scores, verbs.meanings("risk", scores))
        for sentence in explanation:
            print(sentence)
    for sentence in describe_unlimited_risks(data.policy, len(data), scores):
        output.print_message(sentence)
