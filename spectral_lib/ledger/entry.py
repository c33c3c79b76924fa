"""What an entry of the ledger is, and how it is verified."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import sympy as sp

from spectral_lib import constants
from spectral_lib.errors import one_line
from spectral_lib.ledger.algebra import require, same
from spectral_lib.notation import Provenance

#: Agreement asked of a double in ``constants.py`` with the derived exact value: a few roundings.
RELATIVE_ROUNDING = 4 * 2.0**-52

#: Labels of the book's chapters, in reading order: the admissible values of ``derived_in``.
CHAPTERS = (
    "softmax-and-attention",
    "propagation",
    "covering-numbers",
    "theorem-4-1",
    "interpolation-gain",
    "entropy-to-generalization",
    "peeling",
    "theorem-3-1",
    "baselines",
)


class Method(StrEnum):
    """How an entry is verified."""

    EXACT = "exact"  #: SymPy derives the value: a limit, an optimisation, an integral, a sum
    ENCLOSURE = "enclosure"  #: interval arithmetic with outward rounding encloses the value
    PROOF_STEP = "proof step"  #: the step is rebuilt with free parameters, then instantiated


@dataclass(frozen=True)
class Verification:
    """The outcome of one derivation: whether it agrees, what was derived, how long it took."""

    name: str
    ok: bool
    derived: str
    seconds: float


@dataclass(frozen=True)
class Entry:
    r"""One statement of the proofs, with the derivation that produces it.

    Parameters
    ----------
    name
        The key in :data:`spectral_lib.ledger.ENTRIES`.
    symbol
        LaTeX of the left-hand side.
    claim
        The exact value or expression, as the book states it.
    source
        Whether the paper, its scripts, earlier work, or this project states it.
    statement
        The claim in words.
    derived_in
        Label of the book's chapter that proves it (:data:`CHAPTERS`).
    method
        The kind of verification.
    derive
        Rebuilds the value from the step's free parameters; returns it with a line that says how.
        It reads neither ``claim`` nor ``constants.py``.
    depends_on
        Names of the entries that the derivation builds on.
    constant
        Name of the number in ``constants.py``, where the claim is a number there.
    """

    name: str
    symbol: str
    claim: sp.Basic
    source: Provenance
    statement: str
    derived_in: str
    method: Method
    derive: Callable[[], tuple[sp.Basic, str]] = field(repr=False)
    depends_on: tuple[str, ...] = ()
    constant: str | None = None

    @property
    def expression(self) -> sp.Basic:
        """The exact value or expression (the claim)."""
        return self.claim

    @property
    def value(self) -> float | None:
        """The number in ``constants.py``, read anew at each call; None for an expression."""
        return None if self.constant is None else float(getattr(constants, self.constant))

    def verify(self) -> Verification:
        """Derive the entry again; compare with the claim and with ``constants.py``."""
        start = time.perf_counter()
        try:
            derived, account = self.derive()
            self._compare(derived)
        except Exception as error:  # SymPy raises many kinds where it cannot decide a step
            reason = one_line(f"{type(error).__name__}: {error}")
            return Verification(self.name, False, reason, time.perf_counter() - start)
        return Verification(self.name, True, account, time.perf_counter() - start)

    def _compare(self, derived: sp.Basic) -> None:
        if self.method is Method.ENCLOSURE:
            # An upper bound may exceed the supremum by rounding, never fall short of it.
            self._require_tight_bound(self.claim, derived)
            if self.value is not None:
                self._require_tight_bound(sp.Rational(self.value), derived)
            return
        require(same(derived, self.claim), f"derived {derived}, the claim is {self.claim}")
        if self.value is not None:
            exact = sp.N(derived, 40)
            require(
                math.isfinite(self.value)
                and abs(exact - sp.Float(self.value, 40)) <= RELATIVE_ROUNDING * abs(exact),
                f"derived {sp.N(exact, 17)}, constants.{self.constant} is {self.value!r}",
            )

    def _require_tight_bound(self, bound: sp.Rational, supremum: sp.Interval) -> None:
        ceiling = supremum.start * (1 + sp.Rational(RELATIVE_ROUNDING))
        require(
            supremum.end <= bound and bound <= ceiling,
            f"the supremum lies in {sp.N(supremum, 20)}, the bound is {sp.N(bound, 20)}",
        )
