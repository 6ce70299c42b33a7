"""Optional libraries: which extra of the distribution installs each, and the sentence where one is missing.

The base install reads and writes CSV, Parquet, Arrow and JSON lines, measures, masks and assesses. Whatever needs more checks
for its libraries before it begins, so that the error names the extra instead of a module.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from discreet.errors import MissingExtraError

EXTRAS: dict[str, tuple[str, ...]] = {
    "cloud": ("obstore",),
    "databases": ("sqlalchemy", "adbc_driver_manager", "adbc_driver_postgresql", "duckdb", "psycopg", "pymysql"),
    "formats": ("fastexcel", "pyreadstat", "xlsxwriter"),
    "linkage": ("scipy",),
    "odbc": ("arrow_odbc", "pyodbc"),
    "report": ("altair", "jinja2", "typst", "vl_convert"),
    "select": ("optuna",),
    "spark": ("pyspark",),
    "sso": ("authlib", "joserfc"),
    "web": ("alembic", "fastapi", "httpx2", "pwdlib", "python_multipart", "segno", "uvicorn"),
}
"""The importable libraries that each extra installs; a library of several extras is listed under the one that stands for it."""


def require_libraries(task: str, *libraries: str, extra: str | None = None) -> None:
    """Raise MissingExtraError if one of the libraries is not installed, with the extra that installs it.

    ``extra`` names the extra to install if the task belongs to another one than its first missing library.
    """
    missing = [name for name in libraries if not is_installed(name)]
    if missing:
        raise MissingExtraError(format_missing(task, missing[0], extra))


def format_missing(task: str, library: str, extra: str | None = None) -> str:
    """The sentence for a missing library: what needs it and the command that installs it."""
    chosen = extra or extra_of(library)
    command = f"pip install 'discreet[{chosen}]'" if chosen else f"pip install {library}"
    return f"{task} needs {library}, which is not installed; install it with: {command}"


def extra_of(library: str) -> str | None:
    """The extra that installs a library, if one does."""
    return next((extra for extra, names in EXTRAS.items() if library in names), None)


def is_installed(library: str) -> bool:
    """Whether a library can be imported; it is not imported."""
    if library in sys.modules:
        return sys.modules[library] is not None
    try:
        return find_spec(library) is not None
    except (ImportError, ValueError):
        return False
