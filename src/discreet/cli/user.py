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


@app.command("rescue")
def rescue(name: Name, database: Database = None, home: Home = None, url: Url = "http://127.0.0.1:8080") -> None:
    """Print a link that logs an administrator in once, without password, second factor or single sign-on."""
    from discreet.web.auth.accounts import RESCUE_MINUTES, create_rescue_link
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user, secret = create_rescue_link(connection, name)
    output.print_message(f"rescue link for {user.name}, valid once within {RESCUE_MINUTES} minutes:")
    typer.echo(f"{url.rstrip('/')}/rescue/{secret}")


@app.command("link")
def link(
    name: Name,
    issuer: Annotated[str, typer.Argument(help="The provider, as in --oidc-issuer.", show_default=False)],
    subject: Annotated[str, typer.Argument(help="The person's id at the provider (sub).", show_default=False)],
    database: Database = None,
    home: Home = None,
) -> None:
    """Link an account to a person at the provider of single sign-on; its password and sessions end."""
    from discreet.web.auth.sso.accounts import link as link_account
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user = link_account(connection, name, issuer, subject)
    output.print_message(f"{user.name} logs in through single sign-on from now on")


@app.command("unlink")
def unlink(name: Name, database: Database = None, home: Home = None) -> None:
    """Make an account a local one again; then `discreet user reset` gives it a password."""
    from discreet.web.auth.sso.accounts import unlink as unlink_account
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user = unlink_account(connection, name)
    output.print_message(f"{user.name} is a local account now, without a password; `discreet user reset` prints a link for one")


@app.command("reset-factor")
def reset_factor(name: Name, database: Database = None, home: Home = None) -> None:
    """Remove the second factor of a user who has lost the device and the recovery codes."""
    from discreet.web.auth import second_factor
    from discreet.web.serving import open_transaction

    with open_transaction(home, database) as connection:
        user = second_factor.reset(connection, name)
    output.print_message(f"the second factor of {user.name} was removed; every session continues")


def _print_link(name: str, url: str, secret: str) -> None:
    from discreet.web.auth.accounts import LINK_HOURS

    output.print_message(f"one-time link for {name} to set a password, valid for {LINK_HOURS} hours:")
    typer.echo(f"{url.rstrip('/')}/welcome/{secret}")
