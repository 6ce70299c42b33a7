"""The words of ODBC drivers, of which each layer puts its name before the message of the one below."""

from __future__ import annotations

import re


def odbc_message(error: BaseException) -> str:
    """The driver's own words, without the layers that name themselves in brackets before them."""
    text = str(error.args[1]) if len(error.args) == 2 and isinstance(error.args[1], str) else str(error)
    text = text.partition("Message: ")[2] or text
    text = re.sub(r"^(?:\[[^\]]*\]\s*)+", "", text.strip())
    return re.sub(r"\s*\(\d+\)\s*\(SQL\w+\)\s*$", "", text.partition(";\nERROR")[0].partition("\n")[0])
