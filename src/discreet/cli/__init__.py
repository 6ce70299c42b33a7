"""The command line: one file a verb, no statistics.

Exit 0 where it worked, 1 where a limit is not met, 2 where the input or the call is wrong.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; what is the input's fault is told in a sentence, without a traceback."""
    from discreet.cli.app import app

    if not os.environ.get("DISCREET_DEBUG"):
        sys.unraisablehook = _unheard
    try:
        app()
    except KeyboardInterrupt:
        _stop("stopped; nothing was written", 130)
    except SystemExit as ended:
        if ended.code == 130:  # Ctrl-C, which the command line library turns into an exit
            _stop("stopped; nothing was written", 130)
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _stop("not enough memory for this table; use fewer attributes, a smaller table, or a larger machine", 2)
    except Exception as error:
        from discreet.errors import DiscreetError, redact_credentials

        if isinstance(error, OSError):
            _stop(redact_credentials(f"{error.filename or 'the file'}: {error.strerror or error}"), 2)
        if not isinstance(error, DiscreetError) or os.environ.get("DISCREET_DEBUG"):
            raise
        _stop(str(error), 2)


def _unheard(_: object) -> None:
    """What goes wrong while a library tidies up after an error that was told already is no news."""


def _stop(sentence: str, code: int) -> None:
    print(f"discreet: {sentence}", file=sys.stderr)
    sys.exit(code)
