"""Read damaged files in a separate process: ``python damaging.py SUFFIX FOLDER SEED FIRST TIMES``.

A native library can abort the process on a damaged file, or request all memory. The memory of this process is therefore
limited to ``MEMORY_LIMIT``, and the number of the current damage is written to the file ``at``.
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

MEMORY_LIMIT = 8 * 2**30
ROWS = pl.DataFrame(
    {"a": [1, 2, 3, None], "b": ["x", "y", None, "z"], "c": [0.5, None, 2.0, -1.0], "d": [dt.date(2020, 1, 2)] * 4}
)


def damage(whole: bytes, random_source: random.Random) -> bytes:
    """Change, remove, insert or repeat bytes, one to six times."""
    content = bytearray(whole)
    for _ in range(random_source.randint(1, 6)):
        position = random_source.randrange(len(content) + 1)
        match random_source.randrange(4):
            case 0:
                content[position : position + 1] = bytes([random_source.randrange(256)])
            case 1:
                content[position : position + random_source.randint(1, 40)] = b""
            case 2:
                content[position:position] = random_source.choice([b"\0", b'"', b"\xff" * 8, b"\n", b",", b"{", b"\x80" * 3])
            case _:
                content += content[position : position + 64]
    return bytes(content)


def check_damaged(bad: Path, out: Path) -> None:
    """Reading gives a table or a DiscreetError; a conversion is complete, or leaves no file."""
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
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = place / "files"
    folder.mkdir(exist_ok=True)
    good, bad, out = folder / f"good{suffix}", folder / f"bad{suffix}", folder / "out.parquet"
    write_target(Microdata(ROWS), good)
    whole = good.read_bytes()
    for number in range(first, times):
        (place / "at").write_text(str(number))
        bad.write_bytes(damage(whole, random.Random(f"{seed}:{number}")))
        check_damaged(bad, out)
        assert {path.name for path in folder.iterdir()} <= {good.name, bad.name, out.name}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
