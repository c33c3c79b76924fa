"""The command line: ``spectral-lib``, also ``python -m spectral_lib``.

Commands import the library inside their bodies, so that ``--help`` answers at once.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated

import typer
from typer.exceptions import TyperException

from spectral_lib.cli.analyze import analyze
from spectral_lib.cli.bound import bound
from spectral_lib.cli.grid import app as grid
from spectral_lib.cli.ledger import ledger
from spectral_lib.cli.regimes import regimes
from spectral_lib.cli.streams import discard, settle_streams, sound_streams, unwinding_on_signals
from spectral_lib.errors import SpectralLibError, one_line

PROGRAM = "spectral-lib"

app = typer.Typer(
    name=PROGRAM,
    help="Spectrum-adaptive generalization bounds for trained Transformers.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (analyze, bound, ledger, regimes):
    app.command()(command)
app.add_typer(grid)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"{PROGRAM} {version(PROGRAM)}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    0 on success, also where the reader of the output goes away; 1 where a verification fails; 2
    for bad input or bad usage, with one line on stderr; 130 when interrupted, 128 plus the number
    of another signal that ends it.
    """
    sound_streams()
    with unwinding_on_signals():
        code = _run(arguments)
        settle_streams()
    return code


def _run(arguments: list[str] | None) -> int:
    try:
        code = app(arguments, prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        context = getattr(error, "ctx", None)  # of the command that was misused
        command = PROGRAM if context is None else context.command_path
        return _fail(f"{one_line(error.format_message())} (see {command} --help)")
    except SpectralLibError as error:
        return _fail(one_line(error, limit=600))
    except BrokenPipeError:
        discard(sys.stdout)
        return 0
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        discard(sys.stdout)  # rich and typer turn a broken pipe into an exit of their own
        return 0
    except OSError as error:
        where = error.filename if error.filename is not None else "output"
        return _fail(one_line(f"{where}: {error.strerror or error}"))
    except ImportError as error:  # there, and broken; a package that is not there has its own
        return _fail(one_line(f"a package does not load: {error}", limit=600))
    except MemoryError as error:
        return _fail(one_line(f"not enough memory: {error}").removesuffix(":"))
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", code=130)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int = 2) -> int:
    with suppress(OSError):  # nobody can be told: the exit code has to do
        print(f"{PROGRAM}: {message}", file=sys.stderr, flush=True)
    return code
