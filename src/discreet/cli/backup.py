"""discreet backup and discreet restore: a whole installation of the web application in one encrypted file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.user import Database, Home
from discreet.errors import SourceError

PassphraseFile = Annotated[
    Path | None,
    typer.Option(
        "--passphrase-file", help="File whose first line is the passphrase. Default: DISCREET_BACKUP_PASSPHRASE, else asked for."
    ),
]


def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)],
    passphrase_file: PassphraseFile = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    database: Database = None,
    home: Home = None,
) -> None:
    """Write a backup of the server: database, tables, releases and keys, encrypted with a passphrase. The server may run."""
    from discreet.web.serving import back_up

    passphrase = _read_passphrase(passphrase_file, confirm=True)
    written = back_up(home, database, target, passphrase, overwrite=overwrite)
    size = target.stat().st_size
    output.print_message(
        f"{target}: {written.rows:,} rows and {written.files:,} files in {size:,} bytes; it cannot be read without the passphrase"
    )
    if written.missing:
        output.print_message(
            f"the database names files that do not exist, such as {written.missing[0]}; they are not in the backup"
        )
        raise typer.Exit(1)


def restore(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)],
    passphrase_file: PassphraseFile = None,
    database: Database = None,
    home: Home = None,
) -> None:
    """Restore a backup into an empty data directory and an empty database, of the same or another kind."""
    from discreet.web.serving import restore_installation

    passphrase = _read_passphrase(passphrase_file, confirm=False)
    if not source.is_file():
        raise SourceError(f"{source}: there is no such file")
    folder, warnings = restore_installation(home, database, source, passphrase)
    for sentence in warnings:
        output.print_message(sentence)
    output.print_message(f"{source} is restored to {folder}; discreet audit verifies its audit log, discreet serve runs it")


def _read_passphrase(file: Path | None, *, confirm: bool) -> str:
    if file is not None:
        try:
            return file.read_text(encoding="utf-8").split("\n", 1)[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'it is not text'}") from None
    if (passphrase := os.environ.get("DISCREET_BACKUP_PASSPHRASE")) is not None:
        return passphrase
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True))
