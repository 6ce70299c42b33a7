"""discreet risk: measure which records are at risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Json, PolicyFile, Source


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
    json: Json = False,
) -> None:
    """Measure the risk of every record, by each adversary that the policy names."""
    from discreet.cli.records import write_records
    from discreet.verbs import meanings, read
    from discreet.verbs import risk as run

    with show.progress():
        data = read(source, policy)
        true = read(original, policy) if original is not None else None
        found = run(data, measure or None, true)
        if records is not None:
            write_records(found, records)
    if json:
        show.as_json({"records": len(data), "measures": {name: score.to_dict() for name, score in found.items()}})
    else:
        show.scores(found, meanings("risk", found))
    if explain is not None:
        from discreet.verbs import explain as tell

        for sentence in tell(data, explain - 1, measure or None, true):
            show.say(sentence) if json else print(sentence)
