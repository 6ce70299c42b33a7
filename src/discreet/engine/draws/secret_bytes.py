"""Secret bytes that do not appear in tracebacks, logs or notebooks, because their text is always ``<secret>``."""

from __future__ import annotations


class SecretBytes(bytes):
    """The bytes of a secret, or of a key derived from one, which can be used like any other bytes.

    >>> secret = SecretBytes(b"0123")
    >>> secret, f"{secret}", {"locals": secret}
    (<secret>, '<secret>', {'locals': <secret>})
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__
