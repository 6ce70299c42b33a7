"""discreet key: manage the secret keys of releases by their public ids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output
from discreet.cli.options import Json, Overwrite

app = typer.Typer(no_args_is_help=True, help="List, export, import and delete the secret keys that releases were made with.")

Id = Annotated[str, typer.Argument(help="The id of the key, as discreet key list shows it.", show_default=False)]


@app.command("list")
def list_keys(json: Json = False) -> None:
    """List the keys of this user on this machine; the keys themselves are never shown."""
    from discreet.keys.ring import KeyRing

    ring = KeyRing()
    entries = ring.entries()
    for sentence in ring.unreadable():
        output.print_message(sentence)
    if json:
        fields = ("id", "created", "source", "plan")
        rows = [{name: getattr(key, name) for name in fields} | {"releases": releases} for key, releases in entries]
        output.print_json({"folder": str(ring.folder), "keys": rows})
        return
    table = [(key.id, key.created, key.source, key.plan, releases) for key, releases in entries]
    output.print_table("Keys", ("id", "created", "source", "plan", "releases"), table)
    output.print_message(
        f"keys are stored in {ring.folder}; without its key a release cannot be repeated or linked to its original"
    )


@app.command("export")
def export(key: Id, file: Annotated[Path, typer.Argument(help="The file to write.")], overwrite: Overwrite = False) -> None:
    """Write a key to a file that only its owner can read, for a backup or another machine."""
    from discreet.convert.writing.atomic import write_text
    from discreet.keys.ring import KeyRing

    write_text(file, KeyRing().export(key), private=True, overwrite=overwrite)
    output.print_message(f"key {key} written to {file}: with it and the release, row order and every random step can be undone")


@app.command("import")
def import_(file: Annotated[Path, typer.Argument(help="A file that discreet key export wrote.", show_default=False)]) -> None:
    """Import a key from a file."""
    from discreet.errors import SourceError
    from discreet.keys.ring import KeyRing

    try:
        text = file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'it is not a text file'}") from None
    ring = KeyRing()
    key = ring.import_text(text, str(file))
    output.print_message(f"key {key.id} imported into {ring.folder}")


@app.command("delete")
def delete(
    key: Id, yes: Annotated[bool, typer.Option("--yes", help="Confirm; without a backup the key cannot be restored.")] = False
) -> None:
    """Delete a key permanently: its releases remain, but can be neither repeated nor linked to their originals."""
    from discreet.keys.ring import KeyRing

    ring = KeyRing()
    ring.get(key)
    if not yes:
        raise typer.BadParameter(
            f"key {key} would be deleted permanently; confirm with --yes, or back it up first: discreet key export"
        )
    ring.delete(key)
    output.print_message(f"key {key} deleted")
