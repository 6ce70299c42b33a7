"""Every exception that discreet raises on purpose.

    DiscreetError
    ├── SourceError      a file or table cannot be read or written as asked
    ├── PolicyError      a policy says something that cannot be
    │   └── ParameterError   a measure's or method's parameter breaks its rule
    ├── DataError        the data do not allow what was asked of them
    │   └── UnexplainedCellError   a released cell is no value, and nothing says what it stands for
    ├── RoomError        a job would need more memory than there is
    └── PluginError      a plug-in cannot be found, loaded or trusted

The text of each is one sentence (or a few) for a person: it names the file, the attribute, the rule
and the value, and where there is one, what would work instead.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DiscreetError(Exception):
    """Base of all errors that are the input's or the call's fault, never the program's."""


class SourceError(DiscreetError):
    """A file or database table cannot be read or written as asked."""


class PolicyError(DiscreetError):
    """A policy says something that cannot be."""


class ParameterError(PolicyError):
    """A parameter of a measure or method breaks its rule."""


class DataError(DiscreetError):
    """The data do not allow what was asked of them."""


class UnexplainedCellError(DataError):
    """A released cell is no value, and nothing says what it stands for."""


class RoomError(DiscreetError):
    """A job would need more memory than there is."""


class PluginError(DiscreetError):
    """A plug-in cannot be found, loaded or trusted."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint naming the closest known word, or the known words where none is close."""
    choices = sorted(map(str, known))
    if close := difflib.get_close_matches(word, choices, n=1, cutoff=0.5):
        return f"did you mean '{close[0]}'?"
    if not choices:
        return "there are none"
    shown = ", ".join(choices[:12]) + (", …" if len(choices) > 12 else "")
    return f"known are: {shown}"
