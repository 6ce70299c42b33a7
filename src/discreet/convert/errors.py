"""What goes wrong outside becomes one sentence that names the file or table, never a driver's stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import unquote, unquote_plus

from discreet.errors import DiscreetError, Redacted, SourceError, redact_credentials

_LONGEST = 240


@contextmanager
def convert_errors(
    subject: str, doing: str, secrets: Iterable[str] = (), words: Callable[[BaseException], str] | None = None
) -> Iterator[None]:
    """Turn any library's exception into a SourceError '<subject>: <doing>: <first line>'.

    A line that holds one of the secrets is left out whole: a password with its letters starred still tells its length.
    """
    try:
        yield
    except (DiscreetError, KeyboardInterrupt, SystemExit, GeneratorExit, NameError):
        raise
    except BaseException as error:
        # Polars' panics (a Rust assertion met by a damaged file) come as a BaseException of its own
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (words or first_line)(error)
        shown = redact_credentials(subject)
        # a driver may have encoded or decoded parts of what it was given
        forms = (reason, unquote(reason), unquote_plus(reason))
        if not reason or any(secret in form for secret in secrets if secret for form in forms):
            raise SourceError(Redacted(f"{shown}: {doing}")) from None
        raise SourceError(Redacted(f"{shown}: {doing}: {redact_credentials(reason)}")) from None


def first_line(error: BaseException) -> str:
    """What an exception says first, short enough to read."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for what it asks for"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = "".join(char if char.isprintable() else "?" for char in lines[0]) if lines else ""
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
