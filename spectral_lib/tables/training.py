"""What training does to spectra, to alpha and to the proxies; losses; the models' card."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from spectral_lib.analysis import analyze
from spectral_lib.errors import DomainError
from spectral_lib.families import Family
from spectral_lib.notation import PAPER, Convention, Kind
from spectral_lib.tables.indices import share_off_zero
from spectral_lib.tables.labels import ordered_index
from spectral_lib.transformer import TransformerSpectra

_LN10 = math.log(10)


def training_effect(family: Family, convention: Convention = PAPER) -> pd.DataFrame:
    """Return one row a member: the same quantities at the initial and at the trained weights.

    Returns
    -------
    Index (L, N); columns (quantity, ``"initial"`` or ``"trained"``): ``log10 alpha`` of the first
    layer (the product of lambda over all later ones), ``log10`` of each proxy, ``share of p* > 0``,
    ``stable rank`` of each kind (the median over the matrices that are not zero) and ``smallest``,
    the name of the smallest proxy. Members without known initial weights are left out.

    Raises
    ------
    DomainError
        No member's initial weights are known.
    """
    rows: dict[tuple[int, int], dict[tuple[str, str], Any]] = {}
    for trained in family.members:
        initial = family.snapshots.get(trained.model, {}).get(0)
        if initial is not None:
            states = {"initial": initial, "trained": trained}
            found = {state: _quantities(spectra, convention) for state, spectra in states.items()}
            rows[trained.num_layers, trained.hidden_size] = {
                (name, state): found[state][name] for name in found["initial"] for state in states
            }
    if not rows:
        raise DomainError(f"the family {family.name!r} holds no initial weights to compare with")
    frame = pd.DataFrame.from_dict(rows, orient="index").infer_objects()
    frame.index = ordered_index(rows, ["L", "N"])
    frame.columns = ordered_index(frame.columns, ["quantity", "weights"])
    return frame


def training_history(family: Family, model: str, convention: Convention = PAPER) -> pd.DataFrame:
    """Return the quantities of :func:`training_effect` for one model, by training step.

    Returns
    -------
    Index ``step``, ascending; one column a quantity.

    Raises
    ------
    DomainError
        No snapshots of this model are known.
    """
    steps = family.snapshots.get(model)
    if not steps:
        known = ", ".join(family.snapshots) or "none"
        raise DomainError(
            f"the family {family.name!r} holds no snapshots of {model!r}; of these it does: {known}"
        )
    rows = {step: _quantities(steps[step], convention) for step in sorted(steps)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("step")


def loss_curves(family: Family) -> pd.DataFrame:
    """Return the held-out loss of every model by training step, in nats a predicted token.

    Returns
    -------
    Index ``step``; columns (L, N). NaN where a model was not evaluated at a step.

    Raises
    ------
    DomainError
        No losses are known.
    """
    columns = {
        (spectra.num_layers, spectra.hidden_size): pd.Series(curve.held_out, curve.held_out_steps)
        for spectra in family.members
        if (curve := family.losses.get(spectra.model)) is not None
    }
    if not columns:
        raise DomainError(f"the family {family.name!r} comes without losses")
    frame = pd.DataFrame(columns).sort_index().rename_axis("step")
    frame.columns = ordered_index(columns, ["L", "N"])
    return frame


def card(family: Family) -> pd.DataFrame:
    """Return one row a model: its size, how it was trained, and how well it predicts.

    Returns
    -------
    Index ``model``; columns ``L``, ``N``, ``H``, ``parameters``, ``steps``, ``peak rate``,
    ``seed``, ``seconds`` (wall time), ``held-out loss`` of the task as trained, ``all masked``,
    the held-out loss with a mask at every place to predict, and ``below unigram``, the unigram
    entropy of the held-out text minus the latter (all in nats). NaN for what the manifest does
    not say.
    """
    known = {entry["model"]: entry for entry in family.manifest.get("members", ())}
    entropy = family.manifest.get("unigram_entropy", math.nan)
    rows = []
    for spectra in family.members:
        entry = known.get(spectra.model, {})
        recipe = entry.get("recipe", {})
        all_masked = entry.get("all_masked_loss", math.nan)
        rows.append(
            {
                "model": spectra.model,
                "L": spectra.num_layers,
                "N": spectra.hidden_size,
                "H": spectra.num_heads,
                "parameters": entry.get("parameters", math.nan),
                "steps": recipe.get("steps", math.nan),
                "peak rate": recipe.get("learning_rate", math.nan),
                "seed": recipe.get("seed", math.nan),
                "seconds": entry.get("seconds", math.nan),
                "held-out loss": entry.get("held_out_loss", math.nan),
                "all masked": all_masked,
                "below unigram": entropy - all_masked,
            }
        )
    return pd.DataFrame(rows).set_index("model")


def _quantities(spectra: TransformerSpectra, convention: Convention) -> dict[str, Any]:
    found = analyze(spectra, convention)
    logs = {name: proxy.log for name, proxy in found.proxies.items()}
    stable = {}
    for kind in Kind:
        ranks = spectra[kind].stable_rank[spectra[kind].rank > 0]
        stable[f"stable rank {kind}"] = float(np.median(ranks)) if ranks.size else math.nan
    return {
        "log10 alpha": found.propagation.log_alpha[0].item() / _LN10,
        **{f"log10 {name}": log / _LN10 for name, log in logs.items()},
        "share of p* > 0": share_off_zero(found),
        **stable,
        "smallest": min(logs, key=logs.__getitem__),
    }
