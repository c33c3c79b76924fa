r"""The post hoc choice of p, matrix by matrix, on the grid P_m.

Any choice is valid, since the peeling pays for all of them; these are the ones made:

- sum form: each matrix takes the p of its smallest term (ties: the smallest p);
- root-sum-square form: for each c = p/(p+2) of the grid (at most 48 of them, evenly spaced in
  order), each matrix takes the p of its smallest
  term under the root among those with exponent at most c; then the best c;
- quadrature: the better of those two choices, the integral evaluated for both.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from spectral_lib.bounds.dudley import (
    Chain,
    Complexity,
    root_of_terms,
    root_sum_square_terms,
    sum_form,
    sum_terms,
)
from spectral_lib.bounds.matrix_class import IntArray, MatrixClasses, Metric
from spectral_lib.bounds.quadrature import quadrature

#: The most values of c that are tried.
MOST_WEIGHTS = 48

Form = Literal["sum", "rss", "quadrature"]


def pick(candidates: MatrixClasses, choice: IntArray) -> MatrixClasses:
    """Return the chosen member of each column of ``[P, J]`` candidates."""
    return candidates[choice, np.arange(choice.size)]


def choose_sum(
    candidates: MatrixClasses, metric: Metric, chain: Chain
) -> tuple[Complexity, IntArray]:
    """Return the sum form at the p of the smallest terms, and the rows chosen."""
    choice = np.argmin(sum_terms(candidates, metric, chain), axis=0)
    return sum_form(pick(candidates, choice), metric, chain), choice


def choose_root_sum_square(
    candidates: MatrixClasses, metric: Metric, chain: Chain
) -> tuple[Complexity, IntArray]:
    """Return the root-sum-square form at the best c, and the rows chosen."""
    exponents = candidates.p / (candidates.p + 2.0)
    found: list[tuple[Complexity, IntArray]] = []
    # Every c is valid: on the long grids of deep models a part of them will do.
    values = np.unique(exponents)
    for c in values[:: -(-values.size // MOST_WEIGHTS)].tolist():
        terms = root_sum_square_terms(candidates, metric, chain, c)
        terms = np.where(exponents <= c, terms, np.inf)
        choice = np.argmin(terms, axis=0)
        found.append((root_of_terms(terms.min(axis=0), chain, c), choice))
    return min(found, key=lambda pair: pair[0].log)


def choose_quadrature(
    candidates: MatrixClasses, metric: Metric, chain: Chain
) -> tuple[Complexity, IntArray]:
    """Return the certified integral at the better of the two closed forms' choices."""
    choices = [
        choose(candidates, metric, chain)[1] for choose in (choose_root_sum_square, choose_sum)
    ]
    if np.array_equal(choices[0], choices[1]):
        choices = choices[:1]
    found = [(quadrature(pick(candidates, choice), metric, chain), choice) for choice in choices]
    return min(found, key=lambda pair: pair[0].log)


CHOICES = {
    "sum": choose_sum,
    "rss": choose_root_sum_square,
    "quadrature": choose_quadrature,
}
