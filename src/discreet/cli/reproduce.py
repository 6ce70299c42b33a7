"""discreet reproduce: the papers' figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show


def reproduce(
    papers: Annotated[
        list[str] | None, typer.Argument(help="000, 001, 002, 003 or 004; all where none is named.", show_default=False)
    ] = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="Write the charts here, as SVG.")] = None,
    records: Annotated[int | None, typer.Option("--records", min=100, help="Size of the generated tables.")] = None,
) -> None:
    """Repeat the figures of the five papers on generated data: theirs beside ours, with the difference explained."""
    from discreet.errors import SourceError
    from discreet.reproduce.reproduction import NUMBERS, Makers
    from discreet.reproduce.reproduction import reproduce as run
    from discreet.testing import items, patients, students

    if folder is not None and not folder.is_dir():
        raise SourceError(f"{folder}: there is no such folder")
    for number in papers or NUMBERS:
        with show.progress():
            found = run(number, Makers(students, patients, items), records)
        print(f"{found.number}: {found.citation}\nThe paper's data are confidential; ours are generated: {found.data}.\n")
        show.table("", ("figure", "paper", "ours", "why"), [(one.what, one.paper, one.ours, one.why) for one in found.lines])
        if folder is not None:
            for path in found.write(folder):
                show.say(f"drawn: {path}")
