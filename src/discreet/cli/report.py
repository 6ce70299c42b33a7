"""discreet report: write the evidence on a release as one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import output
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
Short = Annotated[
    bool, typer.Option("--short", help="Write the short report: two pages for a data protection officer or a regulator.")
]
By = Annotated[str | None, typer.Option("--by", help="Who makes the release. Default: your user name.")]


def report(
    original: Annotated[str, typer.Argument(help="The initial microdata.", show_default=False)],
    masked: Annotated[str, typer.Argument(help="The masked microdata.", show_default=False)],
    policy: PolicyFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the report to this file: HTML, or PDF or JSON by its ending (.pdf, .json)."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", help="Write the report to this file, as JSON.")] = None,
    pdf: Annotated[Path | None, typer.Option("--pdf", help="Write the report to this file, as PDF.")] = None,
    short: Short = False,
    internal: Internal = False,
    reveal: Reveal = False,
    by: By = None,
    link: Link = None,
    overwrite: Overwrite = False,
    selection: Annotated[
        Path | None, typer.Option("--selection", help="Output of 'discreet select --json', to show which other plans were tried.")
    ] = None,
) -> None:
    """Write the evidence on a release as one file that opens offline: public, or --internal for the data controller.

    Exits with 1, after writing, unless all limits are met and the evidence covers the release.
    """
    from discreet import verbs
    from discreet.convert import load_policy
    from discreet.convert.writing.destinations import check_targets

    if out is None and json is None and pdf is None:
        raise typer.BadParameter("give a file: -o report.html, --json report.json or --pdf report.pdf")
    loaded_policy = load_policy(policy)
    check_targets(
        {"--out": out, "--json": json, "--pdf": pdf},
        {"ORIGINAL": original, "MASKED": masked, "--policy": policy, "--link": link, "--selection": selection},
        policy=loaded_policy,
        overwrite=overwrite,
    )
    check_report_targets(out, json, pdf)
    search = None
    if selection is not None:
        from discreet.report.search_map import read_selection

        search = read_selection(selection)
    with output.show_progress():
        before, after = verbs.read(original, loaded_policy), verbs.read(masked, loaded_policy)
        after = verbs.link(before, after, link)
        assessment = verbs.assess(before, after)
        content = gather_evidence(
            before, after, assessment, original, masked, internal=wants_internal(internal, reveal), by=by, selection=search
        )
        write_report(content, out=out, json=json, pdf=pdf, short=short, overwrite=overwrite)
    for warning in assessment.warnings:
        output.print_message(f"warning: {warning}")
    output.print_unmet_limits(assessment, headline=True)
    if not assessment.ok:
        raise typer.Exit(1)


def gather_evidence(
    before: Microdata,
    after: Microdata | Release,
    assessment: Assessment | None,
    original: str,
    masked: str | None,
    *,
    internal: bool = False,
    by: str | None = None,
    selection: Selection | Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The evidence on a release, internal or public."""
    from discreet.report.evidence import gather

    return gather(
        before, after, assessment, internal=internal, by=by, original_file=original, masked_file=masked, selection=selection
    )


def wants_internal(internal: bool, reveal: bool) -> bool:
    """Whether the internal report is requested; warns where the former name of the option was used."""
    if reveal:
        output.print_message("--reveal is deprecated: use --internal, which writes the internal report")
    return internal or reveal


def check_report_targets(*targets: Path | None) -> None:
    """Raise before any work where a report could not be drawn or written."""
    from discreet.convert.writing.atomic import resolve_target
    from discreet.report.charts import load_altair

    for target in targets:
        if target is not None:
            resolve_target(target)
    load_altair()


def write_report(
    content: dict[str, Any],
    *,
    out: Path | None,
    json: Path | None = None,
    pdf: Path | None = None,
    short: bool = False,
    overwrite: bool = False,
) -> None:
    """Write each requested format completely or not at all; all are rendered before any is written.

    An internal report is readable by its owner only.
    """
    from discreet.convert.writing.atomic import write_bytes
    from discreet.report.formats import Format, format_of, write_form

    forms: dict[Path | None, Format] = {json: "json", pdf: "pdf"}
    if out is not None:
        forms[out] = format_of(out)
    files = {target: write_form(content, form, short=short) for target, form in forms.items() if target is not None}
    report_name = "internal report (confidential)" if content["confidential"] else "public report"
    for target, file_content in files.items():
        write_bytes(target, file_content, private=content["confidential"], overwrite=overwrite)
        output.print_message(f"{'short ' if short else ''}{report_name} written to {target}")
