"""discreet user: manage the users of the web application."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import output

app = typer.Typer(no_args_is_help=True, help="Add, list, disable and reset the users of the web application.")

Name = Annotated[str, typer.Argument(help="The user's name.", show_default=False)]
Database = Annotated[str | None, typer.Option("--database", help="As for discreet serve.")]
Home = Annotated[Path | None, typer.Option("--home", help="As for discreet serve.")]
Url = Annotated[str, typer.Option("--url", help="The public address of the server, for the link.")]


@app.command("add")
def add(
    name: Name,
    admin: Annotated[bool, typer.Option("--admin", help="Allow this user to manage users and read the audit log.")] = False,
    database: Database = None,
    home: Home = None,
    url: Url = "http://127.0.0.1:8080",
) -> None:
    """Add a user, and print the one-time link to set the password."""
    from discreet.web.auth import accounts
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user, secret = accounts.add(connection, name, admin=admin)
    _print_link(user.name, url, secret)


@app.command("list")
def list_users(database: Database = None, home: Home = None) -> None:
    """List the users."""
    from discreet.web.auth import accounts
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        users = accounts.list_users(connection)
    rows = [(user.name, "administrator" if user.admin else "user", "disabled" if user.disabled else "active") for user in users]
    output.print_table("Users", ("name", "role", "status"), rows)


@app.command("disable")
def disable(
    name: Name,
    enable: Annotated[bool, typer.Option("--enable", help="Enable the user again.")] = False,
    database: Database = None,
    home: Home = None,
) -> None:
    """Disable a user at once: every session and token ends."""
    from discreet.web.auth import accounts
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user = accounts.disable(connection, name, disabled=not enable)
    output.print_message(f"{user.name} is {'disabled' if user.disabled else 'active'}")


@app.command("reset")
def reset(name: Name, database: Database = None, home: Home = None, url: Url = "http://127.0.0.1:8080") -> None:
    """Invalidate the password and every session, and print a new link."""
    from discreet.web.auth import accounts
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user, secret = accounts.reset_password(connection, name)
    _print_link(user.name, url, secret)


def _print_link(name: str, url: str, secret: str) -> None:
    from discreet.web.auth.accounts import LINK_HOURS

    output.print_message(f"one-time link for {name} to set a password, valid for {LINK_HOURS} hours:")
    typer.echo(f"{url.rstrip('/')}/welcome/{secret}")
