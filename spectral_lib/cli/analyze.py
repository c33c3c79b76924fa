"""``spectral-lib analyze``: the spectra and the proxies of a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spectral_lib.cli import options
from spectral_lib.cli.printing import plain_table, show

if TYPE_CHECKING:
    from rich.table import Table

    from spectral_lib.analysis import Analysis


def analyze(
    model: options.Model,
    json_: options.Json = False,
    csv: Annotated[
        Path | None, typer.Option(help="Write one row a matrix to this file.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw spectra and contribution curves to this png, svg or pdf file.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Store the spectra in this .npz file, which is a MODEL too.", show_default=False
        ),
    ] = None,
    convention: options.ConventionPreset = options.Preset.PAPER,
    kappa: options.Kappa = None,
    l_phi: options.LPhi = None,
    l_phi_in_gamma: options.LPhiInGamma = None,
    pi_before_phi: options.PiBeforePhi = None,
    edelman_qk_factor: options.EdelmanQkFactor = None,
    dims: options.DimsOption = None,
    scale_count: options.ScaleCountOption = None,
    revision: options.Revision = None,
    rank_rtol: options.RankRtol = None,
) -> None:
    """Compute the spectra of MODEL and evaluate the three proxies."""
    from spectral_lib.analysis import analyze as evaluate
    from spectral_lib.files import check_distinct, check_output
    from spectral_lib.loading import load

    chosen = options.convention_from(
        convention,
        kappa=kappa,
        l_phi=l_phi,
        l_phi_in_gamma=l_phi_in_gamma,
        pi_before_phi=pi_before_phi,
        edelman_qk_factor=edelman_qk_factor,
        dims=dims,
        scale_count=scale_count,
    )
    check_output(csv)
    check_output(plot, suffixes=(".png", ".svg", ".pdf"))
    check_output(save, suffixes=(".npz",))
    check_distinct(csv, plot, save)
    with options.layer_progress() as progress:
        spectra = load(model, revision=revision, rank_rtol=rank_rtol, progress=progress)
    analysis = evaluate(spectra, chosen)
    if save is not None:
        spectra.save(save)
    if csv is not None:
        analysis.write_csv(csv)
    if plot is not None:
        _draw(analysis, plot)
    if json_:
        print(json.dumps(analysis.to_dict(), allow_nan=False))
    else:
        _print_summary(analysis)


def _draw(analysis: Analysis, path: Path) -> None:
    import logging

    from spectral_lib.errors import OutputError, SpectralLibError, one_line

    # Hints about its configuration folder and its font cache are not ours to print.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        from spectral_lib.plots.spectra import overview
    except SpectralLibError:
        raise
    except Exception as error:  # a setting that it refuses, from MPLBACKEND or a matplotlibrc
        raise OutputError(
            f"cannot write {path}: matplotlib does not start: {one_line(error, 160)}"
        ) from error
    overview(analysis).write(path)


def _print_summary(analysis: Analysis) -> None:
    from rich.console import Console
    from rich.text import Text

    spectra, choices = analysis.spectra, analysis.convention
    console = Console()
    sizes = f"L {spectra.num_layers}, N {spectra.hidden_size}, H {spectra.num_heads}"
    console.print(Text(f"{spectra.model}   {sizes}, {spectra.num_matrices} matrices"))
    if spectra.source_sha256:
        console.print(Text(f"sha256 {spectra.source_sha256}", style="dim"))
    fields = ", ".join(f"{name} {value}" for name, value in vars(choices).items())
    console.print(Text(f"convention: {fields}", style="dim"))
    title = "Matrices by kind: medians, range of p*, share of the spectral proxy"
    show(console, title, _kind_table(analysis))
    show(console, "Proxies: leading factors, not bounds", _proxy_table(analysis))


def _kind_table(analysis: Analysis) -> Table:
    import numpy as np

    from spectral_lib.notation import Kind

    table = plain_table(
        "kind",
        *("shape", "rank", "spectral", "Frobenius", "(2,1)", "(1,1)", "p*", "share"),
    )
    for kind in Kind:
        spectrum = analysis.spectra[kind]
        norms = (
            spectrum.spectral_norm,
            spectrum.frobenius_norm,
            spectrum.norm_21,
            spectrum.norm_11,
        )
        low, high = (extreme(analysis.spectral.p_star[kind]) for extreme in (np.min, np.max))
        share = np.exp(analysis.spectral.log_contribution[kind] - analysis.spectral.log).sum()
        table.add_row(
            kind,
            "x".join(map(str, spectrum.shape)),
            f"{np.median(spectrum.rank):g}",
            *(f"{np.median(norm):.3g}" for norm in norms),
            f"{low:.2g}" if low == high else f"{low:.2g}–{high:.2g}",
            f"{share:.1%}",
        )
    return table


def _proxy_table(analysis: Analysis) -> Table:
    import math

    table = plain_table("proxy", "value", "log10")
    for name, proxy in analysis.proxies.items():
        value = f"{proxy.value:.6g}" if math.isfinite(proxy.value) else "overflows"
        table.add_row(name, value, f"{proxy.log / math.log(10):.4f}")
    return table
