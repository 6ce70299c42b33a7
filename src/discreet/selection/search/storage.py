"""Where a search is recorded: in memory, or in a file that it can be resumed from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.errors import SourceError


def open_storage(journal: Path | None) -> Any:
    """The storage of a search: a journal file that an interrupted search can be resumed from, or memory."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if journal is None:
        return optuna.storages.InMemoryStorage()
    from discreet.selection.search.journal import open_journal

    try:
        return optuna.storages.JournalStorage(open_journal(journal))
    except OSError as error:
        raise SourceError(f"{journal}: the search cannot be recorded in this file: {error.strerror}") from None
    except ValueError:
        raise SourceError(f"{journal}: this is not the file of an earlier search; name a new file") from None
