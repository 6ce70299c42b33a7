"""Recognising a release by its content, to know with which key its rows were shuffled.

The digest covers the column names, the number of rows and the cells of up to 4,096 rows, in canonical form. The same release
read from CSV, Parquet, Excel or a database therefore has the same digest, although types differ there (2 and 2.0, a date
and a midnight, true and 1, an empty text and null). The order of the rows matters, because two releases may differ only in
it.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from discreet.engine.draws.context import derive_draw_key
from discreet.engine.draws.draw import derive_seed_key
from discreet.engine.draws.fingerprint import table_fingerprint
from discreet.errors import DiscreetError
from discreet.keys.ring import KeyRing, RememberedRelease

if TYPE_CHECKING:
    from discreet.model.microdata import Microdata
    from discreet.model.results import Release

_MOST_ROWS, _FEWEST_ROWS, _CELLS = 4_096, 64, 100_000
_DATETIME = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?")


def release_digest(frame: pl.DataFrame) -> str:
    """The digest of a released table, independent of the format that it was read from.

    >>> table = pl.DataFrame({"a": [1, 2], "b": ["2020-01-02", None]})
    >>> same = pl.DataFrame({"a": [1.0, 2.0], "b": ["2020-01-02 00:00:00", ""]})
    >>> release_digest(table) == release_digest(same) != release_digest(table.reverse())
    True
    """
    size = min(_MOST_ROWS, max(_FEWEST_ROWS, _CELLS // max(frame.width, 1)))
    rows = np.arange(frame.height) if frame.height <= size else np.linspace(0, frame.height - 1, size).astype(np.int64)
    digest = hashlib.blake2b(str(frame.height).encode(), digest_size=16, person=b"discreet digest")
    for name in frame.columns:
        values = frame[name].gather(rows)
        if isinstance(values.dtype, pl.Duration):  # Polars does not write durations as text
            values = values.dt.total_microseconds()
        texts = values.cast(pl.String, strict=False).fill_null("").to_list()
        canonical = {text: _canonical_cell(text) for text in set(texts)}  # most columns repeat few values
        cells = [canonical[text] for text in texts]
        digest.update("\0".join([name.lstrip("'"), *cells]).encode("utf-8", "surrogatepass") + b"\1")
    return digest.hexdigest()


def _canonical_cell(text: str) -> str:
    """The canonical text of a value that file formats write differently."""
    text = text.strip().removeprefix("'")
    if text in ("true", "false"):
        return "1" if text == "true" else "0"
    try:
        number = float(text)
    except ValueError:
        match = _DATETIME.fullmatch(text)
        if match is None:
            return text
        time = match[2] if len(match[2]) == 8 else f"{match[2]}:00"
        fraction = (match[3] or "").rstrip("0")
        return match[1] if time == "00:00:00" and not fraction else f"{match[1]} {time}.{fraction}"
    # Excel files store fewer digits than a float has, so fractions are compared to six digits
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else f"{number:.6g}"


def remember_release(release: Release, table: Microdata, ring: KeyRing | None = None) -> None:
    """Record in the ring with which key a written table was shuffled; failing to write the ring is not an error."""
    key = release.plan.key
    if key is None or release.plan.order == "kept":
        return
    try:
        key_ring = KeyRing() if ring is None else ring
        remembered = RememberedRelease(key, release.draw_key, len(table), release.plan.release)
        key_ring.remember(release_digest(table.frame), remembered)
    except (OSError, RuntimeError):
        return


def order_keys(masked: Microdata, original: Microdata) -> list[bytes]:
    """The keys with which the rows of a masked table may have been shuffled, by its content or else by the policy's plan.

    Of a short table several releases can be equal, row by row. Empty if no key is known.
    """
    plan = original.policy.plan
    try:
        ring = KeyRing()
        draw_keys = {release.draw_key for release in ring.recognise(release_digest(masked.frame))}
        if draw_keys:
            return sorted(draw_keys)
        if plan.seed is not None:
            secret = derive_seed_key(plan.seed)
        elif plan.key is not None and (stored := ring.find(plan.key)) is not None:
            secret = stored.secret
        else:
            return []
    except (DiscreetError, OSError, RuntimeError):
        return []
    return [derive_draw_key(secret, original.policy, plan, table_fingerprint(original, secret))]
