"""Options of ``discreet serve`` for an institution: single sign-on, second factors, metrics and logs."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.errors import SourceError
from discreet.model.extras import require_libraries

if TYPE_CHECKING:
    from discreet.web.settings import Institution

OIDC_VARIABLE = "DISCREET_OIDC_CLIENT_SECRET"
METRICS_VARIABLE = "DISCREET_METRICS_TOKEN"


class LogFormatOption(StrEnum):
    """Formats of the log."""

    text = "text"
    json = "json"


def _option(name: str, help_text: str, variable: str | None = None) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, help=help_text, envvar=variable)
    return option


OidcIssuer = Annotated[
    str | None, _option("--oidc-issuer", "Address of the OpenID Connect provider, as it spells it.", "DISCREET_OIDC_ISSUER")
]
OidcClientId = Annotated[
    str | None, _option("--oidc-client-id", "The provider's name for this server.", "DISCREET_OIDC_CLIENT_ID")
]
OidcSecretFile = Annotated[
    Path | None,
    _option("--oidc-secret-file", f"File with the client secret. Default: {OIDC_VARIABLE}.", "DISCREET_OIDC_SECRET_FILE"),
]
OidcName = Annotated[str, _option("--oidc-name", "What the login page calls the provider.", "DISCREET_OIDC_NAME")]
OidcScope = Annotated[list[str] | None, _option("--oidc-scope", "A scope beside openid; repeatable. Default: profile and email.")]
OidcGroupsClaim = Annotated[
    str, _option("--oidc-groups-claim", "The claim with the user's groups.", "DISCREET_OIDC_GROUPS_CLAIM")
]
OidcLoginGroup = Annotated[
    list[str] | None,
    _option("--oidc-login-group", "A group that may log in; repeatable. Default: everybody.", "DISCREET_OIDC_LOGIN_GROUP"),
]
OidcAdminGroup = Annotated[
    str | None, _option("--oidc-admin-group", "The group of the administrators.", "DISCREET_OIDC_ADMIN_GROUP")
]
OidcNoNewAccounts = Annotated[
    bool, _option("--oidc-no-new-accounts", "Create no accounts at login: only linked ones (discreet user link) may log in.")
]
OidcSessionHours = Annotated[
    float,
    typer.Option("--oidc-session-hours", help="Hours after which the provider is asked again.", min=0.1),
]
OidcTokenDays = Annotated[
    float,
    typer.Option("--oidc-token-days", help="Days after the last login for which API tokens work.", min=0.1),
]
NoPasswords = Annotated[bool, _option("--no-passwords", "Allow no passwords: single sign-on only.", "DISCREET_NO_PASSWORDS")]
RequireTotp = Annotated[
    bool, _option("--require-totp", "Require a second factor of every local account.", "DISCREET_REQUIRE_TOTP")
]
MetricsTokenFile = Annotated[
    Path | None,
    _option(
        "--metrics-token-file", f"File with the token for /metrics. Default: {METRICS_VARIABLE}, or no metrics.",
        "DISCREET_METRICS_TOKEN_FILE",
    ),
]  # fmt: skip
LogFormatChoice = Annotated[
    LogFormatOption, _option("--log-format", "text for people, json for programs.", "DISCREET_LOG_FORMAT")
]


def build_institution(
    *,
    oidc_issuer: str | None,
    oidc_client_id: str | None,
    oidc_secret_file: Path | None,
    oidc_name: str,
    oidc_scope: list[str] | None,
    oidc_groups_claim: str,
    oidc_login_group: list[str] | None,
    oidc_admin_group: str | None,
    oidc_no_new_accounts: bool,
    oidc_session_hours: float,
    oidc_token_days: float,
    no_passwords: bool,
    require_totp: bool,
    metrics_token_file: Path | None,
    log_format: LogFormatOption,
) -> Institution:
    """The options as settings; secrets come from files or the environment, because other accounts can read command lines."""
    from discreet.web.auth.sso.settings import OidcSettings
    from discreet.web.settings import Institution

    oidc = OidcSettings.make(
        oidc_issuer,
        oidc_client_id,
        client_secret=os.environ.get(OIDC_VARIABLE),
        secret_file=oidc_secret_file,
        label=oidc_name,
        scopes=oidc_scope or (),
        groups_claim=oidc_groups_claim,
        login_groups=oidc_login_group or (),
        admin_group=oidc_admin_group,
        create_accounts=not oidc_no_new_accounts,
        session_hours=oidc_session_hours,
        token_days=oidc_token_days,
    )
    if oidc is not None:
        require_libraries("single sign-on", "authlib", "joserfc", extra="sso")
    return Institution(
        oidc=oidc,
        passwords=not no_passwords,
        require_totp=require_totp,
        metrics_token=_read_token(metrics_token_file),
        log_format=log_format.value,
    )


def _read_token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get(METRICS_VARIABLE) or None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SourceError(f"the token of the metrics cannot be read from {file}: {reason}") from None
    return token
