"""Damaged files in a process of its own: ``python damaging.py SUFFIX FOLDER SEED FIRST TIMES``.

A library that is written in another language can end the whole process on a damaged file, or ask for all memory there is; so
this one may have only ``ROOM``, and says in the file ``at`` which damage it is trying.
"""

from __future__ import annotations

import datetime as dt
import random
import resource
import sys
from contextlib import suppress
from pathlib import Path

import polars as pl

from discreet.convert import convert, read_source, write_target
from discreet.errors import DiscreetError
from discreet.model.microdata import Microdata
from discreet.model.policy import Policy

ROOM = 8 * 2**30
ROWS = pl.DataFrame(
    {"a": [1, 2, 3, None], "b": ["x", "y", None, "z"], "c": [0.5, None, 2.0, -1.0], "d": [dt.date(2020, 1, 2)] * 4}
)


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """One to six bytes changed, cut out, put in or repeated."""
    content = bytearray(whole)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(4):
            case 0:
                content[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                content[at : at + chance.randint(1, 40)] = b""
            case 2:
                content[at:at] = chance.choice([b"\0", b'"', b"\xff" * 8, b"\n", b",", b"{", b"\x80" * 3])
            case _:
                content += content[at : at + 64]
    return bytes(content)


def tried(bad: Path, out: Path) -> None:
    """Reading is a table or an error of ours; a conversion is whole, or there is none."""
    with suppress(DiscreetError):
        read_source(bad, Policy())
    out.unlink(missing_ok=True)
    try:
        convert(bad, out, Policy())
    except DiscreetError:
        assert not out.exists()
    else:
        pl.read_parquet(out)


def main(suffix: str, place: Path, seed: str, first: int, times: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = place / "files"
    folder.mkdir(exist_ok=True)
    good, bad, out = folder / f"good{suffix}", folder / f"bad{suffix}", folder / "out.parquet"
    write_target(Microdata(ROWS), good)
    whole = good.read_bytes()
    for number in range(first, times):
        (place / "at").write_text(str(number))
        bad.write_bytes(damaged(whole, random.Random(f"{seed}:{number}")))
        tried(bad, out)
        assert {path.name for path in folder.iterdir()} <= {good.name, bad.name, out.name}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
