"""Exceptions of other libraries, converted to one sentence that names the file or table, without a traceback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from urllib.parse import unquote, unquote_plus

from discreet.errors import DiscreetError, Redacted, SourceError, redact_credentials

_MAX_MESSAGE_LENGTH = 240


@contextmanager
def convert_errors(
    subject: str, failure: str, secrets: Iterable[str] = (), describe: Callable[[BaseException], str] | None = None
) -> Iterator[None]:
    """Convert any library's exception to a SourceError '<subject>: <failure>: <description>'.

    ``failure`` says what could not be done ('cannot be read'); ``describe`` turns the exception into a line of text, by
    default :func:`summarize_exception`. A line that contains one of the secrets is left out entirely, because a password
    replaced by asterisks would still reveal its length.
    """
    try:
        yield
    except (DiscreetError, KeyboardInterrupt, SystemExit, GeneratorExit, NameError):
        raise
    except BaseException as error:
        # a panic in Polars (a failed Rust assertion, for example on a damaged file) is a BaseException of its own class
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (describe or summarize_exception)(error)
        public_subject = redact_credentials(subject)
        # a driver may have percent-encoded or decoded parts of the address
        forms = (reason, unquote(reason), unquote_plus(reason))
        if not reason or any(secret in form for secret in secrets if secret for form in forms):
            raise SourceError(Redacted(f"{public_subject}: {failure}")) from None
        raise SourceError(Redacted(f"{public_subject}: {failure}: {redact_credentials(reason)}")) from None


def summarize_exception(error: BaseException) -> str:
    """The first line of an exception's message, shortened and without control characters."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = "".join(char if char.isprintable() else "?" for char in lines[0]) if lines else ""
    return line if len(line) <= _MAX_MESSAGE_LENGTH else line[:_MAX_MESSAGE_LENGTH] + "…"
