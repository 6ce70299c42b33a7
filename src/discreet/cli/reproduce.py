"""discreet reproduce: the papers' figures beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output


def reproduce(
    papers: Annotated[
        list[str] | None, typer.Argument(help="Papers to reproduce: 000, 001, 002, 003, 004. Default: all.", show_default=False)
    ] = None,
    folder: Annotated[Path | None, typer.Option("--folder", help="Write the charts to this folder, as SVG.")] = None,
    records: Annotated[int | None, typer.Option("--records", min=100, help="Number of records of the generated tables.")] = None,
) -> None:
    """Reproduce the figures of the five papers on generated data: each beside ours, with the difference explained."""
    from discreet.errors import SourceError
    from discreet.reproduce.papers import PAPERS
    from discreet.reproduce.papers import reproduce as reproduce_paper
    from discreet.reproduce.results import Generators
    from discreet.testing import items, patients, students

    if folder is not None and not folder.is_dir():
        raise SourceError(f"{folder}: there is no such folder")
    generators = Generators(students, patients, items)
    for number in papers or PAPERS:
        with output.show_progress():
            result = reproduce_paper(number, generators, records)
        print(f"{result.number}: {result.citation}\nThe paper's data are confidential; ours are generated: {result.data}.\n")
        rows = [(row.figure, row.paper, row.ours, row.explanation) for row in result.comparisons]
        output.print_table("", ("figure", "paper", "ours", "explanation"), rows)
        if folder is not None:
            for path in result.write(folder):
                output.print_message(f"chart written to {path}")
