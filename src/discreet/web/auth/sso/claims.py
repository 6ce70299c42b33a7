"""What a provider says about a person who has logged in there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.web.auth.sso.settings import MAX_GROUP_NAME

MAX_GROUPS = 500
"""Groups of one user that are stored; more are ignored, in the order of the provider."""


@dataclass(frozen=True)
class Claims:
    """The verified claims about a person; issuer and subject together are the person."""

    issuer: str
    subject: str
    values: Mapping[str, Any]
    id_token: str = field(repr=False)


def read_groups(values: Mapping[str, Any], claim: str) -> list[str]:
    """The names of groups in a claim: a list of texts, or a single text; anything else counts as none.

    >>> read_groups({"realm_access": {"roles": ["staff", 7, ""]}}, "realm_access.roles")
    ['staff']
    """
    content: Any = values
    for part in [claim] if claim in values else claim.split("."):
        content = content.get(part) if isinstance(content, Mapping) else None
    candidates = content if isinstance(content, list) else [content]
    names = [name for name in candidates if isinstance(name, str) and 0 < len(name) <= MAX_GROUP_NAME]
    return list(dict.fromkeys(names))[:MAX_GROUPS]
