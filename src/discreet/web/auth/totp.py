"""Time-based one-time passwords (RFC 6238): HMAC-SHA-1, six digits, steps of 30 seconds, as authenticator apps compute them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import struct
import time
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
DRIFT_STEPS = 1
"""How many steps a user's clock, or the user, may be early or late."""


def create_secret() -> str:
    """A random secret of 160 bits, as RFC 4226 recommends, in base32."""
    return base64.b32encode(secrets.token_bytes(20)).decode()


def compute_code(secret: str, step: int, digits: int = DIGITS) -> str:
    """The code of a time step: RFC 4226, section 5.3, with the step as its counter.

    >>> compute_code(base64.b32encode(b"12345678901234567890").decode(), 59 // 30, digits=8)
    '94287082'
    """
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", step), hashlib.sha1)
    offset = digest[-1] & 0x0F
    number = struct.unpack(">I", digest[offset : offset + 4])[0] & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


def find_step(secret: str, code: str, at: float | None = None) -> int | None:
    """The time step that a code belongs to, at or next to a time (default: now); None if it belongs to none of them."""
    current = int((time.time() if at is None else at) // STEP_SECONDS)
    typed = "".join(code.split())
    matching = None
    for step in range(max(0, current - DRIFT_STEPS), current + DRIFT_STEPS + 1):  # no early end: the time tells nothing
        if hmac.compare_digest(compute_code(secret, step).encode(), typed.encode()):
            matching = step
    return matching


def enrolment_address(secret: str, account: str, issuer: str) -> str:
    """The otpauth address that an authenticator app reads from a QR code."""
    parameters = {"secret": secret, "issuer": issuer, "algorithm": "SHA1", "digits": DIGITS, "period": STEP_SECONDS}
    return f"otpauth://totp/{quote(f'{issuer}:{account}', safe='')}?{urlencode(parameters, quote_via=quote)}"
