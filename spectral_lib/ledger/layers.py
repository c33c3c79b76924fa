"""Propagation through a layer: lambda and gamma of classes A and B by the chain rule.

A layer is a chain of stages. Moving the state by t moves a stage's output by ``lipschitz`` t;
moving its own matrix by an operator that displaces inputs of norm 1 by eps moves it by
``sensitivity`` eps. Rows lie in the unit ball wherever a projection Pi stands before a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from spectral_lib.ledger.entry import Entry, Method
from spectral_lib.ledger.softmax import head_lipschitz
from spectral_lib.ledger.symbols import C_M, C_QK, C_V, C_in, C_out, L_phi, kappa
from spectral_lib.notation import Provenance

_CHAPTER = "propagation"
#: Class B is written with two heads: the sum over heads is linear, so two show the pattern.
HEADS = 2
C_QK_h = sp.symbols(f"C_QK^1:{HEADS + 1}", positive=True)
C_V_h = sp.symbols(f"C_V^1:{HEADS + 1}", positive=True)


@dataclass(frozen=True)
class Stage:
    """One map of a layer, with the sensitivities to the matrices that it holds."""

    lipschitz: sp.Expr
    sensitivity: tuple[sp.Expr, ...] = ()


def _linear(norm: sp.Expr, input_norm: sp.Expr) -> Stage:
    return Stage(norm, (input_norm,))


def _attention(norms_qk: tuple[sp.Expr, ...], norms_v: tuple[sp.Expr, ...]) -> Stage:
    """Return the sum of heads; each head has a QK and a V matrix, inputs in the unit ball."""
    generic = head_lipschitz()[0]
    heads = list(zip(norms_qk, norms_v, strict=True))
    # The weights move by kappa times the scores; the rows that they average have norm <= C_V.
    sensitivity = [kappa * v for _, v in heads] + [sp.Integer(1)] * len(heads)
    lipschitz = sum(generic.subs({C_QK: a, C_V: v}, simultaneous=True) for a, v in heads)
    return Stage(lipschitz, tuple(sensitivity))


_PI = Stage(sp.Integer(1))
_PHI = Stage(L_phi)  # phi(0) = 0: it maps the unit ball into the ball of radius L_phi
_CLASS_A = (_attention((C_QK,), (C_V,)), _PI, _PHI, _linear(C_M, L_phi), _PI)
_CLASS_B = (
    _attention(C_QK_h, C_V_h),
    _PI,
    _linear(C_in, sp.Integer(1)),
    _PI,
    _PHI,
    _linear(C_out, L_phi),
    _PI,
)


def _lipschitz(stages: tuple[Stage, ...]) -> sp.Expr:
    return sp.prod(stage.lipschitz for stage in stages)


def _sensitivities(stages: tuple[Stage, ...]) -> sp.Tuple:
    """Return the sensitivity of every matrix, times the Lipschitz constants of later stages."""
    return sp.Tuple(
        *(
            own * _lipschitz(stages[place + 1 :])
            for place, stage in enumerate(stages)
            for own in stage.sensitivity
        )
    )


def lambda_a() -> tuple[sp.Expr, str]:
    """Multiply the Lipschitz constants of the stages of a layer of class A."""
    value = _lipschitz(_CLASS_A)
    return value, f"product over {len(_CLASS_A)} stages: {value}"


def gamma_a() -> tuple[sp.Tuple, str]:
    """Return the sensitivities of QK, V and M in class A."""
    value = _sensitivities(_CLASS_A)
    return value, f"QK, V, M: {value}"


def lambda_b() -> tuple[sp.Expr, str]:
    """Multiply the Lipschitz constants of the stages of a layer of class B, two heads."""
    value = _lipschitz(_CLASS_B)
    return value, f"product over {len(_CLASS_B)} stages: {sp.factor(value)}"


def gamma_b() -> tuple[sp.Tuple, str]:
    """Return the sensitivities of each head's QK, each head's V, in and out in class B."""
    value = _sensitivities(_CLASS_B)
    return value, f"QK^h, V^h, in, out: {value}"


ENTRIES = (
    Entry(
        name="lambda_a",
        symbol=r"\lambda_l",
        claim=L_phi * C_M * C_V * (1 + 2 * kappa * C_QK),
        source=Provenance.PAPER,
        statement="Lipschitz constant of a layer of class A, in the largest row norm.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=lambda_a,
        depends_on=("head_lipschitz",),
    ),
    Entry(
        name="gamma_a",
        symbol=r"(\gamma_{QK}, \gamma_V, \gamma_M)",
        claim=sp.Tuple(kappa * L_phi * C_V * C_M, L_phi * C_M, L_phi),
        source=Provenance.DERIVED,
        statement="Sensitivity of a class A layer to its matrices, per unit-norm input.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=gamma_a,
    ),
    Entry(
        name="lambda_b",
        symbol=r"\lambda_l^{\mathrm{B}}",
        claim=L_phi
        * C_in
        * C_out
        * sum(v * (1 + 2 * kappa * a) for a, v in zip(C_QK_h, C_V_h, strict=True)),
        source=Provenance.DERIVED,
        statement="Lipschitz constant of a class B layer (two heads shown), as in the scripts.",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=lambda_b,
        depends_on=("head_lipschitz",),
    ),
    Entry(
        name="gamma_b",
        symbol=r"(\gamma_{QK}^h, \gamma_V^h, \gamma_{in}, \gamma_{out})",
        claim=sp.Tuple(
            *(kappa * v * L_phi * C_in * C_out for v in C_V_h),
            *(L_phi * C_in * C_out for _ in C_V_h),
            L_phi * C_out,
            L_phi,
        ),
        source=Provenance.DERIVED,
        statement="Sensitivity of a class B layer to its 2H + 2 matrices (two heads shown).",
        derived_in=_CHAPTER,
        method=Method.PROOF_STEP,
        derive=gamma_b,
    ),
)
