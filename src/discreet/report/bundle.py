"""Vega's script, out of vl-convert's own files.

Putting it together takes seconds, so that it is kept among the user's caches, under the version it is of and the hash of its
content: what is not whole is not used.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from discreet.convert.writing.atomic import write_bytes
from discreet.errors import DiscreetError
from discreet.report.charts import drawer


def bundle(folder: Path | None = None) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that asks for nothing."""
    library = drawer()
    home = folder or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet" / "charts"
    with suppress(OSError, UnicodeDecodeError, ValueError):
        for path in sorted(home.glob(f"vega-{library.__version__}-*.js")):
            content = path.read_bytes()
            if path.stat().st_uid == os.getuid() and path.name == _name(library.__version__, content):
                return content.decode()
    made: str = library.javascript_bundle()
    with suppress(OSError, DiscreetError):  # no home to write to; the next report puts it together again
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_bytes(home / _name(library.__version__, made.encode()), made.encode())
    return made


def _name(version: str, content: bytes) -> str:
    return f"vega-{version}-{hashlib.sha256(content).hexdigest()[:32]}.js"
