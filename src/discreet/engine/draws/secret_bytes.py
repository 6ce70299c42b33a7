"""Secret bytes that no traceback, log or notebook shows: their text forms are always the same word."""

from __future__ import annotations


class SecretBytes(bytes):
    """The bytes of a secret or of a key that is derived from one; used as bytes wherever they are needed.

    >>> secret = SecretBytes(b"0123")
    >>> secret, f"{secret}", {"locals": secret}
    (<secret>, '<secret>', {'locals': <secret>})
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__
