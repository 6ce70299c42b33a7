"""discreet report: the evidence on a release, in one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import show
from discreet.cli.options import Link, Overwrite, PolicyFile

if TYPE_CHECKING:
    from discreet.model.microdata import Microdata
    from discreet.model.results import Assessment, Release
    from discreet.selection.results import Selection

Internal = Annotated[
    bool,
    typer.Option("--internal", help="Write the internal report: exact risks, rows and values of single records. Confidential."),
]
Reveal = Annotated[bool, typer.Option("--reveal", hidden=True, help="The former name of --internal.")]
By = Annotated[str | None, typer.Option("--by", help="Who makes the release. Default: your user name.")]


def report(
    original: Annotated[str, typer.Argument(help="The initial microdata.", show_default=False)],
    masked: Annotated[str, typer.Argument(help="The masked microdata.", show_default=False)],
    policy: PolicyFile,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the report here, as HTML.")] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the same as JSON here, for machines.")] = None,
    pdf: Annotated[Path | None, typer.Option("--pdf", help="Write the same as PDF here; needs Chromium.")] = None,
    internal: Internal = False,
    reveal: Reveal = False,
    by: By = None,
    link: Link = None,
    overwrite: Overwrite = False,
    selection: Annotated[
        Path | None, typer.Option("--selection", help="What 'discreet select --json' printed, to show what else was tried.")
    ] = None,
) -> None:
    """Write the evidence on a release in one file that opens offline: public, or --internal for the data controller."""
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    if out is None and json is None and pdf is None:
        raise typer.BadParameter("name a file: -o report.html, --json report.json or --pdf report.pdf")
    check_targets(
        {"--out": out, "--json": json, "--pdf": pdf},
        {"ORIGINAL": original, "MASKED": masked, "--policy": policy, "--link": link, "--selection": selection},
        policy=load_policy(policy),
        overwrite=overwrite,
    )
    ready(out, json, pdf)
    search = None
    if selection is not None:
        from discreet.report.search_map import read_selection

        search = read_selection(selection)
    with show.progress():
        before, after = verbs.read(original, policy), verbs.read(masked, policy)
        after = verbs.link(before, after, link)
        content = evidence(
            before, after, None, original, masked, internal=wants_internal(internal, reveal), by=by, selection=search
        )
        write(content, out=out, json=json, pdf=pdf, overwrite=overwrite)


def evidence(
    before: Microdata,
    after: Microdata | Release,
    found: Assessment | None,
    original: str,
    masked: str | None,
    *,
    internal: bool = False,
    by: str | None = None,
    selection: Selection | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What a report on two tables says."""
    from discreet.report.evidence import gather

    return gather(before, after, found, internal=internal, by=by, original_file=original, masked_file=masked, selection=selection)


def wants_internal(internal: bool, reveal: bool) -> bool:
    """Whether the internal report is wanted; the former name of the option says that it has another now."""
    if reveal:
        show.say("--reveal is deprecated: the option is called --internal now, and writes the internal report")
    return internal or reveal


def ready(*targets: Path | None) -> None:
    """Raise before any work where a report could not be drawn or put there."""
    from discreet.convert.writing.atomic import checked
    from discreet.report.charts import altair

    for target in targets:
        if target is not None:
            checked(target)
    altair()


def write(
    content: dict[str, Any],
    *,
    out: Path | None,
    json: Path | None = None,
    pdf: Path | None = None,
    overwrite: bool = False,
) -> None:
    """Write each form that was asked for whole or not at all; all are made before any is written.

    An internal report can be read by its owner alone.
    """
    from discreet.convert.writing.atomic import write_bytes
    from discreet.report.browser import pdf as printed
    from discreet.report.page import as_json, render

    page = render(content) if out is not None or pdf is not None else ""
    files = {
        out: page.encode(),
        json: as_json(content).encode() if json is not None else b"",
        pdf: printed(page) if pdf is not None else b"",
    }
    for target, made in files.items():
        if target is not None:
            write_bytes(target, made, private=content["confidential"], overwrite=overwrite)
            show.say(f"the {'internal report (confidential)' if content['confidential'] else 'public report'} is in {target}")
