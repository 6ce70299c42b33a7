"""discreet risk: measure which records are at risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Engine, Json, Link, Overwrite, PolicyFile, Source


def risk(
    source: Source,
    policy: PolicyFile,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", "-m", help="A risk measure; the policy's where none is named.")
    ] = None,
    original: Annotated[
        str | None, typer.Option("--original", help="The initial microdata, where SOURCE is a masked table.")
    ] = None,
    records: Annotated[Path | None, typer.Option("--records", help="Write one row a record here, columns MEASURE.FIELD.")] = None,
    explain: Annotated[int | None, typer.Option("--explain", min=1, help="Explain one record, counted from 1.")] = None,
    link: Link = None,
    overwrite: Overwrite = False,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Measure the risk of every record, by each adversary that the policy names."""
    from discreet import verbs
    from discreet.cli.records import write_records
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    check_targets(
        {"--records": records},
        {"SOURCE": source, "--policy": policy, "--original": original, "--link": link},
        policy=load_policy(policy),
        overwrite=overwrite,
    )
    with show.progress():
        if original is None:
            data = verbs.scan(source, policy, measure or None, show.say, by_record=records is not None, engine=engine)
        else:
            data = verbs.read(source, policy, engine=engine)
        true = verbs.read(original, policy, engine=engine) if original is not None else None
        if link is not None:
            if true is None:
                raise typer.BadParameter("--link ties a masked table to its --original; name that too")
            data = verbs.link(true, data, link)
        found = verbs.risk(data, measure or None, true)
        told = verbs.explain(data, explain - 1, measure or None, true) if explain is not None else []
        if records is not None:
            write_records(found, records, overwrite=overwrite)
    if json:
        content = {"records": len(data), "measures": {name: score.to_dict() for name, score in found.items()}}
        show.as_json(content | ({"explanation": told} if told else {}))
        return
    show.scores(found, verbs.meanings("risk", found))
    for sentence in told:
        print(sentence)
