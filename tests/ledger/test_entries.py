"""The ledger is complete, ordered, and every entry derives its claim."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import time
from types import CodeType, FunctionType

import pytest
import sympy as sp

from spectral_lib import constants, ledger
from spectral_lib.ledger import ENTRIES, Entry, Method, Verification
from spectral_lib.notation import Provenance

NUMBERS = sorted(name for name in vars(constants) if name.isupper())


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Verification]:
    """Derive everything once; the whole must take under a minute of processor time."""
    reported: list[str] = []
    start = time.process_time()
    found = ledger.verify_all(lambda outcome: reported.append(outcome.name))
    assert time.process_time() - start < 60
    assert reported == [outcome.name for outcome in found] == list(ENTRIES)
    return {outcome.name: outcome for outcome in found}


@pytest.mark.parametrize("name", ENTRIES)
def test_entry_derives_its_claim(name: str, outcomes: dict[str, Verification]) -> None:
    outcome = outcomes[name]
    assert outcome.ok, outcome.derived
    assert outcome.name == name
    assert "\n" not in outcome.derived
    assert outcome.seconds >= 0


def test_every_constant_has_one_entry_and_conversely() -> None:
    named = [entry.constant for entry in ENTRIES.values() if entry.constant is not None]
    assert sorted(named) == NUMBERS
    public = {n for n in vars(constants) if not n.startswith("_")} - {"annotations", "math"}
    assert public == set(NUMBERS)
    assert all(type(getattr(constants, name)) is float for name in NUMBERS)


def test_names_are_unique_across_modules() -> None:
    modules = [m for m in vars(ledger).values() if inspect.ismodule(m) and hasattr(m, "ENTRIES")]
    assert sum(len(m.ENTRIES) for m in modules) == len(ENTRIES)
    assert all(key == entry.name for key, entry in ENTRIES.items())


def test_dependencies_come_earlier_in_the_book_of_entries() -> None:
    seen: set[str] = set()
    waiting = {name: set(entry.depends_on) for name, entry in ENTRIES.items()}
    assert set().union(*waiting.values()) <= set(ENTRIES)
    while waiting:
        ready = {name for name, needs in waiting.items() if needs <= seen}
        assert ready, f"circular dependencies among {sorted(waiting)}"
        seen |= ready
        waiting = {name: needs for name, needs in waiting.items() if name not in ready}


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def _called(function: FunctionType, seen: frozenset[FunctionType]) -> set[str]:
    """Return the entries whose derivations a function calls, also through private helpers."""
    derivations = {inspect.unwrap(entry.derive): name for name, entry in ENTRIES.items()}
    found: set[str] = set()
    for name in _names(function.__code__):
        callee = inspect.unwrap(function.__globals__.get(name, None) or _called)
        if not isinstance(callee, FunctionType) or callee in seen:
            continue
        if callee in derivations:
            found.add(derivations[callee])
        elif callee.__module__.startswith("spectral_lib.ledger"):
            found |= _called(callee, seen | {callee})
    return found


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda entry: entry.name)
def test_what_a_derivation_calls_is_declared(entry: Entry) -> None:
    function = inspect.unwrap(entry.derive)
    assert _called(function, frozenset({function})) <= set(entry.depends_on)


@pytest.mark.parametrize("name", ENTRIES)
def test_derivations_read_no_constants(name: str) -> None:
    module = sys.modules[inspect.unwrap(ENTRIES[name].derive).__module__]
    assert all(value is not constants for value in vars(module).values())


def test_labels_kinds_and_sources_are_used() -> None:
    assert {entry.derived_in for entry in ENTRIES.values()} == set(ledger.CHAPTERS)
    assert {entry.method for entry in ENTRIES.values()} == set(Method)
    assert {entry.source for entry in ENTRIES.values()} == set(Provenance)


def test_table_is_plain_data() -> None:
    rows = json.loads(json.dumps(ledger.table(), allow_nan=False))
    assert [row["name"] for row in rows] == list(ENTRIES)
    by_name = {row["name"]: row for row in rows}
    assert by_name["dudley"]["value"] == constants.DUDLEY
    assert by_name["low_rank_net"]["depends_on"] == "volumetric_net, tail_share"
    assert by_name["balance"]["value"] is None


def test_expression_is_the_claim_and_value_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = ENTRIES["dudley"]
    assert entry.expression == sp.Integer(12)
    monkeypatch.setattr(constants, "DUDLEY", 13.0)
    assert entry.value == 13.0


def test_core_does_not_import_sympy() -> None:
    code = "import sys, spectral_lib; assert not {'sympy', 'mpmath'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_sympy_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['sympy'] = None\n"
        "from spectral_lib.errors import MissingExtraError\n"
        "try:\n    import spectral_lib.ledger\n"
        "except MissingExtraError as error:\n    assert 'spectral-lib[ledger]' in str(error)\n"
        "else:\n    raise AssertionError('imported without sympy')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
