"""A written release known again: which key its rows were shuffled with.

The digest is of the table's names, its size and the texts of its cells in up to some thousand rows, so that the same release read
from CSV, Parquet, Excel or a database has one digest, though types differ there (2 and 2.0, a date and a midnight, true and 1,
an empty text and none). It is of the rows as they lie, for two releases may differ in nothing but their order.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.draws.context import draw_key
from discreet.engine.draws.draw import key_of_seed
from discreet.engine.draws.fingerprint import table_fingerprint
from discreet.errors import DiscreetError
from discreet.keys.ring import KeyRing, RememberedRelease

if TYPE_CHECKING:
    from discreet.model.microdata import Microdata
    from discreet.model.results import Release

_MOST_ROWS, _FEWEST_ROWS, _CELLS = 4_096, 64, 100_000
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?")


def release_digest(frame: pl.DataFrame) -> str:
    """The digest of a released table, whatever it was read from.

    >>> one = pl.DataFrame({"a": [1, 2], "b": ["2020-01-02", None]})
    >>> other = pl.DataFrame({"a": [1.0, 2.0], "b": ["2020-01-02 00:00:00", ""]})
    >>> release_digest(one) == release_digest(other) != release_digest(one.reverse())
    True
    """
    size = min(_MOST_ROWS, max(_FEWEST_ROWS, _CELLS // max(frame.width, 1)))
    rows = np.arange(frame.height) if frame.height <= size else np.linspace(0, frame.height - 1, size).astype(np.int64)
    made = hashlib.blake2b(str(frame.height).encode(), digest_size=16, person=b"discreet digest")
    for name in frame.columns:
        texts = frame[name].gather(rows).cast(pl.String, strict=False).fill_null("").to_list()
        made.update("\0".join([name.lstrip("'"), *map(_cell, texts)]).encode("utf-8", "surrogatepass") + b"\1")
    return made.hexdigest()


def _cell(text: str) -> str:
    """One text for what formats write differently."""
    text = text.strip().removeprefix("'")
    if text in ("true", "false"):
        return "1" if text == "true" else "0"
    try:
        number = float(text)
    except ValueError:
        moment = _MOMENT.fullmatch(text)
        if moment is None:
            return text
        time = moment[2] if len(moment[2]) == 8 else f"{moment[2]}:00"
        fraction = (moment[3] or "").rstrip("0")
        return moment[1] if time == "00:00:00" and not fraction else f"{moment[1]} {time}.{fraction}"
    # Excel files hold one digit less than a float has, so fractions are compared roughly
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else f"{number:.6g}"


def remember_release(release: Release, table: Microdata, ring: KeyRing | None = None) -> None:
    """Keep in the ring which key a written table was shuffled with; a ring that cannot be written is no reason to fail."""
    key = release.plan.key
    if key is None or release.plan.order == "kept":
        return
    try:
        place = KeyRing() if ring is None else ring
        known = RememberedRelease(key, release.draw_key, len(table), release.plan.release)
        place.remember(release_digest(table.frame), known)
    except (OSError, RuntimeError):
        return


def order_key(masked: Microdata, original: Microdata) -> bytes | None:
    """The key that the rows of a masked table were shuffled with: by its content, else by the policy's plan; else None."""
    plan = original.policy.plan
    try:
        ring = KeyRing()
        found = {one.draw_key for one in ring.recognise(release_digest(masked.frame))}
        if len(found) == 1:
            return found.pop()
        if plan.seed is not None:
            secret = key_of_seed(plan.seed)
        elif plan.key is not None and (known := ring.find(plan.key)) is not None:
            secret = known.secret
        else:
            return None
    except (DiscreetError, OSError, RuntimeError):
        return None
    return draw_key(secret, original.policy, plan, table_fingerprint(original, secret))
