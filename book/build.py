"""The official build of the book: a clean tree, every warning an error.

A page with a bad reference fails a build once and passes the next, incremental one; so a build
starts from nothing but the cache of executed cells. It is skipped when its inputs have not changed
since the last one that passed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from fingerprint import digest_files, fingerprint  # noqa: E402

OUT = ROOT / "_build" / "html"
STAMP = ROOT / "_build" / "passed"
LOCK = ROOT / "_build" / "lock"
FLAGS = ["--all", "-n", "-W", "--keep-going"]


def inputs() -> Iterator[Path]:
    """Yield the files that a build reads, beside the library."""
    yield ROOT / "_config.yml"
    yield ROOT / "_toc.yml"
    for path in sorted((ROOT / "book").rglob("*")):
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts):
            yield path


def state() -> str:
    """Return the digest of all that the built site depends on."""
    return f"{fingerprint(ROOT)} {digest_files(ROOT, inputs())}"


def is_current() -> bool:
    """Return whether the built site is that of the present sources."""
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == state()


def provide_family() -> None:
    """Fetch what the family that SPECTRAL_LIB_FAMILY names lacks, before anything is built."""
    from spectral_lib.errors import DomainError
    from spectral_lib.families import SWITCH, chosen_name, family_folder

    if (name := chosen_name()) == "packaged":
        raise DomainError(
            f"{SWITCH}: the book follows a family over depths and widths, grid or miniatures; the "
            "packaged encoders have a page in it without the switch"
        )
    if name == "miniatures":
        from spectral_lib.cli.grid.fetch import fetch_into, without
        from spectral_lib.families.miniatures import MINIATURES

        if failures := fetch_into(family_folder(name), MINIATURES):
            print(f"The book does without what could not be fetched: {without(failures)}")


@contextmanager
def alone() -> Iterator[int]:
    """Wait until no other build is at work here, and yield the lock's file descriptor.

    The build's own process inherits the lock: where this one is killed and that one lives on, the
    next build still waits for it.
    """
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another build of this book to end.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def build(lock: int) -> int:
    """Build the book from a clean tree and return jupyter-book's exit status."""
    STAMP.unlink(missing_ok=True)
    for folder in (OUT, OUT.parent / ".doctrees", OUT.parent / "jupyter_execute"):
        shutil.rmtree(folder, ignore_errors=True)
    before = state()
    # This environment's kernel and settings, not those in the home directory.
    env = {name: value for name, value in os.environ.items() if name != "MATPLOTLIBRC"} | {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": str(OUT.parent / "ipython"),
        "MPLCONFIGDIR": str(OUT.parent / "matplotlib"),
    }
    if not (OUT.parent / "matplotlib").exists():  # the list of fonts, or a cell says that it waits
        fonts = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(fonts, env=env, check=False, capture_output=True)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", *FLAGS]
    done = subprocess.run(command, cwd=ROOT, env=env, check=False, pass_fds=[lock])
    status = done.returncode
    if status == 0:
        STAMP.write_text(before, encoding="utf-8")
    return status


def main() -> int:
    """Build unless the site is current, and say where it is."""
    from spectral_lib.errors import SpectralLibError, one_line
    from spectral_lib.families import chosen_family

    try:
        with alone() as lock:
            provide_family()
            if is_current():
                print("The book is up to date.")
            else:
                chosen_family()  # a damaged one would fail in every cell of its pages
                if status := build(lock):
                    print("The book did not build: see the warnings above.", file=sys.stderr)
                    return status
    except KeyboardInterrupt:
        print("The book was not built: interrupted.", file=sys.stderr)
        return 130
    except (SpectralLibError, OSError) as error:  # an unwritable folder, a full disk
        print(f"The book was not built: {one_line(error, 600)}", file=sys.stderr)
        return 2
    page = OUT / "index.html"
    print(f"\nThe book: {page}\n          {page.as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
