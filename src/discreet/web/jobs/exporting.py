"""Write a masked table in another format, as a separate process: ``python -m discreet.web.jobs.exporting``.

The request is JSON on standard input; if the export fails, the last line on standard output is the reason.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from discreet.convert import convert, write_target
from discreet.convert.files.formats import format_of
from discreet.errors import DiscreetError
from discreet.model.policy import Policy
from discreet.web.jobs.labels import has_labels, read_with_labels


def main() -> int:
    """Run the export requested on standard input."""
    request = json.loads(sys.stdin.readline() or "{}")
    source, target = Path(request["source"]), Path(request["target"])
    try:
        if has_labels(source) or format_of(target).module == "delimited":
            write_target(read_with_labels(source, Policy()), target, public=True)
        else:
            convert(source, target, Policy(), overwrite=True)
    except DiscreetError as error:
        print(" ".join(str(error).replace(str(target), target.name).split()))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
