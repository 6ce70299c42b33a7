"""discreet user: who may log in to the web application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import show

app = typer.Typer(no_args_is_help=True, help="Add, list, disable and reset the users of the web application.")

Name = Annotated[str, typer.Argument(help="The user's name.", show_default=False)]
Database = Annotated[str | None, typer.Option("--database", help="As for discreet serve.")]
Home = Annotated[Path | None, typer.Option("--home", help="As for discreet serve.")]
Url = Annotated[str, typer.Option("--url", help="How browsers reach the server, for the link.")]


@app.command("add")
def add(
    name: Name,
    admin: Annotated[bool, typer.Option("--admin", help="May manage users and see the audit log.")] = False,
    database: Database = None,
    home: Home = None,
    url: Url = "http://127.0.0.1:8080",
) -> None:
    """Add a user, and print the link that sets the password, once."""
    from discreet.web.auth import accounts
    from discreet.web.serving import changing

    with changing(home, database) as connection:
        user, secret = accounts.add(connection, name, admin=admin)
    _print_link(user.name, url, secret)


@app.command("list")
def list_users(database: Database = None, home: Home = None) -> None:
    """List the users."""
    from discreet.web.auth import accounts
    from discreet.web.serving import changing

    with changing(home, database) as connection:
        found = accounts.all_users(connection)
    rows = [(one.name, "administrator" if one.admin else "user", "disabled" if one.disabled else "active") for one in found]
    show.table("Users", ("name", "kind", "state"), rows)


@app.command("disable")
def disable(
    name: Name,
    enable: Annotated[bool, typer.Option("--enable", help="Let them in again instead.")] = False,
    database: Database = None,
    home: Home = None,
) -> None:
    """Lock a user out at once: every session and token ends."""
    from discreet.web.auth import accounts
    from discreet.web.serving import changing

    with changing(home, database) as connection:
        user = accounts.disable(connection, name, disabled=not enable)
    show.say(f"{user.name} is {'disabled' if user.disabled else 'active'}")


@app.command("reset")
def reset(name: Name, database: Database = None, home: Home = None, url: Url = "http://127.0.0.1:8080") -> None:
    """End the old password and every session, and print a new link."""
    from discreet.web.auth import accounts
    from discreet.web.serving import changing

    with changing(home, database) as connection:
        user, secret = accounts.reset(connection, name)
    _print_link(user.name, url, secret)


def _print_link(name: str, url: str, secret: str) -> None:
    from discreet.web.auth.accounts import LINK_HOURS

    show.say(f"{name} sets a password here, once, within {LINK_HOURS} hours:")
    typer.echo(f"{url.rstrip('/')}/welcome/{secret}")
