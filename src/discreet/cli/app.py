"""The application with all its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from discreet import __version__
from discreet.cli import (
    analyze,
    assess,
    audit,
    backup,
    convert,
    demo,
    key,
    loss,
    mask,
    plugins,
    presets,
    report,
    reproduce,
    risk,
    select,
    sensitivity,
    serve,
    user,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Turns confidential microdata into a release that its owner can defend: measures which records are at risk and why, "
    "masks as little as possible, and measures the information loss.",
)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"discreet {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


app.command("demo")(demo.demo)
app.command("convert")(convert.convert)
app.command("analyze")(analyze.analyze)
app.command("risk")(risk.risk)
app.command("mask")(mask.mask)
app.command("loss")(loss.loss)
app.command("assess")(assess.assess)
app.command("select")(select.select)
app.command("sensitivity")(sensitivity.sensitivity)
app.command("report")(report.report)
app.command("serve")(serve.serve)
app.add_typer(user.app, name="user")
app.command("audit")(audit.audit)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.add_typer(key.app, name="key")
app.command("reproduce")(reproduce.reproduce)
app.command("methods")(plugins.methods)
app.command("measures")(plugins.measures)
app.command("presets")(presets.presets)
