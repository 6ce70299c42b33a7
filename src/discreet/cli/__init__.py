"""The command line: one module per command, no statistics.

Exit status 0: success; 1: a limit is not met or the evidence is incomplete; 2: wrong input or wrong call.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_INTERRUPT_AGAIN_SECONDS = 0.05


def main() -> None:
    """Run the command line; an error in the input ends with one sentence, without a traceback."""
    from discreet.engine.runtime.lean_start import start_lean

    start_lean()
    from discreet.cli.app import app

    _redact_usage_errors()
    sys.unraisablehook = _handle_unraisable
    try:
        app()
    except KeyboardInterrupt:
        _stop("stopped; nothing was written", 130)
    except SystemExit as exit_request:
        if exit_request.code == 130:  # Ctrl-C, which Typer turns into an exit
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
        if isinstance(error, ModuleNotFoundError):
            from discreet.model.extras import extra_of, format_missing

            library = str(error.name).partition(".")[0]
            if extra_of(library) is not None:
                _stop(format_missing("this command", library), 2)
        if not isinstance(error, DiscreetError) or os.environ.get("DISCREET_DEBUG"):
            raise
        _stop(str(error), 2)


def _redact_usage_errors() -> None:
    """Remove passwords from the messages of Typer, which repeat an unknown command or a surplus argument."""
    import typer

    from discreet.errors import redact_credentials

    # the base of Typer's errors is in a private module of some versions, but BadParameter, which derives from it, is public
    base: Any = next(error for error in typer.BadParameter.__mro__ if error.__name__ == "ClickException")
    original = base.__init__

    def initialize(self: Exception, message: str, *arguments: object, **options: object) -> None:
        original(self, redact_credentials(message), *arguments, **options)

    base.__init__ = initialize


def _handle_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise Ctrl-C again where Python could not; ignore errors of a library that cleans up after one that is reported already.

    Ctrl-C while objects are being deleted is an exception that Python drops, and the command would go on. It is raised again by
    another thread, a little later, because the deletion may not be over yet.
    """
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        import _thread
        import threading

        again = threading.Timer(_INTERRUPT_AGAIN_SECONDS, _thread.interrupt_main)
        again.daemon = True
        again.start()
    elif os.environ.get("DISCREET_DEBUG"):
        sys.__unraisablehook__(unraisable)


def _stop(message: str, code: int) -> None:
    print(f"discreet: {message}", file=sys.stderr)
    sys.exit(code)
