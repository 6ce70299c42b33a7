"""Exceptions of Spark as errors of discreet, each in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.errors import DataError, DiscreetError, SourceError

_OWN = re.compile(r"discreet\.errors\.(\w+): ([^\n]+)")
_CONDITION = re.compile(r"^\[([A-Z_.]+)\]\s*")


@contextmanager
def translate_errors(source: str, what: str = "cannot be worked on by Spark") -> Iterator[None]:
    """Turn Spark's exceptions into ours: a sentence with the source, and Spark's own first line."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise _translate(error, source, what) from None
    except (Py4JError, ConnectionError, EOFError) as error:
        raise SourceError(f"{source}: the connection to Spark is lost ({_first_line(str(error))}); start again") from None
    except RuntimeError as error:
        if "SparkContext" not in str(error) and "Spark" not in str(error):
            raise
        raise SourceError(f"{source}: {what}: {_first_line(str(error))}") from None


def _translate(error: Exception, source: str, what: str) -> DiscreetError:
    text = str(error)
    if own_error := _OWN.search(text):  # raised by our own code on a worker: already a sentence
        return DataError(own_error[2])
    if "No module named 'discreet'" in text or "No module named 'pyarrow'" in text:
        return SourceError(
            f"{source}: the Python of Spark's workers has no discreet; install it there, or set PYSPARK_PYTHON to one that has it"
        )
    if "PYTHON_EXCEPTION" in text or "Python worker" in text:
        return SourceError(f"{source}: {what}: {_last_exception(text)}")
    condition = getattr(error, "getCondition", lambda: None)() or ""
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        return SourceError(f"{source}: there is no such table or view in this Spark catalog")
    if "UNAVAILABLE" in text or "failed to connect" in text.lower() or "Connection refused" in text:
        return SourceError(f"{source}: no Spark answers there; is the address right and the cluster up?")
    return SourceError(f"{source}: {what}: {_first_line(text)}")


def _last_exception(text: str) -> str:
    """The exception at the end of a worker's traceback."""
    lines = [line.strip() for line in text.splitlines() if re.match(r"\w[\w.]*(?:Error|Exception|Interrupt)\b", line)]
    return lines[-1] if lines else _first_line(text)


def _first_line(text: str) -> str:
    """The first line that says something, without its code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = _CONDITION.sub("", lines[0]) if lines else "no reason given"
    return line if len(line) <= 300 else f"{line[:297]}…"
