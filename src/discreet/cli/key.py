"""discreet key: the secret keys of releases, by their public ids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show
from discreet.cli.options import Json, Overwrite

app = typer.Typer(no_args_is_help=True, help="List, export, import and delete the secret keys that releases were made with.")

Id = Annotated[str, typer.Argument(help="The id of the key, as discreet key list shows it.", show_default=False)]


@app.command("list")
def list_keys(json: Json = False) -> None:
    """List the keys of this user on this machine; the keys themselves are never shown."""
    from discreet.keys.ring import KeyRing

    ring = KeyRing()
    found = ring.entries()
    if json:
        fields = ("id", "created", "source", "plan")
        rows = [{name: getattr(key, name) for name in fields} | {"releases": number} for key, number in found]
        show.as_json({"folder": str(ring.folder), "keys": rows})
        return
    table = [(key.id, key.created, key.source, key.plan, number) for key, number in found]
    show.table("Keys", ("id", "drawn", "source", "plan", "releases"), table)
    show.say(f"the keys are in {ring.folder}; without a key its releases can be neither repeated nor laid beside their originals")


@app.command("export")
def export(key: Id, file: Annotated[Path, typer.Argument(help="Where to write it.")], overwrite: Overwrite = False) -> None:
    """Write a key to a file that its owner alone can read: for a backup, or for another machine."""
    from discreet.convert.writing.atomic import write_text
    from discreet.keys.ring import KeyRing

    write_text(file, KeyRing().export(key), private=True, overwrite=overwrite)
    show.say(f"the key {key} is in {file}: whoever has it and the release can undo its order and every random step")


@app.command("import")
def import_(file: Annotated[Path, typer.Argument(help="What discreet key export wrote.", show_default=False)]) -> None:
    """Take in a key from a file."""
    from discreet.errors import SourceError
    from discreet.keys.ring import KeyRing

    try:
        text = file.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or 'it is not a text file'}") from None
    ring = KeyRing()
    made = ring.import_text(text, str(file))
    show.say(f"the key {made.id} is in {ring.folder}")


@app.command("delete")
def delete(
    key: Id, yes: Annotated[bool, typer.Option("--yes", help="Really delete it; there is no way back without a backup.")] = False
) -> None:
    """Delete a key for good: its releases stay as they are, but can neither be repeated nor be laid beside their originals."""
    from discreet.keys.ring import KeyRing

    ring = KeyRing()
    ring.get(key)
    if not yes:
        raise typer.BadParameter(f"the key {key} would be gone for good; say --yes, or write a backup with discreet key export")
    ring.delete(key)
    show.say(f"the key {key} is deleted")
