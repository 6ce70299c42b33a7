"""The script of Vega, built from the files of vl-convert.

Building it takes seconds, so it is cached for the user. The file name contains the version and the hash of the content, so that a
damaged file is not used.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from discreet.convert.writing.atomic import write_bytes
from discreet.errors import DiscreetError
from discreet.report.charts import load_vl_convert


def vega_bundle(folder: Path | None = None) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that loads nothing else."""
    library = load_vl_convert()
    cache = folder or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "discreet" / "charts"
    with suppress(OSError, UnicodeDecodeError, ValueError):
        for path in sorted(cache.glob(f"vega-{library.__version__}-*.js")):
            content = path.read_bytes()
            if path.stat().st_uid == os.getuid() and path.name == _file_name(library.__version__, content):
                return content.decode()
    script: str = library.javascript_bundle()
    with suppress(OSError, DiscreetError):  # the cache cannot be written; the next report builds the script again
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_bytes(cache / _file_name(library.__version__, script.encode()), script.encode())
    return script


def _file_name(version: str, content: bytes) -> str:
    return f"vega-{version}-{hashlib.sha256(content).hexdigest()[:32]}.js"
