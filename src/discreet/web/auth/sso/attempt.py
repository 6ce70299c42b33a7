"""One attempt to log in: secrets that live in a cookie of the browser that started it, and nowhere else.

State, nonce and PKCE verifier are derived from one random secret. The server stores nothing for strangers, and any of several
worker processes can finish what another one started. A login that somebody else started cannot be finished in this browser,
because its state does not follow from this browser's cookie.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from dataclasses import dataclass
from typing import Self

COOKIE = "discreet_sso"
MAX_SECONDS = 600.0
"""How long a login at the provider may take."""


@dataclass(frozen=True)
class Attempt:
    """A login that was started in one browser."""

    secret: str
    started: float
    next_address: str
    """Where the user wanted to go; only an address of this server is followed."""

    @classmethod
    def start(cls, next_address: str) -> Self:
        """A new attempt."""
        return cls(secrets.token_urlsafe(32), time.time(), next_address[:2000])

    @property
    def state(self) -> str:
        """Ties the answer of the provider to this browser."""
        return self._derive("state")

    @property
    def nonce(self) -> str:
        """Ties the identity token to this attempt."""
        return self._derive("nonce")

    @property
    def code_verifier(self) -> str:
        """Proves to the provider that who redeems the code is who asked for it (RFC 7636)."""
        return self._derive("verifier")

    def matches(self, state: str) -> bool:
        """Whether an answer with this state belongs to this attempt, and came in time."""
        in_time = 0 <= time.time() - self.started <= MAX_SECONDS
        return in_time and hmac.compare_digest(state.encode(), self.state.encode())

    def to_cookie(self) -> str:
        """The attempt as the value of a cookie."""
        return base64.urlsafe_b64encode(json.dumps([self.secret, self.started, self.next_address]).encode()).decode()

    @classmethod
    def from_cookie(cls, text: str) -> Self | None:
        """The attempt of a browser; None if there is none."""
        try:
            secret, started, next_address = json.loads(base64.urlsafe_b64decode(text.encode()))
        except (ValueError, TypeError, RecursionError):
            return None
        typed = isinstance(secret, str) and isinstance(started, float) and isinstance(next_address, str)
        return cls(secret, started, next_address) if typed and len(secret) >= 40 else None

    def _derive(self, purpose: str) -> str:
        derived = hmac.digest(self.secret.encode(), f"discreet {purpose}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(derived).decode().rstrip("=")
