"""Settings of the OpenID Connect provider: checked when the server starts, before anybody tries to log in."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from discreet.errors import SourceError

MAX_GROUP_NAME, MAX_ISSUER = 200, 300


@dataclass(frozen=True)
class OidcSettings:
    """The provider, this server's registration with it, and what its groups mean here."""

    issuer: str
    """The provider's address exactly as its discovery document spells it."""
    client_id: str
    client_secret: str | None = field(default=None, repr=False)
    """None: a public client, which proves itself by PKCE alone."""
    label: str = "single sign-on"
    """What the login page calls the provider."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    """The claim with the names of the user's groups; dots go into nested objects, as in ``realm_access.roles``."""
    login_groups: tuple[str, ...] = ()
    """One of these groups is needed to log in; empty: everybody whom the provider knows may."""
    admin_group: str | None = None
    """Members administer this server; None: administrators are appointed here."""
    create_accounts: bool = True
    """Whether an account is created at the first login; otherwise an operator links accounts beforehand."""
    session_hours: float = 12.0
    """Hours after which the login has to be repeated, even in a session that is in use."""
    token_days: float = 30.0
    """Days after the last login for which a user's API tokens are accepted."""

    @classmethod
    def make(
        cls,
        issuer: str | None,
        client_id: str | None,
        *,
        client_secret: str | None = None,
        secret_file: Path | None = None,
        label: str = "single sign-on",
        scopes: Sequence[str] = (),
        groups_claim: str = "groups",
        login_groups: Sequence[str] = (),
        admin_group: str | None = None,
        create_accounts: bool = True,
        session_hours: float = 12.0,
        token_days: float = 30.0,
    ) -> Self | None:
        """Checked settings; None if no provider is named."""
        if not issuer:
            if client_id or login_groups or admin_group:
                raise SourceError("settings of single sign-on need the provider's address: name it with --oidc-issuer")
            return None
        if not client_id:
            raise SourceError("--oidc-issuer needs --oidc-client-id, the name under which the provider knows this server")
        check_endpoint(issuer, "--oidc-issuer")
        if len(issuer) > MAX_ISSUER:
            raise SourceError(f"--oidc-issuer can have at most {MAX_ISSUER} characters; got {len(issuer)}")
        for group in (*login_groups, *([admin_group] if admin_group else [])):
            if not group.strip() or len(group) > MAX_GROUP_NAME:
                raise SourceError(f"'{group[:80]}' is not the name of a group: use 1 to {MAX_GROUP_NAME} characters")
        return cls(
            issuer=issuer,
            client_id=client_id,
            client_secret=_read_secret(secret_file) if secret_file is not None else client_secret or None,
            label=label,
            scopes=tuple(dict.fromkeys(("openid", *(scopes or ("profile", "email"))))),
            groups_claim=groups_claim,
            login_groups=tuple(login_groups),
            admin_group=admin_group or None,
            create_accounts=create_accounts,
            session_hours=session_hours,
            token_days=token_days,
        )


def check_endpoint(address: str, name: str) -> None:
    """Raise unless an address of the provider is https, or http on this machine (for trials)."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.scheme not in ("https", "http") or parts.username or parts.fragment:
        # not quoted: it may hold a password
        raise SourceError(f"{name} is not the address of a provider; expected for example https://login.example.org")
    if parts.scheme == "http" and not _is_loopback(host):
        raise SourceError(f"{name}: '{address[:200]}' must begin with https://, because passwords of people depend on it")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _read_secret(file: Path) -> str:
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SourceError(f"the client secret cannot be read from {file}: {reason}") from None
    if not secret:
        raise SourceError(f"the client secret cannot be read from {file}: the file is empty")
    return secret
