"""Put a family in its place: whole or not at all, and nothing else deleted with the one before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spectral_lib.errors import OutputError, StaleFileError, one_line
from spectral_lib.families.folder import MANIFEST, read_manifest
from spectral_lib.files import TEMPORARY


def check_family_output(output: Path, runs: Path | None = None) -> None:
    """Fail before the work where a family could not be written after it.

    Parameters
    ----------
    output
        Where the family is to go. All that is there is deleted then.
    runs
        Where the states live: not to be deleted.

    Raises
    ------
    OutputError
        ``output`` is something else than a family's folder or an empty one, has other things in
        it, holds the states, or lies where nothing can be written.
    """
    target = Path(os.path.realpath(output))
    if runs is not None and Path(os.path.realpath(runs)).is_relative_to(target):
        raise OutputError(f"cannot write {output}: the states of the training are in it")
    try:
        above = next((parent for parent in target.parents if parent.exists()), target)
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise OutputError(f"cannot write {output}: no folder can be made in {above}")
        names = {path.name for path in target.iterdir()}
        files = read_manifest(target)["files"] if names else []
        others = sorted(names - {MANIFEST, *(file.split("/")[0] for file in files)})
    except FileNotFoundError:
        return
    except OutputError:
        raise
    except (StaleFileError, AttributeError, KeyError, TypeError) as error:
        raise OutputError(f"cannot write {output}: it is not empty and holds no family") from error
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from error
    if others:
        raise OutputError(
            f"cannot write {output}: it holds {one_line(repr(others[0]), 120)} beside a family"
        )


@contextmanager
def replacing_family(output: Path) -> Iterator[Path]:
    """Yield a new folder beside ``output`` that takes its place when the block succeeds.

    Raises
    ------
    OutputError
        :func:`check_family_output` refuses ``output``, or writing failed.
    """
    check_family_output(output)
    target = Path(os.path.realpath(output))
    fresh, former = (target.with_name(f"{TEMPORARY}{target.name}-{n}") for n in ("new", "old"))
    try:
        _put_back(former, target)  # after a publication that was killed between the renames
        for left in (fresh, former):
            shutil.rmtree(left, ignore_errors=True)
        fresh.mkdir(parents=True)
        yield fresh
        if target.exists():
            target.rename(former)
        fresh.rename(target)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            _put_back(former, target)
            shutil.rmtree(former, ignore_errors=True)
        shutil.rmtree(fresh, ignore_errors=True)


def _put_back(former: Path, target: Path) -> None:
    """Return the family before to its place where no other has taken it."""
    if former.exists() and not target.exists():
        former.rename(target)
